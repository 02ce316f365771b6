"""A bound on how many memories an owner keeps: what is worth least goes, each eviction on record. Off unless asked for.

All that is in the store counts, past and hidden ones too, and those go first. Of the others it is the sum of three
equal parts, each 0 to 1: importance; how lately it was written or came to mind, halved each week; and how often it was
used. Anchored memories stay, even if nothing else is left to go. An eviction removes, and can be undone.

Not all are read for it. No memory is worth less than its importance and its age make it, so of each importance the
oldest are looked at, until none of the rest can be worth as little as what was found.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
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

_PAGE, _LONGEST_PAGE = 16, 1_000
"""Memories read at once: enough for one eviction, and where many are over."""

_BEGIN = datetime.min.replace(tzinfo=UTC)

_Order = tuple[float, datetime, UUID]
"""In which they go: by worth, age and id."""


def retention(memory: Memory, *, now: datetime, uses: int = 0) -> float:
    """What a memory is worth keeping, 0 to 1."""
    return _worth(memory.importance, max(memory.last_accessed_at, memory.created_at), now=now, uses=uses)


def _worth(importance: int, last: datetime, *, now: datetime, uses: int = 0) -> float:
    recency: float = 0.5 ** (max(now - last, timedelta()) / _HALF_LIFE)
    scaled = (importance - IMPORTANCE_MIN) / (IMPORTANCE_MAX - IMPORTANCE_MIN)
    return (scaled + recency + uses / (uses + _HALFWAY)) / 3


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
            over = count - self.most
            if over <= 0:
                return ()
            now = self._clock.now()
            going: list[Memory] = []
            if count > await self._collection.count():
                going = await self._least(over, past=True, now=now, uses=uses)
            if len(going) < over:
                going += await self._least(over - len(going), past=False, now=now, uses=uses)
            if going:
                why = f"more than {self.most} memories"
                await self._changes.make("evict", [one.id for one in going], going, (), why)
            return tuple(going)

    async def _least(self, count: int, *, past: bool, now: datetime, uses: Callable[[UUID], int]) -> list[Memory]:
        """Those that go first, anchored ones excepted: as many as are asked for, or all there are."""
        levels = [
            _Level(importance, self._collection, past=past, page=min(max(count, _PAGE), _LONGEST_PAGE))
            for importance in range(IMPORTANCE_MIN, IMPORTANCE_MAX + 1)
        ]
        found: list[tuple[_Order, Memory]] = []
        while True:
            found.sort(key=lambda one: one[0])
            del found[count:]
            left = [(level.next_at_least(now), level) for level in levels if not level.ended]
            if len(found) == count:
                left = [(least, level) for least, level in left if least < found[-1][0]]
            if not left:
                return [memory for _, memory in found]
            _, level = min(left, key=lambda one: one[0])
            for memory in await level.more():
                if not memory.anchored:
                    worth = retention(memory, now=now, uses=uses(memory.id))
                    found.append(((worth, memory.created_at, memory.id), memory))


class _Level:
    """The memories of one importance, oldest first, as far as they were read."""

    def __init__(self, importance: int, collection: MemoryCollection, *, past: bool, page: int) -> None:
        self.ended = False
        self._importance = importance
        self._collection = collection
        self._past = past
        self._page = page
        self._last: Memory | None = None
        self._read: set[UUID] = set()

    def next_at_least(self, now: datetime) -> _Order:
        """What none of those that weren't read comes before."""
        if self._last is None:
            return (_worth(self._importance, _BEGIN, now=now), _BEGIN, UUID(int=0))
        at = self._last.created_at
        return (_worth(self._importance, at, now=now), at, self._last.id)

    async def more(self) -> list[Memory]:
        since = None if self._last is None else self._last.created_at
        wanted = MemoryFilter(min_importance=self._importance, max_importance=self._importance, since=since)
        page = await self._collection.oldest(self._page, filter=wanted, past=self._past)
        self.ended = len(page) < self._page
        new = [memory for memory in page if memory.id not in self._read]
        if not new:
            self._page *= 2  # as many were written at the same moment
        else:
            self._last = new[-1]
            self._read.update(memory.id for memory in new)
        return new
