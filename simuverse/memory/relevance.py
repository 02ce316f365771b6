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

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from math import isfinite

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.records import Relevance

Column = NDArray[np.float64]
"""One figure a memory, shape (memories,)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RelevanceWeights:
    """What each signal counts for; see the module. All finite and 0 or more; 0 switches a signal off.

    Args:
        ramp_from, ramp_to, ramp_least: shares of the words' reach, and what words count for below the first of them;
            with a ``ramp_least`` of 1 words always count in full.
    """

    words: float = 0.7
    context: float = 1.0
    episode: float = 0.5
    meaning: float = 1.0
    speaker: float = 0.3
    best_in_episode: float = 0.4
    neighbours: float = 0.2
    ramp_from: float = 0.05
    ramp_to: float = 0.20
    ramp_least: float = 0.2

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isfinite(value) or value < 0:
                raise ValueError(f"{field.name} {value} isn't a number of 0 or more")
        if not self.signals:
            raise ValueError("all signals are switched off: nothing would tell memories apart")
        if self.ramp_from >= self.ramp_to or self.ramp_least > 1:
            raise ValueError("the ramp goes from ramp_from up to ramp_to, and from ramp_least, at most 1, to 1")

    @property
    def signals(self) -> float:
        """Of all signals of a memory's own together."""
        return self.words + self.context + self.episode + self.meaning + self.speaker


DEFAULT_WEIGHTS = RelevanceWeights()


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


def relevance(
    evidence: Sequence[Evidence], *, reach: float, weights: RelevanceWeights = DEFAULT_WEIGHTS
) -> list[Relevance]:
    """One a memory, in order.

    Args:
        reach: of the query's words: the sum of their idf, what BM25 could reach at most; 0 without words.
    """
    if not evidence:
        return []
    bm25 = _column(e.bm25 for e in evidence)
    cosine = _column(-1.0 if e.cosine is None else e.cosine for e in evidence)
    trust = _ramp(bm25.max() / reach, weights) if reach > 0 else 0.0
    signals = {
        "words": trust * _stretched(bm25),
        "context": trust * _stretched(_column(e.context_bm25 for e in evidence)),
        "episode": trust * _stretched(_by_episode(evidence, bm25)),
        "meaning": _stretched(cosine),
        "speaker": _column(float(e.speaker_named) for e in evidence),
    }
    parts = {name: getattr(weights, name) * column for name, column in signals.items()}
    own = np.sum(list(parts.values()), axis=0)
    parts["contiguity"] = _lent(evidence, own, weights)
    full = weights.signals * (1 + weights.best_in_episode + weights.neighbours)
    return [
        Relevance(**{name: float(column[row] / full) for name, column in parts.items()}) for row in range(len(evidence))
    ]


def _ramp(found: float, weights: RelevanceWeights) -> float:
    """How far words are to be trusted, given the share of their reach that the best hit has."""
    share = (found - weights.ramp_from) / (weights.ramp_to - weights.ramp_from)
    return weights.ramp_least + (1 - weights.ramp_least) * min(1.0, max(0.0, share))


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


def _lent(evidence: Sequence[Evidence], own: Column, weights: RelevanceWeights) -> Column:
    """What its neighbours, and the best of its episode, add to each memory."""
    at: dict[tuple[str, int], float] = {}
    best: dict[str, float] = {}
    for e, value in zip(evidence, own, strict=True):
        if e.episode:
            place = e.episode, e.position
            at[place] = max(value, at.get(place, 0.0))
            best[e.episode] = max(value, best.get(e.episode, 0.0))
    return _column(
        weights.neighbours * (at.get((e.episode, e.position - 1), 0.0) + at.get((e.episode, e.position + 1), 0.0)) / 2
        + weights.best_in_episode * best[e.episode]
        if e.episode
        else (weights.best_in_episode + weights.neighbours) * value
        for e, value in zip(evidence, own, strict=True)
    )


def _column(values: Iterable[float]) -> Column:
    return np.fromiter(values, dtype=np.float64)
