"""How much a memory has to do with what is asked: a plain weighted sum of a few signals, each kept for display.

PURE. Signals are stretched to 0..1 over the memories weighed for one query (min-max, as in relative score fusion), so
that they can be added up; what keeps words from misleading where they were hardly found at all is absolute. The weights
are round numbers, the same for all data:

- *words* 0.7 and *context* 1: BM25 of the memory alone, and read together with what came just before it in its episode.
  An answer seldom repeats the words of the question it answers, so the context weighs more.
- *episode* 0.5: BM25 of its whole episode (the root of the sum of squares over its memories): a talk about something
  holds more about it than its best line.
- *meaning* 1: the cosine.
- *speaker* 0.3: whoever said it is named in the query.
- *best in episode* 0.4 and *neighbours* 0.2: what the memories around it, and the best of its episode, are worth by the
  signals above: contiguity, lent once.

Words that were hardly found mislead: the three BM25 signals count by a ramp, from 0.2 where the best hit's BM25 is at
most 0.05 of what the query's words could reach together, to 1 from 0.20 on.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.records import Relevance

Column = NDArray[np.float64]
"""One figure a memory, shape (memories,)."""

WEIGHTS: Mapping[str, float] = {"words": 0.7, "context": 1.0, "episode": 0.5, "meaning": 1.0, "speaker": 0.3}
BEST_IN_EPISODE = 0.4
NEIGHBOURS = 0.2

RAMP_FROM, RAMP_TO, RAMP_LEAST = 0.05, 0.20, 0.2


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What one query's searches say of one memory.

    Args:
        bm25, context_bm25: 0 or more; 0 where the words weren't found.
        cosine: -1 to 1; None where nothing was compared.
        speaker_named: whether the query names who said it.
        episode, position: where it stands; an empty episode has no neighbours.
    """

    bm25: float = 0.0
    context_bm25: float = 0.0
    cosine: float | None = None
    speaker_named: bool = False
    episode: str = ""
    position: int = 0


def relevance(evidence: Sequence[Evidence], *, reach: float) -> list[Relevance]:
    """One a memory, in order.

    Args:
        reach: of the query's words: the sum of their idf, what BM25 could reach at most; 0 without words.
    """
    if not evidence:
        return []
    bm25 = _column(e.bm25 for e in evidence)
    cosine = _column(-1.0 if e.cosine is None else e.cosine for e in evidence)
    trust = _ramp(bm25.max() / reach) if reach > 0 else 0.0
    signals = {
        "words": trust * _stretched(bm25),
        "context": trust * _stretched(_column(e.context_bm25 for e in evidence)),
        "episode": trust * _stretched(_by_episode(evidence, bm25)),
        "meaning": _stretched(cosine),
        "speaker": _column(float(e.speaker_named) for e in evidence),
    }
    parts = {name: WEIGHTS[name] * column for name, column in signals.items()}
    own = np.sum(list(parts.values()), axis=0)
    parts["contiguity"] = _lent(evidence, own)
    full = (sum(WEIGHTS.values())) * (1 + BEST_IN_EPISODE + NEIGHBOURS)
    return [
        Relevance(**{name: float(column[row] / full) for name, column in parts.items()}) for row in range(len(evidence))
    ]


def _ramp(found: float) -> float:
    """How far words are to be trusted, given the share of their reach that the best hit has."""
    share = (found - RAMP_FROM) / (RAMP_TO - RAMP_FROM)
    return RAMP_LEAST + (1 - RAMP_LEAST) * min(1.0, max(0.0, share))


def _stretched(column: Column) -> Column:
    """To 0..1; where all are equal, all 1 if they are above 0, otherwise all 0."""
    low, high = column.min(), column.max()
    if high > low:
        return np.asarray((column - low) / (high - low), dtype=np.float64)
    return np.full_like(column, 1.0 if high > 0 else 0.0)


def _by_episode(evidence: Sequence[Evidence], bm25: Column) -> Column:
    squares: dict[str, float] = {}
    for e, score in zip(evidence, bm25, strict=True):
        squares[e.episode] = squares.get(e.episode, 0.0) + score**2
    return _column(squares[e.episode] ** 0.5 if e.episode else score for e, score in zip(evidence, bm25, strict=True))


def _lent(evidence: Sequence[Evidence], own: Column) -> Column:
    """What its neighbours, and the best of its episode, add to each memory."""
    at: dict[tuple[str, int], float] = {}
    best: dict[str, float] = {}
    for e, value in zip(evidence, own, strict=True):
        if e.episode:
            place = e.episode, e.position
            at[place] = max(value, at.get(place, 0.0))
            best[e.episode] = max(value, best.get(e.episode, 0.0))
    return _column(
        NEIGHBOURS * (at.get((e.episode, e.position - 1), 0.0) + at.get((e.episode, e.position + 1), 0.0)) / 2
        + BEST_IN_EPISODE * best[e.episode]
        if e.episode
        else (BEST_IN_EPISODE + NEIGHBOURS) * value
        for e, value in zip(evidence, own, strict=True)
    )


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)
