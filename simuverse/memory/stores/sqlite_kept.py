"""An SQLite store as a whole: see :class:`simuverse.memory.kept.KeptStore`."""

from __future__ import annotations

import asyncio
import os
import shutil
import sqlite3
from collections.abc import AsyncGenerator, Generator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Self

import msgspec

from simuverse.errors import StoreCorrupt, StoreMismatch, StoreUnavailable, UsageError
from simuverse.memory.analysis import search_text
from simuverse.memory.audit import AuditLog
from simuverse.memory.audit_lines import LEDGER
from simuverse.memory.kept import EmbedderRecord
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryCollection
from simuverse.memory.stores.sqlite import SQLiteCollection, SQLiteStore
from simuverse.memory.stores.sqlite_errors import BUSY_TIMEOUT, outside_errors
from simuverse.memory.stores.sqlite_schema import reading, recorded_embedder

_NEW, _SAVED, _OLD = ".new", ".saved", ".old"
_BESIDE = ("-wal", "-shm", "-journal")
"""What SQLite keeps beside a file."""

_SHOWN = 3
"""Faults of the file that are told of many."""

_RECORD = msgspec.json.Decoder(Memory)


class SQLiteKept:
    """Opened by :meth:`open`."""

    def __init__(self, path: Path, store: SQLiteStore, embedder: EmbedderRecord) -> None:
        self._path = path
        self._store = store
        self._embedder = embedder
        self._audit = AuditLog.beside(path)

    @classmethod
    async def open(cls, path: Path, *, read_only: bool, new: EmbedderRecord | None = None) -> Self:
        """Args:
            new: makes the file if it isn't there, for vectors of this embedder.

        Raises:
            StoreUnavailable: nothing is there, and none is to be made.
            StoreError: it can't be used.
        """
        if path.exists() or new is None:
            name, dimension = recorded_embedder(path)
            record = EmbedderRecord(name=name, dimension=dimension)
        else:
            record = new
        store = await SQLiteStore.open(path, embedder_name=record.name, dimension=record.dimension, read_only=read_only)
        return cls(path, store, record)

    @property
    def name(self) -> str:
        return f"sqlite:{self._path}"

    @property
    def description(self) -> str:
        return self._store.description

    @property
    def one_embedder(self) -> EmbedderRecord | None:
        return self._embedder

    @property
    def audit(self) -> AuditLog:
        return self._audit

    async def embedders(self) -> dict[str, EmbedderRecord]:
        return {owner: self._embedder for owner in await self._store.owners() if owner != LEDGER}

    async def collection(self, owner: str, embedder: EmbedderRecord) -> SQLiteCollection:
        if embedder != self._embedder:
            raise StoreMismatch(f"{self.name} holds vectors of the embedder {self._embedder}, none of {embedder}")
        return await self._store.collection(owner)

    async def size(self) -> int | None:
        return sum(path.stat().st_size for path in _with_beside(self._path) if path.exists())

    async def damage(self) -> list[str]:
        """What SQLite finds, and rows whose search words aren't those of their record."""
        return await asyncio.to_thread(_damage, self._path)

    @asynccontextmanager
    async def renewal(self, embedder: EmbedderRecord | None) -> AsyncGenerator[SQLiteRenewal]:
        """Without another embedder the memories are read from a copy whose indexes are made anew, so that none that an
        index has lost is missed.
        """
        record = embedder or self._embedder
        copy, saved = (self._path.with_name(self._path.name + ending) for ending in (_NEW, _SAVED))
        async with AsyncExitStack() as stack:
            file = stack.enter_context(_held(self._path))
            source = self._store
            if embedder is None:
                stack.callback(_delete, saved)
                await asyncio.to_thread(_save, self._path, saved)
                source = await SQLiteStore.open(
                    saved, embedder_name=record.name, dimension=record.dimension, read_only=True
                )
                stack.push_async_callback(source.aclose)
            if copy.exists() and _recorded(copy) != record:
                _delete(copy)
            target = await SQLiteStore.open(copy, embedder_name=record.name, dimension=record.dimension)
            stack.push_async_callback(target.aclose)
            yield SQLiteRenewal(self._path, file, readers=[self._store, source], source=source, target=target)

    async def older(self) -> list[str]:
        old = self._path.with_name(self._path.name + _OLD)
        return [str(old)] if old.exists() else []

    async def older_collections(self) -> dict[str, MemoryCollection]:
        return {}

    async def drop_older(self) -> list[str]:
        dropped = await self.older()
        for path in dropped:
            _delete(Path(path))
        return dropped

    async def aclose(self) -> None:
        await self._store.aclose()


class SQLiteRenewal:
    """A second file beside the first, under the same name with ``.new``. Nobody writes to the first meanwhile.

    Args:
        file: the first, held.
        readers: what of ours reads it, closed before the second takes its place.
    """

    def __init__(
        self,
        path: Path,
        file: sqlite3.Connection,
        *,
        readers: Sequence[SQLiteStore],
        source: SQLiteStore,
        target: SQLiteStore,
    ) -> None:
        self._path = path
        self._file = file
        self._readers = readers
        self._source = source
        self._target = target

    @property
    def old(self) -> str:
        return str(self._path.with_name(self._path.name + _OLD))

    async def sources(self) -> dict[str, MemoryCollection]:
        return {owner: await self._source.collection(owner) for owner in await self._source.owners()}

    async def targets(self) -> list[str]:
        return await self._target.owners()

    async def target(self, owner: str) -> SQLiteCollection:
        return await self._target.collection(owner)

    async def erase(self, owner: str) -> bool:
        return await self._target.erase(owner)

    async def take_over(self) -> None:
        """Raises:
        StoreUnavailable: another program has the file open, or wrote to it at the last moment.
        """
        for store in (*self._readers, self._target):
            await store.aclose()
        copy = self._path.with_name(self._path.name + _NEW)
        with outside_errors(f"SQLite {copy}"):
            finished = sqlite3.connect(copy, isolation_level=None, timeout=BUSY_TIMEOUT)
            try:
                _seal(finished)
            finally:
                finished.close()
        with outside_errors(f"SQLite {self._path}"):
            before = _version(self._file)
            self._file.execute("COMMIT")
            try:
                _seal(self._file)
                self._file.execute("BEGIN EXCLUSIVE")
            except sqlite3.OperationalError as error:
                raise StoreUnavailable(
                    f"{self._path} is open in another program. End that and start again: the copy beside it is ready"
                ) from error
            if _version(self._file) != before:
                raise StoreUnavailable(f"{self._path} was written to at the last moment; start again")
            _keep(self._path, Path(self.old))
            os.replace(copy, self._path)

    async def late_sources(self) -> dict[str, MemoryCollection]:
        return {}


def _seal(connection: sqlite3.Connection) -> None:
    """Brings everything into the file itself. Whoever opens it next goes on as before."""
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
    connection.execute("PRAGMA journal_mode = DELETE").fetchall()


@contextmanager
def _held(path: Path) -> Generator[sqlite3.Connection]:
    """Nobody else writes to the file; who reads it goes on.

    Raises:
        UsageError: an old copy is in the way.
        StoreUnavailable: others are writing.
    """
    old = path.with_name(path.name + _OLD)
    if old.exists() and not old.samefile(path):
        raise UsageError(
            f"{old} is in the way, from an earlier time. Move it away, or delete it with: "
            f"simuverse store rebuild sqlite:{path} --drop-old"
        )
    with outside_errors(f"SQLite {path}"):
        connection = sqlite3.connect(path, isolation_level=None, timeout=BUSY_TIMEOUT)
        try:
            connection.execute("BEGIN IMMEDIATE")
            yield connection
        finally:
            connection.close()


def _keep(path: Path, as_: Path) -> None:
    """Under a second name. There is no moment without the first, whatever happens."""
    as_.unlink(missing_ok=True)
    try:
        os.link(path, as_)
    except OSError:
        # Some file systems give a file one name only.
        shutil.copy2(path, as_)


def _version(connection: sqlite3.Connection) -> int:
    """Another number when another connection has written."""
    return int(connection.execute("PRAGMA data_version").fetchone()[0])


def _save(path: Path, as_: Path) -> None:
    """All rows in a file of their own, with indexes made anew.

    Raises:
        StoreCorrupt: the rows themselves are damaged.
    """
    _delete(as_)
    with outside_errors(f"SQLite {path}"), closing(reading(path)) as connection:
        connection.execute("VACUUM INTO ?", (str(as_),))
    with outside_errors(f"SQLite {as_}"), closing(sqlite3.connect(as_, isolation_level=None)) as connection:
        try:
            connection.execute("REINDEX")
        except sqlite3.IntegrityError as error:
            raise StoreCorrupt(f"{path} holds one memory twice, so no index can be made of it: {error}") from error


def _damage(path: Path) -> list[str]:
    with outside_errors(f"SQLite {path}"), closing(reading(path)) as connection:
        found: list[str] = [row[0] for row in connection.execute("PRAGMA integrity_check")]
        faults = [] if found == ["ok"] else [f"SQLite: {text}" for text in found[:_SHOWN]]
        if len(found) > _SHOWN:
            faults.append(f"SQLite: {len(found) - _SHOWN} more faults")
        orphans = len(connection.execute("PRAGMA foreign_key_check").fetchall())
        if orphans:
            faults.append(f"{orphans} memories have no owner")
        rows = connection.execute("SELECT record, search_text FROM memories NOT INDEXED")
        other = sum(search_text(_RECORD.decode(record)) != text for record, text in rows)
        if other:
            faults.append(f"{other} memories are filed under other words than their own")
        return faults


def _recorded(path: Path) -> EmbedderRecord | None:
    """None: it isn't a store, or an unfinished one."""
    try:
        name, dimension = recorded_embedder(path)
    except (StoreMismatch, StoreUnavailable):
        return None
    return EmbedderRecord(name=name, dimension=dimension)


def _with_beside(path: Path) -> list[Path]:
    return [path, *(path.with_name(path.name + ending) for ending in _BESIDE)]


def _delete(path: Path) -> None:
    for one in _with_beside(path):
        one.unlink(missing_ok=True)
