"""mem0 with ``infer=False``, so that no model is asked, on the Qdrant in a folder that it comes with.

Its words' half needs models that are fetched when they are first used, and is off in a plain install, as here.
"""

from __future__ import annotations

from collections.abc import Sequence

from mem0 import Memory

from benchmarks.peers.peer import Place, Vector, Vectors

_USER = "bench"


class Opened:
    def __init__(self, place: Place) -> None:
        asked = {"openai_base_url": place.address, "api_key": "none"}
        kept = {"path": str(place.folder / "qdrant"), "on_disk": True, "embedding_model_dims": place.dimension}
        self._memory = Memory.from_config(
            {
                "embedder": {
                    "provider": "openai",
                    "config": {**asked, "model": "given", "embedding_dims": place.dimension},
                },
                "llm": {"provider": "openai", "config": {**asked, "model": "none"}},
                "vector_store": {"provider": "qdrant", "config": {"collection_name": "texts", **kept}},
                "history_db_path": str(place.folder / "history.db"),
            }
        )

    def add(self, first: int, texts: Sequence[str], vectors: Vectors) -> None:  # noqa: ARG002
        """One at a time: there is no other way."""
        for number, text in enumerate(texts, first):
            self._memory.add(text, user_id=_USER, infer=False, metadata={"number": number})

    def added(self) -> None:
        """Nothing is left to do."""

    def search(self, question: str, vector: Vector, count: int) -> list[int]:  # noqa: ARG002
        found = self._memory.search(question, top_k=count, filters={"user_id": _USER}, threshold=0.0)
        return [one["metadata"]["number"] for one in found["results"]]

    def close(self) -> None:
        self._memory.close()
