"""Recall of what is of a time, on a Wednesday noon, 18 March 2026."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

from simuverse.memory.recall import Recalled, RecallSettings
from simuverse.memory.records import Memory, MemoryQuery
from simuverse.memory.when_asked import in_time
from tests.memory.recalling import NOW, OPEN, Pool, summaries

SHIPPED = RecallSettings()


async def ask(pool: Pool, text: str, *, settings: RecallSettings = SHIPPED, shown: tuple[Memory, ...] = ()) -> Recalled:
    query = in_time(MemoryQuery(text=text), now=NOW, zone=UTC, owner=pool.collection.owner)
    return await pool.recall(query, settings=settings, shown={memory.id for memory in shown})


def ago(*, days: int = 0, hours: int = 0) -> timedelta:
    return timedelta(days=days, hours=hours)


async def test_a_day_asked_for_is_listed_by_importance(pool: Pool) -> None:
    await pool.keep("Rain on the roof.", importance=2, age=ago(days=1))
    await pool.keep("The mill burnt down.", importance=9, age=ago(days=1, hours=2))
    await pool.keep("A parcel came.", importance=4, age=ago(days=1, hours=4))
    await pool.keep("A wedding.", importance=10, age=ago(days=2))
    recalled = await ask(pool, "What happened yesterday?")
    assert summaries(recalled) == ["The mill burnt down.", "A parcel came.", "Rain on the roof."]
    assert {found.listed for flashback in recalled.flashbacks for found in flashback.found_by} == {True}
    assert recalled.candidates[0].relevance.time == 1


async def test_of_a_full_time_the_most_important_come(pool: Pool) -> None:
    for number in range(40):
        await pool.keep(f"Errand {number}.", importance=2, age=timedelta(days=1, minutes=number))
    await pool.keep("Her sister came home.", importance=8, age=timedelta(days=1, minutes=90))
    await pool.keep("She lost her purse.", importance=5, age=timedelta(days=1, minutes=91))
    recalled = await ask(pool, "What happened yesterday?", settings=replace(SHIPPED, alike=None))
    assert summaries(recalled)[:3] == ["Her sister came home.", "She lost her purse.", "Errand 0."]
    assert len(recalled.flashbacks) == SHIPPED.count


async def test_a_day_without_memories_is_silent(pool: Pool) -> None:
    await pool.keep("The mill burnt down.", importance=9, age=ago(days=1))
    assert summaries(await ask(pool, "What happened on Monday?")) == []
    assert summaries(await ask(pool, "Did the mill burn down on Monday?")) == []


async def test_a_question_about_a_day_finds_no_other_day(pool: Pool) -> None:
    await pool.keep("Mira painted the boat.", age=ago(days=8))
    await pool.keep("Mira painted the fence.", age=ago(days=1))
    assert summaries(await ask(pool, "What did Mira paint yesterday?")) == ["Mira painted the fence."]
    assert summaries(await ask(pool, "What did Mira paint last week?")) == ["Mira painted the boat."]


async def test_what_was_told_later_of_that_day_is_of_it(pool: Pool) -> None:
    await pool.keep("Mira painted the fence yesterday.", age=ago(hours=3))
    await pool.keep("Mira will paint the shed tomorrow.", age=ago(hours=3))
    assert summaries(await ask(pool, "What did Mira paint yesterday?")) == ["Mira painted the fence yesterday."]
    assert summaries(await ask(pool, "What happened yesterday?")) == ["Mira painted the fence yesterday."]


async def test_what_was_announced_for_a_day_is_of_it(pool: Pool) -> None:
    await pool.keep("The fair by the river is on 14 March.", age=ago(days=20))
    await pool.keep("The fair by the lake is on 21 March.", age=ago(days=20))
    recalled = await ask(pool, "Was there a fair on 14 March?")
    assert summaries(recalled) == ["The fair by the river is on 14 March."]


async def test_a_list_comes_again_when_it_is_asked_for_again(pool: Pool) -> None:
    memory = await pool.keep("The mill burnt down.", age=ago(days=1))
    assert summaries(await ask(pool, "What happened yesterday?", shown=(memory,))) == ["The mill burnt down."]


async def test_a_time_that_is_mentioned_decides_among_near_equals(pool: Pool) -> None:
    await pool.keep("Mira sold a blue boat.", age=ago(days=8))
    await pool.keep("Mira sold a red boat.", age=ago(days=1))
    for text in (
        "The baker sings.",
        "Rain on the roof.",
        "James found a key.",
        "A parcel for Mira came.",
        "Soup again.",
    ):
        await pool.keep(text, age=ago(days=4))
    for said, first in (("yesterday", "red"), ("on 10 March", "blue")):
        recalled = await ask(pool, f"I saw that Mira sold a boat {said}.", settings=replace(OPEN, alike=None))
        assert summaries(recalled)[0] == f"Mira sold a {first} boat."


async def test_what_holds_no_longer_comes_back_for_its_day(pool: Pool) -> None:
    old = await pool.keep("Mira lives in Orvale.", age=ago(days=8))
    new = await pool.keep("Mira lives in Tessin.", age=ago(days=1))
    await pool.collection.supersede(old.id, by=new.id, at=datetime(2026, 3, 17, 12, tzinfo=UTC))
    assert summaries(await ask(pool, "Where did Mira live last week?")) == ["Mira lives in Orvale."]
    assert summaries(await ask(pool, "Where does Mira live?")) == ["Mira lives in Tessin."]
