"""What several tests of memory need."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator

import pytest

from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.intake import Intake
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.memory.intaking import NOON, Gate
from tests.memory.recalling import Pool


@pytest.fixture
async def pool(store: SQLiteStore) -> Pool:
    return Pool(await store.collection("Jade"), HashingEmbedder())


@pytest.fixture(scope="session")
def words() -> WordLlamaEmbedder:
    return asyncio.run(WordLlamaEmbedder.open())


@pytest.fixture
async def gate(words: WordLlamaEmbedder) -> AsyncIterator[Gate]:
    store = await SQLiteStore.open(None, embedder_name=words.name, dimension=words.dimension)
    audit, clock = AuditLog.beside(None), ManualClock(NOON)
    collection = await store.collection("Ada")
    intake = Intake(collection, words, clock, audit, prompts=("I keep the mill by the river.", "I want my key back."))
    yield Gate(intake, words, audit, clock)
    await store.aclose()
