"""How often each memory was shown, used, ignored or contradicted.

Evidence for people. For the machine it counts as use where a bound makes memories go; it never deletes.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import msgspec

from simuverse.errors import StoreUnavailable
from simuverse.memory.fates import Fate, Judged

_REMEMBERED = 1_000
"""Turns of which is known that they are entered, so that one that is remembered again isn't counted twice."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Tally:
    """Of one memory, over all turns.

    Args:
        in_a_row: how often it was ignored since it last wasn't.
    """

    used: int = 0
    ignored: int = 0
    contradicted: int = 0
    in_a_row: int = 0

    @property
    def shown(self) -> int:
        return self.used + self.ignored + self.contradicted

    def describe(self) -> str:
        """For people: ``shown 3 times: used 1, ignored 2, contradicted 0``."""
        times = "once" if self.shown == 1 else f"{self.shown} times"
        return f"shown {times}: used {self.used}, ignored {self.ignored}, contradicted {self.contradicted}"

    def after(self, fate: Fate) -> Tally:
        match fate:
            case Fate.USED:
                return replace(self, used=self.used + 1, in_a_row=0)
            case Fate.CONTRADICTED:
                return replace(self, contradicted=self.contradicted + 1, in_a_row=0)
            case Fate.IGNORED:
                return replace(self, ignored=self.ignored + 1, in_a_row=self.in_a_row + 1)


NEVER = Tally()


@dataclass(frozen=True, kw_only=True, slots=True)
class Became:
    """What became of a flashback, and its tally since."""

    memory: UUID
    fate: Fate
    tally: Tally


@dataclass(frozen=True, kw_only=True, slots=True)
class _Entry:
    owner: str
    turn: str
    judged: tuple[Judged, ...]


class Ledger:
    """The tallies of all memories of one store.

    Kept as a line for each turn, of ids alone, in ``ada.db.ledger.jsonl`` beside ``ada.db``. It is no record that
    anything rests on: a line that can't be read, as a crash cut it short, is left out, and what a machine that loses
    power hadn't written yet is lost.

    Args:
        store: the file that it stands beside; None keeps it in memory.
    """

    def __init__(self, store: Path | None = None) -> None:
        self.path = None if store is None else store.with_name(f"{store.name}.ledger.jsonl")
        self._tallies: dict[UUID, Tally] | None = None
        self._entered: deque[tuple[str, str]] = deque(maxlen=_REMEMBERED)
        # What is entered is first read, with an await in between.
        self._turn = asyncio.Lock()

    async def tallies(self) -> dict[UUID, Tally]:
        """Of every memory that was ever shown.

        Raises:
            StoreUnavailable: it can't be read.
        """
        async with self._turn:
            return dict(await self._read())

    async def tally(self, id: UUID) -> Tally:
        async with self._turn:
            return (await self._read()).get(id, NEVER)

    async def enter(self, owner: str, turn: str, found: Sequence[Judged]) -> tuple[Became, ...]:
        """Counts what became of a turn's flashbacks, once for each turn.

        Raises:
            StoreUnavailable: it can't be written there; it is counted all the same.
        """
        async with self._turn:
            tallies = await self._read()
            if found and (owner, turn) not in self._entered:
                entry = _Entry(owner=owner, turn=turn, judged=tuple(found))
                self._count(tallies, entry)
                if self.path is not None:
                    await asyncio.to_thread(_append, self.path, msgspec.json.encode(entry))
            return tuple(
                Became(memory=one.memory, fate=one.fate, tally=tallies.get(one.memory, NEVER)) for one in found
            )

    def _count(self, tallies: dict[UUID, Tally], entry: _Entry) -> None:
        self._entered.append((entry.owner, entry.turn))
        for one in entry.judged:
            tallies[one.memory] = tallies.get(one.memory, NEVER).after(one.fate)

    async def _read(self) -> dict[UUID, Tally]:
        if self._tallies is None:
            tallies: dict[UUID, Tally] = {}
            lines = [] if self.path is None else await asyncio.to_thread(_lines, self.path)
            decode = msgspec.json.Decoder(_Entry).decode
            for line in lines:
                try:
                    entry = decode(line)
                except (msgspec.DecodeError, UnicodeDecodeError):
                    continue
                if (entry.owner, entry.turn) not in self._entered:
                    self._count(tallies, entry)
            self._tallies = tallies
        return self._tallies


def _lines(path: Path) -> list[bytes]:
    try:
        return path.read_bytes().splitlines() if path.exists() else []
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be read: {error.strerror}") from error


def _append(path: Path, line: bytes) -> None:
    """On a line of its own, also after one that was cut short."""
    try:
        with path.open("a+b") as file:
            size = file.seek(0, 2)
            if size:
                file.seek(size - 1)
                line = line if file.read(1) == b"\n" else b"\n" + line
            file.write(line + b"\n")
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be written: {error.strerror}") from error
