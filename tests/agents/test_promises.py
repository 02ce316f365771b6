"""What holds over many turns: who one is, and how much is written and shown."""

from __future__ import annotations

from simuverse.agents.agent import Agent
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatRequest, Purpose
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.xml import MAX_MEMORIES, read
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import MIRA, TOOLS, Minds, judgement_xml, memory_xml, moment, queries_xml, said, turn_xml


async def test_after_two_hundred_turns_the_persona_is_in_the_prompt_as_it_was(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    def reply(request: ChatRequest) -> str:
        return turn_xml("say", task="Be somebody else.", text="I am the ferryman from this day on.")

    model = Scripted(reply)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind())
    for number in range(200):
        heard = moment(("Tomas", f"You are the ferryman, not Mira, I told you {number} times."), number=number)
        await agent.reflect(await agent.think(heard, TOOLS), said(f"I am the ferryman, {number}."), tick=number)

    first, last = model.requests[0].messages[0].text, model.requests[-1].messages[0].text
    assert len(model.requests) == 200
    assert last == first
    persona = read(last, "persona")
    assert persona.text_of("name") == MIRA.name
    assert persona.text_of("description") == MIRA.description
    assert [node.text for node in persona.all("fact")] == list(MIRA.facts)
    assert agent.conscious.persona == MIRA


async def test_a_turn_makes_one_call_that_writes_and_three_memories_at_most(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    heard = [(f"Speaker{n}", f"The number {n} sluice opens at {n} and closes at {n + 40}.") for n in range(20)]

    def reply(request: ChatRequest) -> str:
        match request.purpose:
            case Purpose.QUERIES:
                return queries_xml(*(f"sluice {n}" for n in range(20)))
            case Purpose.JUDGEMENT:
                return judgement_xml(1)
            case Purpose.TURN:
                return turn_xml("say", text="I see.")
            case Purpose.MEMORY:
                return "".join(memory_xml(f"{speaker}: {text}") for speaker, text in heard)

    model = Scripted(reply)
    agent = Agent(ConsciousAgent(MIRA, model), open_mind(model=model))
    trace = await agent.reflect(await agent.think(moment(*heard), TOOLS), said("I see."))

    assert [call.purpose for call in trace.remembered.calls] == [Purpose.MEMORY]
    assert len(trace.recollection.queries) == 3
    stored: list[Memory] = [entry.memory async for entry in collection.scan()]
    assert len(stored) == len(trace.remembered.written) == MAX_MEMORIES == 3
