"""WordLlama, the default: a table of word pieces' vectors (256 numbers each), averaged. No server, no key, no download.

Its weights are inside its package; it is told to look there and nowhere else, as it would otherwise try a cache in the
home folder and the network.
"""

from __future__ import annotations

import asyncio
import logging
import re
from collections.abc import Sequence
from functools import lru_cache
from itertools import chain
from pathlib import Path
from typing import Any, Self

import numpy as np

from simuverse.errors import EmbedderUnavailable
from simuverse.memory.embedders.texts import checked
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors
from simuverse.memory.word_vectors import WordVectors

BATCH = 64
"""Texts averaged at once: a text of 100 word pieces takes 100 kB."""

FEW = 4
"""Texts that are embedded at once, without a thread: some 0.1 ms each at most."""

CACHED_STRETCHES = 65_536
"""Stretches between spaces whose word pieces are kept, about 15 MB: cutting them up is what costs."""

LONGEST = 64
"""Characters of a stretch that is kept: what is longer is no word."""

_JOINED = re.compile("  |^ | $|[<\u2581]")
"""What has a piece of its own beyond a stretch: several spaces, marks such as ``<s>``, and the sign for a space."""


class WordLlamaEmbedder(WordVectors):
    """Opened with :meth:`open`."""

    name = "wordllama"

    def __init__(self, model: Any) -> None:
        """``model``: a ``wordllama.WordLlamaInference``."""
        super().__init__()
        self._table: Vectors = model.embedding
        self._tokenizer = model.tokenizer
        self._pieces_of = lru_cache(maxsize=CACHED_STRETCHES)(self._cut)
        self.dimension = int(self._table.shape[1])

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
        ready = checked(texts)
        # A question is done before a thread would have started.
        return self._embed(ready) if len(ready) <= FEW else await asyncio.to_thread(self._embed, ready)

    def look_up(self, words: Sequence[str]) -> Vectors:
        """See :meth:`WordVectors.look_up`."""
        return self._embed(words)

    async def aclose(self) -> None:
        pass

    def _embed(self, texts: Sequence[str]) -> Vectors:
        means = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), BATCH):
            pieces = [self._pieces(text.lower()) for text in texts[start : start + BATCH]]
            counts = np.array([len(ids) for ids in pieces])
            totals = np.add.reduceat(self._table[list(chain.from_iterable(pieces))], np.cumsum(counts) - counts, axis=0)
            means[start : start + BATCH] = totals / counts[:, np.newaxis]
        return unit_vectors(means, count=len(texts), dimension=self.dimension, embedder=self.name)

    def _pieces(self, text: str) -> Sequence[int]:
        """Numbers of a text's word pieces. Each stretch between two spaces can be cut alone, where that is the same."""
        if " " not in text:
            return self._pieces_of(text) if len(text) <= LONGEST else self._cut(text)
        stretches = text.split(" ")
        if _JOINED.search(text) or max(map(len, stretches)) > LONGEST:
            return self._cut(text)
        return list(chain.from_iterable(map(self._pieces_of, stretches)))

    def _cut(self, text: str) -> tuple[int, ...]:
        return tuple(self._tokenizer.encode(text, add_special_tokens=False).ids)


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
