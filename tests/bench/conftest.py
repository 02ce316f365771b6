"""A store and an embedder for the benchmarks to be tried on."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
async def store(embedder: HashingEmbedder) -> AsyncIterator[MemoryStore]:
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    yield store
    await store.aclose()
