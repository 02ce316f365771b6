"""What is of a time: the memories made then, and those that speak of it ("yesterday the mill burnt down").

What a memory says of a time is read when a question about that time is asked, against the moment it was made; nothing
of it is stored.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta, tzinfo
from functools import lru_cache

from simuverse.memory.caches import until_erased
from simuverse.memory.records import IMPORTANCE_MAX, IMPORTANCE_MIN, Memory, MemoryFilter, MemoryQuery
from simuverse.memory.store import MemoryCollection
from simuverse.memory.time_asked import TimeAsked, TimeUse
from simuverse.memory.when import times_spoken
from simuverse.memory.when_calendar import Window

_CACHED = 4_096
"""Memories whose times are kept: a question weighs up to some hundred."""

_LOOSEST = timedelta(days=3)
"""The longest time spoken of that may stand for a shorter one in it: "last weekend" for Sunday, not "last year"."""

_TOLD_LATER = timedelta(days=14)
_TOLD_LATER_READ = 100
"""How long after a time, and how many memories, are looked at for what tells of it."""


def filters(query: MemoryQuery) -> Sequence[MemoryFilter]:
    """What is searched: nothing for a listing; for a question about a time, that time, and all else for what tells of
    it."""
    if query.time is None or query.time.use is TimeUse.BOOST:
        return (query.filter,)
    if query.time.use is TimeUse.LIST:
        return ()
    return query.filter, replace(query.filter, since=None, until=None)


def mentioned(query: MemoryQuery, memories: Iterable[Memory], zone: tzinfo) -> Sequence[bool]:
    """Whether each is of a time that the query mentions; empty if it mentions none."""
    time = query.time
    if time is None or time.use is not TimeUse.BOOST:
        return ()
    return [memory.created_at in _window(time) or tells_of(memory, time, zone) for memory in memories]


def tells_of_from_elsewhere(memory: Memory, time: TimeAsked, zone: tzinfo) -> bool:
    """Whether it was made at another time, and speaks of this one."""
    return memory.created_at not in _window(time) and tells_of(memory, time, zone)


def tells_of(memory: Memory, time: TimeAsked, zone: tzinfo) -> bool:
    asked = _window(time)
    return any(_fits(window, asked) for window in _spoken(memory.summary, memory.created_at, zone))


async def listed(collection: MemoryCollection, query: MemoryQuery, *, limit: int, zone: tzinfo) -> list[Memory]:
    """The most important memories of the time that a query asks for, the newest of equals first.

    Raises:
        StoreError: they couldn't be read.
    """
    time, wanted = query.time, query.filter
    if time is None:
        return []
    found = await collection.recent(limit, filter=wanted)
    if len(found) == limit:
        found = await _most_important(collection, wanted, limit)
    if time.until is not None:
        later = replace(wanted, since=time.until, until=time.until + _TOLD_LATER)
        told = await collection.recent(_TOLD_LATER_READ, filter=later)
        found += [memory for memory in told if tells_of(memory, time, zone)]
    return sorted(found, key=lambda memory: (-memory.importance, -memory.created_at.timestamp()))[:limit]


async def _most_important(collection: MemoryCollection, wanted: MemoryFilter, limit: int) -> list[Memory]:
    low, high = wanted.min_importance or IMPORTANCE_MIN, wanted.max_importance or IMPORTANCE_MAX
    found: list[Memory] = []
    for importance in range(high, low - 1, -1):
        alike = replace(wanted, min_importance=importance, max_importance=importance)
        found += await collection.recent(limit - len(found), filter=alike)
        if len(found) == limit:
            break
    return found


def _fits(spoken: Window, asked: Window) -> bool:
    """Whether it lies in what is asked, or the two have at least half of the shorter in common and are alike enough."""
    if spoken.within(asked):
        return True
    common = spoken.common(asked)
    if common is None or spoken.length is None or common.length is None:
        return False
    asked_length = asked.length or spoken.length
    return 2 * common.length >= min(spoken.length, asked_length) and spoken.length <= max(_LOOSEST, 2 * asked_length)


def _window(time: TimeAsked) -> Window:
    return Window(since=time.since, until=time.until)


@lru_cache(maxsize=_CACHED)
def _spoken(text: str, now: datetime, zone: tzinfo) -> tuple[Window, ...]:
    """A time named without its week or year may be the last or the next: both are read."""
    return tuple(
        time.window for forward in (False, True) for time in times_spoken(text, now=now, zone=zone, forward=forward)
    )


until_erased(_spoken.cache_clear)
