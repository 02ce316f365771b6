"""What every ``simuverse bench`` opens, and how it says where it is."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager

import typer

from simuverse import parts
from simuverse.config import Settings
from simuverse.memory.embedding import Embedder
from simuverse.memory.store import MemoryStore


@asynccontextmanager
async def opened_parts(settings: Settings) -> AsyncGenerator[tuple[MemoryStore, Embedder], None]:
    """The embedder, and the store that the settings name or one that is gone afterwards."""
    with tempfile.TemporaryDirectory() as scratch:
        embedder = await parts.open_embedder(settings.embedder, settings)
        try:
            store = await parts.open_store(settings.store or f"sqlite:{scratch}/bench.db", embedder, settings)
            try:
                yield store, embedder
            finally:
                await store.aclose()
        finally:
            await embedder.aclose()


def tell(step: str) -> None:
    typer.echo(step, err=True)
