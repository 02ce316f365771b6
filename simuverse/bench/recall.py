"""How much of what a question asks for comes back, asked long after it was said.

A dialogue is lived through turn by turn, as an agent would: every turn is remembered at its time, each session by a
mind of its own, so that a session is an episode. A week after the last one each question is asked, and nothing of the
asking stays. What counts is the turns that hold the answer, not texts that sound like it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass
from datetime import timedelta
from time import perf_counter
from uuid import UUID

import numpy as np

from simuverse import wiring
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.bench.dialogues import Dialogue, Question
from simuverse.config import Settings
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.store import MemoryStore

DEEPEST = 20
"""Places looked at."""

UNGATED = RecallSettings(count=DEEPEST, tokens=1_000_000, min_sure=-1, min_cosine=-1, runners_up=0)
"""The order alone: the gate open and room for all places looked at."""

SHIPPED = RecallSettings()

LATER = timedelta(days=7)
"""From the last turn to the questions."""

RESAMPLES = 2_000
"""Enough for the ends of a 95 % interval to stand still at the first decimal."""

ALL = "all"


@dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """A mean, 0 to 1, and the ends of its 95 % bootstrap interval over the questions."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Figures:
    """Of the questions of one category, or of all.

    Args:
        at_5, at_10, at_20: share of the evidence among the first so many.
        all_at_10: share of questions whose whole evidence is among the first ten.
        mrr: mean of 1 / place of the first evidence, 0 where it isn't among the first twenty.
    """

    category: str
    questions: int
    at_5: Share
    at_10: Share
    at_20: Share
    all_at_10: Share
    mrr: Share


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """One source of dialogues under one setting.

    Args:
        categories: by name, ``all`` last.
        p50_ms, p95_ms: what a question takes, embedding included.
    """

    source: str
    setting: str
    categories: tuple[Figures, ...]
    p50_ms: float
    p95_ms: float

    @property
    def total(self) -> Figures:
        return self.categories[-1]


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallBench:
    """One run: every source under every setting, sources together."""

    store: str
    embedder: str
    measured: tuple[Measured, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Asked:
    """Args: found: turn ids, best first."""

    question: Question
    found: tuple[str, ...]
    milliseconds: float


async def measure_recall(
    sources: Mapping[str, Sequence[Dialogue]],
    store: MemoryStore,
    embedder: Embedder,
    *,
    settings: Mapping[str, RecallSettings] | None = None,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> RecallBench:
    """Lives through every dialogue once, and asks its questions once under each setting.

    Args:
        sources: dialogues by where they come from.
        settings: by name; by default the order alone, and the shipped settings.
        seed: of the bootstrap.
        on_progress: is told what comes next, for people.

    Raises:
        UsageError: a collection of the benchmark's name is in the store already, or a source asks nothing.
        StoreError, EmbedderError: as the parts raise them.
    """
    settings = settings or {"order": UNGATED, "shipped": SHIPPED}
    measured: list[Measured] = []
    for source, dialogues in sources.items():
        if not any(dialogue.questions for dialogue in dialogues):
            raise UsageError(f"{source}: no question has evidence in its dialogue")
        asked: dict[str, list[_Asked]] = {name: [] for name in settings}
        for dialogue in dialogues:
            owner = f"simuverse bench recall {dialogue.name}"
            if owner in await store.owners():
                raise UsageError(f"{store.description} already holds memories of {owner!r}; use another store")
            try:
                on_progress(f"{source} {dialogue.name}: remembering")
                clock = ManualClock(dialogue.sessions[0][0].time)
                turn_of = await live_through(dialogue, owner, store, embedder, clock)
                clock.set(dialogue.sessions[-1][-1].time + LATER)
                for name, setting in settings.items():
                    on_progress(f"{source} {dialogue.name}: {name}")
                    async with bench_mind(owner, store, embedder, clock, setting) as mind:
                        asked[name] += [await _ask(mind, question, turn_of) for question in dialogue.questions]
            finally:
                await store.erase(owner)
        measured += [_measured(source, name, answers, seed=seed) for name, answers in asked.items()]
    return RecallBench(store=store.description, embedder=embedder.name, measured=tuple(measured))


async def live_through(
    dialogue: Dialogue, owner: str, store: MemoryStore, embedder: Embedder, clock: ManualClock
) -> dict[UUID, str]:
    """Remembers every turn; returns which turn each memory is of."""
    turn_of: dict[UUID, str] = {}
    for session in dialogue.sessions:
        clock.set(session[0].time)
        async with bench_mind(owner, store, embedder, clock, UNGATED) as mind:
            for turn in session:
                clock.set(turn.time)
                remembered = await mind.remember(turn.text, said_by=turn.speaker)
                if remembered.problems:
                    raise StoreError("; ".join(remembered.problems))
                turn_of.update((memory.id, turn.id) for memory in remembered.written)
    return turn_of


def bench_mind(
    owner: str, store: MemoryStore, embedder: Embedder, clock: ManualClock, setting: RecallSettings
) -> AbstractAsyncContextManager[SubconsciousAgent]:
    """Working by rule, whatever the environment sets."""
    return wiring.open_subconscious(
        owner, store=store, embedder=embedder, clock=clock, recall=setting, settings=Settings()
    )


async def _ask(mind: SubconsciousAgent, question: Question, turn_of: Mapping[UUID, str]) -> _Asked:
    started = perf_counter()
    recollection = await mind.recollect(question.text, stateful=False)
    milliseconds = 1000 * (perf_counter() - started)
    if recollection.problems:
        raise StoreError("; ".join(recollection.problems))
    found = tuple(turn_of[flashback.memory.id] for flashback in recollection)
    return _Asked(question=question, found=found, milliseconds=milliseconds)


def _measured(source: str, setting: str, answers: Sequence[_Asked], *, seed: int) -> Measured:
    names = sorted({answer.question.category for answer in answers})
    groups = {name: [answer for answer in answers if answer.question.category == name] for name in names}
    p50, p95 = np.percentile([answer.milliseconds for answer in answers], (50, 95))
    return Measured(
        source=source,
        setting=setting,
        categories=tuple(_figures(name, group, seed=seed) for name, group in (*groups.items(), (ALL, answers))),
        p50_ms=float(p50),
        p95_ms=float(p95),
    )


def _figures(category: str, answers: Sequence[_Asked], *, seed: int) -> Figures:
    rows = np.array([_row(answer) for answer in answers], dtype=np.float64)
    drawn = np.random.default_rng(seed).integers(len(rows), size=(RESAMPLES, len(rows)))
    low, high = np.percentile(np.stack([rows[draw].mean(axis=0) for draw in drawn]), (2.5, 97.5), axis=0)
    at_5, at_10, at_20, all_at_10, mrr = (
        Share(mean=float(mean), low=float(least), high=float(most))
        for mean, least, most in zip(rows.mean(axis=0), low, high, strict=True)
    )
    return Figures(
        category=category,
        questions=len(answers),
        at_5=at_5,
        at_10=at_10,
        at_20=at_20,
        all_at_10=all_at_10,
        mrr=mrr,
    )


def _row(answer: _Asked) -> tuple[float, float, float, float, float]:
    """The five figures of one question, in the order of :class:`Figures`."""
    evidence, found = answer.question.evidence, answer.found
    at_5, at_10, at_20 = (len(evidence.intersection(found[:depth])) / len(evidence) for depth in (5, 10, DEEPEST))
    first = next((place for place, turn in enumerate(found[:DEEPEST], start=1) if turn in evidence), None)
    return at_5, at_10, at_20, float(at_10 == 1), 0.0 if first is None else 1 / first
