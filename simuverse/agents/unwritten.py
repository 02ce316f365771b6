"""What was lived and isn't in the store yet: kept beside it until it is written down.

An exchange is kept before anything is tried, and dropped once its memories are stored, or there are none to store. So
it outlasts a model that gives nothing usable, a store that is gone and a process that is killed, and can be tried
again: everything that the first try would have known is in it, and what it is written with has no words in it of why
the first try failed.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from uuid import UUID

import msgspec

from simuverse.agents.reflex import Note
from simuverse.agents.trace import Recollection
from simuverse.agents.turn import Observation, Outcome, Persona, ToolCall
from simuverse.errors import StoreCorrupt, StoreUnavailable
from simuverse.memory.erasing import Eraser
from simuverse.memory.records import Memory, memory_id

MARK = ".unwritten-"
"""In the name of every file of them."""

NOTHING_RECALLED = Recollection(mode="off")


@dataclass(frozen=True, kw_only=True, slots=True)
class Exchange:
    """What a turn was: perceived, done, answered, and what had come to mind."""

    observation: Observation
    call: ToolCall | None = None
    outcome: Outcome | None = None
    recollection: Recollection = NOTHING_RECALLED


@dataclass(frozen=True, kw_only=True, slots=True)
class Unwritten:
    """An exchange with all that writing it down takes.

    Args:
        unsaid: what it comes to by rule where it is a text that nobody said.
        sights: those things noticed that were new to the owner.
        asked: whether the last thing said before was a question.
        problem: why writing it down failed; empty while it is under way, or where it was cut short.
    """

    owner: str
    persona: Persona
    exchange: Exchange
    unsaid: Note | None = None
    sights: tuple[str, ...] = ()
    asked: bool = False
    problem: str = ""

    @property
    def turn(self) -> str:
        return self.exchange.observation.turn

    @property
    def first(self) -> UUID:
        """Id of the first memory that it gets, by which it is kept."""
        return memory_id(self.owner, self.turn, 0)


class UnwrittenLog:
    """The unwritten exchanges of all owners of one store, a file each.

    Args:
        store: the file that they stand beside, as ``ada.db.unwritten-….json`` does beside ``ada.db``, there or not;
            None keeps them in memory.
    """

    def __init__(self, store: Path | None = None) -> None:
        self._store = store
        self._kept: dict[UUID, Unwritten] = {}

    async def keep(self, one: Unwritten) -> None:
        """In place of what is kept of the same turn already.

        Raises:
            StoreUnavailable: it can't be kept there.
        """
        recollection = replace(one.exchange.recollection, candidates=(), calls=())
        one = replace(one, exchange=replace(one.exchange, recollection=recollection))
        if self._store is None:
            self._kept[one.first] = one
        else:
            await asyncio.to_thread(_write, self._path(self._store, one.first), msgspec.json.encode(one))

    async def drop(self, first: UUID) -> None:
        """It is written down. Nothing happens where it isn't kept.

        Raises:
            StoreUnavailable: it can't be dropped; whoever tries it again finds that it is written.
        """
        self._kept.pop(first, None)
        if self._store is not None:
            await asyncio.to_thread(_remove, self._path(self._store, first))

    async def all(self, owner: str | None = None) -> list[Unwritten]:
        """Oldest first, of one owner or of all.

        Raises:
            StoreCorrupt: a file can't be read.
        """
        found = list(self._kept.values()) if self._store is None else await asyncio.to_thread(self._read)
        found.sort(key=lambda one: (one.exchange.observation.time, one.owner, one.exchange.observation.turn))
        return [one for one in found if owner in (None, one.owner)]

    async def erase(self, memories: Sequence[Memory]) -> None:
        """Drops every exchange that holds words of the memories, as an erasure of them asks for."""
        eraser = Eraser(memories)
        for one in await self.all():
            plain = msgspec.json.decode(msgspec.json.encode(one))
            turn = one.exchange.observation.turn
            if eraser.value(plain) != plain or any(memory.provenance.turn == turn for memory in memories):
                await self.drop(one.first)

    def _path(self, store: Path, first: UUID) -> Path:
        return store.with_name(f"{store.name}{MARK}{first}.json")

    def _read(self) -> list[Unwritten]:
        assert self._store is not None
        found: list[Unwritten] = []
        for path in sorted(self._store.parent.glob("*.json")):
            if path.name.startswith(f"{self._store.name}{MARK}"):
                try:
                    found.append(msgspec.json.decode(path.read_bytes(), type=Unwritten))
                except FileNotFoundError:
                    continue  # written down meanwhile
                except (OSError, msgspec.DecodeError, UnicodeDecodeError, ValueError) as error:
                    raise StoreCorrupt(
                        f"{path} can't be read as an exchange that is to be written down ({error}). Put it away, then "
                        "try again"
                    ) from error
        return found


def _write(path: Path, content: bytes) -> None:
    """All of it or nothing. A killed process keeps it; a machine that loses power may lose it, as it may the turn."""
    unfinished = path.with_suffix(".part")
    try:
        with unfinished.open("wb") as file:
            file.write(content)
        os.replace(unfinished, path)
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be written: {error.strerror}") from error


def _remove(path: Path) -> None:
    try:
        path.unlink(missing_ok=True)
    except OSError as error:
        raise StoreUnavailable(f"{path} can't be removed: {error.strerror}") from error
