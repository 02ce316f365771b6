from __future__ import annotations

import pytest

from simuverse.bench.importance import graded_events, measure_importance, rank_correlation
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore


def test_rank_correlation_is_spearmans_worked_out_by_hand() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 500]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1 2 3 4 and 1.5 1.5 3.5 3.5: covariance 4, sums of squares 5 and 4.
    assert rank_correlation([1, 2, 3, 4], [7, 7, 9, 9]) == pytest.approx(4 / 20**0.5)


def test_the_lists_hold_every_grade_and_no_event_twice() -> None:
    events, unseen = graded_events("events"), graded_events("unseen")
    assert len(events) >= 60
    for graded in (events, unseen):
        assert {event.grade for event in graded} == set(range(1, 11))
    assert len({event.text for event in (*events, *unseen)}) == len(events) + len(unseen)


async def test_the_rule_rates_events_nearly_as_a_person_does_and_leaves_nothing(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    bench = await measure_importance(store, embedder)
    events, unseen = bench.measured
    assert bench.rated_by == "rule"
    assert events.correlation >= 0.7
    assert unseen.correlation > 0
    assert len(events.ratings) == events.count
    assert await store.owners() == []
