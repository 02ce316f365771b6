"""Everything that can be wrong with a file, each with a message that names the cure, and nothing lost."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Generator, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest

from simuverse.errors import StoreCorrupt, StoreError, StoreMismatch, StoreRefused, StoreUnavailable
from simuverse.memory.records import SearchType
from simuverse.memory.store import Entry, SearchRequest
from simuverse.memory.stores import sqlite_errors
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, entry, invented_village, memory, vector
from tests.contracts.memory_store import EMBEDDER, by_keyword, everything


async def open_store(file: Path, *, read_only: bool = False, dimension: int = DIMENSION) -> SQLiteStore:
    return await SQLiteStore.open(file, embedder_name=EMBEDDER, dimension=dimension, read_only=read_only)


async def make_store(file: Path) -> None:
    store = await open_store(file)
    await (await store.collection("Jade")).add(invented_village())
    await store.aclose()


@pytest.fixture
async def file(tmp_path: Path) -> Path:
    """A store with a village in it."""
    await make_store(tmp_path / "memories.db")
    return tmp_path / "memories.db"


@contextmanager
def unprivileged() -> Generator[None]:
    """Without the superuser's rights, for whom nothing is read-only."""
    superuser = os.geteuid() == 0
    if superuser:
        os.setresuid(65534, 65534, 0)
    try:
        yield
    finally:
        if superuser:
            os.setresuid(0, 0, 0)


@pytest.fixture
def public_folder() -> Iterator[Path]:
    """A folder that every user can reach; the usual one is the tester's own."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o777)
        yield Path(folder)


def test_every_result_code_of_sqlite_is_either_the_outsides_fault_or_ours() -> None:
    # https://www.sqlite.org/rescode.html: primary codes are 1 to 28; 100 and 101 aren't errors.
    assert set(sqlite_errors.OUTSIDE) | sqlite_errors.OURS == set(range(1, 29))
    assert not set(sqlite_errors.OUTSIDE) & sqlite_errors.OURS


@pytest.mark.parametrize("code", sqlite_errors.OUTSIDE)
@pytest.mark.parametrize("extension", [0, 1 << 8, 7 << 8])
def test_a_fault_of_the_outside_is_raised_as_its_kind_with_its_cure(code: int, extension: int) -> None:
    kind, cure = sqlite_errors.OUTSIDE[code]
    error = sqlite3.OperationalError("as SQLite says it")
    error.sqlite_errorcode = code | extension
    with pytest.raises(kind) as caught, sqlite_errors.outside_errors("SQLite jade.db"):
        raise error
    assert str(caught.value) == f"SQLite jade.db: {cure} (as SQLite says it)."
    assert caught.value.__cause__ is error


@pytest.mark.parametrize("code", sorted(sqlite_errors.OURS))
def test_a_fault_of_ours_is_raised_as_it_is(code: int) -> None:
    error = sqlite3.OperationalError("no such table")
    error.sqlite_errorcode = code
    with pytest.raises(sqlite3.OperationalError), sqlite_errors.outside_errors("SQLite jade.db"):
        raise error


def test_python_runs_out_of_memory_as_sqlite_does() -> None:
    with pytest.raises(StoreUnavailable, match="too little memory"), sqlite_errors.outside_errors("SQLite jade.db"):
        raise MemoryError


async def test_a_text_file_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.write_text("These are notes, not memories. " * 100)
    before = file.read_bytes()
    with pytest.raises(StoreCorrupt, match=r"notes\.txt.*isn't an SQLite database.*name another file"):
        await open_store(file)
    assert file.read_bytes() == before


async def test_another_programs_database_is_refused_and_left_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "contacts.db"
    with closing(sqlite3.connect(file)) as other:
        other.execute("CREATE TABLE contacts (name TEXT)")
    before = file.read_bytes()
    with pytest.raises(StoreMismatch, match=r"contacts\.db.*no store of Simu-Verse; name another file"):
        await open_store(file)
    assert file.read_bytes() == before
    assert [path.name for path in tmp_path.iterdir()] == ["contacts.db"]


async def test_an_empty_file_becomes_a_store(tmp_path: Path) -> None:
    (tmp_path / "new.db").touch()
    store = await open_store(tmp_path / "new.db")
    assert await store.owners() == []
    await store.aclose()


async def test_a_newer_format_is_refused_with_the_command_that_upgrades(file: Path) -> None:
    with closing(sqlite3.connect(file)) as newer:
        newer.execute("PRAGMA user_version = 2")
    with pytest.raises(StoreMismatch, match=r"format 2, this one reads up to 1.*pip install --upgrade simu-verse"):
        await open_store(file)


async def test_vectors_of_another_size_are_refused_naming_both(file: Path) -> None:
    with pytest.raises(StoreMismatch, match=rf"\({DIMENSION} numbers\).*\(99 numbers\).*store reembed sqlite:"):
        await open_store(file, dimension=99)


async def test_a_damaged_file_is_said_to_be_damaged(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[8192:] = b"\xa5" * (len(content) - 8192)
    file.write_bytes(content)
    with pytest.raises(StoreCorrupt, match="restore a copy"):
        await search_all(file)


async def search_all(file: Path) -> None:
    store = await open_store(file)
    try:
        await by_keyword(await store.collection("Jade"), "key")
    finally:
        await store.aclose()


@pytest.mark.parametrize("path", ["missing/memories.db", "."])
async def test_a_path_that_cannot_be_a_file_names_the_cure(tmp_path: Path, path: str) -> None:
    with pytest.raises(StoreUnavailable, match="can't be opened; check that it is a file, that its folder exists"):
        await open_store(tmp_path / path)


async def test_a_full_disk_loses_only_the_write_that_did_not_fit(file: Path) -> None:
    store = await open_store(file)
    jade = await store.collection("Jade")
    before = await everything(jade)
    await store.run(lambda database: database._connection.execute("PRAGMA max_page_count = 60").fetchall())
    large = [Entry(memory=memory("The bell rang. " * 500, n), vector=vector(n)) for n in range(200, 300)]
    with pytest.raises(StoreUnavailable, match="the disk is full, and nothing of this write was stored"):
        await jade.add(large)
    assert await everything(jade) == before
    assert await by_keyword(jade, "bell") == []
    await store.run(lambda database: database._connection.execute("PRAGMA max_page_count = 1000000").fetchall())
    await jade.add(large)
    assert await jade.count() == 100 + len([e for e in invented_village() if e.memory.current])
    await store.aclose()


async def test_a_file_that_may_not_be_written_is_refused_but_can_be_read(public_folder: Path) -> None:
    file = public_folder / "memories.db"
    await make_store(file)
    file.chmod(0o444)
    public_folder.chmod(0o555)
    with unprivileged():
        with pytest.raises(StoreRefused, match="it may only be read; make the file and its folder writable"):
            await open_store(file)
        store = await open_store(file, read_only=True)
        assert len(await by_keyword(await store.collection("Jade"), "key", limit=5)) == 5
        await store.aclose()


async def test_a_new_file_in_a_folder_that_may_not_be_written_is_refused(public_folder: Path) -> None:
    public_folder.chmod(0o555)
    with unprivileged(), pytest.raises(StoreError, match="you may write in that folder"):
        await open_store(public_folder / "memories.db")


async def test_read_only_searches_but_refuses_every_write(file: Path) -> None:
    before = file.read_bytes()
    store = await open_store(file, read_only=True)
    assert store.description.endswith("read only")
    jade = await store.collection("Jade")
    assert len(await by_keyword(jade, "key", limit=5)) == 5
    known = invented_village()[0].memory
    for write in (
        jade.add([entry("The bell rang.", 900)]),
        jade.update([known]),
        jade.touch([known.id], known.created_at),
        jade.forget([known.id], known.created_at),
        jade.erase([known.id]),
        jade.supersede(known.id, by=invented_village()[1].memory.id, at=known.created_at),
        store.erase("Jade"),
    ):
        with pytest.raises(StoreRefused, match="reading only"):
            await write
    with pytest.raises(StoreRefused, match="no memories of 'Nobody'"):
        await store.collection("Nobody")
    await store.aclose()
    assert file.read_bytes() == before


async def test_read_only_sees_what_a_writer_has_open(file: Path) -> None:
    writer, reader = await open_store(file), await open_store(file, read_only=True)
    await (await writer.collection("Jade")).add([entry("The heron stole a fish.", 900)])
    assert len(await by_keyword(await reader.collection("Jade"), "heron")) == 1
    await reader.aclose()
    await writer.aclose()


async def test_read_only_makes_nothing(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailable, match="There is no store at"):
        await open_store(tmp_path / "memories.db", read_only=True)
    assert list(tmp_path.iterdir()) == []


async def test_what_was_erased_is_in_none_of_the_files(tmp_path: Path) -> None:
    store = await open_store(tmp_path / "memories.db")
    jade, mira = await store.collection("Jade"), await store.collection("Mira")
    await jade.add([entry("The zephyrine secret.", 0), entry("Clouds drift by.", 1)])
    await mira.add([entry("The quixotry secret.", 0, owner="Mira")])
    assert await jade.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(0)))
    await jade.erase([memory("The zephyrine secret.", 0).id])
    await store.erase("Mira")
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"Clouds drift by." in left
    for word in (b"zephyrin", b"quixotr", b"Mira"):
        assert word not in left
    await store.aclose()
