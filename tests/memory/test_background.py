"""Cosines of different embedders on one scale."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pytest

from simuverse.memory.background import UNRELATED, above, background
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.embedding import TextKind, Vectors


class Narrow(HashingEmbedder):
    """Puts all texts close together, as E5 does."""

    asked = 0

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        self.asked += 1
        vectors = await super().embed(texts, kind=kind) + np.float32(3 / np.sqrt(self.dimension))
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), dtype=np.float32)


async def test_the_default_is_the_measure() -> None:
    assert await background(await WordLlamaEmbedder.open()) == pytest.approx(UNRELATED, abs=0.02)


async def test_what_an_embedder_puts_close_together_counts_by_how_far_it_is_above_that() -> None:
    narrow = Narrow()
    unrelated = await background(narrow)
    assert unrelated > 0.7
    same, far = await narrow.embed(["the kite is blue", "numbers of the tide"])
    assert above(float(same @ far), unrelated) < 0.2
    assert above(float(same @ same), unrelated) == pytest.approx(1, abs=1e-5)


async def test_it_is_asked_once() -> None:
    narrow = Narrow()
    assert await background(narrow) == await background(narrow)
    assert narrow.asked == 1


def test_by_the_default_a_cosine_stays_as_it_is() -> None:
    assert above(0.4, UNRELATED) == pytest.approx(0.4)
