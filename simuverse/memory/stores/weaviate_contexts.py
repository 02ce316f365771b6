"""What a memory is read together with by a search in context: what precedes it closely in its episode."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from uuid import UUID

from simuverse.memory.analysis import search_text
from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT

Span = tuple[int, int]
"""First and last position in an episode, both inclusive."""


def spans(changed: Iterable[Memory]) -> dict[str, Span]:
    """Episode to the positions whose memories may get another context when these memories change."""
    found: dict[str, Span] = {}
    for memory in changed:
        if memory.episode:
            first, last = found.get(memory.episode, (memory.position, memory.position + CONTEXT))
            found[memory.episode] = (min(first, memory.position), max(last, memory.position + CONTEXT))
    return found


def inside(memory: Memory, found: Mapping[str, Span]) -> bool:
    """Whether a memory's context may be another."""
    span = found.get(memory.episode)
    return span is not None and span[0] <= memory.position <= span[1]


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
