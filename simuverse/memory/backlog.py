"""What waits for a store, in the order in which it is to go out. PURE."""

from __future__ import annotations

from collections import Counter, deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from uuid import UUID

from simuverse.memory.outbox_file import Added, WaitingChange
from simuverse.memory.records import Memory

AT_ONCE = 200
"""Memories that are delivered together, at most: few enough for one message to a server."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Backlog:
    """How things stand.

    Args:
        waiting: memories, new or changed, that the store hasn't taken yet.
        delivered: memories that had waited and are in the store, since the outbox was opened.
        problem: why the store took nothing when it was last tried; empty where nothing waits.
        place: name of the file.
    """

    waiting: int = 0
    delivered: int = 0
    problem: str = ""
    place: str = ""

    @property
    def sentence(self) -> str:
        """For people; empty where nothing waits."""
        if not self.waiting:
            return ""
        waits, them = ("memory waits", "it") if self.waiting == 1 else ("memories wait", "them")
        return f"{self.waiting} {waits} in {self.place} until the store takes {them}: {self.problem}"


NO_BACKLOG = Backlog()


@dataclass(kw_only=True, slots=True)
class Queue:
    """What waits of one owner, in order; ``ids``: of the memories that are concerned, with how many changes each."""

    changes: deque[WaitingChange] = field(default_factory=deque[WaitingChange])
    ids: Counter[UUID] = field(default_factory=Counter[UUID])
    delivered: int = 0
    problem: str = ""

    def put(self, change: WaitingChange) -> None:
        self.changes.append(change)
        self.ids.update(set(change.change.ids))

    def take(self, count: int) -> None:
        for _ in range(count):
            self.ids.subtract(set(self.changes.popleft().change.ids))
        done = [one for one, changes in self.ids.items() if changes == 0]
        self.delivered += len(done)
        for one in done:
            del self.ids[one]
        if not self.changes:
            self.problem = ""


def batch_of(changes: deque[WaitingChange]) -> list[WaitingChange]:
    """The first, and the next ones along with it while all of them add memories."""
    batch: list[WaitingChange] = []
    count = 0
    for waiting in changes:
        count += len(waiting.change.ids)
        if batch and (count > AT_ONCE or not isinstance(waiting.change, Added)):
            break
        batch.append(waiting)
        if not isinstance(waiting.change, Added):
            break
    return batch


def ids_of(batch: Sequence[WaitingChange]) -> list[UUID]:
    return [one for waiting in batch for one in waiting.change.ids]


def added_by(batch: Sequence[WaitingChange]) -> list[Memory]:
    return [memory for waiting in batch if isinstance(waiting.change, Added) for memory in waiting.change.memories]
