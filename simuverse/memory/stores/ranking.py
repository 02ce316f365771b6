"""The best of many scores, in the same order on every store.

Stores compute in float32 or float64 and add up in different orders, so equal scores may come out a rounding apart. What
lies less than :data:`TIE` below the highest score not tied with one above it therefore counts as equal to that one, and
the id decides.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

TIE = 1e-6
"""Scores this close are equal: above float32 rounding of a BM25 score (4e-7 measured), below any real difference."""

_HEATS = 4
"""Groups of rows, for each of the best wanted, of which the highest are looked at first: most of these are then alone
in theirs, so that few others are left to sort."""

SortableIds = NDArray[np.uint64]
"""Shape (rows, 2): the halves of each id, so that numbers compare as the ids' text does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ranked:
    """Rows best first, and what each counts as: its score, or the best score of those it ties with."""

    rows: NDArray[np.intp] = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    scores: NDArray[np.float64] = field(default_factory=lambda: np.zeros(0))

    @property
    def pairs(self) -> list[tuple[int, float]]:
        """Row and score."""
        return list(zip(self.rows.tolist(), self.scores.tolist(), strict=True))

    @property
    def ranks(self) -> dict[int, int]:
        """Row to its place, from 1."""
        return {row: rank for rank, row in enumerate(self.rows.tolist(), start=1)}


def best(scores: NDArray[np.float64], ids: SortableIds, *, among: NDArray[np.bool_], limit: int) -> Ranked:
    """The ``limit`` highest scores among the rows marked, ties by id.

    Args:
        scores, ids, among: one for each row.
    """
    rows = _high(np.where(among, scores, -np.inf), limit)
    if len(rows) > limit:
        candidates = scores[rows]
        last = np.partition(candidates, len(rows) - limit)[len(rows) - limit]
        rows = rows[candidates >= last - TIE]
    descending = np.argsort(-scores[rows])
    rows, ordered = rows[descending], scores[rows[descending]]
    heads = _heads(ordered, limit=limit)
    group = np.searchsorted(heads, np.arange(len(ordered)), side="right") - 1
    by_id = np.lexsort((ids[rows, 1], ids[rows, 0], group))[:limit]
    return Ranked(rows=rows[by_id], scores=ordered[heads][group[by_id]])


def _high(scores: NDArray[np.float64], limit: int) -> NDArray[np.intp]:
    """Rows among which the ``limit`` highest are, and all that tie with the last of them; none that is -inf.

    A look at the highest of each few rows spares most of the others the sorting: the ``limit``-th of these is no higher
    than the ``limit``-th of all.
    """
    few = len(scores) // (_HEATS * limit)
    least = -np.inf
    if few > 1:
        heats = scores[: len(scores) // few * few].reshape(few, -1).max(axis=0)
        least = np.partition(heats, len(heats) - limit)[len(heats) - limit] - TIE
    return np.flatnonzero(scores >= least if least > -np.inf else scores > -np.inf)


def _heads(ordered: NDArray[np.float64], *, limit: int) -> NDArray[np.intp]:
    """Where in a descending list each group of ties begins, as far as the first ``limit`` places need it."""
    if (ordered[:-1] - ordered[1:] > TIE).all():
        return np.arange(min(limit, len(ordered)))
    ascending: list[float] = (-ordered).tolist()
    heads: list[int] = []
    head = 0
    while head < min(limit, len(ordered)):
        heads.append(head)
        head = bisect_left(ascending, ascending[head] + TIE, lo=head)
    return np.array(heads, dtype=np.intp)
