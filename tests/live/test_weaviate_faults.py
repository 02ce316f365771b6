"""Faults of a real Weaviate server, and of one that can only be played: each is told apart, at once, with its cure."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import AsyncGenerator, Iterator
from contextlib import asynccontextmanager
from pathlib import Path

import numpy as np
import pytest

from simuverse.errors import StoreError, StoreMismatch, StoreRefused, StoreUnavailable
from simuverse.memory.records import SearchType
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_breaker import THRESHOLD
from simuverse.memory.stores.weaviate_connection import DEADLINE, Connection
from simuverse.memory.stores.weaviate_episodes import KnownEpisodes
from simuverse.memory.stores.weaviate_names import collection_name
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_schema import Marks, create
from simuverse.memory.stores.weaviate_statistics import CountedWords
from simuverse.memory.stores.weaviate_vectors import KnownVectors
from simuverse.memory.stores.weaviate_writes import Writer
from tests.contracts.memory_reference import DIMENSION, entry, memory, vector
from tests.fakes.http_server import fake_server, json_answer
from tests.live.test_weaviate_store import prefix_for
from tests.live.weaviate_server import WeaviateServer, own_client, settings_with_key

pytestmark = pytest.mark.live

KEY, POOR_KEY, WRONG_KEY = "sEcret-root-key", "sEcret-poor-key", "sEcret-wrong-key"
EMBEDDER = "invented-embedder"
SHORT = 1.0
"""Seconds of deadline: below the client's own patience by far, above a busy machine's."""


@asynccontextmanager
async def opened(
    *addresses: Address, prefix: str = "Faults", key: str | None = None, deadline: float = DEADLINE
) -> AsyncGenerator[WeaviateStore]:
    store = await WeaviateStore.open(
        addresses,
        embedder_name=EMBEDDER,
        dimension=DIMENSION,
        key=key,
        deadline=deadline,
        prefix=prefix,
    )
    try:
        yield store
    finally:
        await store.aclose()


@pytest.fixture(scope="module")
def server(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    """One that may be broken: each test leaves it running and answering."""
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("broken")) as server:
        yield server


@pytest.fixture(scope="module")
def locked(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    """One that wants a key, and gives no rights to the second of the two that it knows."""
    with WeaviateServer.running(
        weaviate_binary,
        tmp_path_factory.mktemp("locked"),
        settings_with_key(KEY, further={"poor": POOR_KEY}),
    ) as server:
        yield server


async def refused(address: Address, *, key: str | None = None, deadline: float = DEADLINE) -> StoreError:
    with pytest.raises(StoreError) as caught:
        async with opened(address, key=key, deadline=deadline):
            pass
    return caught.value


def nowhere() -> Address:
    return Address(host="127.0.0.1", port=9, grpc_host="127.0.0.1", grpc_port=10)


# Opening


async def test_no_server_is_told_at_once() -> None:
    began = time.monotonic()
    error = await refused(nowhere())
    assert isinstance(error, StoreUnavailable)
    assert "start the server" in str(error)
    assert time.monotonic() - began < 10


async def test_a_missing_grpc_port_is_named(server: WeaviateServer) -> None:
    address = server.address
    error = await refused(
        Address(host=address.host, port=address.port, grpc_host=address.host, grpc_port=10), deadline=SHORT
    )
    assert isinstance(error, StoreUnavailable)
    assert "not on its gRPC port 127.0.0.1:10" in str(error)


async def test_a_missing_rest_port_is_no_server(server: WeaviateServer) -> None:
    address = server.address
    error = await refused(Address(host=address.host, port=9, grpc_host=address.host, grpc_port=address.grpc_port))
    assert isinstance(error, StoreUnavailable)
    assert "http://127.0.0.1:9" in str(error)


async def test_no_key_and_a_wrong_key_and_too_poor_a_key_have_their_own_cures(locked: WeaviateServer) -> None:
    for key, cure in (
        (None, "it wants a key: set WEAVIATE_API_KEY"),
        ("  ", "it wants a key: set WEAVIATE_API_KEY"),
        (WRONG_KEY, "it doesn't know the key"),
        (POOR_KEY, "lacks the right"),
    ):
        error = await refused(locked.address, key=key)
        assert isinstance(error, StoreRefused)
        assert cure in str(error)
        assert "sEcret" not in str(error)


async def test_a_key_for_a_server_without_keys_is_told_apart(server: WeaviateServer) -> None:
    error = await refused(server.address, key=KEY)
    assert isinstance(error, StoreRefused)
    assert "it takes no keys: unset WEAVIATE_API_KEY" in str(error)


async def test_the_right_key_opens_and_is_never_shown(locked: WeaviateServer, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with opened(locked.address, key=KEY) as store:
        collection = await store.collection("Jade")
        await collection.add([entry("The bell rang.")])
        assert await collection.count() == 1
        assert "API key" in store.description
        connection = await Connection.open(
            [locked.address], key=KEY, headers={"X-Proxy": "1"}, deadline=SHORT, probed="Faults_"
        )
        shown = f"{store.description} {connection!r} {store!r} {collection!r} {caplog.text}"
        await connection.aclose()
        assert "sEcret" not in shown
        assert await store.erase("Jade")


@pytest.mark.parametrize("version", ["1.26.4", "1.29.9"])
async def test_too_old_a_server_is_refused_by_its_version(version: str) -> None:
    async with fake_server() as fake:
        fake.script(json_answer({"version": version, "modules": {}}))
        error = await refused(Address.parse(f"{fake.address}?grpc_port=9"))
    assert isinstance(error, StoreMismatch)
    assert version in str(error)
    assert "1.30" in str(error)


async def test_another_service_at_the_address_is_told_from_a_weaviate() -> None:
    async with fake_server() as fake:
        fake.script(json_answer({"error": "no such page"}, status=404))
        error = await refused(Address.parse(f"{fake.address}?grpc_port=9"))
    assert isinstance(error, StoreUnavailable)
    assert "isn't Weaviate" in str(error)


async def test_the_first_address_that_answers_is_used(server: WeaviateServer) -> None:
    async with opened(nowhere(), server.address) as store:
        assert server.address.url in store.description


# Collections that aren't as they should be


async def test_a_collection_made_by_something_else_is_left_alone(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    name = collection_name("Jade", prefix=prefix)
    async with own_client(server.address) as client, opened(server.address, prefix=prefix) as store:
        await client.collections.create(name, description="Holiday photos")
        for use in (store.collection, store.erase):
            with pytest.raises(StoreMismatch, match=name):
                await use("Jade")
        assert await store.owners() == []
        await client.collections.delete(name)


async def test_a_collection_whose_schema_was_changed_is_refused(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    name = collection_name("Jade", prefix=prefix)
    marks = Marks(owner="Jade", embedder=EMBEDDER, dimension=DIMENSION)
    async with own_client(server.address) as client, opened(server.address, prefix=prefix) as store:
        await client.collections.create(name, description=marks.written())
        with pytest.raises(StoreMismatch, match="search_text is missing"):
            await store.collection("Jade")
        await client.collections.delete(name)


async def test_a_newer_format_is_refused_with_the_command_that_helps(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    name = collection_name("Jade", prefix=prefix)
    async with own_client(server.address) as client, opened(server.address, prefix=prefix) as store:
        await create(client, name, Marks(owner="Jade", embedder=EMBEDDER, dimension=DIMENSION, format=2))
        with pytest.raises(StoreMismatch, match="pip install --upgrade"):
            await store.collection("Jade")
        await client.collections.delete(name)


async def test_another_dimension_of_the_same_embedder_is_refused(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    async with opened(server.address, prefix=prefix) as store:
        await store.collection("Jade")
        other = await WeaviateStore.open(
            [server.address], embedder_name=EMBEDDER, dimension=DIMENSION + 1, prefix=prefix
        )
        with pytest.raises(StoreMismatch, match=r"\(16 numbers\).*\(17 numbers\).*Go on with --embedder"):
            await other.collection("Jade")
        await other.aclose()
        await store.erase("Jade")


async def test_two_programs_that_make_the_same_collection_both_get_it(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    async with opened(server.address, prefix=prefix) as one, opened(server.address, prefix=prefix) as other:
        first, second = await asyncio.gather(one.collection("Jade"), other.collection("Jade"))
        await first.add([entry("The bell rang.")])
        assert await second.count() == 1
        await one.erase("Jade")


# Writing


async def test_a_partly_failed_batch_is_raised_and_named_and_adding_again_mends_it(
    server: WeaviateServer, tmp_path: Path
) -> None:
    prefix = prefix_for(tmp_path)
    name = collection_name("Jade", prefix=prefix)
    good, bad = memory("The bell rang.", 0), memory("The bell fell.", 1)
    entries = {
        good.id: Entry(memory=good, vector=vector(0)),
        bad.id: Entry(memory=bad, vector=np.ones(DIMENSION + 1, dtype=np.float32)),
    }
    async with opened(server.address, prefix=prefix) as store:
        collection = await store.collection("Jade")
        # The first vector of a collection decides for the server how long all are.
        await collection.add([entry("Clouds drift by.", 2)])
        connection = await Connection.open([server.address], key=None, headers={}, deadline=DEADLINE, probed="Faults_")
        try:
            place = Partition(name)
            words = CountedWords(connection, place)
            writer = Writer(connection, place, words, KnownVectors(), KnownEpisodes(), doubtful=set())
            with pytest.raises(StoreMismatch, match=rf"1 of 2 memories weren't stored whole: {bad.id}"):
                await writer.write({}, entries)
        finally:
            await connection.aclose()
        await collection.add([Entry(memory=one, vector=vector(1)) for one in (good, bad)])
        assert await collection.count() == 3
        hits = await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(1), limit=2))
        assert {hit.memory.id for hit in hits} == {good.id, bad.id}
        await store.erase("Jade")


async def test_a_read_only_shard_is_told_with_its_cure(server: WeaviateServer, tmp_path: Path) -> None:
    prefix = prefix_for(tmp_path)
    async with own_client(server.address) as client, opened(server.address, prefix=prefix) as store:
        collection = await store.collection("Jade")
        config = client.collections.use(collection_name("Jade", prefix=prefix)).config
        await config.update_shards("READONLY")
        with pytest.raises(StoreRefused, match="set READY"):
            await collection.add([entry("The bell rang.")])
        await config.update_shards("READY")
        await collection.add([entry("The bell rang.")])
        assert await collection.count() == 1
        await store.erase("Jade")


# Gone while in use


async def test_a_silent_server_costs_the_deadline_then_nothing_and_is_found_again(
    server: WeaviateServer, tmp_path: Path
) -> None:
    async with opened(server.address, prefix=prefix_for(tmp_path), deadline=SHORT) as store:
        collection = await store.collection("Jade")
        await collection.add([entry("The bell rang.")])
        server.pause()
        try:
            for _ in range(THRESHOLD):
                assert await seconds_to_fail(collection) < 5 * SHORT
            assert await seconds_to_fail(collection) < SHORT / 2
        finally:
            server.go_on()
        assert await once_it_answers(collection) == 1
        await store.erase("Jade")


async def test_several_silent_servers_cost_no_more_than_asking_them_once_and_are_found_again(
    server: WeaviateServer, weaviate_binary: str, tmp_path: Path
) -> None:
    """Whoever asks meanwhile is told at the same time, and who asks afterwards at once."""
    prefix = prefix_for(tmp_path)
    with WeaviateServer.running(weaviate_binary, tmp_path) as other:
        async with opened(other.address, prefix=prefix) as second:
            await (await second.collection("Jade")).add([entry("The bell rang.")])
        async with opened(server.address, other.address, prefix=prefix, deadline=SHORT) as store:
            collection = await store.collection("Jade")
            await collection.add([entry("The bell rang.")])
            server.pause()
            other.pause()
            try:
                assert max(await asyncio.gather(*(seconds_to_fail(collection) for _ in range(12)))) < 6 * SHORT
                assert await seconds_to_fail(collection) < SHORT / 2
                with pytest.raises(StoreUnavailable, match="asked again in the background"):
                    await collection.add([entry("Never stored.", 99)])
            finally:
                server.go_on()
                other.go_on()
            assert await once_it_answers(collection) == 1
            await store.erase("Jade")


async def test_a_killed_server_is_found_again_with_all_that_it_had_stored(
    server: WeaviateServer, tmp_path: Path
) -> None:
    async with opened(server.address, prefix=prefix_for(tmp_path), deadline=SHORT) as store:
        collection = await store.collection("Jade")
        await collection.add([entry(f"Bell {number} rang.", number) for number in range(20)])
        server.kill()
        try:
            for _ in range(THRESHOLD):
                assert await seconds_to_fail(collection) < 5 * SHORT
            with pytest.raises(StoreUnavailable, match="asked again in the background"):
                await collection.add([entry("Never stored.", 99)])
        finally:
            server.start()
        assert await once_it_answers(collection) == 20
        assert len([e async for e in collection.scan()]) == 20
        await store.erase("Jade")


async def test_the_next_address_is_used_when_the_first_is_gone(
    server: WeaviateServer, weaviate_address: Address, tmp_path: Path
) -> None:
    """Two servers that know nothing of each other, so the second has to be asked for the collection."""
    prefix = prefix_for(tmp_path)
    async with opened(weaviate_address, prefix=prefix) as second:
        await (await second.collection("Jade")).add([entry("The bell rang.")])
        async with opened(server.address, weaviate_address, prefix=prefix, deadline=SHORT) as store:
            collection = await store.collection("Jade")
            assert await collection.count() == 0
            server.kill()
            try:
                assert await collection.count() == 1
                assert weaviate_address.url in store.description
            finally:
                server.start()
        await second.erase("Jade")


async def seconds_to_fail(collection: MemoryCollection) -> float:
    began = time.monotonic()
    with pytest.raises(StoreUnavailable):
        await collection.search(SearchRequest(search_type=SearchType.HYBRID, terms=("bell",), vector=vector(0)))
    return time.monotonic() - began


async def once_it_answers(collection: MemoryCollection) -> int:
    """The count, asked for until the breaker lets it through."""
    async with asyncio.timeout(60):
        while True:
            try:
                return await collection.count()
            except StoreUnavailable:
                await asyncio.sleep(0.05)
