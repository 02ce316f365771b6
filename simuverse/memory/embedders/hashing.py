"""An embedder without a model, for tests: texts are alike as far as they share words and pieces of words.

Feature hashing after Weinberger et al. (2009): each feature adds its weight, with a sign of its own, to one place of
the vector. Nothing is learned, so words that only mean the same have nothing in common.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache
from hashlib import blake2b
from typing import Self

import numpy as np

from simuverse.memory.analysis import tokens
from simuverse.memory.embedders.texts import checked
from simuverse.memory.embedding import TextKind, Vectors, unit_vectors

DIMENSION = 256
"""Wide enough that the features of two sentences rarely meet by chance, narrow enough to keep tests quick."""

_TOKEN_WEIGHT, _PIECE_WEIGHT = 1.0, 0.25
"""A word has some four pieces: sharing it counts about as much as sharing all of them."""

_PIECE = 3
"""Characters of a piece."""


class HashingEmbedder:
    name = "hashing"
    dimension = DIMENSION

    @classmethod
    async def open(cls) -> Self:
        return cls()

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:  # noqa: ARG002
        """See :meth:`Embedder.embed`; both kinds of text are the same to it."""
        rows = np.zeros((len(texts), DIMENSION))
        for row, text in zip(rows, checked(texts), strict=True):
            for feature, weight in _features(text):
                place, sign = _hashed(feature)
                row[place] += sign * weight
            if not row.any():  # nothing to take apart, or everything cancelled out: the text as a whole
                row[_hashed(f"whole {text}")[0]] = 1.0
        return unit_vectors(rows, count=len(texts), dimension=DIMENSION, embedder=self.name)

    async def aclose(self) -> None:
        pass


def _features(text: str) -> Iterator[tuple[str, float]]:
    for token in tokens(text):
        yield f"token {token}", _TOKEN_WEIGHT
        padded = f" {token} "
        for start in range(len(padded) - _PIECE + 1):
            yield f"piece {padded[start : start + _PIECE]}", _PIECE_WEIGHT


@lru_cache(maxsize=65_536)
def _hashed(feature: str) -> tuple[int, float]:
    """A place in the vector and a sign, the same in every process."""
    number = int.from_bytes(blake2b(feature.encode(), digest_size=8).digest(), "big")
    return (number >> 1) % DIMENSION, 1.0 if number & 1 else -1.0
