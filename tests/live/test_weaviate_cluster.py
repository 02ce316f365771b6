"""Three real nodes that hold every memory three times: one may die, whichever it is."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import Awaitable, Callable, Iterator
from pathlib import Path
from uuid import UUID

import pytest

from simuverse.config import Settings
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Layout
from simuverse.memory.stores.weaviate_names import collection_name, tenant_name
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.wiring import open_simulation
from tests.contracts.memory_reference import DIMENSION, entry
from tests.live.weaviate_server import WeaviateServer, own_client

pytestmark = pytest.mark.live

EVERY = 3
HEALED = 120.0
"""Seconds at most until a node that was away has caught up."""


@pytest.fixture
def nodes(weaviate_binary: str, tmp_path: Path) -> Iterator[list[WeaviateServer]]:
    with WeaviateServer.cluster(weaviate_binary, tmp_path, nodes=EVERY) as nodes:
        yield nodes


def partition(layout: Layout, owner: str) -> Partition:
    if layout is Layout.TENANTS:
        return Partition("Memories", tenant_name(owner))
    return Partition(collection_name(owner))


@pytest.mark.parametrize(
    ("layout", "dies"),
    [(Layout.COLLECTIONS, 0), (Layout.COLLECTIONS, 2), (Layout.TENANTS, 0)],
    ids=["the one spoken to", "another", "the one spoken to, with tenants"],
)
async def test_a_node_that_dies_in_a_run_costs_no_turn_and_no_memory(
    nodes: list[WeaviateServer], tmp_path: Path, layout: Layout, dies: int
) -> None:
    urls = ",".join(node.url for node in nodes)
    settings = Settings(embedder="hashing", store=f"weaviate:{urls}&replication={EVERY}&layout={layout}")
    written: list[Memory] = []
    async with open_simulation(settings, folder=tmp_path / "run") as simulation:
        await simulation.begin()
        assert len(simulation.agents) == 4
        for tick in range(12):
            if tick == 4:
                nodes[dies].kill()
            for trace in await simulation.step():
                assert trace.problems == ()
                written += trace.remembered.written
    assert len({memory.id for memory in written}) == len(written) > 40
    left = [node for node in nodes if node is not nodes[dies]]
    for node in left:
        assert await none_missing(node, node.name, layout, written)
    await asyncio.to_thread(nodes[dies].start)
    await healed(lambda: none_missing(left[0], nodes[dies].name, layout, written))


async def test_a_new_agent_can_be_made_and_what_is_erased_stays_erased_while_a_node_is_away(
    nodes: list[WeaviateServer],
) -> None:
    store: MemoryStore = await WeaviateStore.open(
        [node.address for node in nodes],
        embedder_name="invented",
        dimension=DIMENSION,
        replication=EVERY,
        layout=Layout.COLLECTIONS,
    )
    jade = await store.collection("Jade")
    entries = [entry(f"Bell {number} rang.", number) for number in range(20)]
    await jade.add(entries)
    nodes[0].kill()
    assert await jade.count() == 20
    mira = await store.collection("Mira")
    await mira.add([entry("The bell rang.", owner="Mira")])
    assert await mira.count() == 1
    gone = [one.memory.id for one in entries[:10]]
    assert await jade.erase(gone) == 10
    await store.aclose()
    await asyncio.to_thread(nodes[0].start)
    await healed(lambda: all_gone(nodes[1], nodes[0].name, gone))
    for node in nodes:
        assert await all_gone(node, node.name, gone)
        async with own_client(node.address) as client:
            assert await Partition(collection_name("Jade")).count(client) == 10


async def healed(holds_now: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HEALED):
        while True:
            if await holds_now():
                return
            await asyncio.sleep(0.2)


async def none_missing(asked: WeaviateServer, of: str, layout: Layout, written: list[Memory]) -> bool:
    """Whether the node named ``of`` holds all of them itself, by what ``asked`` says."""
    held = await asyncio.gather(*(holds(asked, of, partition(layout, one.owner), one.id) for one in written))
    return all(one is True for one in held)


async def all_gone(asked: WeaviateServer, of: str, ids: list[UUID]) -> bool:
    held = await asyncio.gather(*(holds(asked, of, Partition(collection_name("Jade")), one) for one in ids))
    return all(one is False for one in held)


async def holds(asked: WeaviateServer, of: str, place: Partition, id: UUID) -> bool | None:
    """None: it can't be told, as by a node that has only just come back."""
    tenant = "" if place.tenant is None else f"&tenant={place.tenant}"
    url = f"{asked.address.url}/v1/objects/{place.collection}/{id}?node_name={of}{tenant}"

    def ask() -> bool | None:
        try:
            with urllib.request.urlopen(url, timeout=10):
                return True
        except urllib.error.HTTPError as error:
            with error:
                return False if error.code == 404 else None

    return await asyncio.to_thread(ask)
