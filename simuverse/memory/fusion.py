"""The two legs of a hybrid search made one ranking, as Weaviate's ``relativeScoreFusion`` does it.

Each leg's raw values are scaled to 0..1 over that leg's candidates, 1 where all are equal, and the scaled values are
summed with the legs' weights. So a score tells who is better in this search, and nothing about how well anything fits.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Sequence
from itertools import starmap
from math import inf
from operator import itemgetter
from typing import Generic, NamedTuple, TypeVar

Document = TypeVar("Document", bound=Hashable)
"""Whatever names a document: its id, or a store's own number for it."""

TIE = 1e-7
"""Scores less than this apart are equal: about the last place of the 32-bit floats that Weaviate computes with."""


class Fused(NamedTuple, Generic[Document]):
    """A document of either leg.

    Args:
        score: 0 to 1.
    """

    id: Document
    score: float


def relative_score_fusion(
    *,
    semantic: Sequence[tuple[Document, float]],
    keyword: Sequence[tuple[Document, float]],
    alpha: float,
    order: Callable[[Document], object] = str,
    limit: int | None = None,
) -> list[Fused[Document]]:
    """All documents of both legs, best first; a leg that doesn't hold a document adds 0 to it.

    Equal scores are ordered by the raw value (the BM25 score where the keyword leg holds the document, else the
    cosine), highest first, then by the id's text. "Less than ``TIE`` apart" alone is no order, as a chain of such steps
    can lead far: what ties is what lies less than ``TIE`` below the highest score not tied with one above it.

    Args:
        semantic: id and cosine, each id once, in any order.
        keyword: id and BM25 score, likewise.
        alpha: weight of the semantic leg, 0 to 1; the keyword leg has the rest. A leg without weight takes no part, so
            what it alone holds is left out.
        order: what sorts ids as their text would, where that isn't their own text.
        limit: how many are wanted, 0 or more; None for all.

    Raises:
        ValueError: ``alpha`` is outside 0 to 1, or a leg holds an id twice.
    """
    if not 0 <= alpha <= 1:
        raise ValueError(f"alpha {alpha} is outside 0 to 1")
    scores: dict[Document, float] = {}
    raw: dict[Document, float] = {}
    for name, leg, weight in (("semantic", semantic, alpha), ("keyword", keyword, 1 - alpha)):
        values = dict(leg)
        if len(values) != len(leg):
            raise ValueError(f"the {name} leg holds an id twice")
        if weight > 0 and values:
            low, high = min(values.values()), max(values.values())
            span = high - low
            for document, value in values.items():
                relative = (value - low) / span if span > 0 else 1.0
                scores[document] = scores.get(document, 0.0) + weight * relative
            raw |= values

    def by_raw_value(fused: tuple[Document, float]) -> tuple[float, object]:
        return -raw[fused[0]], order(fused[0])

    ranked = sorted(scores.items(), key=itemgetter(1), reverse=True)
    start, best = 0, ranked[0][1] if ranked else 0.0
    for end, (_, score) in enumerate([*ranked, (None, -inf)]):
        if best - score >= TIE:
            if end - start > 1:
                ranked[start:end] = sorted(ranked[start:end], key=by_raw_value)
            start, best = end, score
    return list(starmap(Fused, ranked[:limit]))
