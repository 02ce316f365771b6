from __future__ import annotations

from collections import Counter

import pytest

from simuverse.bench.changes import DISTANCES, NOW, OWNER, invented_changes, measure_changes
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.scoring import PRESETS
from simuverse.memory.store import MemoryStore


def test_every_distance_is_as_frequent_and_the_later_fact_is_another() -> None:
    changes = invented_changes(3)
    assert changes == invented_changes(3) != invented_changes(4)
    assert Counter(one.said_new - one.said_old for one in changes) == dict.fromkeys(DISTANCES, len(changes) / 5)
    for one in changes:
        assert one.old != one.new
        assert one.said_old < one.said_new <= NOW
        assert one.name in one.now
        assert f"{one.said_old:%B %Y}" in one.then


def test_each_question_has_one_answer() -> None:
    changes = invented_changes(3)
    assert len({one.now for one in changes}) == len({one.then for one in changes}) == len(changes)


async def test_all_presets_are_measured_and_nothing_stays(store: MemoryStore, embedder: HashingEmbedder) -> None:
    measured = await measure_changes(store, embedder, people=2, distractors=20)
    assert (measured.memories, measured.questions) == (40, 20)
    assert [one.setting for one in measured.measured] == list(PRESETS)
    for one in measured.measured:
        assert list(one.now_by_distance) == [6, 24, 168, 720, 8760]
        assert one.now == pytest.approx(sum(one.now_by_distance.values()) / 5)
    newest = {one.setting: one.now for one in measured.measured}
    assert newest["interview"] > 0.5
    assert await store.owners() == []


async def test_memories_of_the_benchmarks_name_are_left_alone(store: MemoryStore, embedder: HashingEmbedder) -> None:
    await store.collection(OWNER)
    with pytest.raises(UsageError, match="already holds memories"):
        await measure_changes(store, embedder, people=1, distractors=1)
    assert await store.owners() == [OWNER]


@pytest.mark.parametrize("people", [0, 21])
def test_more_people_than_names_are_refused(people: int) -> None:
    with pytest.raises(UsageError, match="1 to 20"):
        invented_changes(1, people=people)
