"""Models of the Sentence Transformers library, run in this process.

Only models that are on this machine already: nothing is downloaded in the middle of a run. Texts longer than the
model's limit are cut by the library.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from importlib import import_module
from typing import Any, Self

from simuverse.errors import EmbedderRefused, EmbedderUnavailable, MissingExtra
from simuverse.memory.embedders.texts import checked
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors

BATCH = 32
"""Texts a batch, the library's own figure."""


class SentenceTransformersEmbedder:
    """Opened with :meth:`open`."""

    def __init__(self, name: str, model: Any, dimension: int) -> None:
        """``model``: a ``sentence_transformers.SentenceTransformer``."""
        self.name = f"sentence-transformers:{name}"
        self.dimension = dimension
        self._model = model
        self._turn = asyncio.Lock()

    @classmethod
    async def open(cls, name: str) -> Self:
        """Loads the model in a thread; large ones take a while.

        Args:
            name: of a model in the library's cache, ``all-MiniLM-L6-v2``, or the path of a model's folder.

        Raises:
            MissingExtra: the ``sentence-transformers`` package isn't installed.
            EmbedderRefused: no such model on this machine, or it can't be read.
            EmbedderUnavailable: it can't run here.
        """
        model = await asyncio.to_thread(_load, name)
        probe = await asyncio.to_thread(_encode, model.encode_query, ["What is the length of a vector?"], name)
        return cls(name, model, int(probe.shape[1]))

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """See :meth:`Embedder.embed`; the model's own prompts for queries and documents are used where it has any."""
        ready = checked(texts)
        encode = self._model.encode_query if kind == "query" else self._model.encode_document
        raw: object = None
        if ready:
            async with self._turn:  # the library's models keep state while they encode
                raw = await asyncio.to_thread(_encode, encode, ready, self.name)
        return unit_vectors(raw, count=len(ready), dimension=self.dimension, embedder=self.name)

    async def aclose(self) -> None:
        pass


def _load(name: str) -> Any:
    try:
        library = import_module("sentence_transformers")
    except ImportError as error:
        raise MissingExtra(
            f"sentence-transformers:{name} needs the sentence-transformers package: "
            'pip install "simu-verse[sentence-transformers]"'
        ) from error
    try:
        return library.SentenceTransformer(name, local_files_only=True)
    except (OSError, ValueError) as error:
        raise EmbedderRefused(
            f"sentence-transformers:{name} can't be loaded from this machine ({error}). Get it once with "
            f"python -c \"from sentence_transformers import SentenceTransformer; SentenceTransformer('{name}')\""
        ) from error


def _encode(encode: Callable[..., Any], texts: list[str], name: str) -> Any:
    try:
        return encode(texts, batch_size=BATCH, show_progress_bar=False)
    except RuntimeError as error:  # torch's for everything that fails while it computes, full memory above all
        raise EmbedderUnavailable(f"{name} failed while embedding: {error}") from error
