"""Only what was lived becomes a memory: no attempt of a model, no question of an interviewer, no call about calls."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import pytest

from simuverse.agents.agent import Agent
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.subconscious import Exchange
from simuverse.memory.store import Entry, MemoryCollection
from tests.agents.minds import MIRA, SAID_NOTHING, TOOLS, Minds, memory_xml, moment, queries_xml, said, turn_xml

SECRET = "zephyrine"
SLUICE = "Tomas said that the sluice opens at seven."


class Counting:
    """A collection that counts its calls that add memories."""

    def __init__(self, collection: MemoryCollection) -> None:
        self._collection = collection
        self.adds = 0

    def __getattr__(self, name: str) -> Any:
        return getattr(self._collection, name)

    async def add(self, entries: Sequence[Entry]) -> None:
        self.adds += 1
        await self._collection.add(entries)


async def everything(collection: MemoryCollection) -> str:
    return "\n".join([str(entry.memory) async for entry in collection.scan()])


async def test_no_attempt_of_a_model_becomes_a_memory(open_mind: Minds, collection: MemoryCollection) -> None:
    character = Scripted((f"I think of {SECRET}", f"<turn>{SECRET}</turn>", turn_xml("wait", "Listening.")))
    mind = open_mind(
        f"<memory_queries>{SECRET}",
        queries_xml("sluice"),
        f"Let me see, {SECRET}!",
        f"<memory>{SECRET}",
        memory_xml(SLUICE),
    )
    agent = Agent(ConsciousAgent(MIRA, character), mind)
    thought = await agent.think(moment(("Tomas", "The sluice opens at seven.")), TOOLS)
    trace = await agent.reflect(thought, SAID_NOTHING)
    assert len(trace.calls) > 3, "there were attempts"
    assert [memory.summary for memory in trace.remembered.written] == [SLUICE]
    assert SECRET not in await everything(collection)
    assert await collection.count() == 1


async def test_what_a_character_only_thinks_becomes_no_memory(open_mind: Minds, collection: MemoryCollection) -> None:
    agent = Agent(ConsciousAgent(MIRA, Scripted((turn_xml("wait", f"Thinking of {SECRET}."),))), open_mind())
    thought = await agent.think(moment(("Tomas", "The sluice opens at seven.")), TOOLS)
    await agent.reflect(thought, SAID_NOTHING)
    assert SECRET not in await everything(collection)


@pytest.mark.parametrize("deliberate", [False, True])
async def test_an_interview_leaves_no_mark(open_mind: Minds, collection: MemoryCollection, deliberate: bool) -> None:
    await open_mind().remember("The sluice opens at seven.", said_by="Tomas")
    before = await everything(collection)
    mind = open_mind(queries_xml("sluice")) if deliberate else open_mind()
    assert len(await mind.recollect(f"When does the sluice open, {SECRET}?", stateful=False)) == 1
    assert await everything(collection) == before


async def test_a_turn_is_written_down_in_one_go(open_mind: Minds, collection: MemoryCollection) -> None:
    mind = open_mind()
    counting = Counting(collection)
    mind.collection = cast("MemoryCollection", counting)
    talk = moment(
        ("Tomas", "The sluice opens at seven."), ("Greta", "My barge is late."), noticed=("key lies at (1, 2).",)
    )
    remembered = await mind.remember(Exchange(observation=talk, outcome=said("I will wait for the barge.")))
    assert len(remembered.written) == 4
    assert counting.adds == 1
