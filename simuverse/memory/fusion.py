"""The two legs of a hybrid search made one ranking, as Weaviate's ``relativeScoreFusion`` does it.

Each leg's raw values are scaled to 0..1 over that leg's candidates, 1 where all are equal, and the scaled values are
summed with the legs' weights. So a score tells who is better in this search, and nothing about how well anything fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

TIE = 1e-7
"""Scores less than this apart are equal: about the last place of the 32-bit floats that Weaviate computes with."""


@dataclass(frozen=True, slots=True)
class Fused:
    """A document of either leg.

    Args:
        score: 0 to 1.
    """

    id: UUID
    score: float


def relative_score_fusion(
    *, semantic: Sequence[tuple[UUID, float]], keyword: Sequence[tuple[UUID, float]], alpha: float
) -> list[Fused]:
    """All documents of both legs, best first; a leg that doesn't hold a document adds 0 to it.

    Equal scores are ordered by the raw value (the BM25 score where the keyword leg holds the document, else the
    cosine), highest first, then by the id's text. "Less than ``TIE`` apart" alone is no order, as a chain of such steps
    can lead far: what ties is what lies less than ``TIE`` below the highest score not tied with one above it.

    Args:
        semantic: id and cosine, each id once, in any order.
        keyword: id and BM25 score, likewise.
        alpha: weight of the semantic leg, 0 to 1; the keyword leg has the rest. A leg without weight takes no part, so
            what it alone holds is left out.

    Raises:
        ValueError: ``alpha`` is outside 0 to 1, or a leg holds an id twice.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha {alpha} is outside 0 to 1")
    scores: dict[UUID, float] = {}
    raw: dict[UUID, float] = {}
    for name, leg, weight in (("semantic", semantic, alpha), ("keyword", keyword, 1 - alpha)):
        values = dict(leg)
        if len(values) != len(leg):
            raise ValueError(f"the {name} leg holds an id twice")
        if weight > 0 and values:
            low, high = min(values.values()), max(values.values())
            for document, value in values.items():
                relative = (value - low) / (high - low) if high > low else 1.0
                scores[document] = scores.get(document, 0.0) + weight * relative
                raw[document] = value
    return _ordered(scores, raw)


def _ordered(scores: dict[UUID, float], raw: dict[UUID, float]) -> list[Fused]:
    ranked: list[Fused] = []
    tied: list[Fused] = []
    for document, score in sorted(scores.items(), key=lambda item: item[1], reverse=True):
        if tied and tied[0].score - score >= TIE:
            ranked += _by_raw_value(tied, raw)
            tied = []
        tied.append(Fused(document, score))
    return ranked + _by_raw_value(tied, raw)


def _by_raw_value(tied: list[Fused], raw: dict[UUID, float]) -> list[Fused]:
    return sorted(tied, key=lambda fused: (-raw[fused.id], str(fused.id)))
