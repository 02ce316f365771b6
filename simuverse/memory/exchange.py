"""Memories as lines of JSON, to carry from one store to another.

One line is one memory with its vector, in one form only: keys sorted, no spaces, times in UTC, the vector as base64 of
little-endian float32. So what is exported, imported and exported again is the same to the byte.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, cast

import msgspec
import numpy as np

from simuverse.errors import BadVector, StoreMismatch, UsageError
from simuverse.memory.records import Memory, Provenance
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore

_WRITTEN_AT_ONCE = 500
"""Entries in one write of an import: one commit to disk for all of them, under 1 MB with vectors of 256 numbers."""

_MEMORY_FIELDS = {field.name for field in fields(Memory)}
_PROVENANCE_FIELDS = {field.name for field in fields(Provenance)}


_WHAT_NOW = "The lines before it are imported; mend it and import all again, nothing doubles."


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbered:
    """An entry and the number of its line, from 1."""

    number: int
    entry: Entry


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    embedder: str
    memory: dict[str, Any]
    vector: str


async def export_lines(collection: MemoryCollection, *, embedder: str) -> AsyncIterator[str]:
    """All of the owner's memories, past and forgotten ones included, oldest first; no line ends in a line break.

    Args:
        embedder: name of the embedder that the store's vectors are of.
    """
    async for entry in collection.scan():
        line = {
            "embedder": embedder,
            "memory": entry.memory,
            "vector": base64.b64encode(entry.vector.astype("<f4").tobytes()).decode(),
        }
        yield msgspec.json.encode(line, order="sorted").decode()


async def import_lines(store: MemoryStore, lines: Iterable[str], *, embedder: str) -> int:
    """Adds the memories to their owners' collections; returns how many.

    A line imported twice is there once. Lines before a bad one stay imported, so that a mended file can be imported
    again from its start. Blank lines are passed over.

    Args:
        embedder: name of the embedder that the store's vectors are of.

    Raises:
        UsageError: a line that isn't a memory; the message says which and why.
        StoreMismatch: a line whose vector is another embedder's.
        StoreError: it couldn't be stored.
    """
    imported = 0
    batch: list[_Numbered] = []
    for number, line in enumerate(lines, start=1):
        if not line.strip():
            continue
        try:
            entry = _read(line, embedder=embedder)
        except (ValueError, msgspec.MsgspecError) as error:
            await _write(store, batch)
            raise UsageError(f"line {number} isn't a memory: {error}. {_WHAT_NOW}") from error
        except StoreMismatch as error:
            await _write(store, batch)
            raise StoreMismatch(f"line {number}: {error}") from error
        if batch and (batch[0].entry.memory.owner != entry.memory.owner or len(batch) == _WRITTEN_AT_ONCE):
            await _write(store, batch)
            batch = []
        batch.append(_Numbered(number=number, entry=entry))
        imported += 1
    await _write(store, batch)
    return imported


def _read(line: str, *, embedder: str) -> Entry:
    read = msgspec.json.decode(line, type=_Line)
    if read.embedder != embedder:
        raise StoreMismatch(
            f"its vector is of the embedder {read.embedder}, and the store's are of {embedder}. "
            f"Import it into a store of {read.embedder}, then: simuverse store reembed STORE --embedder {embedder}"
        )
    provenance = read.memory.get("provenance")
    unknown = read.memory.keys() - _MEMORY_FIELDS
    if isinstance(provenance, dict):
        unknown |= cast("dict[str, object]", provenance).keys() - _PROVENANCE_FIELDS
    if unknown:
        raise ValueError(f"unknown field {', '.join(sorted(unknown))}; a newer Simu-Verse may have written it")
    try:
        raw = base64.b64decode(read.vector, validate=True)
    except binascii.Error as error:
        raise ValueError(f"the vector isn't base64: {error}") from error
    if len(raw) % 4:
        raise ValueError(f"the vector has {len(raw)} bytes, no whole number of float32")
    return Entry(memory=msgspec.convert(read.memory, Memory), vector=np.frombuffer(raw, dtype="<f4").astype(np.float32))


async def _write(store: MemoryStore, batch: Sequence[_Numbered]) -> None:
    if not batch:
        return
    collection = await store.collection(batch[0].entry.memory.owner)
    try:
        await collection.add([numbered.entry for numbered in batch])
    except BadVector:
        # Nothing of the batch was written; one at a time, the line at fault shows.
        for numbered in batch:
            try:
                await collection.add([numbered.entry])
            except BadVector as error:
                raise UsageError(f"line {numbered.number} isn't a memory: {error}. {_WHAT_NOW}") from error
