"""How memories that were found are weighed against each other: relevance, importance and recency.

``total = w_rel * relevance + w_imp * importance + w_rec * recency``, after Park et al., "Generative Agents: Interactive
Simulacra of Human Behavior" (2023). A *preset* says with which weights, on which scale, and how memories age.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import datetime, timedelta
from enum import StrEnum
from math import floor, isfinite
from types import MappingProxyType
from typing import Literal, NamedTuple, overload

from simuverse.errors import SettingsError
from simuverse.memory.clock import require_aware
from simuverse.memory.records import IMPORTANCE_MAX, IMPORTANCE_MIN, Factor, Memory, Score

TIE = 1e-9
"""Columns whose values all lie this close are equal: to stretch rounding errors over 0 to 1 is to rank by noise."""


_NO_TIME = timedelta()


class Scaling(StrEnum):
    """What the relevance and the importance of a memory are made of."""

    MIN_MAX = "min_max"
    """Each factor stretched to 0..1 over the candidates, 0.5 where all are equal: a score depends on the others."""
    RAW = "raw"
    """The cosine as it is (-1 to 1), importance / 10, recency as it decays: a score depends on its memory alone."""
    BOUNDED = "bounded"
    """The relevance as given (0 to 1), (importance - 1) / 9, recency as it decays."""


class Since(StrEnum):
    LAST_ACCESS = "last_access"
    CREATION = "creation"


@dataclass(frozen=True, kw_only=True, slots=True)
class Weights:
    """Each finite and 0 or more, not all 0."""

    relevance: float
    importance: float
    recency: float

    def __post_init__(self) -> None:
        values = {field.name: getattr(self, field.name) for field in fields(self)}
        for name, value in values.items():
            if not isfinite(value) or value < 0:
                raise ValueError(f"weight of {name} {value} isn't a number of 0 or more")
        if not any(values.values()):
            raise ValueError("all weights are 0: nothing would tell memories apart")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recency:
    """How memories age: by ``decay`` for each ``per``. A half-life is a decay of 0.5 per half-life.

    Args:
        decay: what is left of the recency after one ``per``, between 0 and 1, both excluded.
        per: a duration above zero; ``step``, whose duration the caller gives; or ``rank``, the place among the
            candidates, newest first from 1, those of one moment sharing theirs.
        since: what counts as a memory's time.
    """

    decay: float
    per: timedelta | Literal["step", "rank"]
    since: Since

    def __post_init__(self) -> None:
        if not 0 < self.decay < 1:
            raise ValueError(f"decay {self.decay} is not between 0 and 1")
        if isinstance(self.per, timedelta) and self.per <= timedelta():
            raise ValueError(f"memories can't decay per {self.per}")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preset:
    """A way to score. Other weights or another half-life: ``dataclasses.replace(preset("companion"), recency=...)``."""

    name: str
    weights: Weights
    scaling: Scaling
    recency: Recency


class Weighed(NamedTuple):
    """A candidate as a search left it.

    Args:
        relevance: fused, 0 to 1, relative to the other candidates.
        cosine: of query and summary, -1 to 1.
    """

    memory: Memory
    relevance: float
    cosine: float


_WEEK = timedelta(days=7)
"""Long enough that a fact of last month is clearly older than its change of last week (0.05 against 0.5), short enough
that last year's memories no longer differ by age."""

_PRESETS = (
    Preset(  # the paper
        name="park",
        weights=Weights(relevance=1, importance=1, recency=1),
        scaling=Scaling.MIN_MAX,
        recency=Recency(decay=0.995, per=timedelta(hours=1), since=Since.LAST_ACCESS),
    ),
    Preset(  # the paper's published code, which differs from it; its ranks ran from the oldest, here from the newest
        name="generative_agents",
        weights=Weights(relevance=3, importance=2, recency=0.5),
        scaling=Scaling.MIN_MAX,
        recency=Recency(decay=0.99, per="rank", since=Since.LAST_ACCESS),
    ),
    Preset(  # for characters that are questioned: what was asked about counts most
        name="interview",
        weights=Weights(relevance=3, importance=0.5, recency=0.5),
        scaling=Scaling.MIN_MAX,
        recency=Recency(decay=0.99, per="step", since=Since.LAST_ACCESS),
    ),
    Preset(  # for one long acquaintance: absolute figures, so that a score means the same on any day
        name="companion",
        weights=Weights(relevance=0.65, importance=0.10, recency=0.25),
        scaling=Scaling.RAW,
        recency=Recency(decay=0.5, per=_WEEK, since=Since.LAST_ACCESS),
    ),
    Preset(  # what happened, whatever it is about
        name="episodic",
        weights=Weights(relevance=0, importance=1, recency=1),
        scaling=Scaling.MIN_MAX,
        recency=Recency(decay=0.995, per="step", since=Since.CREATION),
    ),
    Preset(  # relevance decides; the others together outweigh at most a quarter of it
        name="balanced",
        weights=Weights(relevance=1, importance=0.2, recency=0.05),
        scaling=Scaling.BOUNDED,
        recency=Recency(decay=0.5, per=_WEEK, since=Since.CREATION),
    ),
)

PRESETS: Mapping[str, Preset] = MappingProxyType({preset.name: preset for preset in _PRESETS})
DEFAULT_PRESET = "balanced"


def preset(name: str) -> Preset:
    """Raises:
    SettingsError: no preset has that name.
    """
    try:
        return PRESETS[name]
    except KeyError:
        raise SettingsError(f"{name!r} is not a preset. Presets: {', '.join(PRESETS)}") from None


class Scores(Sequence[Score]):
    """The candidates' scores, in their order, each put together when it is asked for.

    Args:
        raw, scaled: of relevance, importance and recency, a column each.

    Attributes:
        totals: :attr:`Score.total` of each.
    """

    def __init__(self, preset: Preset, raw: Sequence[Sequence[float]], scaled: Sequence[Sequence[float]]) -> None:
        self._preset = preset
        self._raw = raw
        self._scaled = scaled
        w = preset.weights
        self.totals = [w.relevance * a + w.importance * b + w.recency * c for a, b, c in zip(*scaled, strict=True)]

    def __len__(self) -> int:
        return len(self._raw[0])

    @overload
    def __getitem__(self, row: int) -> Score: ...
    @overload
    def __getitem__(self, row: slice) -> list[Score]: ...
    def __getitem__(self, row: int | slice) -> Score | list[Score]:
        if isinstance(row, slice):
            return [self[one] for one in range(*row.indices(len(self)))]
        weights = self._preset.weights
        relevance, importance, recency = (
            Factor(raw=raw[row], scaled=scaled[row], weight=weight)
            for raw, scaled, weight in zip(
                self._raw, self._scaled, (weights.relevance, weights.importance, weights.recency), strict=True
            )
        )
        return Score(preset=self._preset.name, relevance=relevance, importance=importance, recency=recency)


def score_all(
    weighed: Sequence[Weighed], preset: Preset, *, now: datetime, step: timedelta = timedelta(minutes=1)
) -> Scores:
    """The candidates' scores, in their order.

    Anchored memories are as fresh as on their first day. A time after ``now`` counts as now.

    Args:
        now: aware.
        step: length of a step, above zero, for presets that count in steps.
    """
    if step <= timedelta():
        raise ValueError(f"a step can't take {step}")
    return score_columns(
        preset,
        relevance=[w.cosine if preset.scaling is Scaling.RAW else w.relevance for w in weighed],
        importance=[w.memory.importance for w in weighed],
        age=_ages([w.memory for w in weighed], preset.recency, now=require_aware(now, "now"), step=step),
    )


def score_columns(
    preset: Preset, *, relevance: Sequence[float], importance: Sequence[float], age: Sequence[float]
) -> Scores:
    """Scores from bare figures, one entry a candidate in each column.

    Args:
        relevance: the cosine for raw scaling, else 0 to 1.
        importance: 1 to 10; with min-max scaling any scale.
        age: 0 or more, in the preset's own unit (hours, steps, ranks...).
    """
    decayed = [preset.recency.decay**a for a in age]
    match preset.scaling:
        case Scaling.MIN_MAX:
            # Ages are taken from the youngest's: the same after stretching, and old ones don't all underflow to zero.
            youngest = min(age, default=0.0)
            recency = _min_max([preset.recency.decay ** (a - youngest) for a in age])
            scaled = [_min_max(relevance), _min_max(importance), recency]
        case Scaling.RAW:
            scaled = [list(relevance), [i / IMPORTANCE_MAX for i in importance], decayed]
        case Scaling.BOUNDED:
            span = IMPORTANCE_MAX - IMPORTANCE_MIN
            scaled = [list(relevance), [(i - IMPORTANCE_MIN) / span for i in importance], decayed]
    return Scores(preset, (relevance, importance, decayed), scaled)


def reweighted(score: Score, weights: Weights) -> Score:
    """The same factors under other weights: enough to reorder what was recalled, without asking anything again."""
    return replace(
        score,
        relevance=replace(score.relevance, weight=weights.relevance),
        importance=replace(score.importance, weight=weights.importance),
        recency=replace(score.recency, weight=weights.recency),
    )


def explain(score: Score) -> str:
    """One line: ``interview 3.38 = relevance 3 x 1.00 + importance 0.5 x 0.27 + recency 0.5 x 0.50``."""
    factors = {"relevance": score.relevance, "importance": score.importance, "recency": score.recency}
    parts = [f"{name} {factor.weight:g} x {factor.scaled:.2f}" for name, factor in factors.items()]
    return f"{score.preset} {score.total:.2f} = {' + '.join(parts)}"


def importance_from(value: float, *, low: float, high: float) -> int:
    """Importance from another scale: ``1 + 9 * (value - low) / (high - low)``, halves rounded up.

    Args:
        low, high: the other scale's ends: 1 and 5, 0 and 1, 0 and 100.

    Raises:
        ValueError: ``value`` is outside them.
    """
    if not low <= value <= high:
        raise ValueError(f"importance {value} is outside {low} to {high}")
    return floor(IMPORTANCE_MIN + (IMPORTANCE_MAX - IMPORTANCE_MIN) * (value - low) / (high - low) + 0.5)


def importance_to(importance: int, *, low: float, high: float) -> float:
    """Importance on another scale: ``low + (high - low) * (importance - 1) / 9``, not rounded."""
    return low + (high - low) * (importance - IMPORTANCE_MIN) / (IMPORTANCE_MAX - IMPORTANCE_MIN)


def _ages(memories: Sequence[Memory], recency: Recency, *, now: datetime, step: timedelta) -> list[float]:
    """In units of ``recency.per``."""
    if recency.since is Since.CREATION:
        times = [memory.created_at for memory in memories]
    else:
        times = [memory.last_accessed_at for memory in memories]
    elapsed = [
        now - time if time < now and not memory.anchored else _NO_TIME
        for memory, time in zip(memories, times, strict=True)
    ]
    if recency.per == "rank":
        rank = {moment: float(place) for place, moment in enumerate(sorted(set(elapsed)), start=1)}
        return [rank[e] for e in elapsed]
    unit = step if recency.per == "step" else recency.per
    return [e / unit for e in elapsed]


def _min_max(values: Sequence[float]) -> list[float]:
    low, high = min(values, default=0.0), max(values, default=0.0)
    if high - low <= TIE:
        return [0.5] * len(values)
    return [(value - low) / (high - low) for value in values]
