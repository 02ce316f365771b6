"""Where on a server one owner's memories are: a collection, or a tenant in one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections import CollectionAsync


@dataclass(frozen=True, slots=True)
class Partition:
    """Args:
    collection: its name on the server.
    tenant: None: the collection is the owner's alone.
    """

    collection: str
    tenant: str | None = None

    def __str__(self) -> str:
        return self.collection if self.tenant is None else f"{self.collection}, tenant {self.tenant}"

    def on(self, client: WeaviateAsyncClient) -> CollectionAsync:
        """To read and write by a majority of the nodes that hold it; of one node, by that one."""
        from weaviate.classes.config import ConsistencyLevel

        return (
            client.collections.use(self.collection)
            .with_tenant(self.tenant)
            .with_consistency_level(ConsistencyLevel.QUORUM)
        )
