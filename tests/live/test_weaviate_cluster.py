"""Three real nodes that hold every memory three times: one may die, whichever it is."""

from __future__ import annotations

import asyncio
import urllib.error
import urllib.request
from collections.abc import AsyncGenerator, Awaitable, Callable, Iterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from uuid import UUID

import pytest
from weaviate.classes.config import ReplicationDeletionStrategy

from simuverse.config import Secret, Settings
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Layout
from simuverse.memory.stores.weaviate_names import collection_name, tenant_name
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.parts import open_store
from simuverse.wiring import open_simulation
from tests.contracts.memory_reference import DIMENSION, entry
from tests.live.test_weaviate_outbox import assert_stored_once
from tests.live.test_weaviate_store import PATIENT
from tests.live.weaviate_server import WeaviateServer, own_client
from tests.test_compose import PRODUCTION
from tests.test_compose import nodes as servers_of

pytestmark = pytest.mark.live

EVERY = 3
KEY = "sEcret-root-key"
OF_ITS_PLACE = "CLUSTER_", "RAFT_", "PERSISTENCE_"
"""How settings begin that say where a node and the others are."""
HEALED = 120.0
"""Seconds at most until a node that was away has caught up."""


@pytest.fixture
def nodes(weaviate_binary: str, tmp_path: Path) -> Iterator[list[WeaviateServer]]:
    with WeaviateServer.cluster(weaviate_binary, tmp_path, nodes=EVERY) as nodes:
        yield nodes


@dataclass(frozen=True, kw_only=True)
class Use:
    """How a store on the nodes is used."""

    layout: Layout = Layout.COLLECTIONS
    replication: int | None = EVERY
    key: str | None = None

    def store(self, nodes: Sequence[WeaviateServer]) -> str:
        options = f"&layout={self.layout}" + (f"&replication={self.replication}" if self.replication else "")
        return f"weaviate:{','.join(node.url for node in nodes)}{options}"

    def settings(self, nodes: Sequence[WeaviateServer]) -> Settings:
        return Settings(
            embedder="hashing", store=self.store(nodes), weaviate_api_key=Secret(self.key) if self.key else None
        )

    def partition(self, owner: str) -> Partition:
        if self.layout is Layout.TENANTS:
            return Partition("Memories", tenant_name(owner))
        return Partition(collection_name(owner))


@pytest.mark.parametrize(
    ("use", "dies"),
    [(Use(), 0), (Use(layout=Layout.TENANTS), 2)],
    ids=["the one spoken to", "another, with tenants"],
)
async def test_a_node_that_dies_in_a_run_costs_no_turn_and_no_memory(
    nodes: list[WeaviateServer], tmp_path: Path, use: Use, dies: int
) -> None:
    await live_through_an_end(nodes, dies, use, tmp_path)


async def test_nodes_as_in_production_hold_every_memory_three_times_by_themselves(
    weaviate_binary: str, tmp_path: Path
) -> None:
    """A key, a factor of the server's own, and half a minute until they look for what another lacks."""
    server = next(iter(servers_of(PRODUCTION).values()))
    here = {name: value for name, value in server.environment.items() if not name.startswith(OF_ITS_PLACE)}
    settings = {**here, "AUTHENTICATION_APIKEY_ALLOWED_KEYS": KEY}
    with WeaviateServer.cluster(weaviate_binary, tmp_path, settings, nodes=EVERY, healing={}) as nodes:
        await live_through_an_end(nodes, 1, Use(replication=None, key=KEY), tmp_path)
        async with own_client(nodes[0].address, key=KEY) as client:
            made = (await client.collections.use(collection_name("Jade")).config.get()).replication_config
        assert (made.factor, made.deletion_strategy) == (EVERY, ReplicationDeletionStrategy.TIME_BASED_RESOLUTION)


async def live_through_an_end(nodes: list[WeaviateServer], dies: int, use: Use, folder: Path) -> None:
    """Of one node, in the middle of a run: the others have all by then, and it too soon after it is back."""
    written: list[Memory] = []
    async with open_simulation(use.settings(nodes), folder=folder / "run") as simulation:
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
        assert await none_missing(node, node.name, use, written)
    await asyncio.to_thread(nodes[dies].start)
    await healed(lambda: none_missing(left[0], nodes[dies].name, use, written))
    for node in nodes:
        await assert_finds(node, use, written)


async def test_a_new_agent_can_be_made_and_what_is_erased_stays_erased_while_a_node_is_away(
    nodes: list[WeaviateServer],
) -> None:
    entries = [entry(f"Bell {number} rang.", number) for number in range(20)]
    gone, kept = ([one.memory.id for one in half] for half in (entries[:10], entries[10:]))
    async with opened(nodes) as store:
        jade = await store.collection("Jade")
        await jade.add(entries)
        nodes[0].kill()
        assert await jade.count() == 20
        mira = await store.collection("Mira")
        await mira.add([entry("The bell rang.", owner="Mira")])
        assert await mira.count() == 1
        assert await jade.erase(gone) == 10
    await asyncio.to_thread(nodes[0].start)
    await healed(lambda: all_gone(nodes[1], nodes[0].name, gone))
    for node in nodes:
        assert await all_gone(node, node.name, gone)
        async with opened([node]) as store:
            jade = await store.collection("Jade")
            assert await jade.count() == 10
            await assert_stored_once(jade, kept)


@asynccontextmanager
async def opened(nodes: Sequence[WeaviateServer]) -> AsyncGenerator[MemoryStore]:
    store = await WeaviateStore.open(
        [node.address for node in nodes],
        embedder_name="invented",
        dimension=DIMENSION,
        replication=EVERY,
        layout=Layout.COLLECTIONS,
    )
    try:
        yield store
    finally:
        await store.aclose()


async def healed(holds_now: Callable[[], Awaitable[bool]]) -> None:
    async with asyncio.timeout(HEALED):
        while True:
            if await holds_now():
                return
            await asyncio.sleep(0.2)


async def assert_finds(asked: WeaviateServer, use: Use, written: Sequence[Memory]) -> None:
    """By words and by meaning, when it is asked itself: a node looks into its own indexes."""
    async with AsyncExitStack() as opened:
        store = await open_store(use.store([asked]), HashingEmbedder(), use.settings([asked]), deadline=PATIENT)
        opened.push_async_callback(store.aclose)
        for owner in {memory.owner for memory in written}:
            await assert_stored_once(
                await store.collection(owner), [memory.id for memory in written if memory.owner == owner]
            )


async def none_missing(asked: WeaviateServer, of: str, use: Use, written: Sequence[Memory]) -> bool:
    """Whether the node named ``of`` holds all of them itself, by what ``asked`` says."""
    held = await asyncio.gather(*(holds(asked, of, use.partition(one.owner), one.id, key=use.key) for one in written))
    return all(one is True for one in held)


async def all_gone(asked: WeaviateServer, of: str, ids: Sequence[UUID]) -> bool:
    held = await asyncio.gather(*(holds(asked, of, Use().partition("Jade"), one) for one in ids))
    return all(one is False for one in held)


async def holds(asked: WeaviateServer, of: str, place: Partition, id: UUID, *, key: str | None = None) -> bool | None:
    """None: it can't be told, as by a node that has only just come back."""
    tenant = "" if place.tenant is None else f"&tenant={place.tenant}"
    url = f"{asked.address.url}/v1/objects/{place.collection}/{id}?node_name={of}{tenant}"
    request = urllib.request.Request(url, headers={"Authorization": f"Bearer {key}"} if key else {})

    def ask() -> bool | None:
        try:
            with urllib.request.urlopen(request, timeout=10):
                return True
        except urllib.error.HTTPError as error:
            with error:
                return False if error.code == 404 else None

    return await asyncio.to_thread(ask)
