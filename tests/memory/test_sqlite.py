from __future__ import annotations

from pathlib import Path

from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION
from tests.contracts.memory_store import EMBEDDER, MemoryStoreContract


class TestSQLiteFile(MemoryStoreContract):
    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        return await SQLiteStore.open(place / "memories.db", embedder_name=embedder, dimension=DIMENSION)


class TestSQLiteInMemory(MemoryStoreContract):
    lasts = False

    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        return await SQLiteStore.open(None, embedder_name=embedder, dimension=DIMENSION)
