"""Several processes on one file, and processes that die in the middle of a write."""

from __future__ import annotations

import sqlite3
import sys
from asyncio import create_subprocess_exec, create_task, gather, subprocess
from datetime import timedelta
from pathlib import Path

import pytest

from simuverse.errors import StoreUnavailable
from simuverse.memory.analysis import query_terms
from simuverse.memory.records import SearchType
from simuverse.memory.store import MemoryCollection, SearchRequest
from simuverse.memory.stores import sqlite_schema
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, START, entry, memory, vector
from tests.contracts.memory_store import EMBEDDER, by_keyword

ROOT = Path(__file__).parents[2]


async def open_store(file: Path) -> SQLiteStore:
    return await SQLiteStore.open(file, embedder_name=EMBEDDER, dimension=DIMENSION)


async def start_writing(file: Path, owner: str, first: int, count: int) -> subprocess.Process:
    arguments = ("-m", "tests.memory.writing_process", str(file), owner, str(first), str(count))
    return await create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=subprocess.PIPE)


async def acknowledged(process: subprocess.Process) -> list[int]:
    output, _ = await process.communicate()
    return [int(line) for line in output.split()]


async def test_processes_that_write_at_once_lose_nothing(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    processes = await gather(
        *(start_writing(file, owner, first, 60) for owner, first in [("Jade", 0), ("Jade", 60), ("Mira", 0)])
    )
    outputs = await gather(*(acknowledged(process) for process in processes))
    assert [process.returncode for process in processes] == [0, 0, 0]
    assert [len(output) for output in outputs] == [60, 60, 60]
    store = await open_store(file)
    assert await (await store.collection("Jade")).count() == 120
    assert await (await store.collection("Mira")).count() == 60
    await store.aclose()


async def test_what_was_found_before_is_found_as_another_connection_left_it(tmp_path: Path) -> None:
    file, bell = tmp_path / "memories.db", entry("The bell rang.", 0).memory
    here, there = await open_store(file), await open_store(file)
    ours, theirs = await here.collection("Jade"), await there.collection("Jade")
    await ours.add([entry("The bell rang.", 0)])
    for days in range(1, 4):
        assert await by_keyword(ours, "bell") == await by_keyword(theirs, "bell")
        last = START + timedelta(days=days)
        await (ours if days % 2 else theirs).touch([bell.id], last)
        for one in (ours, theirs):
            assert [found.last_accessed_at for found in await by_keyword(one, "bell")] == [last]
    await there.aclose()
    await here.aclose()


async def test_what_another_process_adds_is_found(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    store = await open_store(file)
    jade = await store.collection("Jade")
    await jade.add([entry("The heron stole a fish.", 500)])
    assert await by_keyword(jade, "bell") == []
    process = await start_writing(file, "Jade", 0, 3)
    await acknowledged(process)
    assert len(await by_keyword(jade, "bell")) == 3
    nearest = (await jade.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(2))))[0]
    assert nearest.memory.summary == "Bell 2 rang."
    assert await jade.count() == 4
    await store.aclose()


async def test_what_another_opening_changes_or_erases_is_noticed(tmp_path: Path) -> None:
    ours, theirs = await open_store(tmp_path / "memories.db"), await open_store(tmp_path / "memories.db")
    jade, same = await ours.collection("Jade"), await theirs.collection("Jade")
    await jade.add([entry("The heron stole a fish.", 0), entry("Clouds drift by.", 1), entry("The bell rang.", 2)])
    assert len(await by_keyword(same, "heron")) == 1
    await jade.erase([memory("The heron stole a fish.", 0).id])
    await jade.update([entry("The otter found a shell.", 1, seed=9)])
    assert await by_keyword(same, "heron clouds") == []
    assert len(await by_keyword(same, "otter")) == 1
    nearest = (await same.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(0))))[0]
    assert nearest.cosine is not None
    assert nearest.cosine < 0.99
    assert await same.count() == 2
    await theirs.erase("Jade")
    assert await ours.owners() == []
    for store in (ours, theirs):
        await store.aclose()


async def test_a_writer_waits_for_another_to_finish(tmp_path: Path) -> None:
    file = tmp_path / "memories.db"
    store = await open_store(file)
    jade = await store.collection("Jade")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    waiting = create_task(jade.add([entry("The bell rang.")]))
    other.execute("COMMIT")
    other.close()
    await waiting
    assert await jade.count() == 1
    await store.aclose()


async def test_a_writer_that_waits_too_long_says_so_and_can_try_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_schema, "BUSY_TIMEOUT", 0.01)
    file = tmp_path / "memories.db"
    store = await open_store(file)
    jade = await store.collection("Jade")
    other = sqlite3.connect(file, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailable, match="another program has been writing"):
        await jade.add([entry("The bell rang.")])
    assert await jade.count() == 0
    other.close()
    await jade.add([entry("The bell rang.")])
    assert await jade.count() == 1
    await store.aclose()


async def test_a_killed_writer_loses_at_most_what_it_had_not_acknowledged(tmp_path: Path) -> None:
    await kill_again_and_again(tmp_path / "memories.db", times=5)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_hundred_killed_writers_lose_at_most_what_they_had_not_acknowledged(tmp_path: Path) -> None:
    await kill_again_and_again(tmp_path / "memories.db", times=100)


async def kill_again_and_again(file: Path, *, times: int) -> None:
    """Kills writers after different numbers of writes; each begins where the one before was killed."""
    first = 0
    for kill in range(times):
        process = await start_writing(file, "Jade", first, 1_000_000)
        assert process.stdout is not None
        read = [int(await process.stdout.readline()) for _ in range(kill % 7 + 1)]
        process.kill()
        last = max(read + await acknowledged(process))
        store = await open_store(file)
        jade = await store.collection("Jade")
        count = await jade.count()
        assert last + 1 <= count <= last + 2
        await check_every_one(jade, count)
        await store.aclose()
        first = count


async def check_every_one(collection: MemoryCollection, count: int) -> None:
    """Each memory is there by id, by keyword and by vector."""
    ids = [memory(f"Bell {n} rang.", n).id for n in range(count)]
    assert [m.summary for m in await collection.get(ids)] == [f"Bell {n} rang." for n in range(count)]
    for request in (
        SearchRequest(search_type=SearchType.KEYWORD, terms=query_terms("bell"), limit=count + 1),
        SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(0), limit=count + 1),
    ):
        assert {hit.memory.id for hit in await collection.search(request)} == set(ids)
