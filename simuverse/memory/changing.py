"""Changes that are made as they are recorded: written down, made, settled, and finished where that was cut short."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from uuid import UUID

from simuverse.errors import UsageError
from simuverse.memory.audit import Actor, AuditLog, Change, Kind
from simuverse.memory.clock import Clock
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import Memory
from simuverse.memory.store import Entry, MemoryCollection


class RecordedChanges:
    """Changes of one owner's memories, from memories as they are to memories as they are to be.

    Args:
        by, name: who makes them.
    """

    def __init__(
        self,
        collection: MemoryCollection,
        embedder: Embedder,
        clock: Clock,
        audit: AuditLog,
        *,
        by: Actor,
        name: str,
    ) -> None:
        self.collection = collection
        self.audit = audit
        self._embedder = embedder
        self._clock = clock
        self._by: Actor = by
        self._name = name

    async def make(
        self,
        kind: Kind,
        ids: Sequence[UUID],
        before: Sequence[Memory],
        after: Sequence[Memory],
        why: str,
        *,
        undoes: int | None = None,
    ) -> Change:
        """What is in ``before`` alone is removed, what is in ``after`` alone is made.

        Raises:
            UsageError: it would change what is anchored, and who makes it is no operator.
        """
        self._require_allowed([*before, *after])
        entries = await self._entries(before, after)
        change = await self.audit.intend(
            Change(
                owner=self.collection.owner,
                kind=kind,
                by=self._by,
                name=self._name,
                at=self._clock.now(),
                why=why,
                ids=tuple(dict.fromkeys(ids)),
                before=tuple(before),
                after=tuple(after),
                undoes=undoes,
            )
        )
        await self._put(before, entries)
        return await self.audit.settle(change, "done")

    async def _entries(self, before: Sequence[Memory], after: Sequence[Memory]) -> list[Entry | Memory]:
        """With new vectors where there is a new wording."""
        known = {memory.id: memory.summary for memory in before}
        worded = [memory for memory in after if known.get(memory.id) != memory.summary]
        vectors = await self._embedder.embed([memory.summary for memory in worded])
        embedded = {memory.id: Entry(memory=memory, vector=v) for memory, v in zip(worded, vectors, strict=True)}
        return [embedded.get(memory.id, memory) for memory in after]

    async def _put(self, before: Sequence[Memory], after: Sequence[Entry | Memory]) -> None:
        """New ones first and removals last, so that in between nothing is missing."""
        old = {memory.id for memory in before}
        made = [one for one in after if isinstance(one, Entry) and one.memory.id not in old]
        changed = [one for one in after if _id(one) in old]
        removed = sorted(old - {_id(one) for one in after})
        if made:
            await self.collection.add(made)
        if changed:
            await self.collection.update(changed)
        if removed:
            await self.collection.erase(removed)

    async def finish(self, change: Change) -> None:
        """Of a change that was cut short: makes the rest once any of it was made; else notes that it never began."""
        await write_anew(self.collection, change.touched)
        current = {memory.id: memory for memory in await self.collection.get(sorted(change.touched))}
        before, after = by_id(change.before), by_id(change.after)
        differing = [one for one in before.keys() | after.keys() if not same(before.get(one), after.get(one))]
        if not any(same(current.get(one), after.get(one)) for one in differing):
            await self.audit.settle(change, "abandoned")
            return
        left = [one for one in differing if same(current.get(one), before.get(one))]
        old = [current[one] for one in left if one in current]
        new = [accessed_as(after[one], current.get(one)) for one in left if one in after]
        await self._put(old, await self._entries(old, new))
        await self.audit.settle(change, "done")

    def _require_allowed(self, memories: Sequence[Memory]) -> None:
        for memory in memories:
            if memory.anchored and self._by != "operator":
                raise UsageError(f"memory {memory.id} is anchored; only an operator sets and takes anchors")


async def write_anew(collection: MemoryCollection, ids: Collection[UUID]) -> None:
    """Those of them that are there, as they are: a store that was killed may have them, and what rests on them, in part
    alone.
    """
    there = [entry async for entry in collection.scan() if entry.memory.id in ids]
    if there:
        await collection.add(there)


def same(one: Memory | None, other: Memory | None) -> bool:
    """But for what changes without a record: when it was recalled last, and when and where it was told last."""
    return one == other or (one is not None and accessed_as(one, other) == other)


def accessed_as(memory: Memory, other: Memory | None) -> Memory:
    """The one, recalled and told last when the other was."""
    if other is None:
        return memory
    return replace(
        memory,
        created_at=other.created_at,
        last_accessed_at=other.last_accessed_at,
        location=other.location,
        episode=other.episode,
        position=other.position,
        provenance=replace(memory.provenance, messages=other.provenance.messages),
    )


def by_id(memories: Iterable[Memory]) -> dict[UUID, Memory]:
    return {memory.id: memory for memory in memories}


def _id(one: Entry | Memory) -> UUID:
    return one.memory.id if isinstance(one, Entry) else one.id
