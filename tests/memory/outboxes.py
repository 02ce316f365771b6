"""What the tests of outboxes are made with."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import asynccontextmanager
from datetime import timedelta
from pathlib import Path

from simuverse.errors import StoreRefused, StoreUnavailable
from simuverse.memory.outbox import Outbox
from simuverse.memory.store import Entry, MemoryStore
from tests.contracts.memory_reference import START
from tests.memory.failing_store import FailingStore, InventedEmbedder

AWAY, FULL = StoreUnavailable("the store is away"), StoreUnavailable("its disk is full; free some space")
READ_ONLY = StoreRefused("its shards are read only")
LATER = START + timedelta(days=1)
NEVER = (3600.0,)
"""A pause that no test outlasts: nothing goes out by itself."""


@asynccontextmanager
async def opened(
    store: MemoryStore, path: Path, *, pauses: tuple[float, ...] = NEVER, embedder: InventedEmbedder | None = None
) -> AsyncGenerator[Outbox]:
    async with Outbox.open(path, store=store, embedder=embedder or InventedEmbedder(), pauses=pauses) as outbox:
        yield outbox


async def stored(store: FailingStore, owner: str = "Jade") -> list[Entry]:
    return [one async for one in (await store.collection(owner)).scan()]


async def summaries(store: FailingStore, owner: str = "Jade") -> list[str]:
    return [one.memory.summary for one in await stored(store, owner)]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)
