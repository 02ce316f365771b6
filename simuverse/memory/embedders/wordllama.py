"""WordLlama, the default: a table of word pieces' vectors (256 numbers each), averaged. No server, no key, no download.

Its weights are two files inside its package, read from there without importing it: the import would bring in what
talks to the network, for downloads that nobody asked for, and take longer than all the rest of a first recall.
"""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Sequence
from functools import lru_cache
from importlib import import_module
from importlib.util import find_spec
from itertools import chain
from pathlib import Path
from typing import Self

import numpy as np
from numpy.typing import NDArray
from tokenizers import Tokenizer

from simuverse.errors import EmbedderUnavailable
from simuverse.memory.embedders.texts import checked
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors
from simuverse.memory.word_vectors import WordVectors

WEIGHTS, TOKENIZER = "l2_supercat_256.safetensors", "l2_supercat_tokenizer_config.json"

BATCH = 64
"""Texts averaged at once: a text of 100 word pieces takes 100 kB."""

FEW = 4
"""Texts that are embedded at once, without a thread: some 0.1 ms each at most."""

CACHED_STRETCHES = 65_536
"""Stretches between spaces whose word pieces are kept, about 15 MB: cutting them up is what costs."""

LONGEST = 64
"""Characters of a stretch that is kept: what is longer is no word."""

_USUAL = 13.8
"""Length of a row of the table, on average."""

_JOINED = re.compile("  |^ | $|[<\u2581]")
"""What has a piece of its own beyond a stretch: several spaces, marks such as ``<s>``, and the sign for a space."""


class WordLlamaEmbedder(WordVectors):
    """Opened with :meth:`open`."""

    name = "wordllama"

    def __init__(self, table: Vectors, tokenizer: Tokenizer) -> None:
        """Args:
        table: a row for each word piece.
        tokenizer: gives the rows of a text's pieces.
        """
        super().__init__()
        self._table = table
        self._tokenizer = tokenizer
        self._pieces_of = lru_cache(maxsize=CACHED_STRETCHES)(self._cut)
        self.dimension = int(self._table.shape[1])

    @classmethod
    async def open(cls) -> Self:
        """Loads the table, 32 MB and shared by all, in a thread.

        Raises:
            EmbedderUnavailable: the package's files are missing or broken.
        """
        return cls(*await asyncio.to_thread(_load))

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """See :meth:`Embedder.embed`; both kinds of text have the same vectors, and so are capitals.

        The table holds a word with a capital apart from the same without, further off than from many another word.
        """
        ready = checked(texts)
        # A question is done before a thread would have started.
        vectors = self._embed(ready) if len(ready) <= FEW else await asyncio.to_thread(self._embed, ready)
        if kind == "document":
            await self.note(texts)
        return vectors

    def look_up(self, words: Sequence[str]) -> Vectors:
        """See :meth:`WordVectors.look_up`."""
        return self._embed(words, at_once=len(words))

    def weights(self, words: Sequence[str]) -> list[float]:
        """See :meth:`WordVectors.weights`: the longer the sum of a word's vectors, the more it turns a text's mean."""
        sums = [self._table[list(self._pieces(word))].sum(axis=0) for word in words]
        return [float(np.linalg.norm(one)) / _USUAL for one in sums]

    def let_go(self) -> None:
        """See :meth:`WordVectors.let_go`; also of the pieces that texts were cut into."""
        super().let_go()
        self._pieces_of.cache_clear()

    async def aclose(self) -> None:
        pass

    def _embed(self, texts: Sequence[str], at_once: int = BATCH) -> Vectors:
        means = np.empty((len(texts), self.dimension), dtype=np.float32)
        for start in range(0, len(texts), at_once):
            pieces = [self._pieces(text.lower()) for text in texts[start : start + at_once]]
            means[start : start + at_once] = self._means(pieces)
        return unit_vectors(means, count=len(texts), dimension=self.dimension, embedder=self.name)

    def _means(self, pieces: Sequence[Sequence[int]]) -> Vectors:
        """Of each text's pieces, at least one. Texts of one length at once: sums over spans would take four times as
        long."""
        lengths = [*map(len, pieces)]
        counts = np.array(lengths)
        ids = np.fromiter(chain.from_iterable(pieces), np.intp, sum(lengths))
        starts = np.cumsum(counts) - counts
        means = np.empty((len(pieces), self.dimension), dtype=np.float32)
        for count in set(lengths):
            alike = np.flatnonzero(counts == count)
            places = starts[alike][:, np.newaxis] + np.arange(count)
            means[alike] = self._table[ids[places]].sum(axis=1) / np.float32(count)
        return means

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
def _load() -> tuple[Vectors, Tokenizer]:
    """The vectors of all pieces, and what cuts a text into them."""
    try:
        package = find_spec("wordllama")
        if package is None or package.origin is None:
            raise FileNotFoundError("the package isn't there")
        folder = Path(package.origin).parent
        load_file: Callable[[Path], dict[str, NDArray[np.float16]]] = import_module("safetensors.numpy").load_file
        vectors = load_file(folder / "weights" / WEIGHTS)["embedding.weight"]
        return vectors.astype(np.float32), Tokenizer.from_file(str(folder / "tokenizers" / TOKENIZER))
    except Exception as error:  # what reads the tokenizer raises nothing more precise
        raise EmbedderUnavailable(
            f"wordllama's weights can't be read ({error}). Reinstall it: pip install --force-reinstall wordllama"
        ) from error
