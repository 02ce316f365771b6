"""How much a memory has to do with what is asked: a plain weighted sum of a few signals, each kept for display.

PURE. Signals are stretched to 0..1 over the memories weighed for one query (min-max, as in relative score fusion), so
that they can be added up; what keeps words from misleading where they were hardly found at all is absolute. The weights
are round numbers, the same for all data:

- *words* 1.5: each word of the query by the nearest word of the memory, rare ones counting more; where the embedder has
  no table of words, BM25 of the memory alone.
- *context* 1.5: BM25 of the memory read together with the two before it in its episode: words as they are written, rare
  in all that was ever kept and not only in what was found.
- *meaning* 1.5: the cosine. These three are so many ways to see one thing, none of them above the others.
- *words around* 1: as *words*, over the memory and the two before it. An answer seldom repeats the words of the
  question that it answers, but what led to it tells less than what it says itself.
- *meaning around* 0.5: the cosine and half of both neighbours': what is talked about, which a short line may not show.
- *speaker* 0.3: where the query names someone who said some of what was found, so much of all of these counts for what
  they said themselves alone. A share and not a sum: a name alone tells little, but what they tell of themselves most.
- *followed by* 0.2 and *best in episode* 0.2: what the memory after it, and the best of its episode, are worth by the
  signals above: contiguity, lent once, and much less than a memory's own, as what is asked for is often scattered. An
  answer is taken up by what follows; what came before is read with it already.

Beside them stands *time*, 0.1 of the whole: the memory is of a time that the query mentions. As much as parts a good
find from the next best, so it decides among near equals, and lifts nothing that has else little to do with the query.

Words that were hardly found mislead: BM25 counts by a ramp, from nothing where the best hit's BM25 alone is at most
0.10 of what the query's words could reach together, to all of it from 0.20 on: one rare word of five, or two of ten.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from math import isfinite
from typing import NamedTuple, overload

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.nearness import Nearness, rarity
from simuverse.memory.records import Relevance

Column = NDArray[np.float64]
"""One figure a memory, shape (memories,)."""

Rows = NDArray[np.float64]
"""One figure a memory or several, shape (memories, ...)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RelevanceWeights:
    """What each signal counts for; see the module. All finite and 0 or more; 0 switches a signal off.

    Args:
        speaker: at most 1.
        time: added to the whole, which stays within 1; the others are shares of it.
        ramp_from, ramp_to, ramp_least: shares of the words' reach, and what words count for below the first of them;
            with a ``ramp_least`` of 1 words always count in full.
    """

    words: float = 1.5
    words_around: float = 1.0
    context: float = 1.5
    meaning: float = 1.5
    meaning_around: float = 0.5
    speaker: float = 0.3
    followed_by: float = 0.2
    best_in_episode: float = 0.2
    time: float = 0.1
    ramp_from: float = 0.10
    ramp_to: float = 0.20
    ramp_least: float = 0.0

    def __post_init__(self) -> None:
        for field in fields(self):
            value = getattr(self, field.name)
            if not isfinite(value) or value < 0:
                raise ValueError(f"{field.name} {value} isn't a number of 0 or more")
        if self.speaker > 1:
            raise ValueError(f"speaker {self.speaker} isn't a share: it is above 1")
        if not self.signals:
            raise ValueError("all signals are switched off: nothing would tell memories apart")
        if self.ramp_from >= self.ramp_to or self.ramp_least > 1:
            raise ValueError("the ramp goes from ramp_from up to ramp_to, and from ramp_least, at most 1, to 1")

    @property
    def signals(self) -> float:
        """Of all signals of a memory's own together."""
        return self.words + self.words_around + self.context + self.meaning + self.meaning_around


DEFAULT_WEIGHTS = RelevanceWeights()


class Evidence(NamedTuple):
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


class Relevances(Sequence[Relevance]):
    """One a memory, in order, each put together when it is asked for.

    Args:
        totals: :attr:`Relevance.total` of each, but for rounding.
        parts: of every signal, a figure a memory; a signal that isn't there is 0.
    """

    def __init__(self, totals: list[float], parts: Mapping[str, list[float]]) -> None:
        self.totals = totals
        self._parts = parts

    def __len__(self) -> int:
        return len(self.totals)

    @overload
    def __getitem__(self, row: int) -> Relevance: ...
    @overload
    def __getitem__(self, row: slice) -> list[Relevance]: ...
    def __getitem__(self, row: int | slice) -> Relevance | list[Relevance]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        if not -len(self) <= row < len(self):
            raise IndexError(f"there is no row {row} of {len(self)}")
        return Relevance(**{name: column[row] for name, column in self._parts.items()})


def relevance(
    evidence: Sequence[Evidence],
    *,
    reach: float,
    near: Nearness | None = None,
    timely: Sequence[bool] = (),
    weights: RelevanceWeights = DEFAULT_WEIGHTS,
) -> Relevances:
    """One a memory, in order.

    Args:
        reach: of the query's words: the sum of their idf, what BM25 could reach at most; 0 without words.
        near: of the query's words to each memory's, a row a memory; None where that can't be told.
        timely: whether each is of a time that the query mentions; empty where it mentions none.
    """
    if not evidence:
        return Relevances([], {})
    words, words_in_context, cosines, speakers, episodes, positions = zip(*evidence, strict=True)
    bm25, cosine = np.array(words), np.array([-1.0 if one is None else one for one in cosines])
    trust = _ramp(bm25.max() / reach, weights) if reach > 0 else 0.0
    places = _Places(episodes, positions)
    signals = {
        "context": trust * _stretched(np.array(words_in_context)),
        "meaning": _stretched(cosine),
        "meaning_around": _stretched(cosine + places.beside(np.maximum(cosine, 0.0)) / 2),
    }
    if near is None:
        signals["words"] = trust * _stretched(bm25)
    else:
        rare = rarity(near)
        signals["words"] = _stretched(np.vecdot(near, rare))
        signals["words_around"] = _stretched(np.vecdot(np.maximum(near, places.before(near)), rare))
    theirs = weights.speaker if any(speakers) else 0.0
    whole = {name: getattr(weights, name) * column for name, column in signals.items()}
    own = np.sum(list(whole.values()), axis=0)
    parts: dict[str, Column] = {name: (1 - theirs) * column for name, column in whole.items()}
    parts["speaker"] = np.where(speakers, theirs * own, 0.0)
    own = (1 - theirs) * own + parts["speaker"]
    parts["contiguity"] = weights.followed_by * places.after(own) + weights.best_in_episode * places.best(own)
    full = weights.signals * (1 + weights.followed_by + weights.best_in_episode)
    total = (own + parts["contiguity"]) / full
    shares = {name: (column / full).tolist() for name, column in parts.items()}
    if any(timely):
        time = np.where(timely, np.minimum(weights.time, 1.0 - total), 0.0)
        total, shares["time"] = total + time, time.tolist()
    return Relevances(total.tolist(), shares)


def of_the_time(number: int) -> Relevances:
    """Of so many memories that a query asks for by their time alone: all are what was asked."""
    return Relevances([1.0] * number, {"time": [1.0] * number})


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


class _Places:
    """Who stands where: memories by episode and position. One without an episode stands alone."""

    def __init__(self, episodes: Sequence[str], positions: Sequence[int]) -> None:
        place_of = [
            (episode, position) if episode else ("", -row)
            for row, (episode, position) in enumerate(zip(episodes, positions, strict=True), start=1)
        ]
        self._alone = np.array([not episode for episode in episodes])
        number: dict[tuple[str, int], int] = {}
        self._number_of = np.array([number.setdefault(place, len(number)) for place in place_of], dtype=np.intp)
        nowhere = len(number)
        self._steps = {
            step: np.array([number.get((e, p + step), nowhere) if e else nowhere for e, p in place_of])
            for step in (-2, -1, 1)
        }
        episode_of: dict[object, int] = {}
        self._episode_of = np.array([episode_of.setdefault(p[0] or p, len(episode_of)) for p in place_of])
        self._places, self._episodes = nowhere, len(episode_of)

    def beside(self, column: Column) -> Column:
        """What stands before and after each, added up: the best of each place, 0 where nothing was found.

        One without an episode can have nothing beside it, and stands in for both.
        """
        return np.where(self._alone, 2 * column, self._at(column, -1) + self._at(column, 1))

    def after(self, column: Column) -> Column:
        """The best of what stands after each, 0 where nothing was found there; one without an episode stands in."""
        return np.where(self._alone, column, self._at(column, 1))

    def before(self, rows: Rows) -> Rows:
        """The highest of the two places before each; 0 where nothing was found there."""
        return np.maximum(self._at(rows, -1), self._at(rows, -2))

    def best(self, column: Column) -> Column:
        """Of each one's episode."""
        best = np.zeros(self._episodes)
        np.maximum.at(best, self._episode_of, column)
        return np.asarray(best[self._episode_of], dtype=np.float64)

    def _at(self, values: Rows, step: int) -> Rows:
        """Values of 0 or more at the place so many steps on."""
        at = np.zeros((self._places + 1, *values.shape[1:]))
        np.maximum.at(at, self._number_of, values)
        return np.asarray(at[self._steps[step]], dtype=np.float64)
