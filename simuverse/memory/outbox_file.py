"""The changes of an outbox on disk: one JSON line each, and one for those that are done.

Vectors aren't written: they can be computed again, with the embedder of the day. When nothing waits there is no file.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from itertools import chain
from pathlib import Path
from uuid import UUID

import msgspec

from simuverse.errors import StoreCorrupt, StoreUnavailable
from simuverse.memory.dependents import doomed
from simuverse.memory.durable_lines import append_lines, whole_lines
from simuverse.memory.records import Memory
from simuverse.memory.store import Vector


class Added(msgspec.Struct, frozen=True, kw_only=True, tag="add", tag_field="do"):
    memories: tuple[Memory, ...]

    @property
    def ids(self) -> tuple[UUID, ...]:
        return tuple(memory.id for memory in self.memories)


class Touched(msgspec.Struct, frozen=True, kw_only=True, tag="touch", tag_field="do"):
    ids: tuple[UUID, ...]
    at: datetime


class Updated(msgspec.Struct, frozen=True, kw_only=True, tag="update", tag_field="do"):
    """``worded``: ids of those that get a new vector."""

    memories: tuple[Memory, ...]
    worded: tuple[UUID, ...] = ()

    @property
    def ids(self) -> tuple[UUID, ...]:
        return tuple(memory.id for memory in self.memories)


class Superseded(msgspec.Struct, frozen=True, kw_only=True, tag="supersede", tag_field="do"):
    old: UUID
    by: UUID
    at: datetime

    @property
    def ids(self) -> tuple[UUID, ...]:
        return (self.old, self.by)


StoredChange = Added | Touched | Updated | Superseded


class _Line(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """A change with its number, or the numbers of changes that are done."""

    number: int = 0
    owner: str = ""
    change: StoredChange | None = None
    done: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class WaitingChange:
    """A change that a store hasn't taken yet.

    Args:
        number: from 1, in the order of the changes.
        vectors: of its memories, as far as this process has computed them.
    """

    number: int
    owner: str
    change: StoredChange
    vectors: Mapping[UUID, Vector]


class OutboxFile:
    """Read when it is made. One user a file; whoever opens it sees to that.

    Attributes:
        waiting: those that a process before this one left, in order.

    Raises:
        StoreCorrupt: a line that can't be read, but for a last one that a crash cut short.
        StoreUnavailable: the file can't be read.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._number = 0
        waiting: dict[int, WaitingChange] = {}
        for line in _decoded(path, _read(path)):
            self._number = max(self._number, line.number)
            if line.change is not None:
                one = WaitingChange(number=line.number, owner=line.owner, change=line.change, vectors={})
                waiting[line.number] = one
            for number in line.done:
                waiting.pop(number, None)
        self.waiting = tuple(waiting.values())

    def append(self, owner: str, change: StoredChange, vectors: Mapping[UUID, Vector]) -> WaitingChange:
        """On disk when this returns.

        Raises:
            OSError: it couldn't be written, and nothing of it is left.
        """
        number = self._number + 1
        append_lines(self.path, msgspec.json.encode(_Line(number=number, owner=owner, change=change)))
        self._number = number
        return WaitingChange(number=number, owner=owner, change=change, vectors=vectors)

    def settle(self, numbers: Sequence[int]) -> None:
        """Those are done. Where that can't be written they are made once more at the next opening, without harm."""
        with suppress(OSError):
            append_lines(self.path, msgspec.json.encode(_Line(done=tuple(numbers))))

    def clear(self) -> None:
        """All are done: the file goes, and the words in it."""
        with suppress(OSError):
            self.path.unlink(missing_ok=True)


def without_memories(path: Path, memories: Sequence[Memory]) -> bytes:
    """The file's content without these memories, without what goes along with them, and without changes of either.

    Args:
        memories: in every version that there was.
    """
    lines = list(_decoded(path, _read(path)))
    waiting = chain.from_iterable(getattr(line.change, "memories", ()) for line in lines)
    known = {memory.id: memory for memory in (*memories, *waiting)}
    going = doomed(list(known.values()), [memory.id for memory in memories])
    changed = {memory.id: memory for memory in going.changed}
    kept = (_without(line, going.gone, lambda memory: changed.get(memory.id, memory)) for line in lines)
    return _encoded(line for line in kept if line is not None)


def owners_in(path: Path) -> set[str]:
    """Whose changes stand in the file, made or waiting."""
    return {line.owner for line in _decoded(path, _read(path)) if line.change is not None}


def without_owner(path: Path, owner: str) -> bytes:
    """The file's content without all that is this owner's."""
    return _encoded(line for line in _decoded(path, _read(path)) if line.owner != owner)


def _without(line: _Line, gone: Collection[UUID], changed: Callable[[Memory], Memory]) -> _Line | None:
    match line.change:
        case None:
            return line
        case Added(memories=memories) | Updated(memories=memories):
            left = tuple(changed(memory) for memory in memories if memory.id not in gone)
            change: StoredChange = msgspec.structs.replace(line.change, memories=left)
        case Touched(ids=ids):
            change = msgspec.structs.replace(line.change, ids=tuple(one for one in ids if one not in gone))
        case Superseded(ids=ids):
            return None if set(ids) & set(gone) else line
    return msgspec.structs.replace(line, change=change) if change.ids else None


def _encoded(lines: Iterator[_Line]) -> bytes:
    return b"".join(msgspec.json.encode(line) + b"\n" for line in lines)


def _read(path: Path) -> list[bytes]:
    try:
        return whole_lines(path)
    except OSError as error:
        raise StoreUnavailable(
            f"{path}, where memories wait for their store, can't be read: {error.strerror}. Give this user the right to"
        ) from error


def _decoded(path: Path, lines: Sequence[bytes]) -> Iterator[_Line]:
    for number, line in enumerate(lines, start=1):
        try:
            yield msgspec.json.decode(line, type=_Line)
        except (msgspec.MsgspecError, ValueError) as error:
            raise StoreCorrupt(
                f"{path}, line {number} is damaged: {error}. Memories that wait for their store are in it: mend or "
                "delete the line, and the others go out"
            ) from error
