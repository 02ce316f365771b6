"""Vectors of single words, for an embedder that keeps a table of them.

Those looked up are kept, and so is which words a text is made of: a recall compares the same memories turn after turn.
What is embedded to be stored is noted then, while nobody waits, and not when a turn does.
"""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from itertools import accumulate, chain, pairwise

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.analysis import content_words
from simuverse.memory.caches import emptied_when_erased
from simuverse.memory.embedding import Vectors

CACHED_WORDS = 20_000
"""Words kept before all are let go, 20 MB at 256 numbers each: about what a person uses."""

_ROOM = 2_000
"""Rows beyond that: more new words than one recall ever brings."""

CACHED_TEXTS = 16_384
"""The same for texts, some 5 MB: as many as memories whose tokens are kept."""

NOTED_WORDS, NOTED_TEXTS = 3 * CACHED_WORDS // 4, 3 * CACHED_TEXTS // 4
"""Of these, what is noted ahead at most: the rest is for what is really compared."""

_NOTED_AT_ONCE = 64
"""Texts noted before others get a turn: some 2 ms."""

WordRows = NDArray[np.intp]
"""Of a text's content words in their order, repeats kept: the row of each among the vectors kept."""


class WordVectors(ABC):
    """What an embedder also is if a single word costs it no more than a look. At once, on whatever thread calls."""

    def __init__(self) -> None:
        self._row_of: dict[str, int] = {}
        self._kept: Vectors = np.zeros((0, 0), dtype=np.float32)
        self._rows_of: dict[str, WordRows] = {}
        emptied_when_erased(self)

    def let_go(self) -> None:
        """Of all words and texts."""
        self._row_of, self._rows_of = {}, {}

    @abstractmethod
    def look_up(self, words: Sequence[str]) -> Vectors:
        """One unit vector a word, in order; all different, at least one."""

    @abstractmethod
    def weights(self, words: Sequence[str]) -> list[float]:
        """How much each word adds to what a text is about: 1 as a piece of a word does on average, "took" half that."""

    def word_vectors(self, words: Sequence[str]) -> Vectors:
        """One unit vector a word, in order."""
        self._make_room()
        self._keep(words)
        return self._kept[[self._row_of[word] for word in words]]

    async def note(self, texts: Sequence[str]) -> None:
        """Of texts that will be compared later, looks up the words now, as long as there is room."""
        for start in range(0, len(texts), _NOTED_AT_ONCE):
            if len(self._row_of) >= NOTED_WORDS or len(self._rows_of) >= NOTED_TEXTS:
                return
            if start:
                await asyncio.sleep(0)
            self.content(texts[start : start + _NOTED_AT_ONCE])

    def content(self, texts: Sequence[str]) -> tuple[list[WordRows], Vectors]:
        """Of each text the rows of its content words, and the vectors that these are rows of."""
        self._make_room()
        new = {text: content_words(text) for text in texts if text not in self._rows_of}
        if new:
            words = [*chain.from_iterable(new.values())]
            self._keep(words)
            rows = np.fromiter(map(self._row_of.__getitem__, words), np.intp, len(words))
            ends = accumulate(map(len, new.values()), initial=0)
            self._rows_of.update(
                (text, rows[start:end]) for text, (start, end) in zip(new, pairwise(ends), strict=True)
            )
        return [self._rows_of[text] for text in texts], self._kept

    def _make_room(self) -> None:
        if len(self._row_of) >= CACHED_WORDS or len(self._rows_of) >= CACHED_TEXTS:
            self.let_go()

    def _keep(self, words: Iterable[str]) -> None:
        new = [word for word in dict.fromkeys(words) if word not in self._row_of]
        if new:
            first, end = len(self._row_of), len(self._row_of) + len(new)
            vectors = self.look_up(new)
            if len(self._kept) < end:  # pages that nothing was written to take no memory
                more = np.zeros((max(end, CACHED_WORDS + _ROOM) - first, vectors.shape[1]), dtype=np.float32)
                self._kept = np.concatenate([self._kept[:first], more]) if first else more
            self._kept[first:end] = vectors
            self._row_of.update(zip(new, range(first, end), strict=True))
