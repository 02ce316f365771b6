"""A store on a Weaviate server as a whole: see :class:`simuverse.memory.kept.KeptStore`."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Self

from simuverse.memory.audit import AuditLog
from simuverse.memory.audit_lines import LEDGER
from simuverse.memory.kept import EmbedderRecord
from simuverse.memory.store import MemoryCollection
from simuverse.memory.stores.weaviate import WeaviateCollection, WeaviateStore
from simuverse.memory.stores.weaviate_address import Layout, StoreAddress
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_generations import Generations
from simuverse.memory.stores.weaviate_layouts import (
    Making,
    OwnerLayout,
    TenantPerOwner,
    all_configs,
    config_of,
    open_layout,
)
from simuverse.memory.stores.weaviate_names import PREFIX, collection_name
from simuverse.memory.stores.weaviate_schema import SHARDS, Marks

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.cluster import NodeVerbose

PATIENCE = 30.0
"""Seconds for one query: whole stretches of memories are asked for, and nobody's turn waits for them."""

_UNKNOWN = EmbedderRecord(name="", dimension=1)
"""Where nothing is recorded yet; nothing is made with it."""


class WeaviateKept:
    """Opened by :meth:`open`."""

    def __init__(
        self, name: str, place: StoreAddress, connection: Connection, generations: Generations, live: _Generation
    ) -> None:
        self._name = name
        self._place = place
        self._connection = connection
        self._generations = generations
        self._live = live
        self._audit = live.audit()

    @classmethod
    async def open(
        cls,
        name: str,
        place: StoreAddress,
        *,
        key: str | None = None,
        headers: Mapping[str, str] | None = None,
        new: EmbedderRecord | None = None,
        prefix: str = PREFIX,
    ) -> Self:
        """Args:
            name: as a user types it.
            headers: sent with every call.
            new: of what is made where nothing says otherwise: the record of changes.

        Raises:
            MissingExtra: the client isn't installed.
            StoreError: the server can't be used.
        """
        connection = await Connection.open(
            place.addresses, key=key, headers=headers or {}, deadline=PATIENCE, probed=f"{prefix}_"
        )
        try:
            generations = Generations(connection, prefix)
            live = await _Generation.open(connection, await generations.live(), place, new=new)
        except BaseException:
            await connection.aclose()
            raise
        return cls(name, place, connection, generations, live)

    @property
    def name(self) -> str:
        return self._name

    @property
    def description(self) -> str:
        return self._connection.description

    @property
    def one_embedder(self) -> EmbedderRecord | None:
        return self._live.one_embedder

    @property
    def audit(self) -> AuditLog:
        return self._audit

    async def embedders(self) -> dict[str, EmbedderRecord]:
        return {owner: record for owner, record in (await self._live.embedders()).items() if owner != LEDGER}

    async def collection(self, owner: str, embedder: EmbedderRecord) -> WeaviateCollection:
        return await self._live.collection_of(owner, embedder)

    async def size(self) -> int | None:
        """The server tells none."""
        return None

    async def damage(self) -> list[str]:
        """Nodes that aren't well, shards of ours that aren't loaded or take no writes, and collections of several."""

        async def ask(client: WeaviateAsyncClient) -> list[NodeVerbose]:
            return list(await client.cluster.nodes(output="verbose"))

        faults: list[str] = []
        shards: dict[str, set[str]] = {}
        for node in await self._connection.query(ask):
            if node.status != "HEALTHY":
                faults.append(f"node {node.name} is {node.status.lower()}")
            for shard in node.shards or ():
                prefix, of_one_owner, _ = shard.collection.partition("_")
                if prefix != self._live.prefix:
                    continue
                if shard.vector_indexing_status != "READY":
                    faults.append(
                        f"shard {shard.name} of {shard.collection} on node {shard.node} is "
                        f"{shard.vector_indexing_status.lower()}"
                    )
                if of_one_owner:
                    shards.setdefault(shard.collection, set()).add(shard.name)
        faults += [
            f"collection {name} has {len(found)} shards, each of which scores words by itself"
            for name, found in shards.items()
            if len(found) != SHARDS
        ]
        return faults

    @asynccontextmanager
    async def renewal(self, embedder: EmbedderRecord | None) -> AsyncGenerator[WeaviateRenewal]:
        await self._generations.require_aliases()
        live = await self._live.embedders()
        wanted = {owner: embedder or record for owner, record in live.items()}
        unfinished: _Generation | None = None
        for prefix in await self._generations.newer():
            begun = await self._live.another(prefix)
            if unfinished is None and all(wanted.get(o) == r for o, r in (await begun.embedders()).items()):
                unfinished = begun
            else:
                await self._generations.drop(prefix)
        new = unfinished or await self._live.another(self._generations.after(self._live.prefix))
        yield WeaviateRenewal(self._connection, self._generations, self._live, new, embedder)

    async def older(self) -> list[str]:
        return [_described(prefix, self._connection) for prefix in await self._generations.older()]

    async def older_collections(self) -> dict[str, MemoryCollection]:
        found: dict[str, MemoryCollection] = {}
        for prefix in await self._generations.older():
            older = await self._live.another(prefix)
            for owner, record in (await older.embedders()).items():
                found[f"{owner} in {_described(prefix, self._connection)}"] = await older.collection_of(owner, record)
        return found

    async def drop_older(self) -> list[str]:
        dropped: list[str] = []
        for prefix in await self._generations.older():
            await self._generations.drop(prefix)
            dropped.append(_described(prefix, self._connection))
        return dropped

    async def aclose(self) -> None:
        await self._connection.aclose()


class WeaviateRenewal:
    """A second generation of collections on the same server."""

    def __init__(
        self,
        connection: Connection,
        generations: Generations,
        live: _Generation,
        new: _Generation,
        embedder: EmbedderRecord | None,
    ) -> None:
        self._connection = connection
        self._generations = generations
        self._live = live
        self._new = new
        self._embedder = embedder
        self._recorded: dict[str, EmbedderRecord] = {}

    @property
    def old(self) -> str:
        return _described(self._live.prefix, self._connection)

    async def sources(self) -> dict[str, MemoryCollection]:
        self._recorded |= await self._live.embedders()
        return {owner: await self._live.collection_of(owner, record) for owner, record in self._recorded.items()}

    async def targets(self) -> list[str]:
        return list(await self._new.embedders())

    async def target(self, owner: str) -> MemoryCollection:
        return await self._new.collection_of(owner, self._embedder or self._recorded[owner])

    async def erase(self, owner: str) -> bool:
        return await self._new.erase(owner)

    async def take_over(self) -> None:
        await self._generations.switch(self._new.prefix)

    async def late_sources(self) -> dict[str, MemoryCollection]:
        return await self.sources()


class _Generation:
    """All collections of one prefix, whatever embedders their vectors are of: a :class:`MemoryStore` as it is recorded.

    Args:
        new: of what is made where nothing says otherwise.
    """

    def __init__(self, connection: Connection, prefix: str, place: StoreAddress, new: EmbedderRecord) -> None:
        self.prefix = prefix
        self.one_embedder: EmbedderRecord | None = None
        self._connection = connection
        self._place = place
        self._new = new
        self._stores: dict[EmbedderRecord, WeaviateStore] = {}

    @classmethod
    async def open(
        cls, connection: Connection, prefix: str, place: StoreAddress, *, new: EmbedderRecord | None
    ) -> Self:
        made = cls(connection, prefix, place, new or _UNKNOWN)
        known = await made.embedders()
        if new is None and known:
            made._new = known.get(LEDGER) or next(iter(known.values()))
        return made

    @property
    def description(self) -> str:
        return self._connection.description

    async def another(self, prefix: str) -> _Generation:
        """In the same layout, on as many nodes."""
        tenants = isinstance(await self._layout(self._new), TenantPerOwner)
        replication = self._place.replication
        if names := await self._names():
            config = await config_of(self._connection, names[0])
            replication = None if config is None else config.replication_config.factor
        place = StoreAddress(
            addresses=self._place.addresses,
            layout=Layout.TENANTS if tenants else Layout.COLLECTIONS,
            replication=replication,
        )
        return await _Generation.open(self._connection, prefix, place, new=self._new)

    def audit(self) -> AuditLog:
        return AuditLog.within(self, dimension=self._new.dimension)

    async def embedders(self) -> dict[str, EmbedderRecord]:
        """Of each owner, that of the record of changes included; sorted by owner."""
        configs = await all_configs(self._connection)
        layout = await self._layout(self._new)
        if isinstance(layout, TenantPerOwner):
            config = configs.get(self.prefix)
            self.one_embedder = None if config is None else _record(Marks.read(config.description))
        records: dict[str, EmbedderRecord] = {}
        for owner in await layout.owners():
            config = configs.get(collection_name(owner, prefix=self.prefix))
            record = self.one_embedder or _record(None if config is None else Marks.read(config.description))
            if record is not None:
                records[owner] = record
        return records

    async def collection_of(self, owner: str, embedder: EmbedderRecord) -> WeaviateCollection:
        return await (await self._store(embedder)).collection(owner)

    async def collection(self, owner: str) -> WeaviateCollection:
        return await self.collection_of(owner, (await self.embedders()).get(owner, self._new))

    async def owners(self) -> list[str]:
        return list(await self.embedders())

    async def erase(self, owner: str) -> bool:
        return await (await self._store(self._new)).erase(owner)

    async def aclose(self) -> None:
        """The connection is its opener's."""

    async def _store(self, embedder: EmbedderRecord) -> WeaviateStore:
        if embedder not in self._stores:
            layout = await self._layout(embedder)
            self._stores[embedder] = WeaviateStore(self._connection, layout, self._making(embedder))
        return self._stores[embedder]

    async def _layout(self, embedder: EmbedderRecord) -> OwnerLayout:
        return await open_layout(self._connection, self._making(embedder), self._place.layout)

    def _making(self, embedder: EmbedderRecord) -> Making:
        return Making(
            prefix=self.prefix,
            embedder=embedder.name,
            dimension=embedder.dimension,
            replication=self._place.replication,
            # All is read, and looked for, but none of it ranked.
            ranked=False,
        )

    async def _names(self) -> list[str]:
        configs = await all_configs(self._connection)
        return [
            name
            for name, config in configs.items()
            if name.partition("_")[0] == self.prefix and Marks.read(config.description) is not None
        ]


def _record(marks: Marks | None) -> EmbedderRecord | None:
    return None if marks is None else EmbedderRecord(name=marks.embedder, dimension=marks.dimension)


def _described(prefix: str, connection: Connection) -> str:
    return f"collections {prefix} at {connection.address.url}"
