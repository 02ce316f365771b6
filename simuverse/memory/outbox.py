"""What a store couldn't take waits here, on disk, and goes out in order when the store answers again.

A collection of an outbox is a store's own, but for changes that fail: those are kept and count as made. While any of an
owner's wait, further ones wait behind them. Searches ask the store alone.

A change may be made twice, where the store took it and its answer was lost. That harms nothing: ids of memories follow
from what they are made of, and a memory that is there already stays as it is, as someone may have changed it since.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from datetime import datetime
from itertools import chain, repeat
from pathlib import Path
from types import MappingProxyType
from uuid import UUID

from filelock import FileLock, Timeout

from simuverse.errors import EmbedderError, StoreError, StoreUnavailable, UsageError
from simuverse.memory.backlog import NO_BACKLOG, Backlog, Queue, added_by, batch_of, ids_of
from simuverse.memory.clock import require_aware
from simuverse.memory.embedding import Embedder
from simuverse.memory.outbox_file import Added, OutboxFile, StoredChange, Superseded, Touched, Updated, WaitingChange
from simuverse.memory.records import NO_FILTER, Hit, Memory, MemoryFilter
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore, SearchRequest, Vector
from simuverse.memory.stores.vectors import checked_vector

PAUSES = (0.2, 0.5, 1.0)
"""Seconds before each try to deliver; the last goes on for good."""

NO_VECTORS: Mapping[UUID, Vector] = MappingProxyType({})


class Outbox:
    """Opened by :meth:`open`, for as long as its store is.

    Attributes:
        listener: called on the loop whenever memories have gone out.
    """

    def __init__(self, file: OutboxFile, store: MemoryStore, embedder: Embedder, *, pauses: Sequence[float]) -> None:
        self.listener: Callable[[], None] = lambda: None
        self.embedder = embedder
        self._file = file
        self._store = store
        self._pauses = pauses
        self._collections: dict[str, MemoryCollection] = {}
        self._queues: dict[str, Queue] = {}
        self._one_delivery = asyncio.Lock()
        self._background: asyncio.Task[None] | None = None
        self._from_before = {change.number for change in file.waiting}
        for change in file.waiting:
            self._queue(change.owner).put(change)

    @classmethod
    @asynccontextmanager
    async def open(
        cls,
        path: Path,
        *,
        store: MemoryStore,
        embedder: Embedder,
        locked: bool = False,
        pauses: Sequence[float] = PAUSES,
    ) -> AsyncGenerator[Outbox]:
        """Delivers what waits from before, as far as the store takes it, and once more when it is closed.

        Args:
            path: of its file, which is there only while something waits.
            locked: whoever opens it holds a lock already that keeps others from it.
            pauses: seconds before each try in the background.

        Raises:
            UsageError: another has it open.
            StoreCorrupt, StoreUnavailable: the file can't be read.
        """
        lock = FileLock(path.with_name(f"{path.name}.lock"), thread_local=False)
        if not locked:
            _acquire(lock, path)
        try:
            outbox = cls(OutboxFile(path), store, embedder, pauses=pauses)
            try:
                await outbox.deliver()
                outbox._keep_trying()
                yield outbox
            finally:
                await outbox._close()
        finally:
            lock.release()

    @property
    def backlog(self) -> Backlog:
        """Of all owners together."""
        queues = self._queues.values()
        return Backlog(
            waiting=sum(len(queue.ids) for queue in queues),
            delivered=sum(queue.delivered for queue in queues),
            problem=next((queue.problem for queue in queues if queue.problem), ""),
            place=self._file.path.name,
        )

    def backlog_of(self, owner: str) -> Backlog:
        queue = self._queue(owner)
        return Backlog(
            waiting=len(queue.ids), delivered=queue.delivered, problem=queue.problem, place=self._file.path.name
        )

    def waits(self, owner: str, ids: Sequence[UUID] | None = None) -> bool:
        """Whether any change of the owner's waits, or one that concerns these memories."""
        queue = self._queue(owner)
        return bool(queue.changes) if ids is None else any(one in queue.ids for one in ids)

    def memories(self, owner: str) -> list[Memory]:
        """Those that wait, new ones and others, as they are to be; in the order in which they first came."""
        latest: dict[UUID, Memory] = {}
        for waiting in self._queue(owner).changes:
            if isinstance(waiting.change, Added | Updated):
                latest |= {memory.id: memory for memory in waiting.change.memories}
        return list(latest.values())

    def collection(self, inner: MemoryCollection) -> OutboxCollection:
        """The owner's collection, with this outbox for what it can't take."""
        self._collections[inner.owner] = inner
        return OutboxCollection(inner, self)

    def keep(
        self, owner: str, change: StoredChange, vectors: Mapping[UUID, Vector], *, fault: StoreError | None
    ) -> None:
        """On disk when this returns, and delivered in the background from then on.

        Args:
            fault: what the store failed with; None where it wasn't asked, as others wait before this change.

        Raises:
            StoreUnavailable: it can't be kept either.
        """
        queue = self._queue(owner)
        if fault is not None:
            queue.problem = str(fault)
        try:
            queue.put(self._file.append(owner, change, vectors))
        except OSError as error:
            raise StoreUnavailable(
                f"{queue.problem.rstrip('.')}. Nor can it wait in {self._file.path}: {error.strerror}; make room there"
            ) from (fault or error)
        self._keep_trying()

    async def deliver(self) -> None:
        """Tries to bring out all that waits; what the store doesn't take stays, and :attr:`backlog` says why."""
        async with self._one_delivery:
            await asyncio.gather(*(self._deliver_of(owner) for owner, queue in self._queues.items() if queue.changes))

    async def _deliver_of(self, owner: str) -> None:
        queue = self._queue(owner)
        before = queue.delivered
        try:
            if owner not in self._collections:
                self._collections[owner] = await self._store.collection(owner)
            while queue.changes:
                batch = batch_of(queue.changes)
                await self._make(self._collections[owner], batch)
                queue.take(len(batch))
                self._file.settle([change.number for change in batch])
        except (StoreError, EmbedderError, LookupError, ValueError) as error:
            # The last two where another program changed a memory between the look at it and the change.
            queue.problem = str(error)
        if queue.delivered > before:
            if not any(other.changes for other in self._queues.values()):
                self._file.clear()
            self.listener()

    async def _make(self, collection: MemoryCollection, batch: Sequence[WaitingChange]) -> None:
        """One change, or several that add memories. What isn't there to be changed was erased meanwhile.

        Of what failed in this process the store knows that it may be there in part. What another left is added after
        it was made, which has it written anew.
        """
        vectors = {one: vector for waiting in batch for one, vector in waiting.vectors.items()}
        change = batch[0].change
        known: dict[UUID, Memory] = {}
        there = {memory.id: memory for memory in await collection.get(list(dict.fromkeys(ids_of(batch))))}
        match change:
            case Added():
                first: dict[UUID, Memory] = {}
                for memory in added_by(batch):
                    first.setdefault(memory.id, memory)
                await self._add(collection, [there.get(one, memory) for one, memory in first.items()], vectors, first)
            case Touched(ids=ids, at=at):
                await collection.touch(ids, at)
            case Updated(memories=memories, worded=worded):
                changed = [memory for memory in memories if memory.id in there]
                anew = [one for one in changed if one.id in worded or one.summary != there[one.id].summary]
                entries = {entry.memory.id: entry for entry in await self._entries(anew, vectors)}
                await collection.update([entries.get(memory.id, memory) for memory in changed])
                vectors |= {one: entry.vector for one, entry in entries.items()}
                known |= {memory.id: memory for memory in anew}
            case Superseded(old=old, by=by, at=at):
                if {old, by} <= there.keys():
                    await collection.supersede(old, by=by, at=at)
        if not isinstance(change, Added) and batch[0].number in self._from_before:
            await self._add(collection, await collection.get(list(there)), vectors, known)

    async def _add(
        self,
        collection: MemoryCollection,
        memories: Sequence[Memory],
        vectors: Mapping[UUID, Vector],
        worded: Mapping[UUID, Memory],
    ) -> None:
        """Also what the store had taken already: a server that was killed may have it in part, and this mends that.

        Args:
            worded: as they were when the vectors were made.
        """
        fitting = {
            memory.id: vectors[memory.id]
            for memory in memories
            if memory.id in vectors and memory.id in worded and memory.summary == worded[memory.id].summary
        }
        entries = await self._entries(memories, fitting)
        if entries:
            await collection.add(entries)

    async def _entries(self, memories: Sequence[Memory], vectors: Mapping[UUID, Vector]) -> list[Entry]:
        unknown = [memory for memory in memories if memory.id not in vectors]
        embedded = await self.embedder.embed([memory.summary for memory in unknown]) if unknown else ()
        vectors = {**vectors, **{memory.id: vector for memory, vector in zip(unknown, embedded, strict=True)}}
        return [Entry(memory=memory, vector=vectors[memory.id]) for memory in memories]

    def _queue(self, owner: str) -> Queue:
        return self._queues.setdefault(owner, Queue())

    def _keep_trying(self) -> None:
        if self._background is not None and self._background.done():
            self._background.result()
            self._background = None
        if self._background is None and any(queue.changes for queue in self._queues.values()):
            self._background = asyncio.create_task(self._until_all_is_out())

    async def _until_all_is_out(self) -> None:
        for pause in chain(self._pauses, repeat(self._pauses[-1])):
            await asyncio.sleep(pause)
            await self.deliver()
            if not any(queue.changes for queue in self._queues.values()):
                return

    async def _close(self) -> None:
        if self._background is not None:
            self._background.cancel()
            with suppress(asyncio.CancelledError):
                await self._background
        await self.deliver()


class OutboxCollection:
    """See :class:`simuverse.memory.store.MemoryCollection`: a store's, whose changes never fail for the store's sake.

    Forgetting and erasing alone must be answered by the store, so they fail while it is away.
    """

    def __init__(self, inner: MemoryCollection, outbox: Outbox) -> None:
        self._inner = inner
        self._outbox = outbox

    @property
    def owner(self) -> str:
        return self._inner.owner

    @property
    def backlog(self) -> Backlog:
        """Of this owner."""
        return self._outbox.backlog_of(self.owner)

    async def add(self, entries: Sequence[Entry]) -> None:
        checked = [self._checked(entry) for entry in entries]
        change = Added(memories=tuple(entry.memory for entry in checked))
        await self._make(change, lambda: self._inner.add(checked), _vectors(checked), behind_all=True)

    async def get(self, ids: Sequence[UUID]) -> list[Memory]:
        return await self._inner.get(ids)

    async def search(self, request: SearchRequest) -> list[Hit]:
        return await self._inner.search(request)

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        return await self._inner.search_all(requests)

    async def recent(self, limit: int, *, filter: MemoryFilter = NO_FILTER) -> list[Memory]:
        """While the store doesn't answer, of those that wait, which are the newest; with a filter it fails then."""
        try:
            return await self._inner.recent(limit, filter=filter)
        except StoreError:
            if filter != NO_FILTER:
                raise
            current = [memory for memory in self._outbox.memories(self.owner) if memory.current]
            return sorted(current, key=lambda memory: (-memory.created_at.timestamp(), memory.id))[:limit]

    async def oldest(self, limit: int, *, filter: MemoryFilter = NO_FILTER, past: bool = False) -> list[Memory]:
        return await self._inner.oldest(limit, filter=filter, past=past)

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        at = require_aware(at, "the time of access")
        await self._make(Touched(ids=tuple(ids), at=at), lambda: self._inner.touch(ids, at))

    async def update(self, entries: Sequence[Entry | Memory]) -> None:
        checked = [self._checked(one) if isinstance(one, Entry) else self._owned(one) for one in entries]
        vectors = _vectors([one for one in checked if isinstance(one, Entry)])
        memories = tuple(one.memory if isinstance(one, Entry) else one for one in checked)
        change = Updated(memories=memories, worded=tuple(vectors))
        await self._make(change, lambda: self._inner.update(checked), vectors)

    async def supersede(self, old: UUID, *, by: UUID, at: datetime) -> None:
        if old == by:
            raise ValueError(f"memory {old} can't supersede itself")
        change = Superseded(old=old, by=by, at=at)
        await self._make(change, lambda: self._inner.supersede(old, by=by, at=at))

    async def forget(self, ids: Sequence[UUID], at: datetime) -> int:
        await self._require_delivered(ids)
        return await self._inner.forget(ids, at)

    async def erase(self, ids: Sequence[UUID]) -> int:
        await self._require_delivered(ids)
        return await self._inner.erase(ids)

    async def count(self, *, filter: MemoryFilter = NO_FILTER) -> int:
        return await self._inner.count(filter=filter)

    def scan(self) -> AsyncIterator[Entry]:
        return self._inner.scan()

    async def _make(
        self,
        change: StoredChange,
        make: Callable[[], Awaitable[None]],
        vectors: Mapping[UUID, Vector] = NO_VECTORS,
        *,
        behind_all: bool = False,
    ) -> None:
        """At once, or when the store takes it: behind what waits already, of the same memories or of all."""
        if not change.ids:
            return
        fault: StoreError | None = None
        if not self._outbox.waits(self.owner, None if behind_all else change.ids):
            try:
                await make()
            except StoreError as error:
                fault = error
            else:
                return
        self._outbox.keep(self.owner, change, vectors, fault=fault)

    async def _require_delivered(self, ids: Sequence[UUID]) -> None:
        if self._outbox.waits(self.owner, ids):
            await self._outbox.deliver()
        if self._outbox.waits(self.owner, ids):
            raise StoreUnavailable(self.backlog.sentence)

    def _checked(self, entry: Entry) -> Entry:
        vector = checked_vector(entry.vector, dimension=self._outbox.embedder.dimension)
        return Entry(memory=self._owned(entry.memory), vector=vector)

    def _owned(self, memory: Memory) -> Memory:
        if memory.owner != self.owner:
            raise ValueError(f"memory {memory.id} is {memory.owner!r}'s; this collection is {self.owner!r}'s")
        return memory


def backlog_of(collection: MemoryCollection) -> Backlog:
    """Of its owner; none where the collection has no outbox."""
    return collection.backlog if isinstance(collection, OutboxCollection) else NO_BACKLOG


def _vectors(entries: Sequence[Entry]) -> dict[UUID, Vector]:
    return {entry.memory.id: entry.vector for entry in entries}


def _acquire(lock: FileLock, path: Path) -> None:
    try:
        lock.acquire(blocking=False)
    except Timeout as error:
        raise UsageError(f"{path} is another's outbox, and open. Name one that only this mind has") from error
    except OSError as error:
        raise UsageError(f"{path} can't be an outbox: {error.strerror}. Name another file") from error
