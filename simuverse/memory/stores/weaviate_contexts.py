"""What a memory is read together with by a search in context: what precedes it closely in its episode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT

Place = tuple[str, int]
"""Episode and position in it."""

LONGEST = 100
"""Positions in one area, so that little is read beside what has to be."""

MOST = 2_000
"""Positions in all episodes of one area, so that what is read at once stays far below what a server gives."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Area:
    """The positions ``first`` to ``last`` of each of the episodes."""

    episodes: Sequence[str]
    first: int
    last: int

    @property
    def size(self) -> int:
        """Positions."""
        return len(self.episodes) * (self.last - self.first + 1)

    def joined(self, other: Area) -> Area:
        """The least that holds both."""
        return Area(
            episodes=[*dict.fromkeys((*self.episodes, *other.episodes))],
            first=min(self.first, other.first),
            last=max(self.last, other.last),
        )


def places_after(changed: Iterable[Memory]) -> set[Place]:
    """Where memories may get another context when these memories change: their own places too."""
    return {
        (memory.episode, memory.position + ahead)
        for memory in changed
        if memory.episode
        for ahead in range(CONTEXT + 1)
    }


def areas(places: Iterable[Place]) -> list[Area]:
    """All that has to be read to tell the contexts at these places, in few areas: a server reads many episodes at the
    same positions as fast as one.
    """
    found: list[Area] = []
    for first, last, episode in sorted(_stretches(places)):
        area = Area(episodes=[episode], first=first, last=last)
        joined = area if not found else found[-1].joined(area)
        if found and joined.last - joined.first < LONGEST and joined.size <= MOST:
            found[-1] = joined
        else:
            found.append(area)
    return found


def _stretches(places: Iterable[Place]) -> list[tuple[int, int, str]]:
    """First and last position, and episode."""
    found: list[tuple[int, int, str]] = []
    for episode, position in sorted({(episode, at - back) for episode, at in places for back in range(CONTEXT + 1)}):
        if found and found[-1][2] == episode and found[-1][1] == position - 1 < found[-1][0] + LONGEST - 1:
            found[-1] = (found[-1][0], position, episode)
        else:
            found.append((position, position, episode))
    return found


def context_texts(memories: Mapping[UUID, Memory], wanted: Iterable[UUID]) -> dict[UUID, str]:
    """The tokens of each wanted memory and of its context, joined by single spaces.

    Args:
        memories: the wanted ones, and all at the CONTEXT positions before each.
    """
    said: dict[tuple[str, int], list[str]] = {}
    for one in sorted(memories, key=int):
        memory = memories[one]
        if memory.episode and memory.forgotten_at is None:
            said.setdefault((memory.episode, memory.position), []).append(search_text(memory))
    texts: dict[UUID, str] = {}
    for one in wanted:
        memory = memories[one]
        before = (
            text
            for position in range(memory.position - CONTEXT, memory.position)
            for text in said.get((memory.episode, position), ())
        )
        texts[one] = " ".join(filter(None, (search_text(memory), *before)))
    return texts
