"""Changes of memories on a real Weaviate server: made, recorded there, undone, and erased for good."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta

import pytest

from simuverse.memory.analysis import content_words, query_terms
from simuverse.memory.audit import AuditLog
from simuverse.memory.capacity import Capacity
from simuverse.memory.clock import ManualClock
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import SearchType
from simuverse.memory.store import MemoryStore, SearchRequest
from tests.commands import Here
from tests.live.weaviate_server import WeaviateServer
from tests.memory.editing import TODAY, exported, now
from tests.memory.recalling import NOW, Pool

pytestmark = pytest.mark.live

BOX = "The zephyrine box is under the quince tree."


async def opened(store: MemoryStore) -> tuple[Pool, MemoryEditor]:
    collection = await store.collection("Jade")
    audit = AuditLog.within(store, dimension=HashingEmbedder.dimension)
    return Pool(collection, HashingEmbedder()), MemoryEditor(collection, HashingEmbedder(), ManualClock(TODAY), audit)


async def test_a_bound_evicts_exactly_what_is_over_and_undo_brings_it_back(store: MemoryStore) -> None:
    pool, editor = await opened(store)
    memories = [await pool.keep(f"Boat {n} came in.", importance=n + 1, age=timedelta(hours=n)) for n in range(6)]
    await editor.anchor([memories[0].id])
    before = await exported(pool.collection)
    capacity = Capacity(
        4, collection=pool.collection, embedder=HashingEmbedder(), clock=ManualClock(NOW), audit=editor.audit
    )

    gone = await capacity.keep()

    assert [memory.id for memory in gone] == [memories[1].id, memories[2].id]
    assert await pool.collection.count() == 4
    assert await capacity.keep() == ()
    await editor.undo()
    assert await exported(pool.collection) == before


async def test_every_change_is_undone_to_the_same_bytes(store: MemoryStore) -> None:
    pool, editor = await opened(store)
    box, oak, quay = [await pool.keep(text, episode="e") for text in (BOX, "A chest in the oak.", "Mira by the quay.")]
    before = await exported(pool.collection)
    await editor.anchor([quay.id])
    await editor.rewrite(oak.id, "A box in the oak.")
    merge = await editor.merge([box.id, oak.id])
    await editor.forget(merge.ids)
    await editor.unanchor([quay.id])
    assert await found(pool, "chest quince oak") == []
    _, another = await opened(store)
    assert [change.number for change in await another.history()] == [1, 2, 3, 4, 5]
    for _ in range(5):
        await another.undo()
    assert await exported(pool.collection) == before
    assert await found(pool, "chest") == ["A chest in the oak."]


async def test_erasing_empties_the_caches_of_this_process(store: MemoryStore) -> None:
    pool, _ = await opened(store)
    box = await pool.keep(BOX)
    content_words(BOX)
    await pool.collection.erase([box.id])
    assert content_words.cache_info().currsize == 0
    content_words(BOX)
    await store.erase("Jade")
    assert content_words.cache_info().currsize == 0


async def test_an_erased_memory_and_its_history_are_nowhere_on_the_server(store: MemoryStore) -> None:
    pool, editor = await opened(store)
    box, quay = await pool.keep(BOX), await pool.keep("Mira by the quay.")
    await editor.rewrite(box.id, "The zephyrine chest is gone.")
    await editor.merge([box.id, quay.id])
    erased = await editor.erase([box.id])
    assert len(erased.change.along) == 1
    assert (await now(pool.collection, quay)).current
    assert await found(pool, "zephyrine box chest quince") == []
    for owner in await store.owners():
        assert b"zephyrine" not in await exported(await store.collection(owner))
    assert [change.redacted for change in await editor.history()] == [True, True, False]


async def found(pool: Pool, words: str) -> list[str]:
    request = SearchRequest(search_type=SearchType.KEYWORD, terms=query_terms(words))
    return [hit.memory.summary for hit in await pool.collection.search(request)]


@pytest.fixture(scope="module")
def server(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("editing")) as server:
        yield server


def test_the_commands_do_there_what_they_do_on_a_file(here: Here, server: WeaviateServer) -> None:
    source = (f"weaviate:{server.url}", "--embedder", "hashing")
    assert here("agents", *source, "create", "Ada").code == 0
    memories = ("memories", *source, "--agent", "Ada")
    box = json.loads(here(*memories, "add", BOX, "--json").out)["id"]
    assert here(*memories, "rewrite", box, "The zephyrine chest is gone.").code == 0
    assert here("memories", *source, "undo").code == 0
    assert BOX in here("memories", *source, "list").out
    assert here("agents", *source, "list").out == "Ada  1 memories\n"
    assert [one["kind"] for one in json.loads(here(*memories, "history", "--json").out)] == ["rewrite", "undo"]
    ended = here(*memories, "forget", box, "--erase", "--yes")
    assert (ended.code, ended.err) == (0, "")
    assert "zephyrine" not in here(*memories, "history").out
    assert here("agents", *source, "delete", "Ada", "--yes").code == 0
    assert here("agents", *source, "list").out == "no agents\n"
