"""Texts of invented words whose frequencies fall as a language's do."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import product

import numpy as np

_ONSETS = ("b", "br", "d", "f", "gl", "h", "k", "l", "m", "n", "p", "r", "s", "st", "t", "tr", "v", "z")
_NUCLEI = ("a", "ai", "e", "i", "o", "ou", "u")
_CODAS = ("", "l", "m", "n", "r", "x")

VOCABULARY = 20_000
"""Distinct words: about what a person uses."""

SHORTEST, LONGEST = 8, 22
"""Words of a text, one or two sentences."""


class InventedTexts:
    """The n-th most frequent word is drawn n times as rarely as the first (Zipf's law).

    So the most frequent words are in most texts, as if they were stop words that nobody took out: the hard case for a
    keyword search.

    Args:
        seed: the same seed gives the same texts.
    """

    def __init__(self, seed: int) -> None:
        self._random = np.random.default_rng(seed)
        syllables = ["".join(parts) for parts in product(_ONSETS, _NUCLEI, _CODAS)]
        pairs = [first + second for first, second in product(syllables, syllables)]
        places: list[int] = self._random.choice(len(pairs), VOCABULARY, replace=False).tolist()
        self._words = [pairs[place] for place in places]
        weights = 1 / np.arange(1, VOCABULARY + 1)
        self._shares = weights / weights.sum()

    def draw(self, count: int) -> list[str]:
        """``count`` texts, each a sentence of SHORTEST to LONGEST words."""
        lengths = self._random.integers(SHORTEST, LONGEST, count, endpoint=True)
        drawn: Iterator[int] = iter(self._random.choice(VOCABULARY, int(lengths.sum()), p=self._shares).tolist())
        return [" ".join(self._words[next(drawn)] for _ in range(length)) + "." for length in lengths]
