"""Questions about times on a real server: the same windows, finds and silences as on SQLite."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from simuverse.bench.times import TimesMeasured, measure_times
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from tests.live.test_weaviate_store import PATIENT, prefix_for

pytestmark = pytest.mark.live


async def measured(store: MemoryStore) -> TimesMeasured:
    [one] = (await measure_times(store, HashingEmbedder(), zones=["Europe/Berlin"])).measured
    return replace(one, p50_ms=0, p95_ms=0)


async def test_both_stores_answer_alike(weaviate_address: Address, tmp_path: Path) -> None:
    name, dimension = HashingEmbedder().name, HashingEmbedder.dimension
    embedded = await SQLiteStore.open(None, embedder_name=name, dimension=dimension)
    server = await WeaviateStore.open(
        [weaviate_address], embedder_name=name, dimension=dimension, deadline=PATIENT, prefix=prefix_for(tmp_path)
    )
    try:
        assert await measured(embedded) == await measured(server)
    finally:
        await embedded.aclose()
        await server.aclose()
