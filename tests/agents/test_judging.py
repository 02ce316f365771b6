"""A model that judges what comes to mind, in place of the gate: some of it, or none of these."""

from __future__ import annotations

from typing import Any

import pytest

from simuverse.agents.backends.rehearsal import Rehearsal
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatRequest, Purpose
from simuverse.agents.subconscious import TEMPERATURE
from simuverse.agents.xml import read
from simuverse.errors import ModelUnavailable, StoreUnavailable
from simuverse.memory.naming import shown
from simuverse.memory.records import Cut
from simuverse.memory.store import MemoryCollection
from tests.agents.attacks import ATTACKS, Attack
from tests.agents.minds import MIRA, Minds, failing, judgement_xml, moment, queries_xml

NEVER_ASKED = "How does one reach the island?"
"""Shares no word with what answers it."""
FERRY = "The ferry leaves the pier at noon."
BREAD = "Rye bread is sold out."


def summaries(recollection: Any) -> list[str]:
    return [flashback.memory.summary for flashback in recollection]


async def knowing(open_mind: Minds) -> None:
    await open_mind().remember(FERRY, said_by="Tomas")
    await open_mind().remember(BREAD, said_by="Greta")


def naming(text: str) -> Scripted:
    """A model that names every recollection in which ``text`` stands, or none of these."""

    def reply(request: ChatRequest) -> str:
        if request.purpose is Purpose.QUERIES:
            return queries_xml(NEVER_ASKED)
        block = read(request.messages[-1].text, "flashbacks")
        return judgement_xml(
            *(int(one.attributes["number"]) for one in block.children if text in one.text_of("summary"))
        )

    return Scripted(reply)


async def test_what_the_gate_would_keep_back_comes_where_a_model_says_that_it_belongs(open_mind: Minds) -> None:
    await knowing(open_mind)
    assert summaries(await open_mind().recollect(NEVER_ASKED, stateful=False)) == []

    recollection = await open_mind(model=naming("ferry"), judge=True, persona=MIRA).recollect(NEVER_ASKED)

    assert summaries(recollection) == [f"Tomas: {FERRY}"]
    assert [(one.memory.summary, one.cut) for one in recollection.runners_up] == [(f"Greta: {BREAD}", Cut.JUDGED)]
    assert recollection.problems == ()
    assert [call.purpose for call in recollection.calls] == [Purpose.QUERIES, Purpose.JUDGEMENT]
    call = recollection.calls[-1]
    assert call.temperature == TEMPERATURE
    system, user = call.messages
    assert read(system.text, "persona").text_of("name") == "Mira"
    assert NEVER_ASKED in user.text
    assert [one.attributes["number"] for one in read(user.text, "flashbacks").children] == ["1", "2"]


async def test_none_of_these_is_silence_though_the_gate_would_let_it_pass(open_mind: Minds) -> None:
    await knowing(open_mind)
    asked = "When does the ferry leave the pier?"
    assert summaries(await open_mind().recollect(asked, stateful=False)) == [f"Tomas: {FERRY}"]
    recollection = await open_mind(queries_xml(asked), "<none_of_these/>", judge=True).recollect(asked)
    assert recollection.flashbacks == ()
    assert {candidate.cut for candidate in recollection.candidates} == {Cut.JUDGED}
    assert recollection.problems == ()


async def test_what_is_judged_not_to_belong_counts_neither_as_shown_nor_as_accessed(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    await knowing(open_mind)
    before = [entry.memory async for entry in collection.scan()]
    mind = open_mind(
        queries_xml(NEVER_ASKED), "<none_of_these/>", queries_xml(NEVER_ASKED), judgement_xml(1), judge=True
    )
    await mind.recollect(moment(("Per", NEVER_ASKED), minutes=60))
    assert [entry.memory async for entry in collection.scan()] == before
    assert len(await mind.recollect(moment(("Per", NEVER_ASKED), minutes=61))) == 1


async def test_it_is_asked_only_where_it_is_wanted_and_something_is_found(open_mind: Minds) -> None:
    nothing_there = await open_mind(queries_xml(NEVER_ASKED), judge=True).recollect(NEVER_ASKED)
    assert [call.purpose for call in nothing_there.calls] == [Purpose.QUERIES]
    await knowing(open_mind)
    unwanted = await open_mind(queries_xml(NEVER_ASKED)).recollect(NEVER_ASKED)
    assert [call.purpose for call in unwanted.calls] == [Purpose.QUERIES]
    by_rule = await open_mind(judge=True).recollect(NEVER_ASKED)
    assert by_rule.calls == ()


@pytest.mark.parametrize(
    ("replies", "problem"),
    [
        (["Hm.", "<judgement/>", judgement_xml(9)], "'9' is no number from 1 to 2"),
        ([ModelUnavailable("closed port")], "closed port"),
    ],
)
async def test_without_a_judgement_the_gate_decides_and_the_record_says_so(
    open_mind: Minds, replies: list[str | Exception], problem: str
) -> None:
    await knowing(open_mind)
    for asked, expected in ((NEVER_ASKED, []), ("When does the ferry leave the pier?", [f"Tomas: {FERRY}"])):
        mind = open_mind(queries_xml(asked), *replies, judge=True)
        recollection = await mind.recollect(asked)
        assert summaries(recollection) == expected
        assert [call.purpose for call in recollection.calls[1:]] == [Purpose.JUDGEMENT] * len(replies)
        [said] = recollection.problems
        assert said.startswith("what came to mind was chosen by rule, as no model judged it: ")
        assert problem in said
        assert Cut.JUDGED not in {candidate.cut for candidate in recollection.candidates}


async def test_a_reply_that_can_not_be_read_is_asked_for_again(open_mind: Minds) -> None:
    await knowing(open_mind)
    recollection = await open_mind(queries_xml(NEVER_ASKED), "The first.", judgement_xml(1), judge=True).recollect(
        NEVER_ASKED
    )
    assert len(recollection) == 1
    assert recollection.problems == ()
    assert recollection.calls[1].problem is not None
    assert recollection.calls[1].problem in recollection.calls[2].messages[-1].text


async def test_a_store_that_fails_after_it_was_asked_leaves_the_calls_on_record(
    open_mind: Minds, collection: MemoryCollection, monkeypatch: pytest.MonkeyPatch
) -> None:
    await knowing(open_mind)

    def reply(request: ChatRequest) -> str:
        if request.purpose is Purpose.QUERIES:
            return queries_xml(NEVER_ASKED)
        monkeypatch.setattr(collection, "search_all", failing(StoreUnavailable("gone")))
        return "Hm."

    recollection = await open_mind(model=Scripted(reply), judge=True).recollect(NEVER_ASKED)

    assert recollection.flashbacks == ()
    assert [call.purpose for call in recollection.calls] == [Purpose.QUERIES, *[Purpose.JUDGEMENT] * 3]
    assert len(recollection.problems) == 2
    assert recollection.problems[-1].endswith("gone")


async def test_rules_in_the_place_of_a_model_name_what_shares_a_word(open_mind: Minds) -> None:
    await knowing(open_mind)
    mind = open_mind(model=Rehearsal(), judge=True)
    assert summaries(await mind.recollect("When does the ferry leave?", said_by="Per")) == [f"Tomas: {FERRY}"]
    assert summaries(await mind.recollect(NEVER_ASKED, said_by="Per")) == []


@pytest.mark.parametrize("attack", ATTACKS, ids=lambda attack: attack.name)
async def test_what_is_judged_stays_within_its_element_and_says_who_said_it(open_mind: Minds, attack: Attack) -> None:
    await knowing(open_mind)
    await open_mind().remember(attack.text, said_by=attack.speaker)
    model = naming("")

    recollection = await open_mind(model=model, judge=True).recollect(NEVER_ASKED)

    [request] = [request for request in model.requests if request.purpose is Purpose.JUDGEMENT]
    block = read(request.messages[-1].text, "flashbacks")
    assert [one.attributes["number"] for one in block.children] == [str(n + 1) for n in range(len(recollection))]
    sources = [one.text_of("source") for one in block.children]
    assert sources.count(f"said by {shown(attack.speaker)}") <= 1 or attack.speaker in ("Tomas", "Greta")
    for one in block.children:
        names = [child.tag for child in one.children if child.tag != "critical_information"]
        assert names == ["summary", "category", "time", "source", "importance"]
        assert "\n" not in one.text_of("summary")
