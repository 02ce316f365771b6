"""LanceDB, kept in a folder: its hybrid search, exact for vectors, an inverted index for words."""

from __future__ import annotations

from collections.abc import Sequence

import lancedb
import pyarrow as pa

from benchmarks.peers.peer import Place, Vector, Vectors


class Opened:
    def __init__(self, place: Place) -> None:
        schema = pa.schema(
            [("number", pa.int64()), ("text", pa.string()), ("vector", pa.list_(pa.float32(), place.dimension))]
        )
        self._table = lancedb.connect(place.folder).create_table("texts", schema=schema, exist_ok=True)

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:
        pairs = zip(texts, vectors, strict=True)
        self._table.add(
            [{"number": number, "text": text, "vector": one} for number, (text, one) in enumerate(pairs, first)]
        )

    def added(self) -> None:
        self._table.create_fts_index("text", replace=True)
        self._table.optimize()

    def search(self, question: str, vector: Vector, count: int) -> list[int]:
        asked = self._table.search(query_type="hybrid").vector(vector).text(question).distance_type("cosine")
        found = asked.select(["number"]).limit(count).to_list()
        return [row["number"] for row in found]

    def close(self) -> None:
        """It has no end of its own."""
