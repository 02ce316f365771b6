"""The record of what was changed in memories, by whom and why: one JSON line a change, appended, never edited.

A change is written down before it is made, with every memory as it was and as it is to be, and settled by a second,
short line once it is made. So whatever a crash leaves behind, the record says what was under way, and
:class:`simuverse.memory.editing.MemoryEditor` finishes it or finds that it never began. The lines go where the store
goes, as :mod:`simuverse.memory.audit_lines` has it: beside an SQLite file, or on the server that holds the memories.
Erasing alone rewrites lines, to take words out of them.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path
from typing import Any, Literal, Self
from uuid import UUID

import msgspec

from simuverse.errors import StoreCorrupt
from simuverse.memory.audit_lines import FileLines, KeptLines, Lines, StoredLines
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryStore

Actor = Literal["operator", "rules", "model"]
"""Who changes memories: a person, or one of the two ways in which a mind works."""

Kind = Literal[
    "forget", "rewrite", "merge", "supersede", "separate", "anchor", "unanchor", "erase", "delete", "undo", "evict"
]
"""``delete`` is the end of an owner: all its memories at once, none of them named. ``evict``: over its capacity."""

State = Literal["pending", "done", "abandoned"]
"""Of a change: written down, made, or found never to have begun."""


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


@dataclass(frozen=True, kw_only=True, slots=True)
class _Numbered:
    """The latest number in a record of that size, so that it needn't be read through for each change."""

    size: int
    latest: int


class AuditLog:
    """The changes of all owners of one store."""

    def __init__(self, lines: Lines) -> None:
        self.lines = lines
        # A change reads, then writes what rests on it, with awaits in between.
        self._turn = asyncio.Lock()
        self._numbered: _Numbered | None = None

    @classmethod
    def beside(cls, store: Path | None) -> Self:
        """That of a store in a file: ``ada.db.audit.jsonl`` for ``ada.db``; in memory for one that is there too."""
        return cls(KeptLines() if store is None else FileLines(store.with_name(f"{store.name}.audit.jsonl")))

    @classmethod
    def within(cls, store: MemoryStore, *, dimension: int) -> Self:
        """That of a store on a server: in it, so that everyone who changes its memories has the same."""
        return cls(StoredLines(store, dimension=dimension))

    @asynccontextmanager
    async def held(self) -> AsyncGenerator[None]:
        """For one change from its first look to its settling; others wait.

        Raises:
            StoreUnavailable: another program has been changing memories for too long.
            StoreRefused: nothing can be written there.
        """
        async with self._turn, self.lines.held():
            yield

    async def changes(self, owner: str | None = None) -> list[Change]:
        """Oldest first, of one owner or of all.

        Raises:
            StoreCorrupt: a line can't be read.
        """
        changes: dict[int, Change] = {}
        for number, line in enumerate(await self.lines.read(), start=1):
            try:
                found = _decoded(line)
                if isinstance(found, Change):
                    changes[found.number] = found
                else:
                    changes[found.settles] = replace(changes[found.settles], state=found.state)
            except (msgspec.MsgspecError, ValueError, KeyError) as error:
                raise StoreCorrupt(
                    f"{self.lines.description}, line {number} is damaged ({error}). Restore a copy, or put it away: "
                    "the memories themselves are not in it"
                ) from error
        return [change for change in changes.values() if owner in (None, change.owner)]

    async def intend(self, change: Change) -> Change:
        """Writes it down, to last when this returns, and gives it its number."""
        if self._numbered is None or self._numbered.size != await self.lines.size():
            latest = max((one.number for one in await self.changes()), default=0)
            self._numbered = _Numbered(size=await self.lines.size(), latest=latest)
        change = replace(change, number=self._numbered.latest + 1)
        await self._append(_encoded(change))
        self._numbered = replace(self._numbered, latest=change.number)
        return change

    async def settle(self, change: Change, state: State) -> Change:
        await self._append(msgspec.json.encode(_Settled(settles=change.number, state=state)))
        return replace(change, state=state)

    async def _append(self, line: bytes) -> None:
        """What others append meanwhile shows in the size, and then the record is read again before the next number."""
        alone = self._numbered is not None and self._numbered.size == await self.lines.size()
        await self.lines.append(line)
        if self._numbered is not None and alone:
            self._numbered = replace(self._numbered, size=await self.lines.size())

    async def lines_of(self, owner: str | None = None) -> list[bytes]:
        """As they stand in the record: all, or those of one owner's changes and what settles them.

        Raises:
            StoreCorrupt: one can't be read.
        """
        lines = await self.lines.read()
        if owner is None:
            return lines
        theirs: set[int] = set()
        kept: list[bytes] = []
        for line in lines:
            found = _checked(line, self.lines.description)
            if isinstance(found, Change) and found.owner == owner:
                theirs.add(found.number)
            if (found.number if isinstance(found, Change) else found.settles) in theirs:
                kept.append(line)
        return kept

    @staticmethod
    def checked_line(line: bytes) -> bytes:
        """The line itself.

        Raises:
            ValueError, msgspec.MsgspecError: it isn't one of a record of changes.
        """
        _decoded(line)
        return line

    async def carry(self, lines: Sequence[bytes]) -> int:
        """Takes over lines of another record, in their order; returns how many are new here.

        What is here already stays once. Numbers are kept where they can be: a change whose number is taken gets the
        next one, and what settles or undoes it follows.

        Raises:
            StoreCorrupt: one isn't a line of a record.
        """
        here = await self.lines.read()
        if list(lines[: len(here)]) == here:
            new = list(lines[len(here) :])
            for line in new:
                _checked(line, "the record that is carried")
        else:
            new = self._renumbered(here, lines)
        if new:
            await self.lines.append(*new)
        return len(new)

    def _renumbered(self, here: Sequence[bytes], lines: Sequence[bytes]) -> list[bytes]:
        known: dict[bytes, int] = {}
        settled: set[int] = set()
        for line in here:
            found = _checked(line, self.lines.description)
            if isinstance(found, Change):
                known[_what(found)] = found.number
            else:
                settled.add(found.settles)
        last = max(known.values(), default=0)
        numbers: dict[int, int] = {}
        new: list[bytes] = []
        for line in lines:
            found = _checked(line, "the record that is carried")
            if isinstance(found, Change):
                number = known.get(_what(found))
                if number is None:
                    last = number = max(last + 1, found.number)
                    undoes = None if found.undoes is None else numbers.get(found.undoes, found.undoes)
                    new.append(_encoded(replace(found, number=number, undoes=undoes)))
                numbers[found.number] = number
            elif (number := numbers.get(found.settles)) is not None and number not in settled:
                new.append(msgspec.json.encode(replace(found, settles=number)))
        return new

    async def redact(self, which: Callable[[Change], bool]) -> int:
        """Takes the words out of those changes: who, when and ids are left. Returns how many had any."""
        renewed: dict[int, bytes] = {}
        for place, line in enumerate(await self.lines.read()):
            found = _decoded(line)
            if isinstance(found, Change) and (found.before or found.after or found.why) and which(found):
                renewed[place] = _encoded(found.without_words())
        if renewed:
            await self.lines.replace(renewed)
        return len(renewed)


def _encoded(change: Change) -> bytes:
    """A line. The state is left to the line that settles it."""
    fields = msgspec.to_builtins(change)
    del fields["state"]
    return msgspec.json.encode(fields)


def _what(change: Change) -> bytes:
    """All that a change says but for its place in the record: two records hold the same one if this is the same."""
    return _encoded(replace(change, number=0, undoes=None))


def _checked(line: bytes, where: str) -> Change | _Settled:
    """Raises:
    StoreCorrupt: it is no line of a record.
    """
    try:
        return _decoded(line)
    except (msgspec.MsgspecError, ValueError) as error:
        raise StoreCorrupt(f"a line of {where} is no change of memories: {error}") from error


def _decoded(line: bytes) -> Change | _Settled:
    fields: dict[str, Any] = msgspec.json.decode(line, type=dict[str, Any])
    return msgspec.convert(fields, _Settled) if "settles" in fields else msgspec.convert(fields, Change)
