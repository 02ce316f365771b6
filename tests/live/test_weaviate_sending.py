"""What a killed server holds in part is made whole, on a real server: found by words and by meaning, each once."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import replace
from itertools import cycle
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, ParamSpec
from uuid import UUID

import numpy as np
import pytest
from grpc import StatusCode  # type: ignore[import-untyped]
from grpc.aio import AioRpcError, Metadata  # type: ignore[import-untyped]
from weaviate import WeaviateAsyncClient
from weaviate.exceptions import WeaviateRetryError
from weaviate.retry import _Retry

from simuverse.errors import StoreUnavailable
from simuverse.memory.records import MemoryFilter, SearchType
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest
from simuverse.memory.stores import weaviate_sending
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_episodes import FRESH
from simuverse.memory.stores.weaviate_names import collection_name
from simuverse.memory.stores.weaviate_objects import Stored, ids_filter, vector_of
from simuverse.memory.stores.weaviate_sending import Sender
from simuverse.memory.stores.weaviate_writes import Writer
from tests.contracts.memory_reference import DIMENSION, entry, memory, vector
from tests.contracts.memory_store import EMBEDDER
from tests.live.test_weaviate_store import prefix_for
from tests.live.weaviate_server import WeaviateServer, own_client
from tests.memory.editing import TODAY

if TYPE_CHECKING:
    from weaviate.collections.classes.data import DataObject

pytestmark = pytest.mark.live

P = ParamSpec("P")

EVER = MemoryFilter(include_superseded=True, include_forgotten=True)
COUNT = 300


def bells(count: int, *, first: int = 0, owner: str = "Jade") -> list[Entry]:
    """One talk of them."""
    plain = [entry(f"Bell {number} rang.", number, owner=owner) for number in range(first, first + count)]
    return [
        replace(one, memory=replace(one.memory, episode="a talk", position=number))
        for number, one in enumerate(plain, first)
    ]


async def reached(collection: MemoryCollection) -> tuple[set[UUID], set[UUID]]:
    """By words and by meaning."""
    by_words, by_meaning = [
        await collection.search(
            SearchRequest(search_type=kind, terms=("rang",), vector=vector(0), filter=EVER, limit=COUNT)
        )
        for kind in (SearchType.KEYWORD, SearchType.SEMANTIC)
    ]
    return {hit.memory.id for hit in by_words}, {hit.memory.id for hit in by_meaning}


async def assert_whole(collection: MemoryCollection, entries: Sequence[Entry]) -> None:
    wanted = {one.memory.id for one in entries}
    assert await reached(collection) == (wanted, wanted)
    stored = [one async for one in collection.scan()]
    assert [one.memory for one in stored] == [one.memory for one in entries]
    for one, other in zip(stored, entries, strict=True):
        assert np.array_equal(one.vector, other.vector)


async def opened(server: WeaviateServer, place: Path) -> WeaviateStore:
    return await WeaviateStore.open(
        [server.address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(place)
    )


async def test_adding_anew_mends_what_a_server_that_was_killed_lacks_of_what_it_had_acknowledged_by_itself(
    weaviate_binary: str, tmp_path: Path
) -> None:
    """The client alone, which believes the server's first answer, loses vectors: that is why batches are settled. On a
    busy machine the server may have written them by itself before it is killed.
    """
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        for owner in ("Jade", "Greta", "Mira", "Otto"):
            entries = bells(COUNT, owner=owner)
            store = await opened(server, tmp_path)
            collection = await store.collection(owner)
            objects = collection.bare().prepared(entries)
            async with own_client(server.address) as client:
                bare = client.collections.use(collection_name(owner, prefix=prefix_for(tmp_path)))
                await bare.data.insert_many(objects)
                server.kill()
            await store.aclose()
            server.start()
            store = await opened(server, tmp_path)
            collection = await store.collection(owner)
            by_words, by_meaning = await reached(collection)
            assert len(by_words) == COUNT
            lost = COUNT - len(by_meaning)
            await collection.add(entries)
            await assert_whole(collection, entries)
            await store.aclose()
            if lost:
                return
    pytest.fail("the server lost no vector in four tries")


@pytest.mark.parametrize("count", [1, 2, COUNT])
async def test_what_is_acknowledged_outlasts_a_kill_right_after(
    weaviate_binary: str, tmp_path: Path, count: int
) -> None:
    entries = bells(count)
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store = await opened(server, tmp_path)
        await (await store.collection("Jade")).add(entries)
        server.kill()
        await store.aclose()
        server.start()
        store = await opened(server, tmp_path)
        await assert_whole(await store.collection("Jade"), entries)
        await store.aclose()


@pytest.mark.parametrize("verdicts", [[False, False, True], [True, False, True, True]])
async def test_what_the_client_may_have_sent_twice_is_written_anew_until_it_is_sure(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, verdicts: list[bool]
) -> None:
    """Here a batch, or the deletion after it, seems to take as long as one that the client sent twice."""
    sure = cycle(verdicts)
    monkeypatch.setattr(weaviate_sending._Timed, "sure", property(lambda attempt: next(sure)))
    entries = bells(20)
    store = await WeaviateStore.open(
        [weaviate_address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
    )
    collection = await store.collection("Jade")
    await collection.add(entries[:10])
    await collection.add(entries[5:])
    await assert_whole(collection, entries)
    async with own_client(weaviate_address) as client:
        bare = client.collections.use(collection_name("Jade", prefix=prefix_for(tmp_path)))
        found = await bare.query.fetch_objects(limit=COUNT, include_vector=True)
    assert all(vector_of(one)[1] != 0 for one in found.objects)
    await store.erase("Jade")
    await store.aclose()


async def test_a_server_that_is_lost_between_a_batch_and_the_deletion_after_it_costs_no_vector(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The client has the next server make the deletion, and says nothing of it."""
    entries = bells(COUNT)
    settle = Sender.settle
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store = await WeaviateStore.open(
            [server.address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
        )
        collection = await store.collection("Jade")
        lost = iter([True])

        async def settled(sender: Sender, client: WeaviateAsyncClient, *, looked_for: Sequence[UUID]) -> int:
            if next(lost, False):
                server.kill()
                await asyncio.to_thread(server.start)
            return await settle(sender, client, looked_for=looked_for)

        monkeypatch.setattr(Sender, "settle", settled)
        await collection.add(entries)
        assert next(lost, None) is None
        await assert_whole(collection, entries)
        await store.aclose()


async def test_a_server_that_is_lost_between_two_batches_costs_no_vector_of_the_first(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One deletion comes after both, and the server that makes it is another than the one that had the first."""
    entries = bells(COUNT)
    batch = Sender._batch
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store = await WeaviateStore.open(
            [server.address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
        )
        collection = await store.collection("Jade")
        lost = iter([False, False, True])

        async def sent(
            sender: Sender, client: WeaviateAsyncClient, objects: Sequence[DataObject[Any, None]]
        ) -> dict[UUID, str]:
            if next(lost, False):
                server.kill()
                await asyncio.to_thread(server.start)
            return await batch(sender, client, objects)

        monkeypatch.setattr(Sender, "_batch", sent)
        await collection.add(entries)
        assert next(lost, None) is None
        server.kill()
        server.start()
        await store.aclose()
        store = await opened(server, tmp_path)
        await assert_whole(await store.collection("Jade"), entries)
        await store.aclose()


@pytest.mark.parametrize("missed", [1, 2])
async def test_what_no_filter_finds_after_it_was_sent_is_written_anew(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, missed: int
) -> None:
    """The deletion tells how many there are, and a search is made for which they are where some are missing."""
    store = await WeaviateStore.open(
        [weaviate_address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
    )
    settle = Sender.settle
    counts = iter([True] * missed)

    async def one_less(sender: Sender, client: WeaviateAsyncClient, *, looked_for: Sequence[UUID]) -> int:
        return await settle(sender, client, looked_for=looked_for) - next(counts, False)

    monkeypatch.setattr(Sender, "settle", one_less)
    await assert_written_anew(store, weaviate_address, tmp_path, monkeypatch, missed=missed)
    await store.erase("Jade")
    await store.aclose()


async def test_of_three_nodes_too_all_that_is_sent_is_found_and_on_their_disks(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deletion would count what any of them finds: so a search is made, by the one that is asked."""
    with WeaviateServer.cluster(weaviate_binary, tmp_path) as nodes:
        store = await WeaviateStore.open(
            [nodes[0].address],
            embedder_name=EMBEDDER,
            dimension=DIMENSION,
            prefix=prefix_for(tmp_path),
            deadline=60.0,
            replication=3,
        )
        await assert_written_anew(store, nodes[0].address, tmp_path, monkeypatch, missed=1)
        await assert_failure_is_told(store, nodes[0].address, tmp_path, monkeypatch)
        await store.aclose()


async def assert_written_anew(
    store: WeaviateStore, address: Address, place: Path, monkeypatch: pytest.MonkeyPatch, *, missed: int
) -> None:
    entries = bells(3)
    collection = await store.collection("Jade")
    found = Sender._found
    misses = iter([True] * missed)

    async def all_but_one(sender: Sender, ids: Sequence[UUID]) -> set[UUID]:
        there = await found(sender, ids)
        return there - {entries[1].memory.id} if bool(ids) and next(misses, False) else there

    with monkeypatch.context() as patched:
        patched.setattr(Sender, "_found", all_but_one)
        await collection.add(entries)
    async with own_client(address) as client:
        bare = client.collections.use(collection_name("Jade", prefix=prefix_for(place)))
        objects = (await bare.query.fetch_objects(limit=COUNT, include_vector=True)).objects
    doublings = {UUID(int=one.uuid.int): vector_of(one)[1] for one in objects}
    assert doublings == {one.memory.id: missed if one is entries[1] else 0 for one in entries}
    await assert_whole(collection, entries)


async def test_a_change_that_the_server_fails_to_write_is_never_taken_for_made(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = await WeaviateStore.open(
        [weaviate_address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
    )
    await assert_failure_is_told(store, weaviate_address, tmp_path, monkeypatch)
    await store.erase("Greta")
    await store.aclose()


async def assert_failure_is_told(
    store: WeaviateStore, address: Address, place: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A deletion is answered without an error, and counts what failed."""
    entries = bells(3, owner="Greta")
    collection = await store.collection("Greta")
    settle = Sender.settle
    async with own_client(address) as client:
        config = client.collections.use(collection_name("Greta", prefix=prefix_for(place))).config

        async def make(status: Literal["READY", "READONLY"]) -> None:
            await config.update_shards(status)
            # Other nodes hear of it in a moment.
            await asyncio.sleep(1)

        async def locked(sender: Sender, client: WeaviateAsyncClient, *, looked_for: Sequence[UUID]) -> int:
            await make("READONLY")
            return await settle(sender, client, looked_for=looked_for)

        async def fails_to_add(added: Sequence[Entry]) -> None:
            with monkeypatch.context() as patched:
                patched.setattr(Sender, "settle", locked)
                with pytest.raises(StoreUnavailable, match="couldn't write all of a change"):
                    await collection.add(added)
            await make("READY")
            await collection.add(added)

        await fails_to_add(entries)
        # Nothing has to be looked for where all are there.
        await fails_to_add(entries)
        await make("READONLY")
        with pytest.raises(StoreUnavailable, match="couldn't write all of a change"):
            await collection.erase([entries[2].memory.id])
        await make("READY")
        await assert_whole(collection, entries)
        assert await collection.erase([entries[2].memory.id]) == 1
        await assert_whole(collection, entries[:2])


@pytest.mark.parametrize("same_process", [True, False])
async def test_what_a_killed_server_lost_of_memories_whose_context_it_was_changing_is_written_anew(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, same_process: bool
) -> None:
    """It has their records as they are to be, but not their words, and nothing of what was added before them."""
    new, following = bells(2), bells(2, first=2)
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store = await opened(server, tmp_path)
        collection = await store.collection("Jade")
        await collection.add(following)
        await fail_when_all_is_sent(collection, new, monkeypatch)
        async with own_client(server.address) as client:
            bare = client.collections.use(collection_name("Jade", prefix=prefix_for(tmp_path)))
            await bare.data.delete_many(ids_filter([one.memory.id for one in new]))
        server.kill()
        lose_words(tmp_path)
        server.start()
        if not same_process:
            await store.aclose()
            store = await opened(server, tmp_path)
            collection = await store.collection("Jade")
        async with asyncio.timeout(60):
            while True:
                with suppress(StoreUnavailable):
                    await collection.add(new)
                    break
        await assert_whole(collection, [*new, *following])
        await store.aclose()


async def test_what_a_killed_server_lost_of_a_memory_that_was_touched_is_written_anew_with_the_next_change(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    entries = bells(3)
    ids = [one.memory.id for one in entries]
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store = await opened(server, tmp_path)
        collection = await store.collection("Jade")
        await collection.add(entries)
        with monkeypatch.context() as patched:
            patched.setattr(Sender, "_batch", failing(Sender._batch))
            with pytest.raises(StoreUnavailable):
                await collection.touch(ids, TODAY)
        server.kill()
        lose_words(tmp_path)
        server.start()
        async with asyncio.timeout(60):
            while True:
                with suppress(StoreUnavailable):
                    await collection.touch(ids[:1], TODAY)
                    break
        touched = [replace(one, memory=replace(one.memory, last_accessed_at=TODAY)) for one in entries]
        await assert_whole(collection, touched)
        await store.aclose()


async def fail_when_all_is_sent(
    collection: MemoryCollection, entries: Sequence[Entry], monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(Sender, "settle", failing(Sender.settle))
        with pytest.raises(StoreUnavailable):
            await collection.add(entries)


def failing(work: Callable[P, Awaitable[object]]) -> Callable[P, Awaitable[None]]:
    """Does it, and fails as if nobody knew."""

    async def fail(*args: P.args, **kwargs: P.kwargs) -> None:
        await work(*args, **kwargs)
        raise StoreUnavailable("its answer was lost")

    return fail


def lose_words(folder: Path) -> None:
    """As a server may that is killed before all of its logs are written."""
    for file in folder.glob("data/*/*/lsm/property_*_text_searchable/*"):
        file.unlink()


async def test_the_client_sends_a_batch_again_by_itself_after_no_less_than_is_counted_on(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    pauses: list[float] = []

    async def pause(seconds: float) -> None:
        pauses.append(seconds)

    async def refuse() -> None:
        raise AioRpcError(StatusCode.UNAVAILABLE, Metadata(), Metadata())

    monkeypatch.setattr("weaviate.retry.asyncio.sleep", pause)
    with pytest.raises(WeaviateRetryError):
        await _Retry(2).awith_exponential_backoff(0, "a batch", refuse)
    assert min(pauses) >= weaviate_sending.CLIENT_PAUSE


@pytest.mark.parametrize("fresh", [0.0, FRESH])
async def test_memories_added_one_by_one_get_the_contexts_that_they_get_together(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, fresh: float
) -> None:
    """Also where another program changes the end of the talk in between, and that is looked for."""
    monkeypatch.setattr("simuverse.memory.stores.weaviate_writes.FRESH", fresh)
    entries = bells(6)
    places = [tmp_path / name for name in ("single", "together")]
    stores = [
        await WeaviateStore.open(
            [weaviate_address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(place), deadline=60.0
        )
        for place in (*places, places[0])
    ]
    single, together, other = [await store.collection("Jade") for store in stores]
    for one in entries[:4]:
        await single.add([one])
    await together.add(entries[:4])
    if fresh == 0:
        for collection in (other, together):
            await collection.forget([entries[3].memory.id], TODAY)
            await collection.erase([entries[2].memory.id])
    for one in entries[4:]:
        await single.add([one])
    await together.add(entries[4:])
    async with own_client(weaviate_address) as client:
        texts = [
            {one.uuid: one.properties["context_text"] for one in found.objects}
            for found in [
                await client.collections.use(collection_name("Jade", prefix=prefix_for(place))).query.fetch_objects()
                for place in places
            ]
        ]
    assert texts[0] == texts[1]
    assert len(texts[0]) == len(entries) - (fresh == 0)
    for store in stores[:2]:
        await store.erase("Jade")
    for store in stores:
        await store.aclose()


async def test_a_memory_that_no_index_knows_of_any_more_is_read_written_anew_and_erased_all_the_same(
    weaviate_address: Address, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """As a killed server may leave it; here its indexes are passed over."""
    entries = bells(3)
    ids = [one.memory.id for one in entries]
    store = await WeaviateStore.open(
        [weaviate_address], embedder_name=EMBEDDER, dimension=DIMENSION, prefix=prefix_for(tmp_path), deadline=60.0
    )
    collection = await store.collection("Jade")
    await collection.add(entries)

    async def nothing(writer: Writer, ids: Collection[UUID]) -> dict[UUID, Stored]:
        return {}

    with monkeypatch.context() as patched:
        patched.setattr(Writer, "_read_indexed", nothing)
        assert await collection.get(ids) == [one.memory for one in entries]
        assert await collection.get([memory("Never told.", 99).id]) == []
        await collection.touch(ids[:1], TODAY)
        async with own_client(weaviate_address) as client:
            bare = client.collections.use(collection_name("Jade", prefix=prefix_for(tmp_path)))
            found = await bare.query.fetch_objects(limit=COUNT, include_vector=True)
        assert {UUID(int=one.uuid.int): vector_of(one)[1] for one in found.objects} == dict(
            zip(ids, (1, 0, 0), strict=True)
        )
        assert await collection.erase(ids[1:]) == 2
    assert await reached(collection) == (set(ids[:1]), set(ids[:1]))
    assert await collection.count() == 1
    many = bells(25, first=3)
    await collection.add(many)
    with monkeypatch.context() as patched:
        patched.setattr(Writer, "_read_indexed", nothing)
        assert await collection.erase([one.memory.id for one in many]) == 25
    assert await collection.count() == 1
    await store.erase("Jade")
    await store.aclose()
