"""Makes one collection hold what another does, and sees to it that it does. Interrupted, it is simply done again."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from hashlib import blake2b
from uuid import UUID

import msgspec

from simuverse.errors import StoreCorrupt
from simuverse.memory.kept import EVERYTHING, Progress
from simuverse.memory.records import Memory
from simuverse.memory.store import Entry, MemoryCollection

AT_ONCE = 500
"""Entries in one write: one commit to disk for all of them, under 1 MB with vectors of 256 numbers."""

Fingerprints = dict[UUID, bytes]
"""Of each memory, what tells it from any other in 16 bytes."""

Revector = Callable[[Sequence[Entry]], Awaitable[list[Entry]]]
"""The same memories with other vectors."""


def fingerprint(memory: Memory, vector: bytes = b"") -> bytes:
    """Args:
    vector: its bytes as little-endian float32, where they count.
    """
    return blake2b(msgspec.json.encode(memory) + vector, digest_size=16).digest()


def entry_fingerprint(entry: Entry) -> bytes:
    """Of memory and vector."""
    return fingerprint(entry.memory, entry.vector.astype("<f4").tobytes())


def memory_fingerprint(entry: Entry) -> bytes:
    """Of the memory alone, whatever its vector."""
    return fingerprint(entry.memory)


async def fingerprints(collection: MemoryCollection, of: Callable[[Entry], bytes] = entry_fingerprint) -> Fingerprints:
    return {entry.memory.id: of(entry) async for entry in collection.scan()}


async def copy(
    source: MemoryCollection, target: MemoryCollection, *, revector: Revector | None, on_progress: Progress
) -> Fingerprints:
    """Makes ``target`` hold the same memories, past and hidden ones too, and no others; returns what they are.

    What is there already is passed over, so what was interrupted goes on where it stopped.

    Args:
        revector: None takes the vectors along; they count in the fingerprints then.

    Raises:
        StoreCorrupt: afterwards it doesn't hold what the source does.
        StoreError, EmbedderError: as the parts raise them.
    """
    of = _counting(revector)
    total = await source.count(filter=EVERYTHING)
    there = await fingerprints(target, of)
    ours: Fingerprints = {}

    async def missing() -> AsyncIterator[Entry]:
        async for entry in source.scan():
            one = entry.memory.id
            ours[one] = of(entry)
            if there.get(one) != ours[one]:
                yield entry
            on_progress(source.owner, len(ours), total)

    async for batch in batches(missing()):
        await target.add(batch if revector is None else await revector(batch))
    await target.erase([one for one in there if one not in ours])
    written = await fingerprints(target, of)
    if written != ours:
        raise StoreCorrupt(
            f"the copy of {source.owner}'s memories holds {agreeing(written, ours)} of {len(ours)} as they are. "
            "End what else writes to them, and start again"
        )
    return ours


async def catch_up(
    source: MemoryCollection, target: MemoryCollection, copied: Mapping[UUID, bytes], *, revector: Revector | None
) -> int:
    """Carries over what was written to the source since it was copied; returns how many that were.

    Args:
        copied: what :func:`copy` returned.
    """
    of = _counting(revector)

    async def since() -> AsyncIterator[Entry]:
        async for entry in source.scan():
            if copied.get(entry.memory.id) != of(entry):
                yield entry

    carried = 0
    async for batch in batches(since()):
        await target.add(batch if revector is None else await revector(batch))
        carried += len(batch)
    return carried


def _counting(revector: Revector | None) -> Callable[[Entry], bytes]:
    return entry_fingerprint if revector is None else memory_fingerprint


async def batches(entries: AsyncIterator[Entry]) -> AsyncIterator[list[Entry]]:
    """Of :data:`AT_ONCE` entries each, but for the last."""
    batch: list[Entry] = []
    async for entry in entries:
        batch.append(entry)
        if len(batch) == AT_ONCE:
            yield batch
            batch = []
    if batch:
        yield batch


def agreeing(there: Mapping[UUID, bytes], wanted: Mapping[UUID, bytes]) -> int:
    """How many of the wanted ones are there as they are to be."""
    return sum(there.get(one) == print_ for one, print_ in wanted.items())
