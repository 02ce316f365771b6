"""The store that LangMem's documentation puts its memories into: LangGraph's InMemoryStore, gone with the process."""

from __future__ import annotations

from collections.abc import Sequence

from langgraph.store.base import PutOp
from langgraph.store.memory import InMemoryStore

from benchmarks.peers.peer import Place, Vector, Vectors

_WHERE = ("memories", "bench")


class Opened:
    def __init__(self, place: Place) -> None:
        self._vectors: dict[str, Vector] = {}
        self._store = InMemoryStore(index={"dims": place.dimension, "embed": self._embed, "fields": ["text"]})

    def _embed(self, texts: Sequence[str]) -> list[list[float]]:
        return [self._vectors[text].tolist() for text in texts]

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        self._vectors = dict(zip(texts, vectors, strict=True))
        puts = [
            PutOp(namespace=_WHERE, key=str(number), value={"text": text}) for number, text in enumerate(texts, first)
        ]
        self._store.batch(puts)

    def added(self) -> None:
        """Nothing is left to do."""

    def search(self, question: str, vector: Vector, count: int) -> list[int]:
        self._vectors = {question: vector}
        return [int(item.key) for item in self._store.search(_WHERE, query=question, limit=count)]

    def close(self) -> None:
        """It has no end of its own."""
