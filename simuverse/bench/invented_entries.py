"""Memories of invented texts, in talks of twenty, a minute apart."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime, timedelta

import numpy as np

from simuverse.memory.embedding import Embedder, Vectors
from simuverse.memory.records import Category, Memory, Provenance, Source, memory_id
from simuverse.memory.store import Entry

START = datetime(2026, 3, 1, tzinfo=UTC)
_EMBEDDED_AT_ONCE = 1_000


async def embedded(embedder: Embedder, texts: Sequence[str]) -> Vectors:
    """One or more texts."""
    return np.concatenate(
        [await embedder.embed(texts[at : at + _EMBEDDED_AT_ONCE]) for at in range(0, len(texts), _EMBEDDED_AT_ONCE)]
    )


def invented_entries(owner: str, summaries: Sequence[str], vectors: Vectors, *, first: int = 0) -> list[Entry]:
    """Args:
    first: number of the first one, for what is made in parts.
    """
    return [
        Entry(memory=_memory(owner, number, text), vector=vector)
        for number, (text, vector) in enumerate(zip(summaries, vectors, strict=True), first)
    ]


def _memory(owner: str, number: int, text: str) -> Memory:
    at = START + timedelta(minutes=number)
    return Memory(
        id=memory_id(owner, "bench", number),
        owner=owner,
        summary=text,
        category=list(Category)[number % len(Category)],
        importance=number % 10 + 1,
        created_at=at,
        last_accessed_at=at,
        provenance=Provenance(source=Source.OBSERVED),
        episode=f"episode {number // 20}",
        position=number % 20,
    )
