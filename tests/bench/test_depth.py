from __future__ import annotations

import pytest

from simuverse.bench.depth import OWNER, everyday, measure_depth, planted
from simuverse.errors import UsageError
from simuverse.memory.analysis import tokens
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore


def test_no_reworded_question_shares_a_word_with_its_moment_and_every_vague_one_does() -> None:
    moments = planted()
    assert len(moments) == 20
    for one in moments:
        assert not set(tokens(one.text)) & set(tokens(one.reworded)), one
        assert set(tokens(one.text)) & set(tokens(one.vague)), one


def test_everyday_sentences_differ_and_repeat_with_the_seed() -> None:
    sentences = everyday(3000, seed=1)
    assert len(set(sentences)) == 3000
    assert sentences == everyday(3000, seed=1) != everyday(3000, seed=2)
    assert not set(sentences) & {one.text for one in planted()}
    assert len(everyday(100_000, seed=1)) == 100_000


def test_more_everyday_sentences_than_there_are_is_refused() -> None:
    with pytest.raises(UsageError, match="everyday sentences, not 10000000"):
        everyday(10_000_000, seed=1)


async def test_both_questions_are_asked_at_each_size_and_nothing_is_left(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    measured = await measure_depth(store, embedder, sizes=(20, 60))
    assert [(one.size, one.question) for one in measured.measured] == [
        (size, question) for size in (20, 60) for question in ("vague", "reworded")
    ]
    for one in measured.measured:
        assert 0 <= one.at_5 <= one.at_10 <= 1
        assert one.p50_ms > 0
    vague, reworded = measured.measured[2:]
    assert vague.at_5 > reworded.at_5  # without meaning, only words find
    assert await store.owners() == []


async def test_a_size_below_the_moments_and_a_store_that_is_in_use_are_refused(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    with pytest.raises(UsageError, match="sizes are 20 or more, not 19"):
        await measure_depth(store, embedder, sizes=(19,))
    await store.collection(OWNER)
    with pytest.raises(UsageError, match="already holds memories"):
        await measure_depth(store, embedder, sizes=(20,))
