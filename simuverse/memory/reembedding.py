"""Makes all of a store anew beside the old one, checks it, and lets it take the old one's place.

Once with vectors of another embedder, once with the same vectors in new indexes. Interrupted before the last step, the
store is as it was, and the next call goes on with what was made.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from simuverse.errors import StoreCorrupt
from simuverse.memory.audit_lines import LEDGER
from simuverse.memory.checking import check
from simuverse.memory.copying import Fingerprints, Revector, catch_up, copy
from simuverse.memory.embedding import Embedder
from simuverse.memory.kept import Progress, Renewal
from simuverse.memory.store import Entry, MemoryCollection

AT_ONCE = 128
"""Summaries in one call of the embedder."""

_COMPARED = 10
"""Memories of each owner that are embedded a second time, to see whether the vectors are theirs."""

_LEAST_COSINE = 0.99
"""Between two vectors that the same embedder makes of the same words: services round differently from call to call."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Renewed:
    """Args:
    memories, agents: all that the new version holds, the record of changes not counted.
    late: memories that were written to the old version while the new one was made, and were carried over.
    """

    memories: int
    agents: int
    late: int


def revector(embedder: Embedder) -> Revector:
    """The summaries' vectors. Lines of the record of changes, which nothing searches, all have the same one."""

    async def anew(entries: Sequence[Entry]) -> list[Entry]:
        found: list[Entry] = []
        for start in range(0, len(entries), AT_ONCE):
            some = entries[start : start + AT_ONCE]
            if some[0].memory.owner == LEDGER:
                vectors = np.tile(np.eye(1, embedder.dimension, dtype=np.float32), (len(some), 1))
            else:
                vectors = await embedder.embed([entry.memory.summary for entry in some])
            found += [Entry(memory=entry.memory, vector=vector) for entry, vector in zip(some, vectors, strict=True)]
        return found

    return anew


async def renew(renewal: Renewal, *, embedder: Embedder | None, on_progress: Progress) -> Renewed:
    """Args:
        embedder: of the new version; None takes the vectors along.

    Raises:
        StoreCorrupt: the new version doesn't hold what the old one does, or doesn't find it; the old one stays.
        StoreError, EmbedderError: as the parts raise them; the old one stays.
    """
    make = None if embedder is None else revector(embedder)
    sources = await renewal.sources()
    copied: dict[str, Fingerprints] = {}
    for owner, source in sources.items():
        target = await renewal.target(owner)
        copied[owner] = await copy(source, target, revector=make, on_progress=on_progress)
        await _verify(target, embedder, on_progress)
    for owner in await renewal.targets():
        if owner not in sources:
            await renewal.erase(owner)
    await renewal.take_over()
    late = await _late(renewal, copied, make)
    agents = [owner for owner in copied if owner != LEDGER]
    return Renewed(memories=sum(len(copied[owner]) for owner in agents), agents=len(agents), late=late)


async def _verify(target: MemoryCollection, embedder: Embedder | None, on_progress: Progress) -> None:
    if target.owner == LEDGER:
        return
    checked = await check(target, on_progress=on_progress)
    if checked.faults:
        raise StoreCorrupt(f"the new version of {target.owner}'s memories isn't sound: {'; '.join(checked.faults)}")
    if embedder is None:
        return
    sample = [entry async for entry in _spread(target, checked.read)]
    if not sample:
        return
    vectors = await embedder.embed([entry.memory.summary for entry in sample])
    for entry, vector in zip(sample, vectors, strict=True):
        if float(entry.vector @ vector) < _LEAST_COSINE:
            raise StoreCorrupt(
                f"memory {entry.memory.id} of {target.owner} has a vector that {embedder.name} doesn't make of its "
                "words a second time. Look whether the embedder always answers the same, then start again"
            )


async def _spread(target: MemoryCollection, count: int) -> AsyncIterator[Entry]:
    """Some of all, from the oldest to the newest."""
    step = max(1, count // _COMPARED)
    number = 0
    async for entry in target.scan():
        if number % step == 0:
            yield entry
        number += 1


async def _late(renewal: Renewal, copied: Mapping[str, Fingerprints], make: Revector | None) -> int:
    carried = 0
    for owner, source in (await renewal.late_sources()).items():
        carried += await catch_up(source, await renewal.target(owner), copied.get(owner, {}), revector=make)
    return carried
