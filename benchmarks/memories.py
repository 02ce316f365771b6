"""Stores full of invented memories, and one recall from them."""

from __future__ import annotations

from datetime import timedelta

from simuverse import parts
from simuverse.bench.invented_entries import START, invented_entries
from simuverse.bench.invented_texts import InventedTexts
from simuverse.config import Settings
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings, recall
from simuverse.memory.records import MemoryQuery
from simuverse.memory.store import MemoryStore

OWNER = "bench"
_AT_ONCE = 1_000


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
    for at in range(0, count, _AT_ONCE):
        some = texts[at : at + _AT_ONCE]
        await collection.add(invented_entries(owner, some, await embedder.embed(some), first=at))


async def recall_once(store: MemoryStore, embedder: Embedder, owner: str, *questions: str) -> None:
    """A whole recall with the shipped settings: embedding, search, ranking, gate."""
    await recall(
        [MemoryQuery(text=question) for question in questions],
        collection=await store.collection(owner),
        embedder=embedder,
        now=START + timedelta(days=365),
        settings=RecallSettings(),
    )
