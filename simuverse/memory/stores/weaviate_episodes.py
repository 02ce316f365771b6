"""The ends of the episodes that are being written, so that what precedes a next memory needn't be searched for."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from math import inf
from uuid import UUID

from simuverse.memory.records import Memory
from simuverse.memory.store import CONTEXT

MOST = 100
"""Episodes of one collection, those written to last."""


FRESH = 1.0
"""Seconds for which an end that was seen is taken to be so still, as with the counts of words."""


@dataclass(frozen=True, kw_only=True, slots=True)
class End:
    """Args:
    position: the last one that holds a memory.
    memories: all that are there and at the CONTEXT positions before.
    seen: on the server, in seconds of the loop's clock; what was written here since counts as seen.
    """

    position: int
    memories: Mapping[UUID, Memory]
    seen: float


_NOWHERE = End(position=0, memories={}, seen=inf)
"""Of memories that are in no episode."""


class KnownEpisodes:
    """Of one collection, as far as this process has read or written them to their end.

    Another program may have changed them since, so whoever rests on an end that was seen longer than :data:`FRESH` ago
    looks whether it is there still.
    """

    def __init__(self) -> None:
        self._ends: OrderedDict[str, End] = OrderedDict()

    def end(self, memories: Iterable[Memory]) -> End | None:
        """What is known there, if these memories all go to the end of one episode; None where that isn't known."""
        memories = list(memories)
        [episode, *others] = {memory.episode for memory in memories}
        if not episode and not others:
            return _NOWHERE
        end = self._ends.get(episode)
        if end is None or others or min(memory.position for memory in memories) < end.position:
            return None
        return end

    def put(self, episode: str, memories: Iterable[Memory], *, seen: float) -> None:
        """Args:
        memories: one or more; all of the episode from some place on, and at CONTEXT positions before that.
        """
        if not episode:
            return
        found = {one.id: one for one in memories}
        last = max(one.position for one in found.values())
        near = {one: memory for one, memory in found.items() if memory.position >= last - CONTEXT}
        self._ends[episode] = End(position=last, memories=near, seen=seen)
        self._ends.move_to_end(episode)
        if len(self._ends) > MOST:
            self._ends.popitem(last=False)

    def drop(self, episodes: Iterable[str]) -> None:
        for episode in episodes:
            self._ends.pop(episode, None)
