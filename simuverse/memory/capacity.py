"""A bound on how many memories an owner keeps: what is worth least goes, each eviction on record. Off unless asked for.

All that is in the store counts, past and hidden ones too, and those go first. Of the others it is the sum of three
equal parts, each 0 to 1: importance; how lately it was written or came to mind, halved each week; and how often it was
used. Anchored memories stay, even if nothing else is left to go. An eviction removes, and can be undone.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime, timedelta
from uuid import UUID

from simuverse.memory.audit import AuditLog
from simuverse.memory.changing import RecordedChanges
from simuverse.memory.clock import Clock
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import IMPORTANCE_MAX, IMPORTANCE_MIN, Memory, MemoryFilter
from simuverse.memory.store import MemoryCollection

_HALF_LIFE = timedelta(days=7)
"""As in the default preset of recall."""

_HALFWAY = 2
"""Uses that are worth half of what any number of them can be."""

_EVER = MemoryFilter(include_superseded=True, include_forgotten=True)


def retention(memory: Memory, *, now: datetime, uses: int = 0) -> float:
    """What a memory is worth keeping, 0 to 1."""
    importance = (memory.importance - IMPORTANCE_MIN) / (IMPORTANCE_MAX - IMPORTANCE_MIN)
    age = max(now - max(memory.last_accessed_at, memory.created_at), timedelta())
    recency: float = 0.5 ** (age / _HALF_LIFE)
    return (importance + recency + uses / (uses + _HALFWAY)) / 3


class Capacity:
    """Holds one owner to a number of memories.

    Args:
        most: 1 or more.
    """

    def __init__(
        self, most: int, *, collection: MemoryCollection, embedder: Embedder, clock: Clock, audit: AuditLog
    ) -> None:
        if most < 1:
            raise ValueError(f"a capacity of {most} is below 1")
        self.most = most
        self._collection = collection
        self._clock = clock
        self._audit = audit
        self._changes = RecordedChanges(collection, embedder, clock, audit, by="rules", name="")

    async def keep(self, uses: Callable[[UUID], int] = lambda _: 0) -> tuple[Memory, ...]:
        """Evicts what is over; returns it.

        Args:
            uses: how often a memory was used.

        Raises:
            StoreError: not all could be evicted; what is on record as evicted is.
        """
        if await self._collection.count(filter=_EVER) <= self.most:
            return ()
        async with self._audit.held():
            count = await self._collection.count(filter=_EVER)
            if count <= self.most:
                return ()
            now = self._clock.now()
            memories = [one for one in await self._collection.recent(count, filter=_EVER) if not one.anchored]
            memories.sort(
                key=lambda one: (
                    one.current,
                    retention(one, now=now, uses=uses(one.id)),
                    one.created_at,
                    one.id,
                )
            )
            going = memories[: count - self.most]
            if going:
                why = f"more than {self.most} memories"
                await self._changes.make("evict", [one.id for one in going], going, (), why)
            return tuple(going)
