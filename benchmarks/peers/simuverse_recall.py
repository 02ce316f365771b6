"""Simu-Verse as it is shipped: SQLite, the default embedder, the three factors and the gate; only its budget is wider.

A question is embedded within the time that is measured, as its interface takes no vectors.
"""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import AsyncExitStack
from datetime import timedelta

from benchmarks.memories import OWNER
from benchmarks.peers.peer import Place, Vector, Vectors
from simuverse import parts, wiring
from simuverse.bench.invented_entries import START, invented_entries
from simuverse.config import Settings
from simuverse.memory.clock import ManualClock
from simuverse.memory.recall import RecallSettings

_NOW = START + timedelta(days=365)
_RECALL = RecallSettings(count=10, tokens=10_000)


class Opened:
    def __init__(self, place: Place) -> None:
        self._runner = asyncio.Runner()
        self._open = AsyncExitStack()
        self._runner.run(self._enter(f"sqlite:{place.folder}/memories.db"))

    async def _enter(self, store: str) -> None:
        settings = Settings()
        embedder = await parts.open_embedder("wordllama", settings)
        self._open.push_async_callback(embedder.aclose)
        opened = await parts.open_store(store, embedder, settings)
        self._open.push_async_callback(opened.aclose)
        self._collection = await opened.collection(OWNER)
        self._mind = await self._open.enter_async_context(
            wiring.open_subconscious(
                OWNER, store=opened, embedder=embedder, clock=ManualClock(_NOW), recall=_RECALL, settings=settings
            )
        )

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        self._runner.run(self._collection.add(invented_entries(OWNER, texts, vectors, first=first)))

    def added(self) -> None:
        """Nothing is left to do."""

    def search(self, question: str, vector: Vector, count: int) -> list[int]:  # noqa: ARG002
        recollection = self._runner.run(self._mind.recollect(question, stateful=False))
        # An invented memory is the one of its minute.
        return [int((found.memory.created_at - START) / timedelta(minutes=1)) for found in recollection][:count]

    def close(self) -> None:
        self._runner.run(self._open.aclose())
        self._runner.close()
