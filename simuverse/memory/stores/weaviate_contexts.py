"""What a memory is read together with by a search in context: what precedes it closely in its episode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT

Place = tuple[str, int]
"""Episode and position in it."""

LONGEST = 100
"""Positions in one stretch, so that what is read at once stays far below what a server gives."""


def places_after(changed: Iterable[Memory]) -> set[Place]:
    """Where memories may get another context when these memories change: their own places too."""
    return {
        (memory.episode, memory.position + ahead)
        for memory in changed
        if memory.episode
        for ahead in range(CONTEXT + 1)
    }


def stretches(places: Iterable[Place]) -> list[tuple[str, int, int]]:
    """Episode, first and last position of all that has to be read to tell the contexts at these places."""
    found: list[tuple[str, int, int]] = []
    for episode, position in sorted({(episode, at - back) for episode, at in places for back in range(CONTEXT + 1)}):
        if found and found[-1][0] == episode and found[-1][2] == position - 1 < found[-1][1] + LONGEST - 1:
            found[-1] = (episode, found[-1][1], position)
        else:
            found.append((episode, position, position))
    return found


def context_texts(memories: Mapping[UUID, Memory], wanted: Iterable[UUID]) -> dict[UUID, str]:
    """The tokens of each wanted memory and of its context, joined by single spaces.

    Args:
        memories: the wanted ones, and all at the CONTEXT positions before each.
    """
    said: dict[tuple[str, int], list[str]] = {}
    for one in sorted(memories, key=str):
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
