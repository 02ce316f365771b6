"""Where the lines of a record of changes are: in a file, in a store, or in memory."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Generator, Mapping, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager, contextmanager, nullcontext
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol
from uuid import UUID, uuid5

import numpy as np
from filelock import AsyncFileLock, Timeout

from simuverse.errors import StoreRefused, StoreUnavailable
from simuverse.memory.durable_lines import append_lines, whole_lines
from simuverse.memory.records import Category, Memory, Provenance, Source
from simuverse.memory.store import Entry, MemoryStore

WAIT = 30.0
"""Seconds that a change waits for another program's, as a store's write does."""

LEDGER = "(changes)"
"""Owner of the collection that holds the record of changes in a store. No agent has this name."""

_FIRST = datetime(1970, 1, 1, tzinfo=UTC)
_LINES = UUID("0f1c8a4e-38a5-5b0e-8b52-7f5d1c3f6a07")


class Lines(Protocol):
    """Lines that are appended, and last once :meth:`append` returns. No line holds a line break."""

    @property
    def description(self) -> str:
        """For people: ``ada.db.audit.jsonl``."""
        ...

    @property
    def path(self) -> Path | None:
        """Of the file, if it is one."""
        ...

    def held(self) -> AbstractAsyncContextManager[None]:
        """Nobody else appends meanwhile, as far as that can be seen to."""
        ...

    async def size(self) -> int:
        """Another number whenever a line was appended, whoever did it."""
        ...

    async def read(self) -> list[bytes]: ...

    async def append(self, *lines: bytes) -> None: ...

    async def replace(self, lines: Mapping[int, bytes]) -> None:
        """Other lines in these places, counted from 0; of the old ones nothing is left."""
        ...


class KeptLines:
    """In memory, for a store that is there too."""

    description = "the record of changes in memory"
    path = None

    def __init__(self) -> None:
        self._lines: list[bytes] = []

    def held(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def size(self) -> int:
        return len(self._lines)

    async def read(self) -> list[bytes]:
        return list(self._lines)

    async def append(self, *lines: bytes) -> None:
        self._lines.extend(lines)

    async def replace(self, lines: Mapping[int, bytes]) -> None:
        for place, line in lines.items():
            self._lines[place] = line


class FileLines:
    """In a file that is made with the first line. Programs take turns, by a lock file beside it.

    A last line that a crash cut short is no line: nothing followed it.
    """

    def __init__(self, path: Path) -> None:
        self.path = path

    @property
    def description(self) -> str:
        return str(self.path)

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        lock = AsyncFileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=WAIT, thread_local=False)
        try:
            with self._refusals():
                await lock.acquire()
        except Timeout as error:
            raise StoreUnavailable(
                f"another program has been changing memories beside {self.path} for more than {WAIT:.0f} s; end it or "
                "try again"
            ) from error
        try:
            yield
        finally:
            await lock.release()

    async def size(self) -> int:
        return await asyncio.to_thread(self._size)

    async def read(self) -> list[bytes]:
        return await asyncio.to_thread(self._read)

    async def append(self, *lines: bytes) -> None:
        await asyncio.to_thread(self._append, lines)

    async def replace(self, lines: Mapping[int, bytes]) -> None:
        """All of it or nothing, also when the machine stops in between."""
        await asyncio.to_thread(self._replace, lines)

    def _size(self) -> int:
        with self._refusals():
            return self.path.stat().st_size if self.path.exists() else 0

    def _read(self) -> list[bytes]:
        with self._refusals():
            return whole_lines(self.path)

    def _append(self, lines: Sequence[bytes]) -> None:
        with self._refusals():
            append_lines(self.path, *lines)

    def _replace(self, lines: Mapping[int, bytes]) -> None:
        unfinished = self.path.with_name(f"{self.path.name}.part")
        with self._refusals():
            with unfinished.open("wb") as file:
                for place, line in enumerate(self._read()):
                    file.write(lines.get(place, line) + b"\n")
                file.flush()
                os.fsync(file.fileno())
            unfinished.replace(self.path)

    @contextmanager
    def _refusals(self) -> Generator[None]:
        try:
            yield
        except Timeout:
            raise
        except OSError as error:
            raise StoreRefused(
                f"the record of changes {self.path} can't be used: {error.strerror}. Nothing is changed without it"
            ) from error


class StoredLines:
    """In a collection of the store itself, made with the first line.

    A line is kept as a memory's summary, all with the same vector: nothing searches them. Two programs that change
    memories on one server at the same moment aren't kept apart, as nothing there would hold them.

    Args:
        dimension: of the store's vectors.
    """

    path = None

    def __init__(self, store: MemoryStore, *, dimension: int) -> None:
        self._store = store
        self._vector = np.eye(1, dimension, dtype=np.float32)[0]

    @property
    def description(self) -> str:
        return f"the record of changes in {self._store.description}"

    def held(self) -> AbstractAsyncContextManager[None]:
        return nullcontext()

    async def size(self) -> int:
        if LEDGER not in await self._store.owners():
            return 0
        return await (await self._store.collection(LEDGER)).count()

    async def read(self) -> list[bytes]:
        return [memory.summary.encode() for memory in await self._memories()]

    async def append(self, *lines: bytes) -> None:
        begin = await self.size()
        entries: list[Entry] = []
        for number, line in enumerate(lines, start=begin):
            at = _FIRST + timedelta(microseconds=number)
            entries.append(self._entry(uuid5(_LINES, f"{at.isoformat()} {line.decode()}"), at, line))
        collection = await self._store.collection(LEDGER)
        await collection.add(entries)

    async def replace(self, lines: Mapping[int, bytes]) -> None:
        memories = await self._memories()
        collection = await self._store.collection(LEDGER)
        await collection.update(
            [self._entry(memories[place].id, memories[place].created_at, line) for place, line in lines.items()]
        )

    async def _memories(self) -> list[Memory]:
        if LEDGER not in await self._store.owners():
            return []
        return [entry.memory async for entry in (await self._store.collection(LEDGER)).scan()]

    def _entry(self, id: UUID, at: datetime, line: bytes) -> Entry:
        memory = Memory(
            id=id,
            owner=LEDGER,
            summary=line.decode(),
            category=Category.KNOWLEDGE,
            created_at=at,
            last_accessed_at=at,
            provenance=Provenance(source=Source.OPERATOR),
        )
        return Entry(memory=memory, vector=self._vector)
