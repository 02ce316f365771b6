"""What comes to mind, by rule and by a model, and that nothing which goes wrong there costs the turn."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from simuverse.agents.chat import Purpose
from simuverse.agents.subconscious import TEMPERATURE, SubconsciousAgent
from simuverse.agents.xml import read
from simuverse.errors import BadVector, EmbedderUnavailable, ModelUnavailable, OutsideError, StoreRefused
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Category, MemoryFilter, MemoryQuery, SearchType
from simuverse.memory.store import MemoryCollection
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.agents.minds import MIRA, NOW, Minds, failing, moment, queries_xml

HOUR = timedelta(hours=1)


def came(recollection: Any) -> list[str]:
    return [flashback.memory.summary for flashback in recollection]


# --- by rule ----------------------------------------------------------------------------------------------------------


async def test_what_was_said_comes_back_when_it_is_asked_for(open_mind: Minds) -> None:
    mind = open_mind()
    await mind.remember("I left the brass key by the sluice.", said_by="Tomas")
    await mind.remember("Rye bread is sold out.", said_by="Greta")

    recollection = await mind.recollect("Where is the brass key?")

    assert mind.mode == recollection.mode == "reflex"
    assert came(recollection)[0] == "Tomas: I left the brass key by the sluice."
    assert recollection.calls == ()
    assert recollection.problems == ()
    assert "brass key" in recollection.as_xml()


async def test_the_message_being_answered_is_part_of_what_is_asked_from_the_first_turn_on(open_mind: Minds) -> None:
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")

    recollection = await mind.recollect(moment(("Greta", "When does the sluice open?")))

    assert recollection.queries[0].text == "When does the sluice open?"
    assert came(recollection) == ["Tomas: The sluice opens at seven."]


async def test_a_moment_with_nothing_in_it_asks_nothing(open_mind: Minds) -> None:
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")

    recollection = await mind.recollect(moment())

    assert (recollection.queries, recollection.flashbacks, recollection.problems) == ((), (), ())


# --- access -----------------------------------------------------------------------------------------------------------


async def test_being_recalled_counts_as_an_access_and_nothing_else_does(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    mind = open_mind(settings=RecallSettings(count=1))
    [recalled] = (await mind.remember("The sluice opens at seven.", said_by="Tomas")).written
    [other] = (await mind.remember("Rye bread is cheap.", said_by="Greta")).written

    await mind.recollect(moment(("Greta", "When does the sluice open?"), minutes=60))

    [touched, untouched] = await collection.get([recalled.id, other.id])
    assert touched == replace(recalled, last_accessed_at=NOW + HOUR)
    assert untouched == other


async def test_an_interview_leaves_no_mark(open_mind: Minds, collection: MemoryCollection) -> None:
    mind = open_mind(settings=RecallSettings(cool_down=3, asked_again=1))
    [memory] = (await mind.remember("The sluice opens at seven.", said_by="Tomas")).written
    question = moment(("Greta", "When does the sluice open, and is it cold?"), minutes=60)

    first = await mind.recollect(question, stateful=False)
    second = await mind.recollect(question, stateful=False)

    assert len(first) == 1
    assert first == second, "not even the cool-down remembers"
    assert await collection.get([memory.id]) == [memory]


async def test_what_came_to_mind_stays_away_for_some_turns_and_then_may_come_again(open_mind: Minds) -> None:
    mind = open_mind(settings=RecallSettings(cool_down=2, asked_again=1))
    await mind.remember("The sluice opens at seven.", said_by="Tomas")
    beside = moment(("Greta", "The sluice is open to all boats"))

    shown = [len(await mind.recollect(beside)) for _ in range(6)]

    assert shown == [1, 0, 0, 1, 0, 0]


async def test_without_a_cool_down_it_comes_every_time(open_mind: Minds) -> None:
    mind = open_mind(settings=RecallSettings(cool_down=0, asked_again=1))
    await mind.remember("The sluice opens at seven.", said_by="Tomas")

    shown = [len(await mind.recollect("The sluice is open to all boats")) for _ in range(3)]

    assert shown == [1, 1, 1]


async def test_recency_is_measured_from_the_moment_not_from_the_machine(open_mind: Minds) -> None:
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")

    now = await mind.recollect(moment(("Greta", "When does the sluice open?")), stateful=False)
    later = await mind.recollect(moment(("Greta", "When does the sluice open?"), minutes=7 * 24 * 60), stateful=False)

    assert now.flashbacks[0].score.recency.scaled == 1
    assert later.flashbacks[0].score.recency.scaled == pytest.approx(0.5)


# --- by a model -------------------------------------------------------------------------------------------------------


async def test_a_model_writes_the_queries_and_they_are_what_is_asked(open_mind: Minds) -> None:
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    mind = open_mind(queries_xml("opening time of the sluice", "what Greta wants"), persona=MIRA)

    recollection = await mind.recollect(moment(("Greta", "When can I send the barge through?")))

    assert mind.mode == recollection.mode == "deliberate"
    assert [query.text for query in recollection.queries] == ["opening time of the sluice", "what Greta wants"]
    assert came(recollection) == ["Tomas: The sluice opens at seven."]
    [call] = recollection.calls
    assert call.purpose is Purpose.QUERIES
    assert call.temperature == TEMPERATURE <= 0.2
    system, user = call.messages
    assert read(system.text, "persona").text_of("name") == "Mira"
    assert "When can I send the barge through?" in read(user.text, "situation").text_of("said")


async def test_the_filters_of_a_query_are_kept(open_mind: Minds) -> None:
    mind = open_mind(
        """<memory_queries><query><search_type>keyword</search_type><keywords>sluice</keywords><query_text/>
        <filters><category>plan</category><min_importance>4</min_importance></filters></query></memory_queries>"""
    )
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    await open_mind().remember("I promise to oil the sluice.", said_by="Greta")

    recollection = await mind.recollect("Anything about the sluice?")

    assert recollection.queries == (
        MemoryQuery(
            search_type=SearchType.KEYWORD,
            keywords=("sluice",),
            filter=MemoryFilter(category=Category.PLAN, min_importance=4),
        ),
    )
    assert came(recollection) == ["Greta: I promise to oil the sluice."]


async def test_without_a_usable_query_the_observation_is_the_query_and_the_record_says_so(open_mind: Minds) -> None:
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    mind = open_mind("Let me think.", "<memory_queries/>", "<memory_queries><query></query></memory_queries>")

    recollection = await mind.recollect(moment(("Greta", "When does the sluice open?")))

    assert len(recollection.calls) == 3
    assert [query.text for query in recollection.queries] == ["When does the sluice open?"]
    assert came(recollection) == ["Tomas: The sluice opens at seven."]
    [problem] = recollection.problems
    assert problem.startswith("the observation itself was the query")
    assert recollection.calls[-1].problem is not None
    assert recollection.calls[-1].problem in problem


async def test_what_is_left_out_of_a_reply_is_on_record(open_mind: Minds) -> None:
    mind = open_mind(queries_xml("one", "two", "three", "four", "five"))

    recollection = await mind.recollect("Anything new?")

    assert [query.text for query in recollection.queries] == ["one", "two", "three"]
    assert any("2 more queries are left out" in problem for problem in recollection.problems)


# --- faults -----------------------------------------------------------------------------------------------------------


async def test_a_model_that_is_gone_leaves_the_observation_as_the_query(open_mind: Minds) -> None:
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    mind = open_mind(ModelUnavailable("no answer"))

    recollection = await mind.recollect("When does the sluice open?")

    assert came(recollection) == ["Tomas: The sluice opens at seven."]
    assert ["no answer" in problem for problem in recollection.problems] == [True]


@pytest.mark.parametrize(
    ("part", "method", "fault"),
    [
        ("collection", "search_all", StoreRefused("read-only")),
        ("embedder", "embed", EmbedderUnavailable("closed port")),
        ("embedder", "embed", BadVector("zeros")),
    ],
)
async def test_a_fault_outside_brings_nothing_to_mind_says_so_and_raises_nothing(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch, part: str, method: str, fault: OutsideError
) -> None:
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")
    monkeypatch.setattr(getattr(mind, part), method, failing(fault))

    recollection = await mind.recollect("When does the sluice open?")

    assert recollection.flashbacks == ()
    assert recollection.problems == (f"nothing could be recalled: {fault}",)
    assert str(fault) not in recollection.as_xml()
    assert len(recollection.queries) == 1


async def test_what_cannot_be_marked_as_recalled_comes_to_mind_all_the_same(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = open_mind()
    await mind.remember("The sluice opens at seven.", said_by="Tomas")
    monkeypatch.setattr(mind.collection, "touch", failing(StoreRefused("read-only")))

    recollection = await mind.recollect("When does the sluice open?")

    assert len(recollection) == 1
    assert recollection.problems == ("what came to mind could not be marked as recalled: read-only",)


async def test_a_fault_of_ours_is_raised(open_mind: Minds, monkeypatch: pytest.MonkeyPatch) -> None:
    mind = open_mind()
    monkeypatch.setattr(mind.collection, "search_all", failing(ZeroDivisionError()))

    with pytest.raises(ZeroDivisionError):
        await mind.recollect("When does the sluice open?")


# --- one's own --------------------------------------------------------------------------------------------------------


async def test_two_agents_of_one_store_never_see_each_others_memories(
    store: SQLiteStore, embedder: HashingEmbedder, clock: ManualClock
) -> None:
    minds = {
        name: SubconsciousAgent(collection=await store.collection(name), embedder=embedder, clock=clock)
        for name in ("Mira", "mira", "Tomas")
    }
    for name, mind in minds.items():
        await mind.remember(f"The sluice belongs to {name} alone.", said_by="Greta")

    for name, mind in minds.items():
        recollection = await mind.recollect("Whom does the sluice belong to?")
        assert [f.memory.owner for f in recollection] == [name]
        assert {c.memory.owner for c in recollection.candidates} == {name}


# --- searching --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("search_type", SearchType)
async def test_people_may_search_without_leaving_a_mark(
    open_mind: Minds, collection: MemoryCollection, search_type: SearchType
) -> None:
    mind = open_mind()
    [memory] = (await mind.remember("The sluice opens at seven.", said_by="Tomas")).written
    await mind.remember("Rye bread is sold out.", said_by="Greta")

    hits = await mind.search(MemoryQuery(search_type=search_type, text="the sluice"), limit=1)

    assert [hit.memory for hit in hits] == [memory]
    assert await collection.get([memory.id]) == [memory]
