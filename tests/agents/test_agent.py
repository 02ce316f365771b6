"""A turn: recollect, decide, and when the world has answered, remember."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simuverse.agents.agent import Agent, Phase
from simuverse.agents.backends.scripted import Reply, Scripted
from simuverse.agents.chat import ChatRequest, Purpose
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.turn import WAIT
from simuverse.errors import EmbedderUnavailable, ModelUnavailable, StoreUnavailable
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import (
    MIRA,
    NOTHING,
    SAID_NOTHING,
    TOOLS,
    Minds,
    failing,
    judgement_xml,
    memory_xml,
    moment,
    queries_xml,
    said,
    turn_xml,
)


def by_purpose(request: ChatRequest) -> Reply:
    match request.purpose:
        case Purpose.QUERIES:
            return queries_xml("the sluice")
        case Purpose.JUDGEMENT:
            return judgement_xml(1)
        case Purpose.TURN:
            return turn_xml("say", text="At seven.")
        case Purpose.MEMORY:
            return memory_xml("Greta asked Mira about the sluice.")


# --- calls ------------------------------------------------------------------------------------------------------------


async def test_a_deliberate_turn_is_queries_then_turn_then_memory_one_call_each(open_mind: Minds) -> None:
    model = Scripted(by_purpose)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind(model=model))

    for number in range(1, 4):
        thought = await agent.think(moment(("Greta", "When does the sluice open?"), number=number), TOOLS)
        trace = await agent.reflect(thought, said("At seven."), tick=number)
        assert [call.purpose for call in trace.calls] == [Purpose.QUERIES, Purpose.TURN, Purpose.MEMORY]
        assert trace.problems == ()

    assert [r.purpose for r in model.requests] == [Purpose.QUERIES, Purpose.TURN, Purpose.MEMORY] * 3
    assert {len(request.messages) for request in model.requests} == {2}, "no history is carried along"


async def test_a_reflex_turn_calls_the_model_for_the_character_alone(open_mind: Minds) -> None:
    model = Scripted(by_purpose)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind())

    trace = await agent.reflect(
        await agent.think(moment(("Greta", "When does the ferry leave?")), TOOLS), said("At seven.")
    )

    assert [call.purpose for call in trace.calls] == [Purpose.TURN]
    assert (trace.recollection.mode, trace.remembered.mode) == ("reflex", "reflex")


async def test_only_the_characters_call_has_the_heat_of_its_personality(open_mind: Minds) -> None:
    heats: list[dict[Purpose, float]] = []
    for strength in (0, 1):
        model = Scripted(by_purpose)
        agent = Agent(ConsciousAgent(replace(MIRA, strength=strength), model), open_mind(model=model))
        await agent.reflect(
            await agent.think(moment(("Greta", "When does the ferry leave?")), TOOLS), said("At seven.")
        )
        heats.append({request.purpose: request.temperature for request in model.requests})

    weak, strong = heats
    assert weak[Purpose.TURN] > strong[Purpose.TURN]
    for purpose in (Purpose.QUERIES, Purpose.MEMORY):
        assert weak[purpose] == strong[purpose] <= 0.2


# --- the trace --------------------------------------------------------------------------------------------------------


async def test_what_was_told_comes_back_in_a_later_turn_and_the_trace_shows_each_link(open_mind: Minds) -> None:
    model = Scripted(by_purpose)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind())

    told = await agent.reflect(
        await agent.think(moment(("Tomas", "The sluice opens at seven.")), TOOLS), SAID_NOTHING, tick=1
    )
    asked = await agent.reflect(
        await agent.think(moment(("Greta", "When does the sluice open?"), number=2, minutes=1), TOOLS),
        said("At seven."),
        tick=2,
    )

    [memory] = told.remembered.written
    assert asked.flashback_ids == (memory.id,)
    assert (asked.agent, asked.tick) == ("Mira", 2)
    assert "The sluice opens at seven." in model.requests[-1].messages[-1].text
    assert asked.decision.call.arguments == {"text": "At seven."}
    assert asked.outcome.said is not None
    assert min(asked.timings.recollect, asked.timings.decide, asked.timings.remember) > 0


async def test_nothing_that_fails_in_the_subconscious_costs_the_turn(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = Scripted(lambda r: ModelUnavailable("m gone") if r.purpose is not Purpose.TURN else by_purpose(r))
    mind = open_mind(model=model)
    monkeypatch.setattr(mind.collection, "search_all", failing(StoreUnavailable("s gone")))
    agent = Agent(ConsciousAgent(MIRA, model), mind)

    trace = await agent.reflect(
        await agent.think(moment(("Greta", "When does the ferry leave?")), TOOLS), said("At seven.")
    )

    assert trace.decision.call.tool == "say"
    assert not trace.decision.failed
    assert ["gone" in problem for problem in trace.problems] == [True, True, True]
    assert trace.remembered.raw
    character = [request for request in model.requests if request.purpose is Purpose.TURN]
    assert "gone" not in "".join(message.text for request in character for message in request.messages)


async def test_a_failed_decision_is_remembered_without_a_word_of_the_error(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    agent = Agent(ConsciousAgent(MIRA, Scripted([ModelUnavailable("TOKEN LIMIT EXCEEDED")])), open_mind())

    thought = await agent.think(moment(("Greta", "When does the sluice open?")), TOOLS)
    trace = await agent.reflect(thought, SAID_NOTHING)

    assert thought.decision.call == WAIT
    assert ["TOKEN LIMIT EXCEEDED" in problem for problem in trace.problems] == [True]
    kept = [entry.memory async for entry in collection.scan()]
    assert [memory.summary for memory in kept] == ["Greta: When does the sluice open?"]
    assert "TOKEN" not in str(kept)


# --- memory off -------------------------------------------------------------------------------------------------------


async def test_without_a_subconscious_the_character_lives_on_with_nothing_in_mind() -> None:
    model = Scripted(by_purpose)
    agent = Agent(ConsciousAgent(MIRA, model), None)

    trace = await agent.reflect(
        await agent.think(moment(("Greta", "When does the ferry leave?")), TOOLS), said("At seven.")
    )

    assert [call.purpose for call in trace.calls] == [Purpose.TURN]
    assert (trace.recollection.mode, trace.remembered.mode) == ("off", "off")
    assert (trace.flashback_ids, trace.remembered.written, trace.problems) == ((), (), ())
    assert trace.decision.call.tool == "say"


# --- intentions and phases --------------------------------------------------------------------------------------------


async def test_what_one_is_up_to_is_first_ones_wishes_then_what_the_last_turn_said() -> None:
    reply = turn_xml(task="Mend the wheel.").replace("<next_steps></next_steps>", "<next_steps>Fetch oil.</next_steps>")
    reply = reply.replace("<goal></goal>", "<goal>A dry mill.</goal>")
    agent = Agent(ConsciousAgent(MIRA, Scripted([reply, "a", "b", "c", turn_xml()])), None)
    assert agent.name == "Mira"
    assert agent.intentions == MIRA.wishes

    await agent.think(moment(), TOOLS)
    assert agent.intentions == ("Mend the wheel.", "Fetch oil.", "A dry mill.")

    failed = await agent.think(moment(), TOOLS)
    assert failed.decision.failed
    assert agent.intentions == ("Mend the wheel.", "Fetch oil.", "A dry mill."), "a failed turn changes no mind"

    await agent.think(moment(), TOOLS)
    assert len(agent.intentions) == 0


async def test_the_phase_says_what_an_agent_is_about(open_mind: Minds) -> None:
    phases: list[Phase] = []
    agent: Agent

    def noting(request: ChatRequest) -> Any:
        phases.append(agent.phase)
        return by_purpose(request)

    model = Scripted(noting)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind(model=model))
    assert agent.phase is Phase.IDLE
    since = agent.phase_since

    thought = await agent.think(moment(("Greta", "When does the ferry leave?")), TOOLS)
    assert agent.phase is Phase.IDLE
    await agent.reflect(thought, said("At seven."))

    assert phases == [Phase.RETRIEVING, Phase.DECIDING, Phase.REMEMBERING]
    assert agent.phase is Phase.IDLE
    assert agent.phase_since > since


async def test_an_embedder_that_fails_throughout_leaves_a_character_that_acts(
    open_mind: Minds, monkeypatch: pytest.MonkeyPatch
) -> None:
    mind = open_mind()
    monkeypatch.setattr(mind.embedder, "embed", failing(EmbedderUnavailable("closed port")))
    agent = Agent(ConsciousAgent(MIRA, Scripted([turn_xml("say", text="Seven."), turn_xml()])), mind)

    for number in (1, 2):
        trace = await agent.reflect(
            await agent.think(moment(("Greta", "When does the ferry leave?"), number=number), TOOLS), SAID_NOTHING
        )
        assert len(trace.problems) == 2
        assert not trace.decision.failed


async def test_nothing_to_remember_leaves_nothing_behind(open_mind: Minds, collection: MemoryCollection) -> None:
    model = Scripted([queries_xml("x"), turn_xml(), NOTHING])
    agent = Agent(ConsciousAgent(MIRA, model), open_mind(model=model))

    trace = await agent.reflect(await agent.think(moment(("Greta", "Hm.")), TOOLS), SAID_NOTHING)

    model.assert_used_up()
    assert trace.problems == ()
    assert await collection.count() == 0
