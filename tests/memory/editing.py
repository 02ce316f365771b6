"""An editor on a store in a file, and the plainest ways to look at what it did."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import msgspec

from simuverse.memory.analysis import query_terms
from simuverse.memory.audit import Actor, AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.editing import Copies, MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Memory, SearchType
from simuverse.memory.store import MemoryCollection, SearchRequest
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.memory.recalling import Pool

TODAY = datetime(2026, 4, 2, 9, tzinfo=UTC)


@dataclass(frozen=True, kw_only=True, slots=True)
class Desk:
    """All that a change of memories needs."""

    store: SQLiteStore
    pool: Pool
    collection: MemoryCollection
    audit: AuditLog
    clock: ManualClock
    editor: MemoryEditor

    def as_(self, by: Actor, *, copies: Sequence[Copies] = ()) -> MemoryEditor:
        return MemoryEditor(self.collection, HashingEmbedder(), self.clock, self.audit, by=by, copies=copies)


@asynccontextmanager
async def desk(file: Path | None, *, owner: str = "Jade") -> AsyncGenerator[Desk]:
    store = await SQLiteStore.open(file, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    try:
        collection = await store.collection(owner)
        audit, clock = AuditLog.beside(file), ManualClock(TODAY)
        yield Desk(
            store=store,
            pool=Pool(collection, HashingEmbedder()),
            collection=collection,
            audit=audit,
            clock=clock,
            editor=MemoryEditor(collection, HashingEmbedder(), clock, audit),
        )
    finally:
        await store.aclose()


async def exported(collection: MemoryCollection) -> bytes:
    """Everything in it, vectors too, as bytes."""
    return b"\n".join(
        [msgspec.json.encode((entry.memory, entry.vector.tobytes())) async for entry in collection.scan()]
    )


async def found(collection: MemoryCollection, text: str, *, by: SearchType = SearchType.HYBRID) -> list[str]:
    """Summaries that a search finds, best first; by meaning, as far as they resemble it at all."""
    [vector] = await HashingEmbedder().embed([text], kind="query")
    hits = await collection.search(SearchRequest(search_type=by, terms=query_terms(text), vector=vector))
    return [hit.memory.summary for hit in hits if hit.bm25 is not None or (hit.cosine or 0) > 0.5]


async def now(collection: MemoryCollection, memory: Memory) -> Memory:
    [current] = await collection.get([memory.id])
    return current
