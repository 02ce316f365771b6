"""A collection in memory to recall from, with the plainest ways to fill it and to ask it."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from uuid import UUID

from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import Recalled, RecallSettings, recall
from simuverse.memory.records import Category, Memory, MemoryFilter, MemoryQuery, Provenance, Source, memory_id
from simuverse.memory.store import Entry, MemoryCollection

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
SEEN = Provenance(source=Source.OBSERVED)
NO_FILTER = MemoryFilter()

OPEN = RecallSettings(min_sure=-1, min_cosine=-1, count=50, tokens=100_000, runners_up=1_000)
"""No gate and no budget: what is left is the order."""


@dataclass
class Pool:
    collection: MemoryCollection
    embedder: Embedder
    kept: int = 0

    async def keep(
        self,
        summary: str,
        *,
        importance: int = 5,
        keywords: tuple[str, ...] = (),
        critical_information: str = "",
        category: Category = Category.OBSERVATION,
        provenance: Provenance = SEEN,
        age: timedelta = timedelta(),
        episode: str = "",
        position: int = 0,
        as_if: str | None = None,
    ) -> Memory:
        """One more memory; ``as_if``: embedded as another text would be."""
        self.kept += 1
        memory = Memory(
            id=memory_id(self.collection.owner, "kept", self.kept),
            owner=self.collection.owner,
            summary=summary,
            importance=importance,
            keywords=keywords,
            critical_information=critical_information,
            category=category,
            provenance=provenance,
            created_at=NOW - age,
            last_accessed_at=NOW - age,
            episode=episode,
            position=position,
        )
        [vector] = await self.embedder.embed([as_if or summary])
        await self.collection.add([Entry(memory=memory, vector=vector)])
        return memory

    async def recall(
        self, *queries: MemoryQuery | str, settings: RecallSettings = OPEN, shown: Collection[UUID] = ()
    ) -> Recalled:
        return await recall(
            [MemoryQuery(text=query) if isinstance(query, str) else query for query in queries],
            collection=self.collection,
            embedder=self.embedder,
            now=NOW,
            settings=settings,
            shown=shown,
        )


def summaries(recalled: Recalled) -> list[str]:
    return [flashback.memory.summary for flashback in recalled.flashbacks]
