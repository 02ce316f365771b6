"""What a recall's cleanliness costs: the same queries with the gate, cool-down and near-duplicates, and without."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import timedelta

import numpy as np

from simuverse.bench.invented_entries import START, embedded, invented_entries
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.timing import BATCH, timed
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings, recall
from simuverse.memory.records import MemoryQuery
from simuverse.memory.store import Entry, MemoryStore

QUERIES = 200

_ROUNDS = 3
"""Each query is timed so often both ways, and the least time counts: what else runs only adds."""

_CLEAN = RecallSettings()
_ANYTHING = replace(_CLEAN, min_sure=-1, min_cosine=-1, min_matched=0, min_found=0, alike=None, cool_down=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallCost:
    """Args:
    memories: of which a tenth may restate the one before, and another tenth is past.
    ratio: of the milliseconds of a recall to those of one that gates, cools down and compares nothing: the median of
        the queries.
    """

    memories: int
    ratio: float


async def recall_cost(
    store: MemoryStore, embedder: Embedder, owner: str, *, memories: int, queries: int = QUERIES
) -> RecallCost:
    """Args:
        owner: who has no memories yet; none are left.

    Raises:
        StoreError, EmbedderError: it couldn't be written or searched.
    """
    collection = await store.collection(owner)
    try:
        texts = InventedTexts(1)
        summaries = texts.draw(memories)
        entries = _lived(invented_entries(owner, summaries, await embedded(embedder, summaries)))
        for at in range(0, memories, BATCH):
            await collection.add(entries[at : at + BATCH])
        questions = [text.removesuffix(".") for text in texts.draw(queries)]
        shown = frozenset(entry.memory.id for entry in entries[-3 * _CLEAN.count :])
        now = START + timedelta(minutes=memories)

        async def times(settings: RecallSettings) -> list[float]:
            async def ask(question: str) -> None:
                await recall(
                    [MemoryQuery(text=question)],
                    collection=collection,
                    embedder=embedder,
                    now=now,
                    settings=settings,
                    shown=shown if settings.cool_down else (),
                )

            return await timed(questions, ask)

        await times(_ANYTHING)  # looks at every text once
        rounds = [(await times(_CLEAN), await times(_ANYTHING)) for _ in range(_ROUNDS)]
    finally:
        await store.erase(owner)
    clean, anything = np.min(rounds, axis=0)
    return RecallCost(memories=memories, ratio=float(np.median(clean / anything)))


def _lived(entries: Sequence[Entry]) -> list[Entry]:
    lived: list[Entry] = []
    for number, entry in enumerate(entries):
        memory = entry.memory
        if number % 10 == 9:
            memory = replace(memory, restates=lived[-1].memory.id)
        elif number % 10 == 4:
            memory = memory.superseded(by=entries[number - 1].memory.id, at=memory.created_at)
        lived.append(replace(entry, memory=memory))
    return lived
