"""Facts that changed: whether the current one comes first, and the old one where its day is asked for.

Invented people say where they live, what they work as and so on, and later, in the same words, something else; other
talk lies between. Only time tells the two apart, so this is where recency must win.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from itertools import product

import numpy as np

from simuverse import wiring
from simuverse.bench.ablation import HOUR
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.recall import UNGATED
from simuverse.config import Settings
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.scoring import PRESETS
from simuverse.memory.store import MemoryStore

DISTANCES = (timedelta(hours=6), timedelta(days=1), timedelta(days=7), timedelta(days=30), timedelta(days=365))
"""From what was said first to what holds now."""

PEOPLE = 20
DISTRACTORS = 2_000
"""Other things said, over the whole time."""

NOW = datetime(2032, 3, 1, 12, tzinfo=UTC)
OWNER = "simuverse bench changes"

_PAUSE = timedelta(hours=1)
"""From the last thing said to the first question."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Kind:
    """Args: said: with ``{value}``. now, then: with ``{name}``; ``then`` is asked of a day."""

    said: str
    now: str
    then: str
    values: tuple[str, ...]


_KINDS = (
    _Kind(
        said="I live in {value}.",
        now="Where does {name} live now?",
        then="Where did {name} live on {day}?",
        values=("Orvale", "Brenmoor", "Tessin", "Kolderby", "Amsel", "Wyke"),
    ),
    _Kind(
        said="I work as a {value}.",
        now="What does {name} work as at present?",
        then="What did {name} work as on {day}?",
        values=("plumber", "florist", "translator", "welder", "nurse", "beekeeper"),
    ),
    _Kind(
        said="My favourite dish is {value}.",
        now="What is the favourite dish of {name} these days?",
        then="What was the favourite dish of {name} on {day}?",
        values=("lentil stew", "fried trout", "plum dumplings", "leek pie", "onion soup", "saffron rice"),
    ),
    _Kind(
        said="For the holidays I am planning to visit {value}.",
        now="What is {name} planning to visit for the holidays?",
        then="What was {name} planning to visit for the holidays on {day}?",
        values=("the glacier", "an old aunt", "the salt mines", "a vineyard", "the observatory", "the islands"),
    ),
    _Kind(
        said="The number of my locker is {value}.",
        now="What is the number of the locker of {name}?",
        then="What was the number of the locker of {name} on {day}?",
        values=("214", "87", "1309", "56", "442", "731"),
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Change:
    """Two things one person said, of which the later holds.

    Args:
        old, new: what was said, and when.
        now, then: the questions that ``new`` and ``old`` answer.
    """

    name: str
    old: str
    new: str
    said_old: datetime
    said_new: datetime
    now: str
    then: str


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangesMeasured:
    """Shares, 0 to 1, of questions whose first flashback is the right one of the two; by setting and by distance.

    Args:
        now, then: of questions about now, and about the day on which the old fact was told.
        now_by_distance: hours between the two -> share.
    """

    setting: str
    now: float
    then: float
    now_by_distance: Mapping[int, float]


@dataclass(frozen=True, kw_only=True, slots=True)
class ChangesBench:
    store: str
    embedder: str
    memories: int
    questions: int
    measured: tuple[ChangesMeasured, ...]


def invented_changes(seed: int, *, people: int = PEOPLE) -> list[Change]:
    """One a person and kind, all distances equally often; the new fact is told within the last five days."""
    random = np.random.default_rng(seed)
    names = [f"{first}{last}" for first, last in product(("Ro", "Ka", "Mi", "Te", "Lu"), ("dan", "vik", "sel", "mar"))]
    if not 1 <= people <= len(names):
        raise UsageError(f"there are names for 1 to {len(names)} people, not {people}")
    changes: list[Change] = []
    for number, (name, kind) in enumerate(product(names[:people], _KINDS)):
        old, new = (str(value) for value in random.choice(kind.values, 2, replace=False))
        said_new = NOW - timedelta(minutes=int(random.integers(5 * 24 * 60)))
        said_old = said_new - DISTANCES[(number + number // len(_KINDS)) % len(DISTANCES)]
        day = f"{said_old.day} {said_old:%B %Y}"
        changes.append(
            Change(
                name=name,
                old=kind.said.format(value=old),
                new=kind.said.format(value=new),
                said_old=said_old,
                said_new=said_new,
                now=kind.now.format(name=name),
                then=kind.then.format(name=name, day=day),
            )
        )
    return changes


async def measure_changes(
    store: MemoryStore,
    embedder: Embedder,
    *,
    seed: int = 1,
    people: int = PEOPLE,
    distractors: int = DISTRACTORS,
) -> ChangesBench:
    """Remembers everything in order of time, and asks each question under every preset, the gate open.

    Raises:
        UsageError: a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError: as the parts raise them.
    """
    if OWNER in await store.owners():
        raise UsageError(f"{store.description} already holds memories of {OWNER!r}; use another store")
    changes = invented_changes(seed, people=people)
    said = [*((one.said_old, one.name, one.old) for one in changes), *((o.said_new, o.name, o.new) for o in changes)]
    random = np.random.default_rng(seed)
    minutes = random.integers(int((DISTANCES[-1] + timedelta(days=5)) / timedelta(minutes=1)), size=distractors)
    speakers = [changes[int(one)].name for one in random.integers(len(changes), size=distractors)]
    others = zip(minutes.tolist(), speakers, InventedTexts(seed).draw(distractors), strict=True)
    said += [(NOW - timedelta(minutes=back), name, text) for back, name, text in others]
    try:
        for time, name, text in sorted(said):
            await _remember(store, embedder, time, name, text)
        measured = [
            await _ask(store, embedder, name, replace(UNGATED, preset=preset, step=HOUR), changes)
            for name, preset in PRESETS.items()
        ]
    finally:
        await store.erase(OWNER)
    return ChangesBench(
        store=store.description,
        embedder=embedder.name,
        memories=len(said),
        questions=2 * len(changes),
        measured=tuple(measured),
    )


async def _remember(store: MemoryStore, embedder: Embedder, time: datetime, name: str, text: str) -> None:
    """By a mind of its own: nobody talks about it any further, so it is an episode alone."""
    clock = ManualClock(time)
    async with wiring.open_subconscious(
        OWNER, store=store, embedder=embedder, clock=clock, recall=UNGATED, settings=Settings()
    ) as mind:
        remembered = await mind.remember(text, said_by=name)
    if remembered.problems:
        raise StoreError("; ".join(remembered.problems))


async def _ask(
    store: MemoryStore, embedder: Embedder, setting: str, recall: RecallSettings, changes: list[Change]
) -> ChangesMeasured:
    clock = ManualClock(NOW + _PAUSE)
    now: list[bool] = []
    then: list[bool] = []
    async with wiring.open_subconscious(
        OWNER, store=store, embedder=embedder, clock=clock, recall=recall, settings=Settings()
    ) as mind:
        for one in changes:
            for question, answer, right in ((one.now, one.said_new, now), (one.then, one.said_old, then)):
                recollection = await mind.recollect(question, stateful=False)
                if recollection.problems:
                    raise StoreError("; ".join(recollection.problems))
                first = next(iter(recollection), None)
                wanted = one.new if answer == one.said_new else one.old
                right.append(
                    first is not None
                    and first.memory.created_at == answer
                    and first.memory.summary == f"{one.name}: {wanted}"
                )
    by_distance: dict[int, list[bool]] = {}
    for one, right_now in zip(changes, now, strict=True):
        by_distance.setdefault((one.said_new - one.said_old) // timedelta(hours=1), []).append(right_now)
    return ChangesMeasured(
        setting=setting,
        now=float(np.mean(now)),
        then=float(np.mean(then)),
        now_by_distance={hours: float(np.mean(by_distance[hours])) for hours in sorted(by_distance)},
    )
