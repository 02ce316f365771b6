"""An SQLite file as a whole: the suite of all stores, and what only a file can go through."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from simuverse.memory.kept import EmbedderRecord, KeptStore
from simuverse.memory.stores.sqlite_kept import SQLiteKept
from tests.contracts.kept_store import KeptStoreContract


class TestSQLiteKept(KeptStoreContract):
    @asynccontextmanager
    async def open_kept(self, place: Path, *, new: EmbedderRecord | None = None) -> AsyncGenerator[KeptStore]:
        store = await SQLiteKept.open(place, read_only=False, new=new)
        try:
            yield store
        finally:
            await store.aclose()
