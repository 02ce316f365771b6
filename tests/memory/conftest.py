"""What several tests of memory need."""

from __future__ import annotations

import pytest

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.memory.recalling import Pool


@pytest.fixture
async def pool(store: SQLiteStore) -> Pool:
    return Pool(await store.collection("Jade"), HashingEmbedder())
