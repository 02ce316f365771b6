"""How many memories of what kind an owner has."""

from __future__ import annotations

from dataclasses import dataclass, replace
from datetime import datetime

from simuverse.memory.kept import EVERYTHING, EmbedderRecord
from simuverse.memory.records import Category, Source
from simuverse.memory.store import MemoryCollection


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Of one owner.

    Args:
        memories: all of them.
        current: neither superseded nor forgotten; a memory may be both.
        by_category, by_source: of all; kinds that there are none of are left out.
        oldest, newest: when they were made; None where there are none.
    """

    memories: int
    current: int
    superseded: int
    forgotten: int
    by_category: dict[Category, int]
    by_source: dict[Source, int]
    embedder: EmbedderRecord
    oldest: datetime | None
    newest: datetime | None


async def figures(collection: MemoryCollection, embedder: EmbedderRecord) -> Figures:
    """Counted by the store, but for the oldest, which is looked up.

    Raises:
        StoreError: it can't be asked.
    """
    memories = await collection.count(filter=EVERYTHING)
    by_category = {one: await collection.count(filter=replace(EVERYTHING, category=one)) for one in Category}
    by_source: dict[Source, int] = {}
    for one in Source:
        others = frozenset(Source) - {one}
        by_source[one] = await collection.count(filter=replace(EVERYTHING, exclude_sources=others))
    oldest: datetime | None = None
    async for entry in collection.scan():
        oldest = entry.memory.created_at
        break
    newest = await collection.recent(1, filter=EVERYTHING)
    return Figures(
        memories=memories,
        current=await collection.count(),
        superseded=memories - await collection.count(filter=replace(EVERYTHING, include_superseded=False)),
        forgotten=memories - await collection.count(filter=replace(EVERYTHING, include_forgotten=False)),
        by_category={one: count for one, count in by_category.items() if count},
        by_source={one: count for one, count in by_source.items() if count},
        embedder=embedder,
        oldest=oldest,
        newest=newest[0].created_at if newest else None,
    )
