"""A store that fails at will, around one that works, and an embedder for what it holds."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from datetime import datetime
from hashlib import sha256
from typing import TypeVar
from uuid import UUID

import numpy as np

from simuverse.errors import StoreError
from simuverse.memory.embedding import TextKind, Vectors
from simuverse.memory.records import NO_FILTER, Hit, Memory, MemoryFilter
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore, SearchRequest
from tests.contracts.memory_reference import DIMENSION, vector
from tests.contracts.memory_store import EMBEDDER

Value = TypeVar("Value")


class InventedEmbedder:
    """A direction of its own for each text; ``asked`` holds the texts."""

    name = EMBEDDER
    dimension = DIMENSION

    def __init__(self) -> None:
        self.asked: list[str] = []

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        self.asked += texts
        return np.stack([direction(text) for text in texts])

    async def aclose(self) -> None:
        pass


def direction(text: str) -> np.typing.NDArray[np.float32]:
    return vector(int.from_bytes(sha256(text.encode()).digest()[:4], "big"))


class FailingStore:
    """Fails with :attr:`fault` while there is one.

    Attributes:
        only: whose memories alone it fails for; None for everyone's.
        answers_are_lost: what fails was done all the same.
        changes: what was changed: owner, name of the change, ids.
    """

    def __init__(self, store: MemoryStore) -> None:
        self.fault: StoreError | None = None
        self.only: str | None = None
        self.answers_are_lost = False
        self.changes: list[tuple[str, str, list[UUID]]] = []
        self._store = store

    @property
    def description(self) -> str:
        return self._store.description

    async def collection(self, owner: str) -> FailingCollection:
        return FailingCollection(self, await self.tried(owner, lambda: self._store.collection(owner)))

    async def owners(self) -> list[str]:
        return await self._store.owners()

    async def erase(self, owner: str) -> bool:
        return await self.tried(owner, lambda: self._store.erase(owner))

    async def aclose(self) -> None:
        await self._store.aclose()

    async def tried(self, owner: str, work: Callable[[], Awaitable[Value]]) -> Value:
        fault = self.fault if self.only in (None, owner) else None
        if fault is not None and not self.answers_are_lost:
            raise fault
        done = await work()
        if fault is not None:
            raise fault
        return done


class FailingCollection:
    def __init__(self, store: FailingStore, collection: MemoryCollection) -> None:
        self.owner = collection.owner
        self._store = store
        self._collection = collection

    async def add(self, entries: Sequence[Entry]) -> None:
        await self._change("add", [one.memory.id for one in entries], lambda: self._collection.add(entries))

    async def get(self, ids: Sequence[UUID]) -> list[Memory]:
        return await self._store.tried(self.owner, lambda: self._collection.get(ids))

    async def search(self, request: SearchRequest) -> list[Hit]:
        return await self._store.tried(self.owner, lambda: self._collection.search(request))

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        return await self._store.tried(self.owner, lambda: self._collection.search_all(requests))

    async def recent(self, limit: int, *, filter: MemoryFilter = NO_FILTER) -> list[Memory]:
        return await self._store.tried(self.owner, lambda: self._collection.recent(limit, filter=filter))

    async def oldest(self, limit: int, *, filter: MemoryFilter = NO_FILTER, past: bool = False) -> list[Memory]:
        return await self._store.tried(self.owner, lambda: self._collection.oldest(limit, filter=filter, past=past))

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        await self._change("touch", list(ids), lambda: self._collection.touch(ids, at))

    async def update(self, entries: Sequence[Entry | Memory]) -> None:
        ids = [one.memory.id if isinstance(one, Entry) else one.id for one in entries]
        await self._change("update", ids, lambda: self._collection.update(entries))

    async def supersede(self, old: UUID, *, by: UUID, at: datetime) -> None:
        await self._change("supersede", [old, by], lambda: self._collection.supersede(old, by=by, at=at))

    async def forget(self, ids: Sequence[UUID], at: datetime) -> int:
        return await self._store.tried(self.owner, lambda: self._collection.forget(ids, at))

    async def erase(self, ids: Sequence[UUID]) -> int:
        await self._change("erase", list(ids), lambda: self._collection.erase(ids))
        return len(ids)

    async def count(self, *, filter: MemoryFilter = NO_FILTER) -> int:
        return await self._store.tried(self.owner, lambda: self._collection.count(filter=filter))

    def scan(self) -> AsyncIterator[Entry]:
        return self._collection.scan()

    async def _change(self, name: str, ids: list[UUID], work: Callable[[], Awaitable[object]]) -> None:
        async def noted() -> None:
            await work()
            self._store.changes.append((self.owner, name, ids))

        await self._store.tried(self.owner, noted)
