"""Whether what matters more is rated higher: importance as it is written down, beside a person's grades.

The grades are of two lists of invented events, neither of which the rule or its graded examples were made from:
``unseen`` was written to tell of such things in other words than the rule's, ``blind`` by someone who knew neither.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib import resources

import numpy as np
from numpy.typing import NDArray

from simuverse import wiring
from simuverse.agents.chat import ChatModel
from simuverse.config import Settings
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import IMPORTANCE_MIN
from simuverse.memory.store import MemoryStore

LISTS = ("unseen", "blind")
NOW = datetime(2032, 3, 1, 12, tzinfo=UTC)

_OWNER = "simuverse bench importance"
_SPEAKER = "Vera"


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """Args: grade: a person's, 1 (routine) to 10 (life-changing)."""

    grade: int
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportanceMeasured:
    """Args:
    events: the list's name.
    count: events in it.
    correlation: Spearman's, -1 to 1, of grades and ratings.
    ratings: in the order of the list; IMPORTANCE_MIN where nothing was written down.
    """

    events: str
    count: int
    correlation: float
    ratings: tuple[int, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class ImportanceBench:
    """Args: rated_by: the model's name, or ``rule``."""

    rated_by: str
    measured: tuple[ImportanceMeasured, ...]


def graded_events(name: str) -> list[Event]:
    """Args: name: one of :data:`LISTS`."""
    text = (resources.files("simuverse.bench") / "importance" / f"{name}.txt").read_text(encoding="utf-8")
    lines = [line.partition(" ") for line in text.splitlines() if not line.startswith("#")]
    return [Event(grade=int(grade), text=event) for grade, _, event in lines]


async def measure_importance(
    store: MemoryStore,
    embedder: Embedder,
    *,
    model: ChatModel | None = None,
    on_progress: Callable[[str], None] = lambda _: None,
) -> ImportanceBench:
    """Has a mind remember every event, each on its own, and reads off what it was rated.

    Args:
        model: rates; by default the rule does.

    Raises:
        UsageError: a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError, ModelError: as the parts raise them.
    """
    if _OWNER in await store.owners():
        raise UsageError(f"{store.description} already holds memories of {_OWNER!r}; use another store")
    measured: list[ImportanceMeasured] = []
    for name in LISTS:
        events = graded_events(name)
        ratings: list[int] = []
        for place, event in enumerate(events, start=1):
            if model is not None:
                on_progress(f"{name}: {place} of {len(events)}")
            try:
                ratings.append(await _rating(event, store, embedder, model))
            finally:
                await store.erase(_OWNER)
        measured.append(
            ImportanceMeasured(
                events=name,
                count=len(events),
                correlation=rank_correlation([event.grade for event in events], ratings),
                ratings=tuple(ratings),
            )
        )
    return ImportanceBench(rated_by="rule" if model is None else model.name, measured=tuple(measured))


async def _rating(event: Event, store: MemoryStore, embedder: Embedder, model: ChatModel | None) -> int:
    async with wiring.open_subconscious(
        _OWNER, store=store, embedder=embedder, model=model, clock=ManualClock(NOW), settings=Settings()
    ) as mind:
        remembered = await mind.remember(event.text, said_by=_SPEAKER)
    if remembered.problems:
        raise StoreError("; ".join(remembered.problems))
    return max((memory.importance for memory in remembered.written), default=IMPORTANCE_MIN)


def rank_correlation(one: Sequence[float], other: Sequence[float]) -> float:
    """Spearman's: of the ranks, ties sharing the mean of theirs. -1 to 1; NaN if all of one are the same."""
    return float(np.corrcoef(_ranks(one), _ranks(other))[0, 1])


def _ranks(values: Sequence[float]) -> NDArray[np.float64]:
    _, inverse, counts = np.unique(np.asarray(values), return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return np.asarray((ends - (counts - 1) / 2)[inverse], dtype=np.float64)
