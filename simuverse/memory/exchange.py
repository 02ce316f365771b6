"""Memories as lines of JSON, to keep a copy or to carry them from one store to another.

One line is one memory with its vector, in one form only: keys sorted, no spaces, times in UTC, the vector as base64 of
little-endian float32. After the memories come the lines of the record of changes, as they stand there. So what is
exported, imported and exported again is the same to the byte.
"""

from __future__ import annotations

import base64
import binascii
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, cast

import msgspec
import numpy as np

from simuverse.errors import BadVector, UsageError
from simuverse.memory.audit import AuditLog
from simuverse.memory.copying import Fingerprints, entry_fingerprint
from simuverse.memory.kept import EmbedderRecord
from simuverse.memory.records import Category, Memory, Provenance, Source
from simuverse.memory.store import Entry, MemoryCollection
from simuverse.memory.stores.vectors import checked_vector

_MEMORY_FIELDS = {field.name for field in fields(Memory)}
_PROVENANCE_FIELDS = {field.name for field in fields(Provenance)}
_ALLOWED = {"category": [one.value for one in Category], "provenance.source": [one.value for one in Source]}

_WHAT_NOW = "Nothing was imported; mend that line or take it out, and import the file again"


class _Line(msgspec.Struct, forbid_unknown_fields=True):
    embedder: str
    memory: dict[str, Any]
    vector: str


class _ChangeLine(msgspec.Struct, forbid_unknown_fields=True):
    change: msgspec.Raw


class _Kind(msgspec.Struct):
    """What tells a line of the one kind from one of the other."""

    change: msgspec.Raw | msgspec.UnsetType = msgspec.UNSET


@dataclass(kw_only=True, slots=True)
class Contents:
    """What a file of lines holds.

    Args:
        embedders: of each owner's vectors.
        memories: of each owner; a memory that stands there twice counts as it stands there last.
        changes: lines of the record of changes.
    """

    embedders: dict[str, EmbedderRecord] = field(default_factory=dict[str, EmbedderRecord])
    memories: dict[str, Fingerprints] = field(default_factory=dict[str, Fingerprints])
    changes: list[bytes] = field(default_factory=list[bytes])


async def export_lines(collection: MemoryCollection, *, embedder: str) -> AsyncIterator[str]:
    """All of the owner's memories, past and forgotten ones included, oldest first; no line ends in a line break.

    Args:
        embedder: name of the embedder that the vectors are of.
    """
    async for entry in collection.scan():
        line = {
            "embedder": embedder,
            "memory": entry.memory,
            "vector": base64.b64encode(entry.vector.astype("<f4").tobytes()).decode(),
        }
        yield msgspec.json.encode(line, order="sorted").decode()


async def change_lines(audit: AuditLog, *, owner: str | None = None) -> AsyncIterator[str]:
    """The record of changes.

    Args:
        owner: of whose memories; None for all.
    """
    for line in await audit.lines_of(owner):
        yield msgspec.json.encode(_ChangeLine(change=msgspec.Raw(line))).decode()


def read_contents(path: Path) -> Contents:
    """Reads the whole file, so that nothing of it is imported if it can't be imported whole.

    Raises:
        UsageError: it can't be read, or a line isn't a memory or a change; the message says which, why and what is
            allowed.
    """
    contents = Contents()
    for number, line in _lines(path):
        try:
            read = _read(line)
            if isinstance(read, bytes):
                contents.changes.append(read)
                continue
            record, entry = read
            owner = entry.memory.owner
            known = contents.embedders.setdefault(owner, record)
            if known != record:
                raise ValueError(f"its vector is of {record}, and {owner}'s before it are of {known}")
        except (ValueError, msgspec.MsgspecError, BadVector) as error:
            raise UsageError(f"{path}, line {number} isn't a memory: {_told(error)}. {_WHAT_NOW}") from error
        contents.memories.setdefault(owner, {})[entry.memory.id] = entry_fingerprint(entry)
    return contents


def read_entries(path: Path) -> Iterator[Entry]:
    """The memories, as :func:`read_contents` has found them good.

    Raises:
        UsageError: the file is another one by now.
    """
    for number, line in _lines(path):
        try:
            read = _read(line)
        except (ValueError, msgspec.MsgspecError, BadVector) as error:
            raise UsageError(
                f"{path} changed while it was imported, at line {number}; import it again, nothing doubles"
            ) from error
        if not isinstance(read, bytes):
            yield read[1]


def _lines(path: Path) -> Iterator[tuple[int, str]]:
    """With their numbers, from 1; blank ones are passed over."""
    try:
        with path.open(encoding="utf-8") as file:
            yield from _not_blank(file)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8 text"
        raise UsageError(f"{path} can't be read: {reason}. Name a file that `store export` wrote") from error


def _not_blank(lines: Iterable[str]) -> Iterator[tuple[int, str]]:
    for number, line in enumerate(lines, start=1):
        if line.strip():
            yield number, line


def _read(line: str) -> tuple[EmbedderRecord, Entry] | bytes:
    """A memory with its vector, or a line of the record of changes.

    Raises:
        ValueError, msgspec.MsgspecError, BadVector: it is neither.
    """
    if msgspec.json.decode(line, type=_Kind).change is not msgspec.UNSET:
        return AuditLog.checked_line(bytes(msgspec.json.decode(line, type=_ChangeLine).change))
    read = msgspec.json.decode(line, type=_Line)
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
    record = EmbedderRecord(name=read.embedder, dimension=len(raw) // 4)
    vector = checked_vector(np.frombuffer(raw, dtype="<f4").astype(np.float32), dimension=record.dimension)
    return record, Entry(memory=msgspec.convert(read.memory, Memory), vector=vector)


def _told(error: Exception) -> str:
    """With what is allowed, where that is a short list."""
    text = str(error).rstrip(".")
    for name, allowed in _ALLOWED.items():
        if text.endswith(f"`$.{name}`"):
            return f"{text}. Allowed: {', '.join(allowed)}"
    return text
