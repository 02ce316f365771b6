"""The store on a Weaviate server: a collection or tenant an owner, vectors brought by us, ranked as on every store."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Self
from uuid import UUID

from simuverse.memory.caches import let_go
from simuverse.memory.clock import require_aware
from simuverse.memory.records import NO_FILTER, Hit, Memory, MemoryFilter
from simuverse.memory.store import Entry, SearchRequest
from simuverse.memory.stores.vectors import checked_vector
from simuverse.memory.stores.weaviate_address import Address, Layout
from simuverse.memory.stores.weaviate_bare import BareCalls
from simuverse.memory.stores.weaviate_connection import DEADLINE, Connection
from simuverse.memory.stores.weaviate_episodes import KnownEpisodes
from simuverse.memory.stores.weaviate_generations import live_prefix
from simuverse.memory.stores.weaviate_layouts import Making, OwnerLayout, described, open_layout
from simuverse.memory.stores.weaviate_names import PREFIX
from simuverse.memory.stores.weaviate_objects import (
    SERVER_MAXIMUM,
    NothingAllowed,
    Stored,
    memory_of,
    server_filter,
)
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_records import FoundRecords, KeptRecords
from simuverse.memory.stores.weaviate_search import Searcher
from simuverse.memory.stores.weaviate_statistics import CountedWords
from simuverse.memory.stores.weaviate_vectors import KnownVectors
from simuverse.memory.stores.weaviate_writes import AT_ONCE, Writer

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.filters import FilterReturn


class WeaviateStore:
    """See :class:`simuverse.memory.store.MemoryStore`. Opened by :meth:`open`.

    A batch is no transaction: where a server fails in the middle of an ``add``, the error names what wasn't stored, and
    adding the same again completes it. From 10,000 on, a search, ``recent`` or ``oldest`` gives no more than that
    many.
    """

    def __init__(self, connection: Connection, layout: OwnerLayout, making: Making) -> None:
        self._connection = connection
        self._layout = layout
        self._making = making
        self._shared: dict[Partition, _Shared] = {}
        self._vectors = KnownVectors()
        self._records = KeptRecords()

    @classmethod
    async def open(
        cls,
        addresses: Sequence[Address],
        *,
        embedder_name: str,
        dimension: int,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        deadline: float = DEADLINE,
        prefix: str = PREFIX,
        layout: Layout | None = None,
        replication: int | None = None,
    ) -> Self:
        """Connects; collections and tenants are made when they are first asked for.

        Args:
            addresses: of one server, or of several nodes of one cluster, the first that answers being used.
            embedder_name, dimension: of the vectors: written into new collections, compared with those of old ones.
            key: API key; None or blank sends none.
            headers: sent with every call, as a proxy may want them.
            deadline: seconds for a query, above 0.
            prefix: how the names of collections begin; others on the same server are left alone. Letters and digits,
                the first a capital.
            layout: None: the one that is there, a collection an owner if none is.
            replication: on how many nodes each memory of a collection that is made here is to be; None leaves it to
                the server.

        Raises:
            MissingExtra: the client isn't installed.
            StoreUnavailable, StoreRefused, StoreMismatch: the server can't be used; the message says why.
        """
        if not addresses:
            raise ValueError("a Weaviate store needs an address")
        if not (prefix.isascii() and prefix.isalnum() and prefix[0].isupper()):
            raise ValueError(f"prefix {prefix!r} isn't letters and digits with a capital first")
        connection = await Connection.open(
            addresses, key=key, headers=headers or {}, deadline=deadline, probed=f"{prefix}_"
        )
        try:
            live = await live_prefix(connection, prefix)
            making = Making(prefix=live, embedder=embedder_name, dimension=dimension, replication=replication)
            chosen = await open_layout(connection, making, layout)
        except BaseException:
            await connection.aclose()
            raise
        return cls(connection, chosen, making)

    @property
    def description(self) -> str:
        return self._connection.description

    async def collection(self, owner: str) -> WeaviateCollection:
        if not owner:
            raise ValueError("a collection needs an owner")
        partition = await self._layout.partition(owner)
        shared = self._shared.setdefault(partition, _Shared(self._connection, partition, self._vectors, self._records))
        return WeaviateCollection(self._connection, partition, owner, shared, dimension=self._making.dimension)

    async def details(self) -> str:
        """Layout, collections, tenants, replication and embedder on the server, for people."""
        return await described(self._connection, self._making, self._layout)

    async def owners(self) -> list[str]:
        return await self._layout.owners()

    async def erase(self, owner: str) -> bool:
        gone = await self._layout.erase(owner)
        if gone is not None:
            self._shared.pop(gone, None)
        let_go()
        return gone is not None

    async def aclose(self) -> None:
        """Closing twice does nothing."""
        await self._connection.aclose()


class _Shared:
    """What all handles of one collection have in common."""

    def __init__(
        self, connection: Connection, partition: Partition, vectors: KnownVectors, records: KeptRecords
    ) -> None:
        self.words = CountedWords(connection, partition)
        self.records = FoundRecords(connection, partition, records)
        self.vectors = vectors
        self.episodes = KnownEpisodes()
        self.doubtful: set[UUID] = set()
        self.one_change_at_a_time = asyncio.Lock()


class WeaviateCollection:
    """See :class:`simuverse.memory.store.MemoryCollection`."""

    def __init__(
        self, connection: Connection, partition: Partition, owner: str, shared: _Shared, *, dimension: int
    ) -> None:
        self._connection = connection
        self._partition = partition
        self._owner = owner
        self._one_change_at_a_time = shared.one_change_at_a_time
        self._dimension = dimension
        self._searcher = Searcher(connection, partition, shared.words, shared.vectors, shared.records)
        self._writer = Writer(
            connection, partition, shared.words, shared.vectors, shared.episodes, doubtful=shared.doubtful
        )

    @property
    def owner(self) -> str:
        return self._owner

    def bare(self) -> BareCalls:
        """The client's own calls on the same collection, for measuring what this class adds to them."""
        return BareCalls(self._connection, self._partition)

    async def add(self, entries: Sequence[Entry]) -> None:
        after = {entry.memory.id: entry for entry in map(self._checked_entry, entries)}
        async with self._one_change_at_a_time:
            await self._writer.add(after)

    async def get(self, ids: Sequence[UUID]) -> list[Memory]:
        found = await self._writer.read(ids)
        return [found[wanted].entry.memory for wanted in ids if wanted in found]

    async def search(self, request: SearchRequest) -> list[Hit]:
        if request.vector is not None:
            request = replace(request, vector=checked_vector(request.vector, dimension=self._dimension))
        return await self._searcher.search(request)

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        return await asyncio.gather(*map(self.search, requests))

    async def recent(self, limit: int, *, filter: MemoryFilter = NO_FILTER) -> list[Memory]:
        try:
            filters = server_filter(filter)
        except NothingAllowed:
            return []
        return await self._by_time(limit, filters, oldest_first=False)

    async def oldest(self, limit: int, *, filter: MemoryFilter = NO_FILTER, past: bool = False) -> list[Memory]:
        from weaviate.classes.query import Filter

        ever = replace(filter, include_superseded=True, include_forgotten=True)
        try:
            filters = server_filter(ever if past else filter)
        except NothingAllowed:
            return []
        if past:
            is_past = Filter.any_of([Filter.by_property(name).equal(True) for name in ("superseded", "forgotten")])
            filters = is_past if filters is None else filters & is_past
        return await self._by_time(limit, filters, oldest_first=True)

    async def _by_time(self, limit: int, filters: FilterReturn | None, *, oldest_first: bool) -> list[Memory]:
        """Ties by id."""
        if limit < 1:
            raise ValueError(f"limit {limit} is below 1")
        from weaviate.classes.query import Sort

        order = Sort.by_property("created_at", ascending=oldest_first).by_id()

        async def ask(client: WeaviateAsyncClient) -> list[Memory]:
            found = await self._partition.on(client).query.fetch_objects(
                filters=filters,
                sort=order,
                limit=min(limit, SERVER_MAXIMUM),
                return_properties=["record"],
            )
            return [memory_of(one) for one in found.objects]

        return await self._connection.query(ask)

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        at = require_aware(at, "the time of access")
        async with self._one_change_at_a_time:
            before = await self._writer.read_to_change(ids)
            after = {
                one: Entry(memory=replace(stored.entry.memory, last_accessed_at=at), vector=stored.entry.vector)
                for one, stored in before.items()
            }
            await self._writer.write(before, after)

    async def update(self, entries: Sequence[Entry | Memory]) -> None:
        checked = [
            self._checked_entry(entry) if isinstance(entry, Entry) else self._checked_memory(entry) for entry in entries
        ]
        async with self._one_change_at_a_time:
            before = await self._existing([_memory(entry).id for entry in checked])
            after: dict[UUID, Entry] = {}
            for entry in checked:
                if isinstance(entry, Entry):
                    after[entry.memory.id] = entry
                    continue
                kept = before[entry.id].entry
                if entry.summary != kept.memory.summary:
                    raise ValueError(f"the summary of memory {entry.id} changed, so it needs a new vector")
                after[entry.id] = Entry(memory=entry, vector=kept.vector)
            await self._writer.write(before, after)

    async def supersede(self, old: UUID, *, by: UUID, at: datetime) -> None:
        if old == by:
            raise ValueError(f"memory {old} can't supersede itself")
        async with self._one_change_at_a_time:
            before = await self._existing([old, by])
            past, current = before[old].entry, before[by].entry
            after = {
                old: replace(past, memory=past.memory.superseded(by=by, at=at)),
                by: replace(current, memory=replace(current.memory, supersedes=old)),
            }
            await self._writer.write(before, after)

    async def forget(self, ids: Sequence[UUID], at: datetime) -> int:
        async with self._one_change_at_a_time:
            before = await self._writer.read_to_change(ids)
            after = {
                one: replace(stored.entry, memory=stored.entry.memory.forgotten(at=at))
                for one, stored in before.items()
                if stored.entry.memory.forgotten_at is None
            }
            await self._writer.write(before, after)
        return len(after)

    async def erase(self, ids: Sequence[UUID]) -> int:
        async with self._one_change_at_a_time:
            before = await self._writer.read_to_change(ids)
            await self._writer.write(before, {}, erased=before.keys())
        let_go()
        return len(before)

    async def count(self, *, filter: MemoryFilter = NO_FILTER) -> int:
        try:
            filters = server_filter(filter)
        except NothingAllowed:
            return 0
        return await self._connection.query(lambda client: self._partition.count(client, filters))

    async def scan(self) -> AsyncIterator[Entry]:
        ids = [one for _, one in sorted(await self._times())]
        for start in range(0, len(ids), AT_ONCE):
            page = ids[start : start + AT_ONCE]
            found = await self._writer.read(page)
            for one in page:
                if one in found:
                    yield found[one].entry

    async def _times(self) -> list[tuple[int, UUID]]:
        """When each memory was made, and its id, in no order."""
        times: list[tuple[int, UUID]] = []
        last: UUID | None = None
        while True:

            async def ask(client: WeaviateAsyncClient, last: UUID | None = last) -> list[tuple[int, UUID]]:
                found = await self._partition.on(client).query.fetch_objects(
                    limit=AT_ONCE, after=last, return_properties=["created_at"]
                )
                return [(int(str(one.properties["created_at"])), one.uuid) for one in found.objects]

            page = await self._connection.query(ask)
            if not page:
                return times
            times += page
            last = page[-1][1]

    async def _existing(self, ids: Sequence[UUID]) -> dict[UUID, Stored]:
        found = await self._writer.read_to_change(ids)
        for wanted in ids:
            if wanted not in found:
                raise KeyError(f"there is no memory {wanted}")
        return found

    def _checked_entry(self, entry: Entry) -> Entry:
        memory = self._checked_memory(entry.memory)
        return Entry(memory=memory, vector=checked_vector(entry.vector, dimension=self._dimension))

    def _checked_memory(self, memory: Memory) -> Memory:
        if memory.owner != self._owner:
            raise ValueError(f"memory {memory.id} is {memory.owner!r}'s; this collection is {self._owner!r}'s")
        return memory


def _memory(entry: Entry | Memory) -> Memory:
    return entry.memory if isinstance(entry, Entry) else entry
