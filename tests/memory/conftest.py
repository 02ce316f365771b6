"""What several tests of memory need."""

from __future__ import annotations

from collections.abc import AsyncIterator

import pytest

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.memory.recalling import Pool


@pytest.fixture
async def store() -> AsyncIterator[SQLiteStore]:
    store = await SQLiteStore.open(None, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    yield store
    await store.aclose()


@pytest.fixture
async def pool(store: SQLiteStore) -> Pool:
    return Pool(await store.collection("Jade"), HashingEmbedder())
