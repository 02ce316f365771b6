"""The seam to whatever turns text into vectors."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, Protocol

import numpy as np
from numpy.typing import NDArray

from simuverse.errors import BadVector

TextKind = Literal["document", "query"]
Vectors = NDArray[np.float32]
"""Shape (number of texts, dimension), float32, each row of length 1."""


class Embedder(Protocol):
    """Text to vectors.

    ``name`` and ``dimension`` are written into every store; a store refuses to open with another.
    """

    @property
    def name(self) -> str:
        """As a user types it: ``wordllama``, ``ollama:nomic-embed-text``."""
        ...

    @property
    def dimension(self) -> int: ...

    async def embed(self, texts: Sequence[str], *, kind: TextKind = "document") -> Vectors:
        """One unit vector a text, in order; an empty sequence gives shape (0, dimension).

        Args:
            kind: ``query`` for what is searched with; models that were trained to tell the two apart prefix them.

        Raises:
            BadVector: the model gave zeros, NaN or another size.
            EmbedderUnavailable, EmbedderRefused: it couldn't be asked.
        """
        ...

    async def aclose(self) -> None: ...


def unit_vectors(raw: object, *, count: int, dimension: int, embedder: str) -> Vectors:
    """Checks what a model gave and scales each row to length 1.

    Raises:
        BadVector: naming the embedder and what is wrong.
    """
    try:
        vectors = np.asarray(raw, dtype=np.float64)  # squares of float32 can pass its range
    except (TypeError, ValueError, OverflowError) as error:
        raise BadVector(f"{embedder} gave something that isn't a table of numbers: {error}") from error
    if count == 0:
        return np.zeros((0, dimension), dtype=np.float32)
    if vectors.shape != (count, dimension):
        raise BadVector(f"{embedder} gave vectors of shape {vectors.shape}, expected {(count, dimension)}")
    if not (np.abs(vectors) <= np.finfo(np.float32).max).all():  # nor is NaN below anything
        raise BadVector(f"{embedder} gave a vector that holds NaN, infinity or a number beyond float32")
    lengths = np.linalg.norm(vectors, axis=1, keepdims=True)
    if (lengths == 0).any():
        raise BadVector(f"{embedder} gave a vector of zeros, which has no direction to compare")
    return np.asarray(vectors / lengths, dtype=np.float32)
