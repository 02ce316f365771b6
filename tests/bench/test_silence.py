"""The silence benchmark: what is asked, and what it counts."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest

from simuverse.bench.silence import CURVE, area_under_curve, far_messages, foreign_questions, measure_silence
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from tests.bench.talks import asks, dialogue


def test_the_far_messages_are_200_and_no_two_alike() -> None:
    assert len(set(far_messages())) == len(far_messages()) == 200
    assert all(message.strip() == message != "" for message in far_messages())


def test_foreign_questions_bear_the_names_of_the_dialogue_they_are_put_to() -> None:
    keys = dialogue("keys", asks("Where is the copper key?", "2:2"))
    turns = tuple(
        tuple(replace(turn, speaker={"Mira": "Ada", "Tomas": "Bo"}[turn.speaker]) for turn in session)
        for session in keys.sessions
    )
    boats = replace(keys, name="boats", sessions=turns, questions=(asks("Did Ada and Bo, or Adam, sail?", "1:1"),))
    assert foreign_questions(keys, [keys, boats], Random(1)) == ["Did Mira and Tomas, or Adam, sail?"]
    assert foreign_questions(boats, [keys, boats], Random(1)) == ["Where is the copper key?"]


async def test_answers_are_kept_and_foreign_questions_left_alone(store: MemoryStore, embedder: HashingEmbedder) -> None:
    keys = dialogue("keys", asks("Where is the copper key?", "2:2"), asks("Which cupboard has the oak key?", "5:2"))
    other = dialogue("other", asks("Who navigated the schooner through the glacier strait last winter?", "1:1"))
    measured = await measure_silence({"own": [keys, other]}, store, embedder)
    [source] = measured.sources
    assert (source.own, source.foreign, source.far) == (3, 3, 400)
    assert source.answered >= 2
    assert tuple(one.min_sure for one in source.curve) == CURVE
    for eager, strict in zip(source.curve, source.curve[1:], strict=False):
        assert (eager.kept, eager.own, eager.foreign, eager.far) >= (
            strict.kept,
            strict.own,
            strict.foreign,
            strict.far,
        )
    assert source.curve[0].kept > 0
    assert 0.5 < source.area <= 1
    assert await store.owners() == []


async def test_a_lone_dialogue_has_nothing_foreign(store: MemoryStore, embedder: HashingEmbedder) -> None:
    with pytest.raises(UsageError, match="one dialogue alone has no foreign questions"):
        await measure_silence({"own": [dialogue("keys", asks("Where?", "1:1"))]}, store, embedder)


def test_the_area_under_the_curve_is_how_often_own_is_above_foreign() -> None:
    assert area_under_curve([3, 2], [1]) == 1
    assert area_under_curve([3, 1], [2]) == 0.5
    assert area_under_curve([2, 2], [2, 1]) == 0.75
    assert area_under_curve([], [1]) != area_under_curve([], [1])
