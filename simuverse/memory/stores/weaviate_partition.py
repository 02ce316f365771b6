"""Where on a server one owner's memories are: a collection, or a tenant in one."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections import CollectionAsync
    from weaviate.collections.classes.filters import FilterReturn


@dataclass(frozen=True, slots=True)
class Partition:
    """Args:
    collection: its name on the server.
    tenant: None: the collection is the owner's alone.
    replicas: nodes that hold each memory.
    """

    collection: str
    tenant: str | None = None
    replicas: int = field(default=1, compare=False)
    _handles: WeakKeyDictionary[WeaviateAsyncClient, CollectionAsync] = field(
        default_factory=WeakKeyDictionary[Any, Any], repr=False, compare=False
    )

    def __str__(self) -> str:
        return self.collection if self.tenant is None else f"{self.collection}, tenant {self.tenant}"

    async def count(self, client: WeaviateAsyncClient, filters: FilterReturn | None = None) -> int:
        """Objects in it, all or those that the filter lets through.

        The figure is that of the node which is asked: without a filter or a metric all nodes would have to agree, and
        one that has died would hold the answer for as long as it isn't missed.
        """
        from weaviate.classes.query import Metrics

        found = await self.on(client).aggregate.over_all(
            filters=filters,
            total_count=True,
            return_metrics=None if filters is not None else Metrics("forgotten").boolean(count=True),
        )
        return found.total_count or 0

    def on(self, client: WeaviateAsyncClient) -> CollectionAsync:
        """To read and write by a majority of the nodes that hold it; of one node, by that one."""
        handle = self._handles.get(client)
        if handle is None:
            from weaviate.classes.config import ConsistencyLevel

            # Made once for each client, as making one takes as long as a twentieth of a query.
            bare = client.collections.use(self.collection).with_tenant(self.tenant)
            handle = self._handles[client] = bare.with_consistency_level(ConsistencyLevel.QUORUM)
        return handle
