"""The record of what was changed in memories, by whom and why: one JSON line a change, appended, never edited.

A change is written down before it is made, with every memory as it was and as it is to be, and settled by a second,
short line once it is made. So whatever a crash leaves behind, the record says what was under way, and
:class:`simuverse.memory.editing.MemoryEditor` finishes it or finds that it never began. The record is a file beside the
store: it goes where the store goes, is readable without the program, and is the same for every kind of store. Erasing
alone rewrites it, to take words out of it.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncGenerator, Callable, Generator
from contextlib import asynccontextmanager, contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self
from uuid import UUID

import msgspec
from filelock import AsyncFileLock, Timeout

from simuverse.errors import StoreCorrupt, StoreRefused, StoreUnavailable
from simuverse.memory.records import Memory

Actor = Literal["operator", "rules", "model"]
"""Who changes memories: a person, or one of the two ways in which a mind works."""

Kind = Literal["forget", "rewrite", "merge", "supersede", "anchor", "unanchor", "erase", "delete", "undo"]
"""``delete`` is the end of an owner: all its memories at once, none of them named."""

State = Literal["pending", "done", "abandoned"]
"""Of a change: written down, made, or found never to have begun."""

WAIT = 30.0
"""Seconds that a change waits for another program's, as a store's write does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """One change.

    Args:
        number: from 1, in the order of the record; 0 before it is in it.
        by: who made it; ``name`` says which one, where there are several.
        ids: the memories that were asked for or made.
        along: erased along with ``ids``, as they rested on nothing else.
        before, after: the memories as they were and as they became; what is in one only was removed or made.
            Both are empty where memories were erased.
        undoes: number of the change that this one takes back.
        redacted: words were taken out, as one of its memories was erased; who, when and ids are left.
    """

    number: int = 0
    owner: str
    kind: Kind
    by: Actor
    name: str = ""
    at: datetime
    why: str = ""
    ids: tuple[UUID, ...]
    along: tuple[UUID, ...] = ()
    before: tuple[Memory, ...] = ()
    after: tuple[Memory, ...] = ()
    undoes: int | None = None
    redacted: bool = False
    state: State = "pending"

    @property
    def touched(self) -> frozenset[UUID]:
        """Every memory that it concerns."""
        return frozenset((*self.ids, *self.along, *(memory.id for memory in (*self.before, *self.after))))

    def without_words(self) -> Self:
        ids = tuple(sorted(self.touched - set(self.along)))
        return replace(self, ids=ids, why="", before=(), after=(), redacted=True)


@dataclass(frozen=True, kw_only=True, slots=True)
class _Settled:
    settles: int
    state: State


class AuditLog:
    """The changes of all owners of one store.

    Args:
        path: of the file, made with the first change; None keeps them in memory, for a store that is there too.
    """

    def __init__(self, path: Path | None) -> None:
        self.path = path
        self._kept: list[Change] = []
        # A change reads, then writes what rests on it, with awaits in between.
        self._turn = asyncio.Lock()

    @classmethod
    def beside(cls, store: Path | None) -> Self:
        """That of a store in a file: ``ada.db.audit.jsonl`` for ``ada.db``."""
        return cls(None if store is None else store.with_name(f"{store.name}.audit.jsonl"))

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """For one change from its first look to its settling; others, in other processes too, wait.

        Raises:
            StoreUnavailable: another program has been changing memories for more than :data:`WAIT` seconds.
            StoreRefused: nothing can be written there.
        """
        async with self._turn:
            if self.path is None:
                yield
                return
            lock = AsyncFileLock(self.path.with_name(f"{self.path.name}.lock"), timeout=WAIT, thread_local=False)
            try:
                with _refusals(self.path):
                    await lock.acquire()
            except Timeout as error:
                raise StoreUnavailable(
                    f"another program has been changing memories beside {self.path} for more than {WAIT:.0f} s; "
                    "end it or try again"
                ) from error
            try:
                yield
            finally:
                await lock.release()

    async def changes(self, owner: str | None = None) -> list[Change]:
        """Oldest first, of one owner or of all.

        Raises:
            StoreCorrupt: a line can't be read. A last line that a crash cut short is left out: nothing followed it.
        """
        found = list(self._kept) if self.path is None else await asyncio.to_thread(_read, self.path)
        return [change for change in found if owner in (None, change.owner)]

    async def intend(self, change: Change) -> Change:
        """Writes it down, on disk when this returns, and gives it its number."""
        change = replace(change, number=max((one.number for one in await self.changes()), default=0) + 1)
        if self.path is None:
            self._kept.append(change)
        else:
            await asyncio.to_thread(_append, self.path, _encoded(change))
        return change

    async def settle(self, change: Change, state: State) -> Change:
        settled = replace(change, state=state)
        if self.path is None:
            self._kept = [settled if one.number == change.number else one for one in self._kept]
        else:
            line = msgspec.json.encode(_Settled(settles=change.number, state=state)) + b"\n"
            await asyncio.to_thread(_append, self.path, line)
        return settled

    async def redact(self, which: Callable[[Change], bool]) -> int:
        """Takes the words out of those changes: who, when and ids are left. Returns how many had any."""
        changes = await self.changes()
        renewed = [change.without_words() if which(change) and _has_words(change) else change for change in changes]
        count = sum(new is not old for new, old in zip(renewed, changes, strict=True))
        if self.path is None:
            self._kept = renewed
        elif count:
            await asyncio.to_thread(_write_anew, self.path, renewed)
        return count


def _has_words(change: Change) -> bool:
    return bool(change.before or change.after or change.why)


def _encoded(change: Change) -> bytes:
    """A line. The state is left to the line that settles it."""
    fields = msgspec.to_builtins(change)
    del fields["state"]
    return msgspec.json.encode(fields) + b"\n"


def _read(path: Path) -> list[Change]:
    changes: dict[int, Change] = {}
    with _refusals(path):
        lines = path.read_bytes().split(b"\n")[:-1] if path.exists() else []
    for number, line in enumerate(lines, start=1):
        try:
            fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
            if "settles" in fields:
                settled = msgspec.convert(fields, _Settled)
                changes[settled.settles] = replace(changes[settled.settles], state=settled.state)
            else:
                change = msgspec.convert(fields, Change)
                changes[change.number] = change
        except (msgspec.MsgspecError, ValueError, KeyError) as error:
            raise StoreCorrupt(
                f"{path}, line {number} is damaged ({error}). Restore a copy, or move the file away: the memories "
                "themselves are not in it"
            ) from error
    return list(changes.values())


def _append(path: Path, line: bytes) -> None:
    with _refusals(path), path.open("a+b") as file:
        _cut_torn_line(file.fileno())
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _cut_torn_line(file: int) -> None:
    """What a crash left of a line is no change: nothing is done before its line is whole."""
    size = os.fstat(file).st_size
    if size and os.pread(file, 1, size - 1) != b"\n":
        whole = os.pread(file, size, 0).rfind(b"\n") + 1
        os.ftruncate(file, whole)


def _write_anew(path: Path, changes: list[Change]) -> None:
    """All of it or nothing, also when the machine stops in between."""
    unfinished = path.with_name(f"{path.name}.part")
    with _refusals(path):
        with unfinished.open("wb") as file:
            for change in changes:
                file.write(_encoded(change))
                if change.state != "pending":
                    file.write(msgspec.json.encode(_Settled(settles=change.number, state=change.state)) + b"\n")
            file.flush()
            os.fsync(file.fileno())
        unfinished.replace(path)


@contextmanager
def _refusals(path: Path) -> Generator[None]:
    try:
        yield
    except Timeout:
        raise
    except OSError as error:
        raise StoreRefused(
            f"the record of changes {path} can't be used: {error.strerror}. Nothing is changed without it"
        ) from error
