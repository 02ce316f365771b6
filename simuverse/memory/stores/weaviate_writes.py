"""Changes of one collection that rest on what is there.

A server knows no transaction. A change reads what it rests on, works out all that is to be different, contexts too, and
sends that in as few batches as there must be. Two programs that change the same memory at once may lose one change.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from functools import partial
from types import MappingProxyType
from typing import TYPE_CHECKING, Any
from uuid import UUID

import numpy as np

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import Entry
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_contexts import Place, context_texts, places_after, stretches
from simuverse.memory.stores.weaviate_errors import batch_error
from simuverse.memory.stores.weaviate_objects import STORED, Stored, ids_filter
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_search import SERVER_MAXIMUM
from simuverse.memory.stores.weaviate_statistics import CountedWords
from simuverse.memory.stores.weaviate_vectors import KnownVectors

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.data import DataObject
    from weaviate.collections.classes.filters import FilterReturn

AT_ONCE = 500
"""Objects in one message: some 3 MB with vectors of 1,024 numbers; a server takes 100."""

_PARTS_AT_ONCE = 20
_ATTEMPTS = 2

_NOBODY = UUID(int=0)
"""An id that no memory has."""


class Writer:
    """Writes to one collection. Of one owner there is one change at a time; the caller sees to that."""

    def __init__(
        self, connection: Connection, partition: Partition, words: CountedWords, vectors: KnownVectors
    ) -> None:
        self._connection = connection
        self._partition = partition
        self._words = words
        self._vectors = vectors

    async def add(self, after: Mapping[UUID, Entry]) -> None:
        """Makes it so, whether any of it is there or not: all that has to be read for that is read at once.

        Raises:
            StoreError: some of it wasn't stored; the message names which. Doing it again is harmless.
        """
        places = places_after(entry.memory for entry in after.values())
        ids = list(after)
        wanted = [ids_filter(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE)]
        around = await self._read_any([*wanted, *_filters(places)])
        before = {one: found for one, found in around.items() if one in after}
        await self.write(before, after, around=around, places=places)

    async def read(self, ids: Collection[UUID]) -> dict[UUID, Stored]:
        """Those that are there."""
        wanted, found = list(dict.fromkeys(ids)), dict[UUID, Stored]()
        for start in range(0, len(wanted), AT_ONCE):
            found |= await self._read_where(ids_filter(wanted[start : start + AT_ONCE]))
        return found

    async def write(
        self,
        before: Mapping[UUID, Stored],
        after: Mapping[UUID, Entry],
        *,
        erased: Collection[UUID] = (),
        around: Mapping[UUID, Stored] = MappingProxyType({}),
        places: Collection[Place] = (),
    ) -> None:
        """Makes ``after`` so, removes what is erased, and renews the contexts of what follows on either.

        Args:
            before: all of ``after`` and ``erased`` that is there, as read.
            around: what was read at ``places`` and as their context.

        Raises:
            StoreError: some of it wasn't stored; the message names which. Doing it again is harmless.
        """
        old = {one: before[one].entry.memory for one in (*after, *erased) if one in before}
        new = {one: entry.memory for one, entry in after.items()}
        moved = [one for one in {**old, **new} if _place(old.get(one)) != _place(new.get(one))]
        renewed = places_after([memories[one] for memories in (old, new) for one in moved if one in memories])
        episodes = {episode for episode, _ in renewed}
        # The server trims what it compares, so another episode's may be among them.
        further = await self._read_any(_filters(renewed.difference(places)))
        near = {one: found for one, found in {**around, **further}.items() if found.entry.memory.episode in episodes}
        stored = {**near, **before}
        memories = {one: found.entry.memory for one, found in stored.items() if one not in erased} | new
        texts = context_texts(
            memories,
            [one for one, memory in memories.items() if one in moved or (memory.episode, memory.position) in renewed],
        )
        changed: list[Stored] = []
        for one in {**after, **texts}:
            was = stored.get(one)
            entry = after[one] if one in after else stored[one].entry
            now = Stored(entry=entry, context_text=texts[one] if one in texts else stored[one].context_text)
            if was is None or not _same(was, now):
                changed.append(now)
        with self._words.changing() as changes:
            changes += [(stored[one], None) for one in erased if one in stored]
            changes += [(stored.get(now.entry.memory.id), now) for now in changed]
            await self._erase(erased)
            await self._insert(changed)
            if any(_newly_placed(stored.get(now.entry.memory.id), now) for now in changed):
                await self._connection.write(self._settle)
        for one in erased:
            self._vectors.drop(self._partition, one)
        for now in changed:
            self._vectors.put(self._partition, now.entry)

    async def _read_where(self, filters: FilterReturn) -> dict[UUID, Stored]:
        async def ask(client: WeaviateAsyncClient) -> list[Stored]:
            found = await self._partition.on(client).query.fetch_objects(
                filters=filters, limit=SERVER_MAXIMUM, include_vector=True, return_properties=list(STORED)
            )
            return [Stored.of(one) for one in found.objects]

        return {one.entry.memory.id: one for one in await self._connection.query(ask)}

    async def _read_any(self, parts: Sequence[FilterReturn]) -> dict[UUID, Stored]:
        """What any of them lets through."""
        from weaviate.classes.query import Filter

        found: dict[UUID, Stored] = {}
        for start in range(0, len(parts), _PARTS_AT_ONCE):
            found |= await self._read_where(Filter.any_of(list(parts[start : start + _PARTS_AT_ONCE])))
        return found

    async def _erase(self, ids: Collection[UUID]) -> None:
        wanted = list(ids)
        for start in range(0, len(wanted), AT_ONCE):
            gone = ids_filter(wanted[start : start + AT_ONCE])

            async def ask(client: WeaviateAsyncClient, gone: FilterReturn = gone) -> int:
                return (await self._partition.on(client).data.delete_many(gone)).failed

            await self._connection.write(ask)

    async def _insert(self, changed: Sequence[Stored]) -> None:
        for start in range(0, len(changed), AT_ONCE):
            objects = {one.entry.memory.id: one.as_object() for one in changed[start : start + AT_ONCE]}
            failed: dict[UUID, str] = {}
            for _ in range(_ATTEMPTS):
                remaining = [objects[one] for one in (failed or objects)]
                failed = await self._connection.write(partial(self._send, objects=remaining))
                if not failed:
                    break
            else:
                raise batch_error(self._connection.address, failed, written=start + len(objects) - len(failed))

    async def _settle(self, client: WeaviateAsyncClient) -> None:
        """A server writes the words of a batch to disk before it answers, and its vectors with the next change alone.

        Killed in between, it would know the last ones by their words and never again by their meaning. A deletion that
        finds nothing is a change.
        """
        await self._partition.on(client).data.delete_many(ids_filter([_NOBODY]), dry_run=True)

    async def _send(self, client: WeaviateAsyncClient, objects: Sequence[DataObject[Any, None]]) -> dict[UUID, str]:
        """Id to message of those that weren't stored."""
        from weaviate.exceptions import WeaviateInsertManyAllFailedError

        try:
            outcome = await self._partition.on(client).data.insert_many(objects)
        except WeaviateInsertManyAllFailedError as error:
            return {UUID(str(one.uuid)): str(error) for one in objects}
        return {UUID(str(objects[number].uuid)): error.message for number, error in outcome.errors.items()}


def _newly_placed(was: Stored | None, now: Stored) -> bool:
    """Whether the index of vectors has to take it in."""
    return was is None or not np.array_equal(was.entry.vector, now.entry.vector)


def _filters(places: Collection[Place]) -> list[FilterReturn]:
    """For what is at these places, and what is the context of that."""
    from weaviate.classes.query import Filter

    return [
        Filter.by_property("episode").equal(episode)
        & Filter.by_property("position").greater_or_equal(first)
        & Filter.by_property("position").less_or_equal(last)
        for episode, first, last in stretches(places)
    ]


def _place(memory: Memory | None) -> tuple[str, str, int, bool] | None:
    """What the context of others, or its own, is made of."""
    if memory is None:
        return None
    return search_text(memory), memory.episode, memory.position, memory.forgotten_at is None


def _same(one: Stored, other: Stored) -> bool:
    return (
        one.entry.memory == other.entry.memory
        and one.context_text == other.context_text
        and np.array_equal(one.entry.vector, other.entry.vector)
    )
