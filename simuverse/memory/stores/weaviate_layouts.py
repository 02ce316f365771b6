"""How owners are kept apart on a server: by a collection each, or by a tenant each in one collection.

A collection each is the plain way: it can be looked at, backed up and dropped by itself. It costs a schema change when
an owner is made, and a share of the server's memory for good; a tenant costs far less of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol
from uuid import UUID, uuid5

from simuverse.errors import StoreMismatch, StoreRefused
from simuverse.memory.stores.weaviate_address import Layout
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_names import (
    LONG_NAMES,
    collection_name,
    is_hashed,
    owner_of_tenant,
    tenant_name,
)
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_schema import Marks, check, create

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.config import CollectionConfig, CollectionConfigSimple

_NAMES = UUID("6d1c9f0e-5b7a-4f7e-9a35-2f6b0f1d7c44")
_PAGE = 1_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Making:
    """What goes into collections that are made.

    Args:
        prefix: how their names begin.
        embedder, dimension: of the vectors; compared with those of collections that are there.
        replication: nodes that hold each memory; None leaves it to the server.
        ranked: whether searches in those that are there are to rank as on any store; if not, they may be of several
            shards.
    """

    prefix: str
    embedder: str
    dimension: int
    replication: int | None = None
    ranked: bool = True

    def marks(self, owner: str) -> Marks:
        return Marks(owner=owner, embedder=self.embedder, dimension=self.dimension)


class OwnerLayout(Protocol):
    """Raises, all of them:
    StoreMismatch: what is there isn't this program's, this embedder's or of this schema.
    """

    async def partition(self, owner: str) -> Partition:
        """Where this owner's memories are, made if it isn't there."""
        ...

    async def owners(self) -> list[str]:
        """Sorted."""
        ...

    async def erase(self, owner: str) -> Partition | None:
        """What was removed and is verified to be gone; None if there was nothing.

        Raises:
            StoreRefused: it is there still.
        """
        ...


async def open_layout(connection: Connection, making: Making, wanted: Layout | None) -> OwnerLayout:
    """The layout that is wanted, or else the one that is there: a collection an owner if there is none.

    Raises:
        StoreMismatch: another one than is wanted is there.
    """
    collections, tenants = CollectionPerOwner(connection, making), TenantPerOwner(connection, making)
    made = await tenants.is_made()
    there: Layout | None = None
    if made and await tenants.owners():
        there = Layout.TENANTS
    elif (made or wanted is Layout.TENANTS) and await collections.owners():
        there = Layout.COLLECTIONS
    if there and wanted and there is not wanted:
        kept = {
            Layout.TENANTS: f"tenants of the one collection {making.prefix}",
            Layout.COLLECTIONS: "collections of their own",
        }
        raise StoreMismatch(
            f"At {connection.address.url} owners are {kept[there]}, not {kept[wanted]}: leave layout={wanted} out, or "
            "name another server."
        )
    chosen = wanted or there or (Layout.TENANTS if made else Layout.COLLECTIONS)
    return tenants if chosen is Layout.TENANTS else collections


async def described(connection: Connection, making: Making, layout: OwnerLayout) -> str:
    """Layout, collections, tenants, replication and embedder, as they are on the server."""
    found = await connection.look_up(lambda client: client.collections.list_all(simple=False))
    ours = {
        name: (config, marks)
        for name, config in found.items()
        if (name == making.prefix or name.startswith(f"{making.prefix}_"))
        and (marks := Marks.read(config.description)) is not None
    }
    tenants = isinstance(layout, TenantPerOwner)
    said = [f"layout {Layout.TENANTS if tenants else Layout.COLLECTIONS}", _counted(len(ours), "collection")]
    if tenants:
        said.append(_counted(len(await layout.owners()), "tenant"))
    if ours:
        factors = sorted({config.replication_config.factor for config, _ in ours.values()})
        embedders = sorted({f"{marks.embedder} ({marks.dimension} numbers)" for _, marks in ours.values()})
        said += [f"replication {' and '.join(map(str, factors))}", f"recorded embedder {' and '.join(embedders)}"]
    return ", ".join(said)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'' if number == 1 else 's'}"


class CollectionPerOwner:
    """See :class:`OwnerLayout`. Whose a collection is stands in its description, whatever its name."""

    def __init__(self, connection: Connection, making: Making) -> None:
        self._connection = connection
        self._making = making

    async def partition(self, owner: str) -> Partition:
        name = collection_name(owner, prefix=self._making.prefix)
        marks = self._making.marks(owner)
        config = await config_of(self._connection, name)
        if config is None:
            if await TenantPerOwner(self._connection, self._making).owners():
                raise StoreMismatch(
                    f"At {self._connection.address.url} owners are tenants by now, which they weren't when this store "
                    "was opened: open it again."
                )
            config = await made(self._connection, name, marks, replication=self._making.replication)
        check(config, marks, self._connection.address, ranked=self._making.ranked)
        return Partition(name, replicas=config.replication_config.factor)

    async def owners(self) -> list[str]:
        marks = {name: Marks.read(config.description) for name, config in (await all_configs(self._connection)).items()}
        return sorted(
            one.owner
            for name, one in marks.items()
            if one is not None and one.owner and name == collection_name(one.owner, prefix=self._making.prefix)
        )

    async def erase(self, owner: str) -> Partition | None:
        name = collection_name(owner, prefix=self._making.prefix)
        config = await config_of(self._connection, name)
        if config is None:
            return None
        marks = Marks.read(config.description)
        if marks is None or marks.owner != owner:
            raise StoreMismatch(
                f"Collection {name} at {self._connection.address.url} isn't Simu-Verse's; it is left alone."
            )
        await self._connection.write(lambda client: client.collections.delete(name))
        if await config_of(self._connection, name) is not None:
            raise _still_there(self._connection, f"collection {name}")
        return Partition(name)


class TenantPerOwner:
    """See :class:`OwnerLayout`. All vectors are of one embedder, as the collection is one.

    An owner whose name is too long for a tenant's is written into a tenant of names, and is there until the name is
    taken out again: it is written first and erased last, so that an erasure that broke off can be made again.
    """

    def __init__(self, connection: Connection, making: Making) -> None:
        self._connection = connection
        self._making = making
        self._collection = making.prefix
        self._names = Partition(self._collection, LONG_NAMES)

    async def partition(self, owner: str) -> Partition:
        marks = self._making.marks("")
        config = await config_of(self._connection, self._collection)
        if config is None:
            config = await made(
                self._connection, self._collection, marks, tenants=True, replication=self._making.replication
            )
        check(config, marks, self._connection.address, tenants=True)
        tenant = tenant_name(owner)
        if not await self._is_there(tenant):
            if is_hashed(tenant):
                await self._write_name(owner)
            await self._make(tenant)
        return Partition(self._collection, tenant, replicas=config.replication_config.factor)

    async def is_made(self) -> bool:
        """Whether the collection for all is there, be it without tenants."""
        config = await config_of(self._connection, self._collection)
        return config is not None and config.multi_tenancy_config.enabled and Marks.read(config.description) is not None

    async def owners(self) -> list[str]:
        if not await self.is_made():
            return []
        tenants = await self._connection.look_up(lambda client: client.collections.use(self._collection).tenants.get())
        named = [owner for owner in map(owner_of_tenant, tenants) if owner is not None]
        return sorted({*named, *(await self._read_names() if LONG_NAMES in tenants else [])})

    async def erase(self, owner: str) -> Partition | None:
        tenant = tenant_name(owner)
        config = await config_of(self._connection, self._collection)
        if config is None:
            return None
        there = await self._is_there(tenant)
        named = is_hashed(tenant) and await self._is_named(owner)
        if not there and not named:
            return None
        if Marks.read(config.description) is None:
            raise StoreMismatch(
                f"Collection {self._collection} at {self._connection.address.url} isn't Simu-Verse's; it is left alone."
            )
        if there:
            await self._connection.write(
                lambda client: client.collections.use(self._collection).tenants.remove([tenant])
            )
            if await self._is_there(tenant):
                raise _still_there(self._connection, f"tenant {tenant} of collection {self._collection}")
        if named:
            await self._connection.write(lambda client: self._names.on(client).data.delete_by_id(uuid5(_NAMES, owner)))
            if await self._is_named(owner):
                raise _still_there(self._connection, f"a name in tenant {LONG_NAMES} of collection {self._collection}")
        return Partition(self._collection, tenant)

    async def _is_there(self, tenant: str) -> bool:
        return await self._connection.look_up(
            lambda client: client.collections.use(self._collection).tenants.exists(tenant)
        )

    async def _make(self, tenant: str) -> None:
        """One that is there already stays as it is."""
        await self._connection.write(lambda client: client.collections.use(self._collection).tenants.create([tenant]))

    async def _write_name(self, owner: str) -> None:
        from weaviate.classes.data import DataObject

        await self._make(LONG_NAMES)
        one = DataObject(uuid=uuid5(_NAMES, owner), properties={"record": owner})
        await self._connection.write(lambda client: self._names.on(client).data.insert_many([one]))

    async def _is_named(self, owner: str) -> bool:
        from weaviate.classes.query import Filter

        async def ask(client: WeaviateAsyncClient) -> bool:
            found = await self._names.on(client).query.fetch_objects(
                filters=Filter.by_id().equal(uuid5(_NAMES, owner)), limit=1, return_properties=["record"]
            )
            return bool(found.objects)

        return await self._is_there(LONG_NAMES) and await self._connection.query(ask)

    async def _read_names(self) -> list[str]:
        names: list[str] = []
        last: UUID | None = None
        while True:

            async def ask(client: WeaviateAsyncClient, last: UUID | None = last) -> list[tuple[UUID, str]]:
                found = await self._names.on(client).query.fetch_objects(
                    limit=_PAGE, after=last, return_properties=["record"]
                )
                return [(one.uuid, str(one.properties["record"])) for one in found.objects]

            page = await self._connection.query(ask)
            if not page:
                return names
            names += [name for _, name in page]
            last = page[-1][0]


async def config_of(connection: Connection, name: str) -> CollectionConfig | None:
    """None: there is no such collection."""
    from weaviate.exceptions import UnexpectedStatusCodeError

    async def ask(client: WeaviateAsyncClient) -> CollectionConfig | None:
        try:
            return await client.collections.use(name).config.get()
        except UnexpectedStatusCodeError as error:
            if error.status_code == 404:
                return None
            raise

    return await connection.look_up(ask)


async def all_configs(connection: Connection) -> dict[str, CollectionConfigSimple]:
    """Of all collections on the server, by name."""
    return await connection.look_up(lambda client: client.collections.list_all(simple=True))


async def made(
    connection: Connection, name: str, marks: Marks, *, tenants: bool = False, replication: int | None
) -> CollectionConfig:
    """A collection that another program may have made since it was looked for."""
    from weaviate.exceptions import UnexpectedStatusCodeError

    async def ask(client: WeaviateAsyncClient) -> None:
        try:
            await create(client, name, marks, tenants=tenants, replication=replication)
        except UnexpectedStatusCodeError as error:
            if "already exists" not in str(error):
                raise

    await connection.write(ask)
    config = await config_of(connection, name)
    if config is None:
        raise StoreRefused(f"{connection.description}: collection {name} was made and is gone again; try once more.")
    return config


def _still_there(connection: Connection, what: str) -> StoreRefused:
    return StoreRefused(
        f"{connection.description} said that {what} was removed, but it is there still; try again, and look into the "
        "server's log."
    )
