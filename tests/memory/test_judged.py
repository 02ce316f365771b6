"""What a model judged to belong is held to the budget of any recall, and the record says what became of the rest."""

from __future__ import annotations

from dataclasses import replace

import pytest

from simuverse.memory.judged import MOST, judged, to_judge
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Cut
from simuverse.memory.room import SHORT, estimated_tokens
from tests.memory.recalling import Pool, summaries

THINGS = ("anchor", "basket", "candle", "drum", "easel", "fiddle", "goblet", "hammer", "inkwell", "jug", "kettle")
UNKNOWN = "Quarterly figures of the observatory?"


@pytest.mark.parametrize(("count", "shown"), [(1, 2), (3, 6), (5, 10), (8, MOST), (20, MOST)])
async def test_twice_as_many_as_may_come_back_are_judged_whatever_the_gate_thinks(
    pool: Pool, count: int, shown: int
) -> None:
    for thing in THINGS:
        await pool.keep(f"Greta sold a {thing}.")
    settings = RecallSettings(count=count, tokens=100_000)
    assert summaries(await pool.recall(UNKNOWN, settings=settings)) == []
    assert len(summaries(await pool.recall(UNKNOWN, settings=to_judge(settings)))) == shown


async def test_what_is_judged_has_as_much_room_as_it_would_have(pool: Pool) -> None:
    settings = RecallSettings(count=5, tokens=1000, share=0.4)
    wider = to_judge(settings)
    assert wider.tokens == 2000
    assert wider.share * wider.tokens == settings.share * settings.tokens
    alone = to_judge(replace(settings, count=20))
    assert (alone.tokens, alone.share) == (1000, 0.4)


async def test_what_belongs_comes_back_in_its_order_and_the_rest_is_cut(pool: Pool) -> None:
    for thing in THINGS[:6]:
        await pool.keep(f"Greta sold a {thing}.")
    settings = RecallSettings(count=3)
    found = await pool.recall("Who sold a kettle?", settings=to_judge(settings))
    names = summaries(found)

    recalled = judged(found, {2, 5}, settings)

    assert summaries(recalled) == [names[1], names[4]]
    assert [flashback.rank for flashback in recalled.flashbacks] == [1, 2]
    assert recalled.considered == found.considered
    assert [candidate.memory.summary for candidate in recalled.candidates] == names
    assert [candidate.cut for candidate in recalled.candidates] == [
        Cut.JUDGED, None, Cut.JUDGED, Cut.JUDGED, None, Cut.JUDGED,
    ]  # fmt: skip
    assert all(candidate.missed_by is None for candidate in recalled.candidates)


async def test_none_of_these_is_silence(pool: Pool) -> None:
    await pool.keep("Greta sold an anchor.")
    settings = RecallSettings()
    found = await pool.recall("Who sold an anchor?", settings=to_judge(settings))
    recalled = judged(found, (), settings)
    assert recalled.flashbacks == ()
    assert [candidate.cut for candidate in recalled.candidates] == [Cut.JUDGED]


async def test_no_more_come_back_than_may_whatever_belongs(pool: Pool) -> None:
    for thing in THINGS[:4]:
        await pool.keep(f"Greta sold a {thing}.")
    settings = RecallSettings(count=2)
    found = await pool.recall("Who sold a kettle?", settings=to_judge(settings))
    recalled = judged(found, {1, 2, 3, 4}, settings)
    assert summaries(recalled) == summaries(found)[:2]
    behind = found.candidates[1].score.total - found.candidates[3].score.total
    assert recalled.candidates[3].cut is Cut.COUNT
    assert recalled.candidates[3].missed_by == pytest.approx(behind)


async def test_the_budget_in_tokens_is_kept_too(pool: Pool) -> None:
    kept = [await pool.keep(f"Greta sold a {thing} {'to someone ' * 20}.") for thing in THINGS[:4]]
    cost = estimated_tokens(kept[0])
    assert cost < SHORT
    settings = RecallSettings(count=4, tokens=2 * cost + 5, alike=None)
    found = await pool.recall("Who sold a kettle?", settings=to_judge(settings))
    assert len(found.flashbacks) == 4
    recalled = judged(found, {1, 2, 3, 4}, settings)
    assert len(recalled.flashbacks) == 2
    assert {candidate.cut for candidate in recalled.candidates[2:]} == {Cut.TOKENS}
    assert all(candidate.missed_by is not None and candidate.missed_by > 0 for candidate in recalled.candidates[2:])


async def test_no_more_of_the_rest_are_on_record_than_of_any_recall(pool: Pool) -> None:
    for thing in THINGS:
        await pool.keep(f"Greta sold a {thing}.")
    settings = RecallSettings(count=5, runners_up=3)
    found = await pool.recall("Who sold a kettle?", settings=to_judge(settings))
    recalled = judged(found, {1, 7}, settings)
    assert len(recalled.flashbacks) == 2
    assert sum(candidate.cut is not None for candidate in recalled.candidates) == 3
