"""A talk with one agent: each message is a turn."""

from __future__ import annotations

from datetime import timedelta

from simuverse.agents.agent import Agent
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.dialogue import SAY, Dialogue
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.agents.xml import read
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Source
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import MIRA, NOW, turn_xml


def talk(
    model: Scripted, clock: ManualClock, collection: MemoryCollection | None = None, *, partner: str = "Nora"
) -> Dialogue:
    mind = (
        None
        if collection is None
        else SubconsciousAgent(collection=collection, embedder=HashingEmbedder(), clock=clock)
    )
    return Dialogue(Agent(ConsciousAgent(MIRA, model), mind), partner=partner, clock=clock)


async def test_a_message_is_heard_and_what_the_agent_says_is_the_answer(clock: ManualClock) -> None:
    model = Scripted([turn_xml("say", text="  Two sacks & no more.  ")])

    trace = await talk(model, clock).answer("How much <flour> is left?")

    assert trace.outcome.ok
    assert trace.outcome.said is not None
    assert (trace.outcome.said.speaker, trace.outcome.said.text, trace.outcome.said.to) == (
        "Mira",
        "Two sacks & no more.",
        "Nora",
    )
    [heard] = trace.observation.heard
    assert (heard.speaker, heard.text, heard.to) == ("Nora", "How much <flour> is left?", "Mira")
    assert trace.observation.time == NOW
    [request] = model.requests
    assert [tool.attributes["name"] for tool in read(request.messages[0].text, "tools").children] == [SAY.name]
    assert read(request.messages[1].text, "situation").text_of("said") == "How much <flour> is left?"


async def test_no_two_turns_or_messages_share_an_id(clock: ManualClock) -> None:
    dialogue = talk(Scripted(lambda _: turn_xml("say", text="Yes.")), clock)

    traces = [await dialogue.answer("Again?") for _ in range(3)]

    assert len({trace.observation.turn for trace in traces}) == 3
    assert [trace.observation.position for trace in traces] == [1, 2, 3]
    assert len({trace.observation.episode for trace in traces}) == 1
    said = [trace.outcome.said.id for trace in traces if trace.outcome.said is not None]
    heard = [trace.observation.heard[0].id for trace in traces]
    assert len({*said, *heard}) == 6


async def test_what_was_said_in_one_talk_comes_back_in_the_next(
    clock: ManualClock, collection: MemoryCollection
) -> None:
    model = Scripted(lambda _: turn_xml("say", text="I see."))
    told = await talk(model, clock, collection).answer("My barge is called Heron.")
    clock.set(NOW + timedelta(days=1))

    asked = await talk(model, clock, collection).answer("What is my barge called?")

    assert [memory.provenance.source for memory in told.remembered.written] == [Source.SAID_BY, Source.OWN_ACTION]
    assert told.remembered.written[0].provenance.speaker == "Nora"
    assert told.remembered.written[0].id in asked.flashback_ids
    assert "Heron" in model.requests[-1].messages[-1].text


async def test_two_talks_opened_at_one_moment_do_not_replace_each_others_memories(
    clock: ManualClock, collection: MemoryCollection
) -> None:
    model = Scripted(lambda _: turn_xml())
    await talk(model, clock, collection).answer("My barge is called Heron.")
    await talk(model, clock, collection, partner="Greta").answer("My oven is broken.")

    assert await collection.count() == 2


async def test_whoever_does_anything_but_speak_has_said_nothing_and_is_told_so(clock: ManualClock) -> None:
    for reply in (turn_xml("wait"), turn_xml("move_to", target="mill"), turn_xml("say"), turn_xml("say", text="  ")):
        trace = await talk(Scripted([reply]), clock).answer("Hello?")

        assert not trace.outcome.ok
        assert trace.outcome.said is None
        assert trace.outcome.sentence


async def test_an_agent_without_a_usable_reply_says_nothing_and_the_talk_goes_on(clock: ManualClock) -> None:
    dialogue = talk(Scripted(["a", "b", "c", turn_xml("say", text="Here again.")]), clock)

    silent = await dialogue.answer("Hello?")
    back = await dialogue.answer("Hello?")

    assert silent.outcome.said is None
    assert silent.problems
    assert back.outcome.said is not None


async def test_the_talk_so_far_is_in_the_prompt_and_is_not_remembered_again(
    clock: ManualClock, collection: MemoryCollection
) -> None:
    model = Scripted(lambda _: turn_xml("say", text="Barley, mostly."))
    dialogue = talk(model, clock, collection)
    await dialogue.answer("What do you mill in autumn?")
    before = await collection.count()

    second = await dialogue.answer("And in spring?")

    earlier = read(model.requests[-1].messages[1].text, "earlier")
    assert [(said.attributes["by"], said.text) for said in earlier.all("said")] == [
        ("Nora", "What do you mill in autumn?"),
        ("Mira", "Barley, mostly."),
    ]
    assert [heard.text for heard in second.observation.heard] == ["And in spring?"]
    assert await collection.count() == before + len(second.remembered.written)
    assert not any("autumn" in memory.summary for memory in second.remembered.written)


async def test_only_the_last_messages_of_a_long_talk_are_in_the_prompt(clock: ManualClock) -> None:
    model = Scripted(lambda _: turn_xml("say", text="I see."))
    dialogue = talk(model, clock)
    traces = [await dialogue.answer(f"Sack number {number}.") for number in range(12)]
    assert [said.text for said in traces[-1].observation.earlier[::2]] == [f"Sack number {n}." for n in (7, 8, 9, 10)]
