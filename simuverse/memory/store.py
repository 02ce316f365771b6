"""The seam to wherever memories are kept.

A *store* holds one *collection* an owner. A collection is bound to its owner: what it adds, finds or erases is that
owner's, whatever the records or queries say. Every implementation passes ``tests/contracts/memory_store.py``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.records import NO_FILTER, Hit, Memory, MemoryFilter, SearchType

Vector = NDArray[np.float32]
"""Shape (dimension,), float32, length 1."""

OVER_FETCH = 100
"""Candidates fetched by each leg of a search, as Weaviate's hybrid search does (QUERY_HYBRID_MAXIMUM_RESULTS)."""

CONTEXT = 2
"""How many positions of its episode before a memory are its context: in a talk, the question and what led to it."""

DEFAULT_ALPHA = 0.5
"""Weight of the semantic leg of a hybrid search: 0 keyword only, 1 semantic only."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """A memory with the vector of its summary."""

    memory: Memory
    vector: Vector


@dataclass(frozen=True, kw_only=True, slots=True)
class SearchRequest:
    """A query as a store takes it: already analysed and embedded.

    Args:
        terms: search tokens, from :func:`simuverse.memory.analysis.query_terms`, repeats kept; not used by a semantic
            search.
        in_context: the keyword leg reads each memory together with its context: all that isn't forgotten at the
            :data:`CONTEXT` positions before it in its episode.
        vector: of the query; required unless the search is by keyword, whose hits get their cosine if it is given.
        limit: how many hits at most, 1 or more. Each leg fetches ``max(OVER_FETCH, limit)`` candidates before fusion.
    """

    search_type: SearchType
    terms: tuple[str, ...] = ()
    in_context: bool = False
    vector: Vector | None = None
    filter: MemoryFilter = NO_FILTER
    limit: int = OVER_FETCH
    alpha: float = DEFAULT_ALPHA

    def __post_init__(self) -> None:
        if self.limit < 1:
            raise ValueError(f"limit {self.limit} is below 1")
        if not 0 <= self.alpha <= 1:
            raise ValueError(f"alpha {self.alpha} is outside 0 to 1")
        if self.vector is None and self.search_type is not SearchType.KEYWORD:
            raise ValueError(f"a {self.search_type} search needs a vector")


class MemoryCollection(Protocol):
    """One owner's memories."""

    @property
    def owner(self) -> str: ...

    async def add(self, entries: Sequence[Entry]) -> None:
        """Stores all or none, on disk before it returns. An id that is there already is replaced by the same record.

        Raises:
            ValueError: a memory of another owner.
            BadVector: zeros, NaN or a wrong size; nothing is written.
            StoreError: it couldn't be stored.
        """
        ...

    async def get(self, ids: Sequence[UUID]) -> list[Memory]:
        """Those that exist, in the order asked, past and forgotten ones included."""
        ...

    async def search(self, request: SearchRequest) -> list[Hit]:
        """Best first; ties by id. No hit is a result: an empty list.

        A keyword search finds what shares a token with the query, ranked by BM25; a semantic one ranks all by cosine; a
        hybrid one fuses both by :func:`simuverse.memory.fusion.relative_score_fusion`. The filter applies inside each
        leg.
        """
        ...

    async def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Hit]]:
        """The hits of each, as :meth:`search` finds them, looked for together: what a store can share it does once."""
        ...

    async def recent(self, limit: int, *, filter: MemoryFilter = NO_FILTER) -> list[Memory]:
        """Newest first, ties by id."""
        ...

    async def oldest(self, limit: int, *, filter: MemoryFilter = NO_FILTER, past: bool = False) -> list[Memory]:
        """Oldest first, ties by id.

        Args:
            past: of what is past or hidden alone, instead of what the filter says about these.
        """
        ...

    async def touch(self, ids: Sequence[UUID], at: datetime) -> None:
        """Sets the time of last access; ids that don't exist are passed over."""
        ...

    async def update(self, entries: Sequence[Entry | Memory]) -> None:
        """Replaces records by id, all or none. A bare memory keeps its vector, so its summary must be unchanged.

        Raises:
            KeyError: an id isn't there.
            ValueError: another owner, or a changed summary without a vector.
        """
        ...

    async def supersede(self, old: UUID, *, by: UUID, at: datetime) -> None:
        """Marks ``old`` as past and links both, in one step.

        Raises:
            KeyError: either isn't there.
        """
        ...

    async def forget(self, ids: Sequence[UUID], at: datetime) -> int:
        """Hides them from search, recent and count; returns how many were hidden now. ``get`` still shows them."""
        ...

    async def erase(self, ids: Sequence[UUID]) -> int:
        """Removes them from every index; returns how many were there."""
        ...

    async def count(self, *, filter: MemoryFilter = NO_FILTER) -> int: ...

    def scan(self) -> AsyncIterator[Entry]:
        """All of them, past and forgotten included, oldest first, ties by id. For export, migration and checks."""
        ...


class MemoryStore(Protocol):
    """Collections by owner. Opened by its class, closed by :meth:`aclose`, bound to the loop that opened it."""

    @property
    def description(self) -> str:
        """What it really is, for people: ``SQLite jade.db``."""
        ...

    async def collection(self, owner: str) -> MemoryCollection:
        """The owner's collection, created if it isn't there.

        Raises:
            StoreMismatch: its vectors are another embedder's.
        """
        ...

    async def owners(self) -> list[str]:
        """Exactly as given when created, sorted."""
        ...

    async def erase(self, owner: str) -> bool:
        """Removes the owner's collection and all in it; False if there was none."""
        ...

    async def aclose(self) -> None: ...
