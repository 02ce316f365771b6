"""Generations of collections on a real Weaviate server: one is in use, by an alias that everyone follows."""

from __future__ import annotations

from collections.abc import AsyncGenerator, AsyncIterator, Iterator, Sequence
from contextlib import asynccontextmanager
from typing import Any

import numpy as np
import pytest
from weaviate.classes.rbac import Permissions

from simuverse.errors import StoreMismatch
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedding import TextKind, Vectors
from simuverse.memory.kept import EmbedderRecord
from simuverse.memory.reembedding import renew
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import StoreAddress
from simuverse.memory.stores.weaviate_kept import WeaviateKept
from tests.contracts.kept_store import HASHING, MADE_BY, fill, nothing
from tests.contracts.memory_reference import entry, memory
from tests.live.weaviate_server import WeaviateServer, own_client, settings_with_key

pytestmark = pytest.mark.live

KEY, POOR_KEY = "sEcret-root-key", "sEcret-poor-key"


@pytest.fixture(scope="module")
def running(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    settings = settings_with_key(KEY, further={"poor": POOR_KEY})
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("generations"), settings) as server:
        yield server


@pytest.fixture
async def server(running: WeaviateServer) -> AsyncIterator[WeaviateServer]:
    """Empty at first."""
    yield running
    async with own_client(running.address, key=KEY) as client:
        for alias in await client.alias.list_all():
            await client.alias.delete(alias_name=alias)
        await client.collections.delete_all()


@asynccontextmanager
async def kept(server: WeaviateServer) -> AsyncGenerator[WeaviateKept]:
    place = StoreAddress(addresses=(server.address,))
    store = await WeaviateKept.open("weaviate:here", place, key=KEY, new=MADE_BY)
    try:
        yield store
    finally:
        await store.aclose()


@asynccontextmanager
async def opened(server: WeaviateServer, embedder: EmbedderRecord, *, key: str = KEY) -> AsyncGenerator[WeaviateStore]:
    store = await WeaviateStore.open(
        [server.address], embedder_name=embedder.name, dimension=embedder.dimension, key=key, deadline=60.0
    )
    try:
        yield store
    finally:
        await store.aclose()


async def reembedded(server: WeaviateServer) -> None:
    async with kept(server) as store:
        await fill(store)
        async with store.renewal(HASHING) as renewal:
            await renew(renewal, embedder=HashingEmbedder(), on_progress=nothing)


class Interrupted(HashingEmbedder):
    """Something is written to the old version of the store while the new one is made."""

    def __init__(self, old: WeaviateStore) -> None:
        super().__init__()
        self._old = old
        self._calls = 0

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        self._calls += 1
        # By then Jade's memories were copied and looked at, and her twin's are next.
        if self._calls == 5:
            await (await self._old.collection("Jade")).add([entry("The bell rang late.", 901)])
            await (await self._old.collection("Mira")).add([entry("Mira came late.", 902, owner="Mira")])
        return await super().embed(texts, kind=kind)


async def test_what_is_written_to_the_old_one_meanwhile_is_carried_over(server: WeaviateServer) -> None:
    async with kept(server) as store, opened(server, MADE_BY) as old:
        await fill(store)
        async with store.renewal(HASHING) as renewal:
            renewed = await renew(renewal, embedder=Interrupted(old), on_progress=nothing)
        assert renewed.late == 2
    async with opened(server, HASHING) as store:
        for late in (memory("The bell rang late.", 901), memory("Mira came late.", 902, owner="Mira")):
            collection = await store.collection(late.owner)
            assert await collection.get([late.id]) == [late]
            [vector] = [one.vector async for one in collection.scan() if one.memory == late]
            assert np.array_equal(vector, (await HashingEmbedder().embed([late.summary]))[0])


async def test_whoever_opens_the_store_is_in_the_new_one_with_a_key_for_its_collections_alone(
    server: WeaviateServer,
) -> None:
    await reembedded(server)
    # The client's own types say too little here.
    right: Any = Permissions
    rights = [
        right.collections(collection="Memories*", create_collection=True, read_config=True),
        right.data(collection="Memories*", create=True, read=True, update=True, delete=True),
    ]
    async with own_client(server.address, key=KEY) as client:
        roles: Any = client.roles
        await roles.create(role_name="memories", permissions=rights)
        await client.users.db.assign_roles(user_id="poor", role_names=["memories"])
        # Such a key isn't told of the alias, which it follows all the same.
        async with own_client(server.address, key=POOR_KEY) as poor:
            assert await poor.alias.list_all() == {}
    for key in (KEY, POOR_KEY):
        async with opened(server, HASHING, key=key) as store:
            assert await (await store.collection("Jade")).count() > 100
        async with opened(server, MADE_BY, key=key) as store:
            with pytest.raises(StoreMismatch, match=r"Collection MemoriesV2__Jade.*Go on with --embedder hashing"):
                await store.collection("Jade")


@pytest.mark.parametrize("there", [True, False])
async def test_an_alias_that_points_to_something_else_is_refused(server: WeaviateServer, there: bool) -> None:
    await reembedded(server)
    async with own_client(server.address, key=KEY) as client:
        await client.collections.create("Elsewhere")
        assert await client.alias.update(alias_name="Memories___live", new_target_collection="Elsewhere")
        if not there:
            await client.collections.delete("Elsewhere")
    with pytest.raises(StoreMismatch, match=r"alias Memories___live .* points to Elsewhere"):
        async with opened(server, HASHING):
            pass
