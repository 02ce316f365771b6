"""Changes of one collection that rest on what is there.

A server knows no transaction. A change reads what it rests on, works out all that is to be different, contexts too, and
sends that in as few batches as there must be. Two programs that change the same memory at once may lose one change.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from itertools import zip_longest
from types import MappingProxyType
from typing import TYPE_CHECKING
from uuid import UUID

import numpy as np

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT, Entry
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_contexts import Area, Place, areas, context_texts, places_after
from simuverse.memory.stores.weaviate_episodes import FRESH, KnownEpisodes
from simuverse.memory.stores.weaviate_objects import SERVER_MAXIMUM, STORED, Stored, ids_filter, memory_of
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_sending import Sender
from simuverse.memory.stores.weaviate_statistics import CountedWords
from simuverse.memory.stores.weaviate_vectors import KnownVectors

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.filters import FilterReturn

AT_ONCE = 500
"""Objects read at once: some 3 MB with vectors of 1,024 numbers; a server takes 100."""

_PARTS_AT_ONCE = 20

_READ_AT_ONCE = 20
"""Texts whose tokens are worked out before the loop has its turn: half a millisecond."""


class Writer:
    """Writes to one collection. Of one owner there is one change at a time; the caller sees to that."""

    def __init__(
        self,
        connection: Connection,
        partition: Partition,
        words: CountedWords,
        vectors: KnownVectors,
        episodes: KnownEpisodes,
        *,
        doubtful: set[UUID],
    ) -> None:
        """Args:
        doubtful: what was sent and never acknowledged, so that a killed server may hold it in part.
        """
        self._connection = connection
        self._partition = partition
        self._words = words
        self._vectors = vectors
        self._episodes = episodes
        self._doubtful = doubtful
        self._sender = Sender(connection, partition)

    async def add(self, after: Mapping[UUID, Entry]) -> None:
        """Makes it so, whether any of it is there or not. What is there may be so in part alone, as after a server was
        killed, and is written anew, as are the memories whose context it is.

        Raises:
            StoreError: some of it wasn't stored; the message names which. Doing it again is harmless.
        """
        await self._mend(besides=after)
        new = [entry.memory for entry in after.values()]
        if not new:
            return
        if len(new) == 1 and await self._append(after[new[0].id]):
            self._doubtful.discard(new[0].id)
            return
        places, now = places_after(new), asyncio.get_running_loop().time()
        around, _ = await asyncio.gather(self._around(new, places), _texts_read(new))
        before = {one: found for one, found in around.items() if one in after}
        await self.write(before, after, around=around, places=places, anew=True)
        [episode, *others] = {memory.episode for memory in new}
        if not others and len(around) < SERVER_MAXIMUM:
            there = [found.entry.memory for one, found in around.items() if one not in after]
            whole = [memory for memory in (*there, *new) if memory.episode == episode]
            self._episodes.put(episode, whole, seen=now)

    async def _append(self, entry: Entry) -> bool:
        """Where the end of its episode is known, in one call, beside one that looks whether that end is still as it is
        known; False if anything is other than thought, and the memory there perhaps.
        """
        memory, time = entry.memory, asyncio.get_running_loop().time()
        end = self._episodes.end([memory])
        if end is None:
            return False
        text = context_texts({**end.memories, memory.id: memory}, [memory.id])[memory.id]
        now = Stored(entry=entry, context_text=text)
        looking = None if time < end.seen + FRESH else asyncio.create_task(self._are_there(end.memories))
        as_known: bool | BaseException = True
        with self._words.changing() as changes:
            try:
                if not await self._sender.insert(now):
                    return False
                changes.append((None, now))
            finally:
                if looking is not None:
                    # Waited for in any case, as a task must not outlast its caller.
                    [as_known] = await asyncio.gather(looking, return_exceptions=True)
        if as_known is not True:
            self._episodes.drop([memory.episode])
            return False
        self._vectors.put(self._partition, entry)
        seen = end.seen if looking is None else time
        self._episodes.put(memory.episode, (*end.memories.values(), memory), seen=seen)
        return True

    async def _are_there(self, known: Mapping[UUID, Memory]) -> bool:
        """Whether these are still where they were, with the same words."""

        async def ask(client: WeaviateAsyncClient) -> list[Memory]:
            found = await self._partition.on(client).query.fetch_objects(
                filters=ids_filter(list(known)), limit=len(known), return_properties=["record"]
            )
            return [memory_of(one) for one in found.objects]

        there = {memory.id: _place(memory) for memory in await self._connection.query(ask)}
        return all(there.get(one) == _place(memory) for one, memory in known.items())

    async def _around(self, new: Sequence[Memory], places: Collection[Place]) -> dict[UUID, Stored]:
        """Those of them that are there, and all whose context they are or who are theirs."""
        from weaviate.classes.query import Filter

        ids = [memory.id for memory in new]
        end = self._episodes.end(new)
        if end is not None:
            found = await self._read_indexed([*ids, *end.memories])
            if all(_place(_memory(found.get(one))) == _place(memory) for one, memory in end.memories.items()):
                return found
        wanted = [ids_filter(ids[start : start + AT_ONCE]) for start in range(0, len(ids), AT_ONCE)]
        if len({memory.episode for memory in new}) == 1 and new[0].episode:
            near = [_from_there_on(new)]
        else:
            near = _filters(places)
        found = dict[UUID, Stored]()
        for parts in zip_longest(wanted, near):
            found |= await self._read_where(Filter.any_of([part for part in parts if part is not None]))
        return found

    async def read(self, ids: Collection[UUID]) -> dict[UUID, Stored]:
        """Those that are there. Where few are missing they are looked for without an index too, one by one."""
        found = await self._read_indexed(ids)
        missing = [one for one in dict.fromkeys(ids) if one not in found]
        return found | await self._read_hidden(missing) if len(missing) <= _PARTS_AT_ONCE else found

    async def read_to_change(self, ids: Collection[UUID]) -> dict[UUID, Stored]:
        """The same, when nothing is in doubt any more, however many are looked for without an index.

        Raises:
            StoreError: some of what was couldn't be written anew.
        """
        await self._mend()
        return await self._read_all(ids)

    async def _mend(self, *, besides: Collection[UUID] = ()) -> None:
        """Writes anew what earlier changes left in doubt.

        Args:
            besides: what is written anew in any case.

        Raises:
            StoreError: some of it wasn't stored.
        """
        ids = list(self._doubtful.difference(besides))
        if not ids:
            return
        found = await self._read_all(ids)
        await self._sender.send([one.told_apart() for one in found.values()], vectors_change=True)
        self._doubtful.difference_update(ids)

    async def _read_all(self, ids: Collection[UUID]) -> dict[UUID, Stored]:
        found = await self._read_indexed(ids)
        return found | await self._read_hidden([one for one in dict.fromkeys(ids) if one not in found])

    async def _read_hidden(self, ids: Sequence[UUID]) -> dict[UUID, Stored]:
        """Those that are there, each looked for without an index."""
        found: dict[UUID, Stored] = {}
        for start in range(0, len(ids), _PARTS_AT_ONCE):
            for one in await asyncio.gather(*map(self._read_by_place, ids[start : start + _PARTS_AT_ONCE])):
                if one is not None:
                    found[one.entry.memory.id] = one
        return found

    async def _read_indexed(self, ids: Collection[UUID]) -> dict[UUID, Stored]:
        wanted, found = list(dict.fromkeys(ids)), dict[UUID, Stored]()
        for start in range(0, len(wanted), AT_ONCE):
            found |= await self._read_where(ids_filter(wanted[start : start + AT_ONCE]))
        return found

    async def _read_by_place(self, id: UUID) -> Stored | None:
        """The first object after the id before this one, which needs no index to be found."""

        async def ask(client: WeaviateAsyncClient) -> Stored | None:
            found = await self._partition.on(client).query.fetch_objects(
                limit=1, after=UUID(int=id.int - 1), include_vector=True, return_properties=list(STORED)
            )
            there = [one for one in found.objects if one.uuid.int == id.int]
            return replace(Stored.of(there[0]), indexed=False) if there else None

        return await self._connection.query(ask)

    async def write(
        self,
        before: Mapping[UUID, Stored],
        after: Mapping[UUID, Entry],
        *,
        erased: Collection[UUID] = (),
        around: Mapping[UUID, Stored] = MappingProxyType({}),
        places: Collection[Place] = (),
        anew: bool = False,
    ) -> None:
        """Makes ``after`` so, removes what is erased, and renews the contexts of what follows on either.

        Args:
            before: all of ``after`` and ``erased`` that is there, as :meth:`read_to_change` told it.
            around: what was read at ``places`` and as their context.
            anew: what of ``after`` is there already, and all whose context it is, are written as if they weren't.

        Raises:
            StoreError: some of it wasn't stored; the message names which. Doing it again is harmless.
        """
        old = {one: before[one].entry.memory for one in (*after, *erased) if one in before}
        new = {one: entry.memory for one, entry in after.items()}
        moved = {one for one in {**old, **new} if anew or _place(old.get(one)) != _place(new.get(one))}
        renewed = places_after([memories[one] for memories in (old, new) for one in moved if one in memories])
        episodes = {episode for episode, _ in renewed}
        # The server trims what it compares, so another episode's may be among them.
        further: dict[UUID, Stored] = {}
        for part in _filters(renewed.difference(places)):
            further |= await self._read_where(part)
        near = {one: found for one, found in {**around, **further}.items() if found.entry.memory.episode in episodes}
        stored = {**near, **before}
        memories = {one: found.entry.memory for one, found in stored.items() if one not in erased} | new
        texts = context_texts(
            memories,
            [one for one, memory in memories.items() if one in moved or (memory.episode, memory.position) in renewed],
        )
        changed: list[Stored] = []
        emptied: list[Stored] = []
        vectors_change = False
        for one in {**after, **texts}:
            was = stored.get(one)
            entry = after[one] if one in after else stored[one].entry
            text = texts[one] if one in texts else stored[one].context_text
            now = Stored(entry=entry, context_text=text, doublings=was.doublings if was is not None else 0)
            if was is not None and (not was.indexed or (anew and one in after)):
                now = now.told_apart()
            rests_on_it = anew and one not in after
            if rests_on_it:
                emptied.append(replace(now, wordless=True))
            if was is None or rests_on_it or not _same(was, now):
                changed.append(now)
                vectors_change |= was is None or not _same_vector(was, now)
        self._episodes.drop(episodes)
        sent = {*erased, *(now.entry.memory.id for now in changed)}
        with self._words.changing() as changes:
            changes += [(stored[one], None) for one in erased if one in stored]
            changes += [(stored.get(now.entry.memory.id), now) for now in changed]
            self._doubtful |= sent
            await self._sender.send(emptied, vectors_change=False)
            await self._sender.send(
                changed, vectors_change=vectors_change, looked_for=after.keys() - stored.keys() if anew else ()
            )
            # Last, as nobody can tell any more what its words were in when it is gone.
            await self._sender.erase(
                erased, hidden=[one for one in erased if one in stored and not stored[one].indexed]
            )
            self._doubtful -= sent
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


async def _texts_read(new: Sequence[Memory]) -> None:
    """Has the tokens of each at hand, worked out while the server is asked for something."""
    for number, memory in enumerate(new):
        if number % _READ_AT_ONCE == 0:
            await asyncio.sleep(0)
        search_text(memory)


def _from_there_on(new: Sequence[Memory]) -> FilterReturn:
    """For all of their episode from their context on."""
    from weaviate.classes.query import Filter

    first = min(memory.position for memory in new) - CONTEXT
    return Filter.by_property("episode").equal(new[0].episode) & Filter.by_property("position").greater_or_equal(first)


def _filters(places: Collection[Place]) -> list[FilterReturn]:
    """For what is at these places, and what is the context of that."""
    return [*map(_filter, areas(places))]


def _filter(area: Area) -> FilterReturn:
    from weaviate.classes.query import Filter

    within = Filter.by_property("episode").contains_any(list(area.episodes))
    within &= Filter.by_property("position").less_or_equal(area.last)
    # None is below 0, and the server would look for that for as long as for all the rest.
    return within & Filter.by_property("position").greater_or_equal(area.first) if area.first > 0 else within


def _place(memory: Memory | None) -> tuple[str, str, int, bool] | None:
    """What the context of others, or its own, is made of."""
    if memory is None:
        return None
    return search_text(memory), memory.episode, memory.position, memory.forgotten_at is None


def _memory(stored: Stored | None) -> Memory | None:
    return None if stored is None else stored.entry.memory


def _same(one: Stored, other: Stored) -> bool:
    return (
        one.entry.memory == other.entry.memory and one.context_text == other.context_text and _same_vector(one, other)
    )


def _same_vector(one: Stored, other: Stored) -> bool:
    """As the server has it, whose index has to take in another one."""
    return one.doublings == other.doublings and np.array_equal(one.entry.vector, other.entry.vector)
