"""What a plain script would ask the client for the same search and the same batch: the measure of what a store adds."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from simuverse.memory.store import OVER_FETCH, Entry, SearchRequest
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_contexts import context_texts
from simuverse.memory.stores.weaviate_objects import Stored, server_filter
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_schema import VECTOR
from simuverse.memory.stores.weaviate_sending import Sender, given

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.data import DataObject


class BareCalls:
    """On one collection, by the same client as the store's."""

    def __init__(self, connection: Connection, partition: Partition) -> None:
        self._connection = connection
        self._partition = partition
        self._sender = Sender(connection, partition)

    async def search(self, request: SearchRequest) -> None:
        """Both legs at once, each with the records and scores of its best, by the server's own word counts."""
        from weaviate.classes.query import MetadataQuery

        assert request.vector is not None
        vector, filters = request.vector.tolist(), server_filter(request.filter)

        async def nearest(client: WeaviateAsyncClient) -> None:
            await self._partition.on(client).query.near_vector(
                vector,
                target_vector=VECTOR,
                limit=OVER_FETCH,
                filters=filters,
                return_metadata=MetadataQuery(distance=True),
                return_properties=["record"],
            )

        async def by_words(client: WeaviateAsyncClient) -> None:
            await self._partition.on(client).query.bm25(
                " ".join(request.terms),
                query_properties=["search_text"],
                limit=OVER_FETCH,
                filters=filters,
                return_metadata=MetadataQuery(score=True),
                return_properties=["record"],
            )

        await asyncio.gather(self._connection.query(nearest), self._connection.query(by_words))

    @staticmethod
    def prepared(entries: Sequence[Entry]) -> list[DataObject[Any, None]]:
        """As :meth:`add` takes them."""
        memories = {entry.memory.id: entry.memory for entry in entries}
        texts = context_texts(memories, memories)
        return [Stored(entry=entry, context_text=texts[entry.memory.id]).as_object() for entry in entries]

    async def add(self, objects: Sequence[DataObject[Any, None]]) -> None:
        """In the fewest calls after which all of it is on the server's disk."""
        if len(objects) == 1:
            [one] = objects

            async def insert(client: WeaviateAsyncClient) -> None:
                await self._partition.on(client).data.insert(given(one), uuid=one.uuid, vector=one.vector)

            await self._connection.write(insert)
            return

        async def send(client: WeaviateAsyncClient) -> None:
            await self._partition.on(client).data.insert_many(objects)

        await self._connection.write(send)
        await self._connection.write(self._sender.settle)
