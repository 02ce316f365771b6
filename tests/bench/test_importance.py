from __future__ import annotations

from pathlib import Path

import pytest

from simuverse.bench.importance import graded_events, measure_importance, rank_correlation
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.graded_events import graded_events as examples
from simuverse.memory.stores.sqlite import SQLiteStore


def test_rank_correlation_is_spearmans_worked_out_by_hand() -> None:
    assert rank_correlation([1, 2, 3], [10, 20, 500]) == pytest.approx(1)
    assert rank_correlation([1, 2, 3], [3, 2, 1]) == pytest.approx(-1)
    # Ranks 1 2 3 4 and 1.5 1.5 3.5 3.5: covariance 4, sums of squares 5 and 4.
    assert rank_correlation([1, 2, 3, 4], [7, 7, 9, 9]) == pytest.approx(4 / 20**0.5)


def test_the_lists_hold_every_grade_and_no_event_twice() -> None:
    unseen, blind = graded_events("unseen"), graded_events("blind")
    assert len(blind) == 60
    for graded in (unseen, blind):
        assert {event.grade for event in graded} == set(range(1, 11))
    texts = [event.text for event in (*unseen, *blind)] + list(examples().texts)
    assert len(set(texts)) == len(texts)


async def test_events_are_rated_nearly_as_a_person_does_and_nothing_is_left(tmp_path: Path) -> None:
    embedder = await WordLlamaEmbedder.open()
    store = await SQLiteStore.open(tmp_path / "m.db", embedder_name=embedder.name, dimension=embedder.dimension)
    try:
        bench = await measure_importance(store, embedder)
        assert await store.owners() == []
    finally:
        await store.aclose()
    assert bench.rated_by == "rule"
    assert [one.events for one in bench.measured] == ["unseen", "blind"]
    for one in bench.measured:
        assert one.correlation >= 0.7
        assert len(one.ratings) == one.count
