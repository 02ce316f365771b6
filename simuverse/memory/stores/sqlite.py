"""The embedded store: one SQLite file, or none, in memory.

SQLite is called on a thread of its own, one a store, so that no search and no write holds up the event loop. A write is
on disk when it returns. Several processes may use one file at once: writers take turns, readers see what others wrote.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path
from typing import Self, TypeVar
from uuid import UUID

from simuverse.errors import StoreUnavailable
from simuverse.memory.caches import let_go
from simuverse.memory.clock import require_aware
from simuverse.memory.records import NO_FILTER, Hit, Memory, MemoryFilter
from simuverse.memory.store import Entry, SearchRequest
from simuverse.memory.stores.sqlite_database import SQLiteDatabase
from simuverse.memory.stores.sqlite_errors import outside_errors
from simuverse.memory.stores.vectors import checked_vector

T = TypeVar("T")

_SCANNED_AT_ONCE = 500
"""Entries read in one step of a scan: enough to spare round trips, under 1 MB with vectors of 256 numbers."""


class SQLiteStore:
    """See :class:`simuverse.memory.store.MemoryStore`. Opened by :meth:`open`."""

    def __init__(
        self, database: SQLiteDatabase, thread: ThreadPoolExecutor, *, description: str, dimension: int
    ) -> None:
        self._database = database
        self._thread = thread
        self._description = description
        self._dimension = dimension
        self._closed = False

    @classmethod
    async def open(cls, path: Path | None, *, embedder_name: str, dimension: int, read_only: bool = False) -> Self:
        """Opens the file, or makes it; its folder must be there.

        Args:
            path: None for a store in memory, gone when it is closed.
            embedder_name, dimension: of the vectors: written into a new store, compared with those of an old one.
            read_only: nothing is made or changed.

        Raises:
            StoreMismatch: another embedder's, another program's or a newer version's.
            StoreCorrupt, StoreRefused, StoreUnavailable: it can't be used; the message says why.
        """
        description = f"SQLite {path or 'in memory'}{', read only' if read_only else ''}"
        thread = ThreadPoolExecutor(max_workers=1, thread_name_prefix="simuverse-sqlite")
        make = partial(SQLiteDatabase, path, embedder_name=embedder_name, dimension=dimension, read_only=read_only)
        try:
            database = await _on(thread, make, description)
        except BaseException:
            thread.shutdown(wait=False)
            raise
        return cls(database, thread, description=description, dimension=dimension)

    @property
    def description(self) -> str:
        return self._description

    @property
    def dimension(self) -> int:
        """Size of its vectors."""
        return self._dimension

    async def collection(self, owner: str) -> SQLiteCollection:
        if not owner:
            raise ValueError("a collection needs an owner")
        owner_id = await self.run(lambda database: database.owner_id(owner))
        return SQLiteCollection(self, owner, owner_id)

    async def owners(self) -> list[str]:
        return await self.run(lambda database: database.owners())

    async def erase(self, owner: str) -> bool:
        erased = await self.run(lambda database: database.erase_owner(owner))
        let_go()
        return erased

    async def aclose(self) -> None:
        """Waits for what is under way. Closing twice does nothing."""
        if self._closed:
            return
        self._closed = True
        await _on(self._thread, self._database.close, self._description)
        self._thread.shutdown(wait=False)

    async def run(self, work: Callable[[SQLiteDatabase], T]) -> T:
        """Runs it on the store's thread. Once begun it is carried through, even if the caller is cancelled.

        Raises:
            StoreUnavailable: the store is closed.
        """
        if self._closed:
            raise StoreUnavailable(f"{self._description} is closed; open it again.")
        return await _on(self._thread, partial(work, self._database), self._description)


class SQLiteCollection:
    """See :class:`simuverse.memory.store.MemoryCollection`."""

    def __init__(self, store: SQLiteStore, owner: str, owner_id: int) -> None:
        self._store = store
        self._owner = owner
        self._id = owner_id

    @property
    def owner(self) -> str:
        return self._owner

    async def add(self, entries: Sequence[Entry]) -> None:
        checked = [self._checked_entry(entry) for entry in entries]
        await self._store.run(lambda database: database.add(self._id, checked))

    async def get(self, ids: Sequence[UUID]) -> list[Memory]:
        return await self._store.run(lambda database: database.get(self._id, ids))

    async def search(self, request: SearchRequest) -> list[Hit]:
        return (await self.search_all([request]))[0]

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        checked = [self._checked_request(request) for request in requests]
        return await self._store.run(lambda database: database.search_all(self._id, checked))

    async def recent(self, limit: int, *, filter: MemoryFilter = NO_FILTER) -> list[Memory]:
        if limit < 1:
            raise ValueError(f"limit {limit} is below 1")
        return await self._store.run(lambda database: database.recent(self._id, limit, filter))

    async def oldest(self, limit: int, *, filter: MemoryFilter = NO_FILTER, past: bool = False) -> list[Memory]:
        if limit < 1:
            raise ValueError(f"limit {limit} is below 1")
        return await self._store.run(lambda database: database.oldest(self._id, limit, filter, past=past))

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        at = require_aware(at, "the time of access")
        await self._store.run(lambda database: database.touch(self._id, ids, at))

    async def update(self, entries: Sequence[Entry | Memory]) -> None:
        checked = [
            self._checked_entry(entry) if isinstance(entry, Entry) else self._checked_memory(entry) for entry in entries
        ]
        await self._store.run(lambda database: database.update(self._id, checked))

    async def supersede(self, old: UUID, *, by: UUID, at: datetime) -> None:
        if old == by:
            raise ValueError(f"memory {old} can't supersede itself")
        await self._store.run(lambda database: database.supersede(self._id, old, by=by, at=at))

    async def forget(self, ids: Sequence[UUID], at: datetime) -> int:
        return await self._store.run(lambda database: database.forget(self._id, ids, at))

    async def erase(self, ids: Sequence[UUID]) -> int:
        erased = await self._store.run(lambda database: database.erase(self._id, ids))
        let_go()
        return erased

    async def count(self, *, filter: MemoryFilter = NO_FILTER) -> int:
        return await self._store.run(lambda database: database.count(self._id, filter))

    async def scan(self) -> AsyncIterator[Entry]:
        keys = await self._store.run(lambda database: database.keys_oldest_first(self._id))
        for start in range(0, len(keys), _SCANNED_AT_ONCE):
            page = keys[start : start + _SCANNED_AT_ONCE]
            for entry in await self._store.run(partial(SQLiteDatabase.entries, keys=page)):
                yield entry

    def _checked_request(self, request: SearchRequest) -> SearchRequest:
        if request.vector is None:
            return request
        vector = checked_vector(request.vector, dimension=self._store.dimension)
        return request if vector is request.vector else replace(request, vector=vector)

    def _checked_entry(self, entry: Entry) -> Entry:
        memory = self._checked_memory(entry.memory)
        return Entry(memory=memory, vector=checked_vector(entry.vector, dimension=self._store.dimension))

    def _checked_memory(self, memory: Memory) -> Memory:
        if memory.owner != self._owner:
            raise ValueError(f"memory {memory.id} is {memory.owner!r}'s; this collection is {self._owner!r}'s")
        return memory


async def _on(thread: ThreadPoolExecutor, work: Callable[[], T], description: str) -> T:
    def mapped() -> T:
        with outside_errors(description):
            return work()

    return await asyncio.get_running_loop().run_in_executor(thread, mapped)
