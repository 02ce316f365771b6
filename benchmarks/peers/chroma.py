"""Chroma, kept in a folder: nearest neighbours by an HNSW graph."""

from __future__ import annotations

from collections.abc import Sequence

import chromadb
import numpy as np
from chromadb.config import Settings

from benchmarks.peers.peer import Place, Vector, Vectors


class Opened:
    def __init__(self, place: Place) -> None:
        client = chromadb.PersistentClient(str(place.folder), settings=Settings(anonymized_telemetry=False))
        self._collection = client.get_or_create_collection(
            "texts", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        ids = [str(number) for number in range(first, first + len(texts))]
        self._collection.add(ids=ids, documents=list(texts), embeddings=vectors)

    def added(self) -> None:
        """The graph grows with each addition."""

    def search(self, question: str, vector: Vector, count: int) -> list[int]:  # noqa: ARG002
        found = self._collection.query(query_embeddings=vector[np.newaxis], n_results=count)
        return [int(one) for one in found["ids"][0]]

    def close(self) -> None:
        """It has no end of its own."""
