"""WordLlama, the default: a table of word pieces' vectors (256 numbers each), averaged. No server, no key, no download.

Its weights are inside its package; it is told to look there and nowhere else, as it would otherwise try a cache in the
home folder and the network.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Iterator, Sequence
from functools import lru_cache
from pathlib import Path
from typing import Any, Self

import numpy as np

from simuverse.errors import EmbedderUnavailable
from simuverse.memory.embedders.texts import checked
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors
from simuverse.memory.keyword_index import grown

BATCH = 64
"""Texts a batch, the library's own figure."""

CACHED_WORDS = 20_000
"""Words whose vectors are kept, 20 MB: about what a person uses."""

_BATCH_CHARACTERS = 65_536
"""The library pads a batch to its longest text, at about 1 kB a word piece: this bounds it to some 30 MB."""


class WordLlamaEmbedder:
    """Opened with :meth:`open`."""

    name = "wordllama"

    def __init__(self, model: Any) -> None:
        """``model``: a ``wordllama.WordLlamaInference``."""
        self._model = model
        self.dimension = int(model.embedding.shape[1])
        self._words: dict[str, int] = {}
        self._vectors: Vectors = np.zeros((0, self.dimension), dtype=np.float32)
        """Of the words looked up last, each in the row that ``_words`` names."""

    @classmethod
    async def open(cls) -> Self:
        """Loads the table, 32 MB and shared by all, in a thread.

        Raises:
            EmbedderUnavailable: the package's files are missing or broken.
        """
        return cls(await asyncio.to_thread(_load))

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:  # noqa: ARG002
        """See :meth:`Embedder.embed`; both kinds of text are the same to it, and so are capitals.

        The table holds a word with a capital apart from the same without, further off than from many another word.
        """
        ready = [text.lower() for text in checked(texts)]
        raw = await asyncio.to_thread(self._embed, ready) if ready else None
        return unit_vectors(raw, count=len(ready), dimension=self.dimension, embedder=self.name)

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """See :class:`simuverse.memory.embedding.WordVectors`. Those looked up last are kept."""
        new = [word for word in dict.fromkeys(words) if word not in self._words]
        if new:
            if len(self._words) + len(new) > CACHED_WORDS:
                self._words.clear()
                new = list(dict.fromkeys(words))
            first, end = len(self._words), len(self._words) + len(new)
            raw = self._embed_words([word.lower() for word in new])
            self._vectors = grown(self._vectors, end)
            self._vectors[first:end] = unit_vectors(raw, count=len(new), dimension=self.dimension, embedder=self.name)
            self._words.update(zip(new, range(first, end), strict=True))
        return self._vectors[[self._words[word] for word in words]]

    def _embed_words(self, words: Sequence[str]) -> Vectors:
        """As :meth:`_embed`, one after another: a few words aren't worth the library's threads, which are slow to start
        where the cores are busy."""
        pieces = [self._model.tokenizer.encode(word, add_special_tokens=False).ids for word in words]
        if not all(pieces):
            return self._embed(words)
        counts = np.array([len(ids) for ids in pieces])
        starts = np.cumsum(counts) - counts
        totals = np.add.reduceat(self._model.embedding[np.concatenate(pieces)], starts, axis=0)
        return np.asarray(totals / counts[:, np.newaxis], dtype=np.float32)

    async def aclose(self) -> None:
        pass

    def _embed(self, texts: Sequence[str]) -> Vectors:
        rows = np.empty((len(texts), self.dimension), dtype=np.float32)
        for places in _batches_of_like_length(texts):
            rows[places] = self._model.embed([texts[place] for place in places], batch_size=len(places))
        return rows


def _batches_of_like_length(texts: Sequence[str]) -> Iterator[list[int]]:
    """Places of the texts, longest last, so that little is padded."""
    batch: list[int] = []
    for place in sorted(range(len(texts)), key=lambda place: len(texts[place])):
        if len(batch) == BATCH or (batch and (len(batch) + 1) * len(texts[place]) > _BATCH_CHARACTERS):
            yield batch
            batch = []
        batch.append(place)
    if batch:
        yield batch


@lru_cache(maxsize=1)
def _load() -> Any:
    # On import the package sends every library's log to the terminal; it doesn't where the root logger has a handler.
    quiet = logging.NullHandler()
    root = logging.getLogger()
    root.addHandler(quiet)
    try:
        import wordllama
    finally:
        root.removeHandler(quiet)
    try:
        return wordllama.WordLlama.load(cache_dir=Path(wordllama.__file__).parent, disable_download=True)
    except Exception as error:  # its tokenizer's library raises nothing more precise
        raise EmbedderUnavailable(
            f"wordllama can't read its own weights ({error}). Reinstall it: pip install --force-reinstall wordllama"
        ) from error
