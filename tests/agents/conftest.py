"""A store in memory and what stands on it."""

from __future__ import annotations

from typing import Any

import pytest

from simuverse.agents.backends.scripted import Reply, Scripted
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryCollection
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.agents.minds import NOW, Minds


@pytest.fixture
async def collection(store: SQLiteStore) -> MemoryCollection:
    return await store.collection("Mira")


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
def clock() -> ManualClock:
    return ManualClock(NOW)


@pytest.fixture
def open_mind(collection: MemoryCollection, embedder: HashingEmbedder, clock: ManualClock) -> Minds:
    def make(*replies: Reply, **changes: Any) -> SubconsciousAgent:
        model = Scripted(replies) if replies else None
        parts: dict[str, Any] = {"collection": collection, "embedder": embedder, "clock": clock, "model": model}
        return SubconsciousAgent(**{**parts, **changes})

    return make
