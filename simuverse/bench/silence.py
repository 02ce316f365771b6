"""How often recall is silent where it should be, and how often where it should not.

Each dialogue is lived through, then asked three kinds of things: its own questions; those of the other dialogues of the
source with this one's names put in, so that only what was talked about tells them apart; and messages about things that
no dialogue touches: general knowledge, small talk, code, other languages.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import resources
from random import Random
from uuid import UUID

from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.bench.dialogues import Dialogue, Question
from simuverse.bench.recall import LATER, bench_mind, live_through
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.gate import least_sureness
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Cut
from simuverse.memory.store import MemoryStore

FOREIGN = 200
"""Questions of other dialogues put to each, drawn at random."""

OPEN = RecallSettings(min_sure=-1, min_cosine=-1)
"""Whatever ranks first comes back."""

CLOSED = RecallSettings(min_sure=4, runners_up=1)
"""No query is ever sure, so that what was weighed says by how much each one falls short."""

CURVE = (1.0, 1.3, 1.5, RecallSettings().min_sure, 1.75, 1.9, 2.1)
"""How sure a query must be: the shipped setting, more eager and less."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Gated:
    """Under one setting.

    Args:
        kept: of the questions that some evidence comes back for with the gate open: those that it does for here.
        own, foreign, far: share of each kind for which anything comes back; 0 to 1.
    """

    min_sure: float
    kept: float
    own: float
    foreign: float
    far: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Silence:
    """Of one source.

    Args:
        answered: questions that some evidence comes back for with the gate open.
        own, foreign, far: how many of each kind were asked.
        area: under the ROC curve, 0 to 1: how often one of the answered is surer than a foreign one.
    """

    source: str
    area: float
    answered: int
    own: int
    foreign: int
    far: int
    curve: tuple[Gated, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class SilenceBench:
    """One run."""

    store: str
    embedder: str
    sources: tuple[Silence, ...]


@dataclass(kw_only=True, slots=True)
class _Told:
    """What came of each kind: for own questions whether some evidence came, and for all whether anything did."""

    evidence: list[bool] = field(default_factory=list[bool])
    own: list[bool] = field(default_factory=list[bool])
    foreign: list[bool] = field(default_factory=list[bool])
    far: list[bool] = field(default_factory=list[bool])


@dataclass(kw_only=True, slots=True)
class _Sure:
    """How sure each question was."""

    own: list[float] = field(default_factory=list[float])
    foreign: list[float] = field(default_factory=list[float])


async def measure_silence(
    sources: Mapping[str, Sequence[Dialogue]],
    store: MemoryStore,
    embedder: Embedder,
    *,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> SilenceBench:
    """Args:
        sources: dialogues by where they come from, two or more in each.
        seed: of the draw of foreign questions.

    Raises:
        UsageError: a source of one dialogue, or the store holds a benchmark's memories already.
    """
    settings = [OPEN, *(RecallSettings(min_sure=least) for least in CURVE)]
    measured: list[Silence] = []
    for source, dialogues in sources.items():
        if len(dialogues) < 2:
            raise UsageError(f"{source}: one dialogue alone has no foreign questions")
        told, sure = [_Told() for _ in settings], _Sure()
        for dialogue in dialogues:
            owner = f"simuverse bench silence {dialogue.name}"
            if owner in await store.owners():
                raise UsageError(f"{store.description} already holds memories of {owner!r}; use another store")
            foreign = foreign_questions(dialogue, dialogues, Random(f"{seed} {dialogue.name}"))
            clock = ManualClock(dialogue.sessions[0][0].time)
            try:
                on_progress(f"{source} {dialogue.name}: remembering")
                turn_of = await live_through(dialogue, owner, store, embedder, clock)
                clock.set(dialogue.sessions[-1][-1].time + LATER)
                for setting, answers in zip(settings, told, strict=True):
                    on_progress(f"{source} {dialogue.name}: sure from {setting.min_sure:g}")
                    async with bench_mind(owner, store, embedder, clock, setting) as mind:
                        await _ask(mind, dialogue.questions, foreign, turn_of, answers)
                on_progress(f"{source} {dialogue.name}: how sure")
                async with bench_mind(owner, store, embedder, clock, CLOSED) as mind:
                    sure.own += [await _sureness(mind, question.text) for question in dialogue.questions]
                    sure.foreign += [await _sureness(mind, text) for text in foreign]
            finally:
                await store.erase(owner)
        measured.append(_silence(source, told, sure))
    return SilenceBench(store=store.description, embedder=embedder.name, sources=tuple(measured))


def far_messages() -> list[str]:
    """200 messages about nothing that a dialogue touches."""
    return (resources.files("simuverse.bench") / "far.txt").read_text(encoding="utf-8").splitlines()


def foreign_questions(dialogue: Dialogue, dialogues: Sequence[Dialogue], random: Random) -> list[str]:
    """Of the others, with this one's speakers in place of theirs, at most :data:`FOREIGN`."""
    found: list[str] = []
    for other in dialogues:
        if other is not dialogue:
            names = dict(zip(_speakers(other), _speakers(dialogue), strict=False))
            pattern = re.compile(rf"\b({'|'.join(map(re.escape, names))})\b")
            found += [pattern.sub(partial(_renamed, names), one.text) for one in other.questions]
    return random.sample(found, min(FOREIGN, len(found)))


def _renamed(names: Mapping[str, str], found: re.Match[str]) -> str:
    return names[found[0]]


def _speakers(dialogue: Dialogue) -> list[str]:
    return sorted({turn.speaker for session in dialogue.sessions for turn in session})


async def _ask(
    mind: SubconsciousAgent,
    own: Sequence[Question],
    foreign: Sequence[str],
    turn_of: Mapping[UUID, str],
    answers: _Told,
) -> None:
    for question in own:
        found = await _recalled(mind, question.text)
        answers.own.append(bool(found))
        answers.evidence.append(any(turn_of[one] in question.evidence for one in found))
    answers.foreign += [bool(await _recalled(mind, text)) for text in foreign]
    answers.far += [bool(await _recalled(mind, text)) for text in far_messages()]


async def _recalled(mind: SubconsciousAgent, text: str) -> list[UUID]:
    recollection = await mind.recollect(text, stateful=False)
    if recollection.problems:
        raise StoreError("; ".join(recollection.problems))
    return [flashback.memory.id for flashback in recollection]


async def _sureness(mind: SubconsciousAgent, text: str) -> float:
    """Of what is listed by its time alone, as sure as can be; of what finds nothing, the least."""
    recollection = await mind.recollect(text, stateful=False)
    if not recollection.candidates:
        return -1.0
    missed_by = [
        one.missed_by for one in recollection.candidates if one.cut is Cut.UNSURE and one.missed_by is not None
    ]
    least = least_sureness(CLOSED.min_sure, recollection.considered)
    return least - min(missed_by) if missed_by else CLOSED.min_sure


def area_under_curve(own: Sequence[float], foreign: Sequence[float]) -> float:
    """How often one of ``own`` is above one of ``foreign``, a tie counting half; NaN where either is empty."""
    if not own or not foreign:
        return float("nan")
    above = sum((one > other) + 0.5 * (one == other) for one in own for other in foreign)
    return above / (len(own) * len(foreign))


def _silence(source: str, told: Sequence[_Told], sure: _Sure) -> Silence:
    ungated, *gated = told
    answered = [place for place, came in enumerate(ungated.evidence) if came]
    return Silence(
        source=source,
        area=area_under_curve([sure.own[place] for place in answered], sure.foreign),
        answered=len(answered),
        own=len(ungated.own),
        foreign=len(ungated.foreign),
        far=len(ungated.far),
        curve=tuple(
            Gated(
                min_sure=least,
                kept=_mean([one.evidence[place] for place in answered]),
                own=_mean(one.own),
                foreign=_mean(one.foreign),
                far=_mean(one.far),
            )
            for least, one in zip(CURVE, gated, strict=True)
        ),
    )


def _mean(values: Sequence[bool]) -> float:
    return sum(values) / len(values) if values else 0.0
