"""Sixty lines that anyone would write: SQLite's FTS5 for the words, a matrix product for the vectors, both fused."""

from __future__ import annotations

import re
import sqlite3
from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from benchmarks.peers.peer import Place, Vector, Vectors

_DEPTH = 100
_FUSED = 60
"""The constant of reciprocal rank fusion, as its authors set it."""


class Opened:
    def __init__(self, place: Place) -> None:
        self._database = sqlite3.connect(place.folder / "plain.db")
        self._database.execute("CREATE VIRTUAL TABLE IF NOT EXISTS texts USING fts5(text, tokenize='porter')")
        self._database.execute("CREATE TABLE IF NOT EXISTS vectors (number INTEGER PRIMARY KEY, vector BLOB)")
        self._dimension = place.dimension
        self._vectors: Vectors | None = None

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        with self._database:
            self._database.executemany("INSERT INTO texts (rowid, text) VALUES (?, ?)", enumerate(texts, first))
            blobs = ((number, one.astype("<f4").tobytes()) for number, one in enumerate(vectors, first))
            self._database.executemany("INSERT INTO vectors VALUES (?, ?)", blobs)
        self._vectors = None

    def added(self) -> None:
        """Nothing is left to do."""

    def search(self, question: str, vector: Vector, count: int) -> list[int]:
        if self._vectors is None:
            rows = self._database.execute("SELECT vector FROM vectors ORDER BY number")
            self._vectors = np.frombuffer(b"".join(blob for (blob,) in rows), "<f4").reshape(-1, self._dimension)
        cosines = self._vectors @ vector
        depth = min(_DEPTH, len(cosines))
        near = np.argpartition(-cosines, depth - 1)[:depth]
        lists = [near[np.argsort(-cosines[near])].tolist()]
        words = " OR ".join(f'"{word}"' for word in re.findall(r"\w+", question))
        found = self._database.execute(
            "SELECT rowid FROM texts WHERE texts MATCH ? ORDER BY rank LIMIT ?", (words, _DEPTH)
        )
        lists.append([number for (number,) in found])
        scores: defaultdict[int, float] = defaultdict(float)
        for ranked in lists:
            for rank, number in enumerate(ranked, start=1):
                scores[number] += 1 / (_FUSED + rank)
        return sorted(scores, key=lambda number: -scores[number])[:count]

    def close(self) -> None:
        self._database.close()
