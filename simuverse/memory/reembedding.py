"""Gives every memory of a store a vector of another embedder, in a store of its own. The first store is only read."""

from __future__ import annotations

from collections.abc import Callable

from simuverse.errors import StoreCorrupt
from simuverse.memory.embedding import Embedder
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore

AT_ONCE = 256
"""Summaries in one call of the embedder, and entries in one write."""


async def reembed(
    source: MemoryStore, target: MemoryStore, embedder: Embedder, *, on_progress: Callable[[str], None]
) -> int:
    """Copies all owners' memories, past and hidden ones included; returns how many.

    What is there already is written again, so a copy that was interrupted can simply be made again.

    Args:
        embedder: of ``target``.
        on_progress: is told what was done, for people.

    Raises:
        StoreCorrupt: the copy doesn't hold what the source does.
        StoreError, EmbedderError: as the parts raise them.
    """
    copied = 0
    for owner in await source.owners():
        before = await source.collection(owner)
        after = await target.collection(owner)
        batch: list[Entry] = []
        count = 0
        async for entry in before.scan():
            batch.append(entry)
            count += 1
            if len(batch) == AT_ONCE:
                await _copy(after, batch, embedder)
                batch = []
        await _copy(after, batch, embedder)
        written = [entry.memory async for entry in after.scan()]
        if written != [entry.memory async for entry in before.scan()]:
            raise StoreCorrupt(f"the copy of {owner}'s memories holds {len(written)} of {count}; make it again")
        on_progress(f"{owner}: {count} memories")
        copied += count
    return copied


async def _copy(collection: MemoryCollection, entries: list[Entry], embedder: Embedder) -> None:
    if entries:
        vectors = await embedder.embed([entry.memory.summary for entry in entries])
        await collection.add(
            [Entry(memory=entry.memory, vector=vector) for entry, vector in zip(entries, vectors, strict=True)]
        )
