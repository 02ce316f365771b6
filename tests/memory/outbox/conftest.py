"""A store that can fail, and an outbox before it."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION
from tests.contracts.memory_store import EMBEDDER
from tests.memory.failing_store import FailingStore
from tests.memory.outboxes import opened


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[FailingStore]:
    store = FailingStore(await SQLiteStore.open(tmp_path / "memories.db", embedder_name=EMBEDDER, dimension=DIMENSION))
    yield store
    await store.aclose()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.jsonl"


@pytest.fixture
async def outbox(store: FailingStore, path: Path) -> AsyncIterator[Outbox]:
    async with opened(store, path) as outbox:
        yield outbox
        store.fault = None


@pytest.fixture
async def jade(store: FailingStore, outbox: Outbox) -> OutboxCollection:
    return outbox.collection(await store.collection("Jade"))
