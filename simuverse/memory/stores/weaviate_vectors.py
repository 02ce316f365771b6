"""Vectors of memories that were written or read here, so that the server needn't be asked again for a cosine."""

from __future__ import annotations

from collections import OrderedDict
from uuid import UUID

from simuverse.memory.records import Memory
from simuverse.memory.store import Entry, Vector
from simuverse.memory.stores.weaviate_partition import Partition

MOST = 20_000
"""Kept for a whole store, those used last: 20 MB with vectors of 256 numbers."""


class KnownVectors:
    """Of one store. A vector belongs to a summary, so one that another program has changed since isn't found."""

    def __init__(self, *, most: int = MOST) -> None:
        self._most = most
        self._vectors: OrderedDict[tuple[Partition, UUID], tuple[int, Vector]] = OrderedDict()

    def put(self, partition: Partition, entry: Entry) -> None:
        key = (partition, entry.memory.id)
        self._vectors[key] = (hash(entry.memory.summary), entry.vector)
        self._vectors.move_to_end(key)
        if len(self._vectors) > self._most:
            self._vectors.popitem(last=False)

    def get(self, partition: Partition, memory: Memory) -> Vector | None:
        key = (partition, memory.id)
        summary, vector = self._vectors.get(key, (None, None))
        if vector is None or summary != hash(memory.summary):
            return None
        self._vectors.move_to_end(key)
        return vector

    def drop(self, partition: Partition, id: UUID) -> None:
        self._vectors.pop((partition, id), None)
