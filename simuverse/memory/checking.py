"""Whether every memory can be found again: what is there is counted, read, and looked for in each index."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from uuid import UUID

from simuverse.errors import StoreCorrupt
from simuverse.memory.analysis import memory_tokens
from simuverse.memory.kept import EVERYTHING, Progress
from simuverse.memory.records import MemoryFilter, SearchType
from simuverse.memory.store import MemoryCollection, SearchRequest, Vector

_ASKED_FOR = 1_000
"""Memories looked for by meaning in one search, where there is a choice."""

_MOST = 9_000
"""Hits that any store gives in one search; Weaviate's own limit is 10,000."""

_NAMED = 3
"""Ids that a report names of many."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Checked:
    """What was found of one owner.

    Args:
        counted: memories, as the store counts them.
        read: how many can be read.
        with_words: how many of these have any token that could be looked for.
        not_by_words, not_by_meaning: ids of those that the one search or the other doesn't reach.
        not_looked_for: by meaning, as too many were made in one moment to be told apart.
        unreadable: what the store says of a memory that can't be read; nothing after it was looked at.
    """

    owner: str
    counted: int
    read: int
    with_words: int
    not_by_words: tuple[UUID, ...] = ()
    not_by_meaning: tuple[UUID, ...] = ()
    not_looked_for: int = 0
    unreadable: str = ""

    @property
    def faults(self) -> list[str]:
        """One phrase each; none if all is well."""
        found: list[str] = []
        if self.unreadable:
            found.append(self.unreadable)
        elif self.counted != self.read:
            found.append(f"{self.counted} are counted and {self.read} can be read")
        if self.not_by_words:
            found.append(f"{_some(self.not_by_words)} can't be found by words")
        if self.not_by_meaning:
            found.append(f"{_some(self.not_by_meaning)} can't be found by meaning")
        return found


@dataclass(slots=True)
class _Seen:
    """What one pass over the memories notes of them, in the order of their making."""

    ids: list[UUID] = field(default_factory=list[UUID])
    times: list[datetime] = field(default_factory=list[datetime])
    holders: defaultdict[str, list[UUID]] = field(default_factory=lambda: defaultdict[str, list[UUID]](list))
    some_vector: Vector | None = None


async def check(collection: MemoryCollection, *, on_progress: Progress, searched: bool = True) -> Checked:
    """Reads all of an owner's memories, and looks for each of them by one of its words and by meaning.

    Args:
        searched: whether anything looks for these memories; if not, they are only counted and read.

    Raises:
        StoreError: the store can't be asked.
    """
    owner = collection.owner
    counted = await collection.count(filter=EVERYTHING)
    seen = _Seen()
    unreadable = ""
    try:
        async for entry in collection.scan():
            seen.ids.append(entry.memory.id)
            seen.times.append(entry.memory.created_at)
            seen.some_vector = entry.vector if seen.some_vector is None else seen.some_vector
            for token in set(memory_tokens(entry.memory)):
                seen.holders[token].append(entry.memory.id)
            on_progress(owner, len(seen.ids), counted)
    except StoreCorrupt as error:
        unreadable = str(error)
    with_words = {one for ids in seen.holders.values() for one in ids}
    checked = Checked(
        owner=owner, counted=counted, read=len(seen.ids), with_words=len(with_words), unreadable=unreadable
    )
    if unreadable or not searched or seen.some_vector is None:
        return checked
    by_meaning, not_looked_for = await _by_meaning(collection, seen, seen.some_vector)
    return replace(
        checked,
        not_by_words=tuple(sorted(await _not_by_words(collection, seen))),
        not_by_meaning=tuple(sorted(set(seen.ids) - by_meaning)),
        not_looked_for=not_looked_for,
    )


async def _not_by_words(collection: MemoryCollection, seen: _Seen) -> set[UUID]:
    """Whom a search for one of its own tokens doesn't find: for the commonest of them, so that searches are few.

    Whoever has only tokens that more memories hold than any store gives is taken to be found.
    """
    reached: set[UUID] = set()
    asked: set[UUID] = set()
    for token in sorted(seen.holders, key=lambda one: (-len(seen.holders[one]), one)):
        ids = seen.holders[token]
        if len(ids) > _MOST or asked.issuperset(ids):
            continue
        request = SearchRequest(search_type=SearchType.KEYWORD, terms=(token,), filter=EVERYTHING, limit=len(ids))
        reached.update(hit.memory.id for hit in await collection.search(request))
        asked.update(ids)
    return asked - reached


async def _by_meaning(collection: MemoryCollection, seen: _Seen, vector: Vector) -> tuple[set[UUID], int]:
    """Whom a search by vector reaches that asks for all of a stretch of time; and how many are left out."""
    reached: set[UUID] = set()
    left_out = 0
    for first, end in _stretches(seen.times):
        if end - first > _MOST:
            reached.update(seen.ids[first:end])
            left_out += end - first
            continue
        stretch = MemoryFilter(
            include_superseded=True,
            include_forgotten=True,
            since=seen.times[first],
            until=seen.times[end] if end < len(seen.times) else None,
        )
        request = SearchRequest(search_type=SearchType.SEMANTIC, vector=vector, filter=stretch, limit=end - first)
        reached.update(hit.memory.id for hit in await collection.search(request))
    return reached, left_out


def _stretches(times: Sequence[datetime]) -> Iterator[tuple[int, int]]:
    """From each place to before the next: about as many as are asked for at once, those of one moment together."""
    first = 0
    while first < len(times):
        end = min(first + _ASKED_FOR, len(times))
        while end < len(times) and times[end] == times[end - 1]:
            end += 1
        yield first, end
        first = end


def _some(ids: Sequence[UUID]) -> str:
    named = ", ".join(str(one) for one in ids[:_NAMED])
    return f"{len(ids)} ({named}{', ...' if len(ids) > _NAMED else ''})"
