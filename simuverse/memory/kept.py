"""The seam to a store as a whole, opened as it is: to look at it, carry it elsewhere, check it and make it anew.

Beside what :mod:`simuverse.memory.store` has it tells what embedder made the vectors, so that none has to be opened to
move them, and lets a new version be made beside the old one, which then takes its place in one step.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from typing import Protocol

from simuverse.memory.audit import AuditLog
from simuverse.memory.records import MemoryFilter
from simuverse.memory.store import MemoryCollection

EVERYTHING = MemoryFilter(include_superseded=True, include_forgotten=True)
"""Past and hidden memories too."""

Progress = Callable[[str, int, int], None]
"""Is told what is worked at (whose memories), how many are done and how many there are."""


@dataclass(frozen=True, kw_only=True, slots=True)
class EmbedderRecord:
    """What made a vector, as a store records it.

    Args:
        name: as a user types it.
        dimension: numbers in a vector.
    """

    name: str
    dimension: int

    def __str__(self) -> str:
        return f"{self.name} ({self.dimension} numbers)"


class Renewal(Protocol):
    """A new version of a store, in the making. What is there of one that was interrupted is gone on with."""

    @property
    def old(self) -> str:
        """Where the store as it was is kept afterwards, for people."""
        ...

    async def sources(self) -> dict[str, MemoryCollection]:
        """Where each owner's memories are to be read: the record of changes too, if it is kept among them."""
        ...

    async def targets(self) -> list[str]:
        """Whom the new version holds by now."""
        ...

    async def target(self, owner: str) -> MemoryCollection:
        """The owner's in the new version, made if it isn't there."""
        ...

    async def erase(self, owner: str) -> bool:
        """From the new version."""
        ...

    async def take_over(self) -> None:
        """From here on this is the store, in one step: killed at any moment, it is the one or the other."""
        ...

    async def late_sources(self) -> dict[str, MemoryCollection]:
        """After :meth:`take_over`: where others may have written meanwhile; empty where nobody could."""
        ...


class KeptStore(Protocol):
    """A store that is there."""

    @property
    def name(self) -> str:
        """As a user types it."""
        ...

    @property
    def description(self) -> str:
        """What it really is, for people."""
        ...

    @property
    def one_embedder(self) -> EmbedderRecord | None:
        """Of all its vectors; None where every owner may have another."""
        ...

    @property
    def audit(self) -> AuditLog:
        """The record of its changes."""
        ...

    async def embedders(self) -> dict[str, EmbedderRecord]:
        """Of each owner's vectors, sorted by owner; the owner of the record of changes is left out."""
        ...

    async def collection(self, owner: str, embedder: EmbedderRecord) -> MemoryCollection:
        """The owner's, made if it isn't there.

        Raises:
            StoreMismatch: its vectors are another embedder's.
        """
        ...

    async def size(self) -> int | None:
        """Bytes on disk; None where that can't be told."""
        ...

    async def damage(self) -> list[str]:
        """What is wrong beneath the memories, as far as the store can tell by itself; one sentence each."""
        ...

    def renewal(self, embedder: EmbedderRecord | None) -> AbstractAsyncContextManager[Renewal]:
        """A new version, empty at first, or as far as an interrupted one came.

        Args:
            embedder: of its vectors; None: each owner's as they are.

        Raises:
            StoreError: it can't be made, or others are writing.
        """
        ...

    async def older(self) -> list[str]:
        """Versions that were kept when others took their place, for people."""
        ...

    async def older_collections(self) -> dict[str, MemoryCollection]:
        """What these versions hold, by what people would call each; none of versions that are files of their own."""
        ...

    async def drop_older(self) -> list[str]:
        """Deletes them; says which."""
        ...

    async def aclose(self) -> None: ...
