"""Stores full of invented memories, and one recall from them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simuverse import parts
from simuverse.bench.invented_texts import InventedTexts
from simuverse.config import Settings
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings, recall
from simuverse.memory.records import Category, Memory, MemoryQuery, Provenance, Source, memory_id
from simuverse.memory.store import Entry, MemoryStore

OWNER = "bench"
EPISODE = 20
"""Memories of one talk."""

START = datetime(2026, 3, 1, tzinfo=UTC)
_BATCH = 1_000


def invented_memory(owner: str, number: int, text: str) -> Memory:
    """One a minute."""
    at = START + timedelta(minutes=number)
    return Memory(
        id=memory_id(owner, "bench", number),
        owner=owner,
        summary=text,
        category=list(Category)[number % len(Category)],
        importance=number % 10 + 1,
        created_at=at,
        last_accessed_at=at,
        provenance=Provenance(source=Source.OBSERVED),
        episode=str(number // EPISODE),
        position=number % EPISODE,
    )


async def fill(name: str, owner: str, count: int, *, seed: int = 1) -> None:
    """Writes ``count`` memories into the store of that name."""
    settings = Settings()
    embedder = await parts.open_embedder("wordllama", settings)
    try:
        store = await parts.open_store(name, embedder, settings)
        try:
            await write(store, embedder, owner, count, seed=seed)
        finally:
            await store.aclose()
    finally:
        await embedder.aclose()


async def write(store: MemoryStore, embedder: Embedder, owner: str, count: int, *, seed: int = 1) -> None:
    """The same, into a store that is open."""
    collection = await store.collection(owner)
    texts = InventedTexts(seed).draw(count)
    for at in range(0, count, _BATCH):
        some = texts[at : at + _BATCH]
        memories = (invented_memory(owner, number, text) for number, text in enumerate(some, at))
        pairs = zip(memories, await embedder.embed(some), strict=True)
        await collection.add([Entry(memory=memory, vector=vector) for memory, vector in pairs])


async def recall_once(store: MemoryStore, embedder: Embedder, owner: str, *questions: str) -> None:
    """A whole recall with the shipped settings: embedding, search, ranking, gate."""
    await recall(
        [MemoryQuery(text=question) for question in questions],
        collection=await store.collection(owner),
        embedder=embedder,
        now=START + timedelta(days=365),
        settings=RecallSettings(),
    )
