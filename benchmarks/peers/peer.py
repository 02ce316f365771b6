"""What a peer can do, and which there are. Imports nothing that one of the environments hasn't."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float32]
Vectors = NDArray[np.float32]
"""A row a text."""


@dataclass(frozen=True, kw_only=True)
class Place:
    """Where a peer keeps its things.

    Args:
        folder: its own; empty when it is opened first.
        dimension: of the vectors.
        address: of the embeddings, as OpenAI's clients want it, for peers that take no vectors.
    """

    folder: Path
    dimension: int
    address: str


class Peer(Protocol):
    """Made by ``Opened(place)``, which opens what is there or makes it."""

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        """Keeps texts, numbered from ``first``."""
        ...

    def added(self) -> None:
        """All are in: the time to build what a search needs, if that isn't done while adding."""
        ...

    def search(self, question: str, vector: Vector, count: int) -> list[int]:
        """Numbers of the texts found, best first."""
        ...

    def close(self) -> None: ...


@dataclass(frozen=True, kw_only=True)
class Known:
    """Args:
    package: whose version is told; empty for Python's own.
    imported: what a program of its user's imports.
    finds_by: for the table.
    keeps: whether a new process finds what an earlier one added.
    """

    package: str
    imported: str
    finds_by: str
    keeps: bool = True


PEERS: Mapping[str, Known] = {
    "simuverse_recall": Known(
        package="simu-verse", imported="from simuverse import open_subconscious", finds_by="words, vectors, 3 factors"
    ),
    "plain_script": Known(package="", imported="import sqlite3, numpy", finds_by="words, vectors"),
    "lance": Known(package="lancedb", imported="import lancedb", finds_by="words, vectors"),
    "chroma": Known(package="chromadb", imported="import chromadb", finds_by="vectors"),
    "langmem_store": Known(
        package="langmem",
        imported="from langgraph.store.memory import InMemoryStore",
        finds_by="vectors",
        keeps=False,
    ),
    "mem0_memory": Known(package="mem0ai", imported="from mem0 import Memory", finds_by="vectors"),
}
"""By the name of their file, the project's own first."""
