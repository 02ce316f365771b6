"""Importance by likeness to events whose importance a person gave."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.graded_events import graded_events, importance_among, raised
from simuverse.memory.records import BY_RULE, Memory
from tests.contracts.memory_reference import memory


@pytest.fixture
async def embedder() -> WordLlamaEmbedder:
    return await WordLlamaEmbedder.open()


async def rated(embedder: WordLlamaEmbedder, text: str, draft: Memory) -> int:
    [vector] = await embedder.embed([text])
    return (await raised(draft, vector, embedder)).importance


@pytest.fixture
def by_rule() -> Memory:
    return replace(memory("whatever was said"), importance=2, flags=(BY_RULE,))


def test_every_grade_has_events() -> None:
    grades, texts = graded_events()
    assert set(grades.tolist()) == set(range(1, 11))
    assert len(texts) == len(grades)


async def test_what_turns_a_life_is_raised_in_whatever_words_and_small_things_are_not(
    embedder: WordLlamaEmbedder, by_rule: Memory
) -> None:
    assert await rated(embedder, "Our newborn twins came home today.", by_rule) >= 7
    assert await rated(embedder, "Uncle Bram did not wake up from the operation, he is dead.", by_rule) >= 7
    assert await rated(embedder, "I drank my tea and did the dishes.", by_rule) <= 3


async def test_what_is_like_no_event_stays_a_plain_remark(embedder: WordLlamaEmbedder) -> None:
    vectors = await embedder.embed(graded_events().texts)
    nothing = np.zeros(embedder.dimension, dtype=np.float32)
    assert importance_among(nothing, vectors) <= 4


async def test_only_what_a_rule_rated_is_raised_and_never_lowered(embedder: WordLlamaEmbedder, by_rule: Memory) -> None:
    death = "My father died this morning."
    assert await rated(embedder, death, replace(by_rule, flags=())) == 2
    assert await rated(embedder, death, replace(by_rule, summary="Has my father died?")) == 2
    assert await rated(embedder, "I drank my tea.", replace(by_rule, importance=9)) == 9
