"""The benchmark of questions about times: what it asks, and what it counts."""

from __future__ import annotations

from datetime import UTC

import pytest

from simuverse.bench.times import OWNER, ZONES, invented_life, measure_times, small_talk, time_questions
from simuverse.bench.times_table import times_table
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.time_asked import TimeUse
from simuverse.memory.when_calendar import Window


def test_a_hundred_questions_ask_for_moments_that_are_there_and_of_the_time_they_name() -> None:
    life, questions = {moment.name: moment for moment in invented_life()}, time_questions()
    assert len({question.text for question in questions}) == len(questions) == 100
    for question in questions:
        assert question.found <= life.keys()
        if question.use in (TimeUse.LIST, TimeUse.WINDOW):
            window = Window(since=question.since, until=question.until)
            times = [{life[name].at, life[name].told_of} for name in question.found]
            assert all(any(time is not None and time in window for time in one) for one in times), question.text


def test_small_talk_leaves_the_silent_days_alone() -> None:
    questions = time_questions()
    quiet = [Window(since=q.since, until=q.until) for q in questions if q.use is TimeUse.LIST and q.silent]
    talk = small_talk(questions, seed=1)
    assert talk == small_talk(questions, seed=1)
    assert not any(moment.at in window for window in quiet for moment in talk)


async def test_a_zone_is_measured_and_nothing_is_left(store: MemoryStore, embedder: HashingEmbedder) -> None:
    measured = await measure_times(store, embedder, zones=ZONES[:1])
    [one] = measured.measured
    assert (measured.questions, measured.to_be_silent) == (100, 11)
    assert one.understood >= 98
    assert (one.silent >= 10, one.false) == (True, 0)
    assert one.found > 0.6
    assert one.zone == str(UTC)
    assert await store.owners() == []
    assert "UTC" in times_table(measured)


async def test_a_store_that_holds_such_a_life_is_left_alone(store: MemoryStore, embedder: HashingEmbedder) -> None:
    await store.collection(OWNER)
    with pytest.raises(UsageError, match="use another store"):
        await measure_times(store, embedder)
