"""What the gate, the cool-down and the budget let through, and what the record says of the rest."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simuverse.memory.recall import Recalled, RecallSettings
from simuverse.memory.records import Cut, MemoryQuery, SearchType
from simuverse.memory.room import estimated_tokens
from tests.memory.recalling import OPEN, Pool, summaries


async def test_when_nothing_fits_nothing_comes_and_the_record_says_by_how_much(pool: Pool) -> None:
    await pool.keep("Greta baked rye bread.", importance=10)
    await pool.keep("Tomas mended the nets.", importance=10)
    settings = RecallSettings(min_sure=-1)

    recalled = await pool.recall("Quarterly figures of the observatory?", settings=settings)

    assert recalled.flashbacks == ()
    assert recalled.considered == 2 == len(recalled.candidates)
    for candidate in recalled.candidates:
        assert candidate.cut is Cut.GATE
        cosine = max(f.cosine for f in candidate.found_by if f.cosine is not None)
        found = max(f.context_bm25 or 0 for f in candidate.found_by)
        short = min(settings.min_cosine - cosine, settings.min_matched - candidate.matched, settings.min_found - found)
        assert candidate.missed_by == pytest.approx(short)
        assert short > 0


async def test_a_question_about_something_unknown_brings_nothing_though_a_word_of_it_is_known(pool: Pool) -> None:
    for number in range(30):
        await pool.keep(f"Greta sold {number} loaves of rye bread to the harbour inn.")
    unknown = "Which comet crosses the orbit of the harbour moon in winter?"

    recalled = await pool.recall(unknown, settings=RecallSettings(min_matched=0.1))
    assert recalled.flashbacks == ()
    assert {candidate.cut for candidate in recalled.candidates} == {Cut.UNSURE}
    assert all(candidate.missed_by is not None and candidate.missed_by > 0 for candidate in recalled.candidates)

    eager = await pool.recall(unknown, settings=RecallSettings(min_matched=0.1, min_sure=0))
    assert eager.flashbacks != ()
    known = await pool.recall("Who sold rye bread to the inn?", settings=RecallSettings())
    assert known.flashbacks != ()


async def test_a_memory_found_by_a_sure_query_passes_whatever_else_was_asked(pool: Pool) -> None:
    for number in range(30):
        await pool.keep(f"Greta sold {number} loaves of rye bread to the harbour inn.")
    queries = [MemoryQuery(text="Which comet crosses the orbit?"), MemoryQuery(text="Who sold rye bread to the inn?")]
    assert (await pool.recall(*queries, settings=RecallSettings())).flashbacks != ()


@pytest.mark.parametrize("courtesy", ["Thanks a lot!", "Good morning.", "Danke schön!", "Okay, sounds good."])
async def test_courtesies_bring_nothing_to_mind_though_they_were_said_before(pool: Pool, courtesy: str) -> None:
    for number in range(30):
        await pool.keep(f"{courtesy} Greta said so {number} times.")
    assert (await pool.recall(courtesy, settings=RecallSettings())).flashbacks == ()
    assert (await pool.recall(f"{courtesy} Greta", settings=RecallSettings())).flashbacks != ()


async def test_either_signal_opens_the_gate(pool: Pool) -> None:
    await pool.keep("Greta baked rye bread.", as_if="a moth on the lamp")
    words = await pool.recall("Who baked the rye?", settings=RecallSettings(min_cosine=1, min_matched=0.5, min_found=1))
    assert len(words.flashbacks) == 1

    await pool.keep("Tomas mended nets.", as_if="the lighthouse keeper's lamp")
    meaning = MemoryQuery(search_type=SearchType.SEMANTIC, text="the lighthouse keeper's lamp")
    assert summaries(
        await pool.recall(meaning, settings=RecallSettings(min_cosine=0.9, min_matched=1, min_found=1))
    ) == ["Tomas mended nets."]


async def test_an_answer_without_a_word_of_the_question_passes_by_the_question_before_it(pool: Pool) -> None:
    await pool.keep("Mira: Where did the brass key go, Tomas?", episode="talk", position=1)
    await pool.keep("Tomas: Under the third stone.", episode="talk", position=2)
    for number in range(6):
        await pool.keep(f"Greta counted {number} gulls over the roofs.", episode="walk", position=number)

    recalled = await pool.recall("Where is the brass key?", settings=RecallSettings(min_cosine=1))

    assert "Tomas: Under the third stone." in summaries(recalled)
    assert not any("gulls" in summary for summary in summaries(recalled))


async def test_nearly_the_same_is_shown_once_the_better_one(pool: Pool) -> None:
    text = "Greta keeps a second key to the bakery in the blue jar beside the oven"
    await pool.keep(f"{text}.", importance=3)
    await pool.keep(f"{text}!", importance=8)

    recalled = await pool.recall("Where is the second key to the bakery?")

    [flashback] = recalled.flashbacks
    assert flashback.memory.importance == 8
    [twin] = [c for c in recalled.candidates if c.cut is not None]
    assert twin.cut is Cut.NEAR_DUPLICATE
    assert twin.missed_by is not None
    assert twin.missed_by >= 0
    both = await pool.recall("Where is the second key to the bakery?", settings=replace(OPEN, alike=None))
    assert len(both.flashbacks) == 2


async def test_texts_that_differ_in_a_number_are_two_facts_however_alike(pool: Pool) -> None:
    for hour in (9, 10):
        await pool.keep(f"On Sundays Greta opens the little bakery by the harbour wall for the fishermen at {hour}.")

    recalled = await pool.recall("When does Greta open the bakery on Sundays?")

    assert len(recalled.flashbacks) == 2


async def test_what_was_shown_lately_stays_away_until_it_is_asked_for(pool: Pool) -> None:
    key = await pool.keep("Mira hid the brass key under the mill.")
    settings = replace(OPEN, min_cosine=1, min_matched=0.2, min_found=1, asked_again=0.75)

    beside = await pool.recall("Tomas talks of the mill and the weather", settings=settings, shown={key.id})
    asked = await pool.recall("Where did Mira hide the brass key?", settings=settings, shown={key.id})
    fresh = await pool.recall("Tomas talks of the mill and the weather", settings=settings)

    assert beside.flashbacks == ()
    assert [c.cut for c in beside.candidates] == [Cut.COOL_DOWN]
    assert len(asked.flashbacks) == 1
    assert len(fresh.flashbacks) == 1


async def test_neither_the_number_nor_the_tokens_of_a_budget_are_ever_passed(pool: Pool) -> None:
    for number in range(1, 13):
        await pool.keep(
            f"Tomas told tale {number} of the sea: " + "storm and sail, " * (number % 5),
            critical_information=f"tale {number}",
        )

    seen: set[Cut | None] = set()
    for count in (1, 2, 5, 9, 50):
        for tokens in (1, 60, 75, 130, 300, 10_000):
            settings = replace(OPEN, count=count, tokens=tokens)
            recalled = await pool.recall("Tell me a tale of the sea, Tomas", settings=settings)
            spent = sum(estimated_tokens(f.memory) for f in recalled.flashbacks)
            assert len(recalled.flashbacks) <= count
            assert spent <= tokens
            assert [f.rank for f in recalled.flashbacks] == list(range(1, len(recalled.flashbacks) + 1))
            for cut in (c for c in recalled.candidates if c.cut is Cut.TOKENS):
                assert spent_before(recalled, cut.memory.id) + estimated_tokens(cut.memory) == tokens + (
                    cut.missed_by or 0
                )
            seen.update(c.cut for c in recalled.candidates)
    assert {Cut.COUNT, Cut.TOKENS, None} <= seen


def spent_before(recalled: Recalled, id: object) -> int:
    """Tokens of the flashbacks that rank above the candidate."""
    spent = 0
    for candidate in recalled.candidates:
        if candidate.memory.id == id:
            break
        if candidate.cut is None:
            spent += estimated_tokens(candidate.memory)
    return spent


async def test_what_the_number_cut_says_how_far_it_was_behind(pool: Pool) -> None:
    for number in range(4):
        await pool.keep(f"Tomas told tale {number} of the sea.", importance=10 - number)

    recalled = await pool.recall("tales of the sea", settings=replace(OPEN, count=2))

    last = recalled.flashbacks[-1].score.total
    behind = [c for c in recalled.candidates if c.cut is Cut.COUNT]
    assert len(behind) == 2
    for candidate in behind:
        assert candidate.missed_by == pytest.approx(last - candidate.score.total)


async def test_the_record_keeps_all_that_came_and_no_more_runners_up_than_wanted(pool: Pool) -> None:
    for number in range(10):
        await pool.keep(f"Tomas told tale {number} of the sea.")

    recalled = await pool.recall("tales of the sea", settings=replace(OPEN, count=3, runners_up=2))

    assert [c.cut for c in recalled.candidates] == [None, None, None, Cut.COUNT, Cut.COUNT]
    assert recalled.considered == 10
    assert [c.memory for c in recalled.candidates[:3]] == [f.memory for f in recalled.flashbacks]


async def test_letters_that_are_not_latin_cost_a_token_each(pool: Pool) -> None:
    latin = estimated_tokens(await pool.keep("a" * 40))
    han = estimated_tokens(await pool.keep("球" * 40))

    assert han - latin == 30


@pytest.mark.parametrize(
    "nonsense",
    [
        {"count": 0},
        {"tokens": 0},
        {"cool_down": -1},
        {"runners_up": -1},
        {"min_sure": 4.1},
        {"min_cosine": 1.1},
        {"min_matched": -0.1},
        {"min_found": 1.1},
        {"asked_again": 1.5},
        {"alpha": -0.5},
        {"alike": 0.0},
        {"alike": 1.2},
    ],
)
def test_settings_that_make_no_sense_are_refused_by_name(nonsense: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=next(iter(nonsense))):
        RecallSettings(**nonsense)
