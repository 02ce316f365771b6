"""The store on a real Weaviate server: the same suite as every other, unchanged."""

from __future__ import annotations

from collections.abc import AsyncIterator
from hashlib import sha256
from pathlib import Path
from typing import ClassVar

import pytest

from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address, Layout
from tests.contracts.memory_reference import DIMENSION
from tests.contracts.memory_store import EMBEDDER, MemoryStoreContract
from tests.live.weaviate_server import own_client

pytestmark = pytest.mark.live

PATIENT = 60.0
"""Seconds: a busy machine is no fault of the store's here; deadlines have tests of their own."""


class TestCollections(MemoryStoreContract):
    layout: ClassVar[Layout] = Layout.COLLECTIONS

    @pytest.fixture(autouse=True)
    async def emptied(self, weaviate_address: Address, tmp_path: Path) -> AsyncIterator[None]:
        """All on one server; each place is a prefix of its own, and leaves nothing there."""
        self.address = weaviate_address
        yield
        store = await self.open(tmp_path)
        for owner in await store.owners():
            await store.erase(owner)
        await store.aclose()

    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        return await WeaviateStore.open(
            [self.address],
            embedder_name=embedder,
            dimension=DIMENSION,
            deadline=PATIENT,
            prefix=prefix_for(place),
            layout=self.layout,
        )


class TestTenants(TestCollections):
    layout = Layout.TENANTS

    @pytest.fixture(autouse=True)
    async def without_a_trace(self, emptied: None, weaviate_address: Address, tmp_path: Path) -> AsyncIterator[None]:
        yield
        async with own_client(weaviate_address) as client:
            await client.collections.delete(prefix_for(tmp_path))


def prefix_for(place: Path) -> str:
    return f"Test{sha256(str(place).encode()).hexdigest()[:12]}"
