from __future__ import annotations

import os
from collections.abc import AsyncIterator

import msgspec
import pytest

from simuverse.bench.agents import AgentsBench, agents_table, measure_agents
from simuverse.bench.timing import process_mb
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.commands import Here


@pytest.fixture
async def store() -> AsyncIterator[MemoryStore]:
    store = await SQLiteStore.open(None, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    yield store
    await store.aclose()


async def test_agents_are_made_filled_asked_and_erased(store: MemoryStore) -> None:
    steps: list[str] = []
    measured = await measure_agents(
        store, HashingEmbedder(), agents=3, memories=5, queries=2, server=os.getpid(), on_progress=steps.append
    )
    assert [step.partition(": ")[2] for step in steps] == [
        "making them",
        "5 memories each",
        "asking them",
        "erasing them",
    ]
    assert (measured.agents, measured.memories) == (3, 5)
    for times in (measured.make, measured.first_search, measured.search, measured.at_once, measured.erase):
        assert 0 < times.p50 <= times.p95
    assert measured.writes > 0
    assert measured.filled_mb is None or measured.filled_mb > 1
    assert await store.owners() == []


async def test_a_store_in_use_is_left_alone(store: MemoryStore) -> None:
    await store.collection("Jade")
    with pytest.raises(UsageError, match="measure in an empty one"):
        await measure_agents(store, HashingEmbedder(), agents=1, memories=1)
    assert await store.owners() == ["Jade"]


async def test_no_agents_or_memories_can_t_be_measured(store: MemoryStore) -> None:
    for agents, memories in ((0, 1), (1, 0)):
        with pytest.raises(UsageError, match="1 or more"):
            await measure_agents(store, HashingEmbedder(), agents=agents, memories=memories)


def test_memory_of_no_process_is_unknown() -> None:
    assert process_mb(2**22 + 1) is None


def test_the_command_measures_stores_beside_each_other(here: Here) -> None:
    asked = ("bench", "agents", "--agents", "2", "--memories", "3", "--store", "sqlite", "--store", "memory:")
    ended = here(*asked, "--embedder", "hashing", "--json")
    assert ended.code == 0, ended.text
    measured = msgspec.json.decode(ended.out, type=list[AgentsBench])
    assert [one.mb_each for one in measured] == [None, None]
    lines = agents_table(measured).splitlines()
    assert [line.split()[:3] for line in lines[-2:]] == [["1", "2", "3"], ["2", "2", "3"]]
    refused = here(*asked, "--embedder", "hashing", "--server", "1")
    assert refused.code == UsageError.exit_code
    assert "one for each, or none" in refused.err
