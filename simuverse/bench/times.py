"""Questions about times, asked of an invented life: whether the window is understood, and what comes back of it.

The life, its small talk and the hundred questions are told in local time, and lived through once in each of several
zones; some of it happens around midnight and around a change of the clocks, so a wrong zone is a wrong day. Files:
``times/memories.txt`` (name, time, the day that it tells of, speaker, words) and ``times/questions.txt`` (words, what
the time does, from when, until when, names of what should come back).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from importlib import resources
from time import perf_counter
from zoneinfo import ZoneInfo

import numpy as np

from simuverse.agents.trace import Recollection
from simuverse.bench.recall import SHIPPED, bench_mind
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryStore
from simuverse.memory.time_asked import TimeUse
from simuverse.memory.when_calendar import Window

ZONES = ("UTC", "Europe/Berlin", "America/New_York", "Pacific/Auckland")
NOW = datetime(2031, 4, 2, 11)  # noqa: DTZ001 local, in each of the zones; a Wednesday
OWNER = "Ilva"

SMALL_TALK = 150
"""Lines about nothing, over all days but those that should stay silent."""

_SMALL_TALK_DAYS = 365


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """Args:
    at: local.
    told_of: midnight at the beginning of another day that the words tell of; None for none.
    """

    name: str
    at: datetime
    told_of: datetime | None
    speaker: str
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeQuestion:
    """Args:
    use: what the time does; None: nothing.
    since, until: local; None: open, or no time.
    found: names of moments that should come back; of a listing or a window without any, nothing should.
    """

    text: str
    use: TimeUse | None
    since: datetime | None
    until: datetime | None
    found: frozenset[str]

    @property
    def silent(self) -> bool:
        return self.use in (TimeUse.LIST, TimeUse.WINDOW) and not self.found


@dataclass(frozen=True, kw_only=True, slots=True)
class TimesMeasured:
    """In one zone.

    Args:
        understood: questions whose window and use are right.
        found: share of the moments that should come back that did, over the questions that have some; 0 to 1.
        silent: of the questions that should bring nothing back, how many did not.
        false: questions about a time that brought back something of another.
        p50_ms, p95_ms: what a question takes, embedding included.
        wrong: the questions that were misunderstood.
    """

    zone: str
    understood: int
    found: float
    silent: int
    false: int
    p50_ms: float
    p95_ms: float
    wrong: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class TimesBench:
    store: str
    embedder: str
    memories: int
    questions: int
    to_be_silent: int
    measured: tuple[TimesMeasured, ...]


def invented_life() -> list[Moment]:
    return [
        Moment(name=name, at=_local(at), told_of=_time(told), speaker=speaker, text=text)
        for name, at, told, speaker, text in _lines("memories.txt")
    ]


def time_questions() -> list[TimeQuestion]:
    """100, in the same order each time."""
    return [
        TimeQuestion(
            text=text,
            use=None if use == "none" else TimeUse(use),
            since=_time(since),
            until=_time(until),
            found=frozenset(found.split()),
        )
        for text, use, since, until, found in _lines("questions.txt")
    ]


def small_talk(questions: Sequence[TimeQuestion], *, seed: int, count: int = SMALL_TALK) -> list[Moment]:
    """Questions about nothing in the year before :data:`NOW`, never when all should be silent."""
    random = np.random.default_rng(seed)
    quiet = [Window(since=q.since, until=q.until) for q in questions if q.use is TimeUse.LIST and q.silent]
    talk: list[Moment] = []
    while len(talk) < count:
        at = NOW - timedelta(minutes=int(random.integers(60, _SMALL_TALK_DAYS * 24 * 60)))
        if not any(at in window for window in quiet):
            thing, state, name = (str(random.choice(words)) for words in (_THINGS, _STATES, _NAMES))
            talk.append(Moment(name="", at=at, told_of=None, speaker=name, text=f"Is the {thing} still {state}?"))
    return talk


_THINGS = (
    "gate",
    "ladder",
    "kettle",
    "curtain",
    "lamp",
    "carpet",
    "mirror",
    "basket",
    "hammer",
    "bucket",
    "drawer",
    "sofa",
)
_STATES = (
    "broken",
    "locked",
    "dirty",
    "upstairs",
    "for rent",
    "too short",
    "wet",
    "crooked",
    "missing",
    "painted green",
)
_NAMES = ("Oren", "Sela", "Tarik", "Bruna")


async def measure_times(
    store: MemoryStore,
    embedder: Embedder,
    *,
    seed: int = 1,
    zones: Sequence[str] = ZONES,
    settings: RecallSettings = SHIPPED,
    on_progress: Callable[[str], None] = lambda _: None,
) -> TimesBench:
    """Lives the life once in each zone and asks every question.

    Raises:
        UsageError: a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError: as the parts raise them.
    """
    if OWNER in await store.owners():
        raise UsageError(f"{store.description} already holds memories of {OWNER!r}; use another store")
    questions = time_questions()
    life = sorted([*invented_life(), *small_talk(questions, seed=seed)], key=lambda moment: (moment.at, moment.text))
    measured: list[TimesMeasured] = []
    for name in zones:
        zone = ZoneInfo(name)
        try:
            on_progress(f"{name}: remembering")
            clock = ManualClock(_utc(NOW, zone))
            moments = await _live(life, zone, store, embedder, clock)
            clock.set(_utc(NOW, zone))
            on_progress(f"{name}: asking")
            async with bench_mind(OWNER, store, embedder, clock, replace(settings, zone=zone)) as mind:
                answers: list[tuple[Recollection, float]] = []
                for question in questions:
                    started = perf_counter()
                    recollection = await mind.recollect(question.text, stateful=False)
                    answers.append((recollection, 1000 * (perf_counter() - started)))
                    if recollection.problems:
                        raise StoreError("; ".join(recollection.problems))
        finally:
            await store.erase(OWNER)
        measured.append(_measured(name, questions, answers, moments))
    return TimesBench(
        store=store.description,
        embedder=embedder.name,
        memories=len(life),
        questions=len(questions),
        to_be_silent=sum(question.silent for question in questions),
        measured=tuple(measured),
    )


async def _live(
    life: Sequence[Moment], zone: ZoneInfo, store: MemoryStore, embedder: Embedder, clock: ManualClock
) -> dict[str, Moment]:
    """Each said to a mind of its own, so that it is an episode alone; returns the moments by the memories' ids."""
    moments: dict[str, Moment] = {}
    for moment in life:
        clock.set(_utc(moment.at, zone))
        async with bench_mind(OWNER, store, embedder, clock, SHIPPED) as mind:
            remembered = await mind.remember(moment.text, said_by=moment.speaker)
        if remembered.problems:
            raise StoreError("; ".join(remembered.problems))
        moments.update((str(memory.id), moment) for memory in remembered.written)
    return moments


def _measured(
    zone: str,
    questions: Sequence[TimeQuestion],
    answers: Sequence[tuple[Recollection, float]],
    moments: dict[str, Moment],
) -> TimesMeasured:
    at = ZoneInfo(zone)
    asked = list(zip(questions, (recollection for recollection, _ in answers), strict=True))
    wrong = tuple(question.text for question, recollection in asked if not _understood(question, recollection, at))
    came = [{moments[str(f.memory.id)].name for f in recollection} for _, recollection in asked]
    shares = [
        len(question.found & names) / len(question.found)
        for question, names in zip(questions, came, strict=True)
        if question.found
    ]
    p50, p95 = np.percentile([milliseconds for _, milliseconds in answers], (50, 95))
    return TimesMeasured(
        zone=zone,
        understood=len(questions) - len(wrong),
        found=float(np.mean(shares)),
        silent=sum(question.silent and not recollection.flashbacks for question, recollection in asked),
        false=sum(
            any(_of_another_time(f.memory, question, moments, at) for f in recollection)
            for question, recollection in asked
        ),
        p50_ms=float(p50),
        p95_ms=float(p95),
        wrong=wrong,
    )


def _understood(question: TimeQuestion, recollection: Recollection, zone: ZoneInfo) -> bool:
    time = recollection.queries[0].time if recollection.queries else None
    if time is None or question.use is None:
        return time is None and question.use is None
    wanted = [None if end is None else _utc(end, zone) for end in (question.since, question.until)]
    return time.use is question.use and [time.since, time.until] == wanted


def _of_another_time(memory: Memory, question: TimeQuestion, moments: dict[str, Moment], zone: ZoneInfo) -> bool:
    """Neither of the window that the question is about nor, by its label, telling of it."""
    if question.use not in (TimeUse.LIST, TimeUse.WINDOW):
        return False
    window = Window(since=question.since, until=question.until)
    moment = moments[str(memory.id)]
    if memory.created_at.astimezone(zone).replace(tzinfo=None) in window:
        return False
    day = moment.told_of
    return day is None or window.common(Window(since=day, until=day + timedelta(days=1))) is None


def _utc(local: datetime, zone: ZoneInfo) -> datetime:
    return local.replace(tzinfo=zone).astimezone(UTC)


def _time(text: str) -> datetime | None:
    return None if text == "-" else _local(text)


def _local(text: str) -> datetime:
    return datetime.fromisoformat(text)


def _lines(name: str) -> list[list[str]]:
    text = (resources.files("simuverse.bench") / "times" / name).read_text(encoding="utf-8")
    return [[part.strip() for part in line.split(" |")] for line in text.splitlines()]
