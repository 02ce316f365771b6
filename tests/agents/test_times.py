"""A question about a time, from what is heard to what the character is shown."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from zoneinfo import ZoneInfo

from simuverse.agents.trace import Recollection
from simuverse.agents.xml import render_queries
from simuverse.memory.clock import ManualClock
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import MemoryFilter, MemoryQuery
from simuverse.memory.time_asked import TimeUse
from tests.agents.minds import NOW, Minds, moment

TUESDAY = NOW.replace(hour=0) - timedelta(days=1)


def summaries(recalled: Recollection) -> list[str]:
    return [flashback.memory.summary for flashback in recalled]


async def live(open_mind: Minds, clock: ManualClock) -> None:
    mind = open_mind()
    for days, hours, text in ((8, 0, "I sold the cart."), (1, 0, "I sold the boat."), (0, 12, "The owl is back.")):
        clock.set(NOW - timedelta(days=days, hours=hours))
        await mind.remember(text, said_by="Bo")
    clock.set(NOW)


async def test_by_rule_what_is_heard_sets_the_window(open_mind: Minds, clock: ManualClock) -> None:
    await live(open_mind, clock)
    recalled = await open_mind().recollect(moment(("Bo", "What happened yesterday, Mira?")))
    assert summaries(recalled) == ["Bo: I sold the boat."]
    time = recalled.queries[0].time
    assert time is not None
    assert (time.use, time.phrase, time.since) == (TimeUse.LIST, "yesterday", TUESDAY)
    assert recalled.queries[0].filter.since == TUESDAY
    assert "<time>2026-03-17T12:00Z</time>" in recalled.as_xml()


async def test_an_empty_day_is_silent(open_mind: Minds, clock: ManualClock) -> None:
    await live(open_mind, clock)
    recalled = await open_mind().recollect(moment(("Bo", "What happened on Sunday?")))
    assert summaries(recalled) == []
    assert recalled.problems == ()


async def test_a_models_query_in_words_is_read_the_same_way(open_mind: Minds, clock: ManualClock) -> None:
    await live(open_mind, clock)
    written = render_queries([MemoryQuery(text="What did Bo sell last week?", keywords=("sold",))])
    recalled = await open_mind(written).recollect(moment(("Bo", "And before?")))
    assert summaries(recalled) == ["Bo: I sold the cart."]


async def test_a_window_that_a_model_gave_stands(open_mind: Minds, clock: ManualClock) -> None:
    await live(open_mind, clock)
    own = MemoryFilter(since=NOW - timedelta(days=2))
    written = render_queries([MemoryQuery(text="What did Bo sell last week?", filter=own)])
    recalled = await open_mind(written).recollect(moment(("Bo", "And before?")))
    assert recalled.queries[0].filter.since == own.since
    assert recalled.queries[0].time is None
    assert "Bo: I sold the cart." not in summaries(recalled)


async def test_the_day_is_that_of_the_minds_zone(open_mind: Minds, clock: ManualClock) -> None:
    await live(open_mind, clock)
    asked = moment(("Bo", "What happened yesterday?"))
    honolulu = open_mind(settings=replace(RecallSettings(), zone=ZoneInfo("Pacific/Honolulu")))
    assert summaries(await honolulu.recollect(asked)) == ["Bo: The owl is back.", "Bo: I sold the boat."]
