"""How clean a store stays: what becomes of restatements, of wordings of one thing, and of facts that changed.

All of it by the way that a mind takes, with nothing labelled or invented here that a store could know. Each part uses
owners of its own, and leaves none behind.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import cycle, islice
from typing import Literal

import numpy as np

from simuverse import wiring
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.agents.trace import Recollection, Remembered
from simuverse.bench.echoed import EVENTS, IN_TURN, can_be_turned, in_other_words, reworded, wordings
from simuverse.bench.hygiene_cost import RecallCost, recall_cost
from simuverse.bench.labelled_pairs import KINDS, LISTENER, Kind, Pair, Telling, labelled_pairs
from simuverse.bench.silence import SilenceBench
from simuverse.bench.soak import Soak
from simuverse.config import Settings
from simuverse.errors import StoreError, UsageError
from simuverse.memory.changed_facts import replaced_by
from simuverse.memory.clock import ManualClock
from simuverse.memory.echoes import SURE, compared
from simuverse.memory.embedding import Embedder
from simuverse.memory.statements import said
from simuverse.memory.store import MemoryStore
from simuverse.memory.word_vectors import WordVectors

TURNS = 1_000
"""Of characters that restate their flashbacks."""

MEMORIES = 10_000
"""Among which recalls are timed."""

WORDINGS = 20
"""Of each event, of the same words and of others."""

PAIRS: tuple[tuple[Telling, bool], ...] = (("heard", False), ("heard", True), ("own", False), ("own", True))
"""Sets of labelled pairs that the loop takes its paraphrases from, and whether they are held out."""

THRESHOLDS = (-1.0, 0.0, 0.5, 1.0, 1.5, SURE, 2.5, 3.0)

BEGIN = datetime(2031, 5, 5, 8, tzinfo=UTC)
OWNER = "simuverse bench hygiene"

Fate = Literal["refused", "merged", "linked", "replaced", "in part", "stored"]
FATES: tuple[Fate, ...] = ("refused", "merged", "linked", "replaced", "in part", "stored")


@dataclass(frozen=True, kw_only=True, slots=True)
class Threshold:
    """Were a draft refused from this score on.

    Args:
        refused: how many of the pairs.
        precision, recall: of telling restatements, 0 to 1; precision is None where nothing is refused.
    """

    score: float
    refused: int
    precision: float | None
    recall: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Changes:
    """Args:
    replaced: of the pairs of each kind told by one voice, how many made the first past; of how many is in ``told``.
    unrelated, unrelated_replaced: pairs of sentences that were not made to go together, told by one voice, and how many
        of the earlier ones were made past.
    """

    told: Mapping[Kind, int]
    replaced: Mapping[Kind, int]
    unrelated: int
    unrelated_replaced: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Loop:
    """Turns in which a character says again what came to mind, or is told it again.

    Args:
        restated: turns in which anything came to mind.
        stored, linked: restatements that became memories, alone or linked to what they restate, by their form.
        memories: current at the end, of ``facts`` told at first.
    """

    turns: int
    restated: int
    facts: int
    memories: int
    stored: Mapping[str, int]
    linked: Mapping[str, int]
    forms: Mapping[str, int]


@dataclass(frozen=True, kw_only=True, slots=True)
class Duplicates:
    """Args: most, mean: memories left of one event; groups: that these are in, the most of one event."""

    events: int
    wordings: int
    mean: float
    most: int
    groups: int


@dataclass(frozen=True, kw_only=True, slots=True)
class HygieneBench:
    """Args:
    fates, held_out: of the pairs that the rules were made with, and of those that they weren't.
    own, own_held_out: the same of pairs whose second sentence is the listener's own.
    retold, retold_held_out: the same of those that share hardly a word if they say the same.
    duplicates, reworded: one event in other orders of the same words, and in other words.
    silence, soak: where they were measured too.
    """

    store: str
    embedder: str
    pairs: int
    fates: Mapping[Kind, Mapping[Fate, int]]
    held_out: Mapping[Kind, Mapping[Fate, int]]
    own: Mapping[Kind, Mapping[Fate, int]]
    own_held_out: Mapping[Kind, Mapping[Fate, int]]
    retold: Mapping[Kind, Mapping[Fate, int]]
    retold_held_out: Mapping[Kind, Mapping[Fate, int]]
    curve: tuple[Threshold, ...]
    changes: Changes
    loop: Loop
    duplicates: Duplicates
    reworded: Duplicates
    cost: RecallCost
    silence: SilenceBench | None = None
    soak: Soak | None = None


async def measure_hygiene(
    store: MemoryStore, embedder: Embedder, *, turns: int = TURNS, memories: int = MEMORIES
) -> HygieneBench:
    """Args:
        memories: among which recalls are timed, 1 or more.

    Raises:
        UsageError: a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError: as the parts raise them.
    """
    if any(owner == LISTENER or owner.startswith(OWNER) for owner in await store.owners()):
        raise UsageError(f"{store.description} already holds memories of {LISTENER!r} or {OWNER!r}; use another store")
    pairs = labelled_pairs()
    return HygieneBench(
        store=store.description,
        embedder=embedder.name,
        pairs=len(pairs),
        fates=await _fates(store, embedder, pairs),
        held_out=await _fates(store, embedder, labelled_pairs(held_out=True)),
        own=await _fates(store, embedder, labelled_pairs("own")),
        own_held_out=await _fates(store, embedder, labelled_pairs("own", held_out=True)),
        retold=await _fates(store, embedder, labelled_pairs("retold")),
        retold_held_out=await _fates(store, embedder, labelled_pairs("retold", held_out=True)),
        curve=await _curve(embedder, pairs),
        changes=_changes(pairs),
        loop=await _loop(store, embedder, turns),
        duplicates=await _duplicates(store, embedder, [wordings(event, WORDINGS) for event in EVENTS]),
        reworded=await _duplicates(store, embedder, reworded()),
        cost=await recall_cost(store, embedder, OWNER, memories=memories),
    )


async def _fates(store: MemoryStore, embedder: Embedder, pairs: Sequence[Pair]) -> Mapping[Kind, Mapping[Fate, int]]:
    """Of each pair the first is told, comes to mind, and then the second is said."""
    counted: dict[Kind, Counter[Fate]] = {kind: Counter() for kind in KINDS}
    for pair in pairs:
        clock = ManualClock(BEGIN)
        try:
            async with wiring.open_subconscious(
                LISTENER, store=store, embedder=embedder, clock=clock, settings=Settings()
            ) as mind:
                await _told(mind, pair.known.speaker, pair.known.text)
                clock.set(BEGIN + timedelta(hours=2))
                recollection = await mind.recollect(pair.known.text, said_by=pair.known.speaker)
                became = await _told(mind, pair.draft.speaker, pair.draft.text, recollection)
        finally:
            await store.erase(LISTENER)
        counted[pair.kind][_fate(became, pair.draft.text)] += 1
    return {kind: {fate: counted[kind][fate] for fate in FATES} for kind in KINDS}


def _fate(became: Remembered, text: str) -> Fate:
    if became.past:
        return "replaced"
    if became.merged:
        return "merged"
    if not became.written:
        return "refused"
    [memory] = became.written
    if memory.restates is not None:
        return "linked"
    return "stored" if text in memory.summary else "in part"


async def _told(mind: SubconsciousAgent, by: str, text: str, recollection: Recollection | None = None) -> Remembered:
    remembered = await mind.remember(text, said_by=by, recollection=recollection)
    if remembered.problems:
        raise StoreError("; ".join(remembered.problems))
    return remembered


async def _curve(embedder: Embedder, pairs: Sequence[Pair]) -> tuple[Threshold, ...]:
    """What differs in a number, a name, a word in another's place and the like is refused at no score."""
    table = embedder if isinstance(embedder, WordVectors) else None
    known = await embedder.embed([str(pair.known) for pair in pairs])
    drafts = await embedder.embed([str(pair.draft) for pair in pairs])
    cosines = np.vecdot(known, drafts).tolist()
    scores: list[float] = []
    for pair, cosine in zip(pairs, cosines, strict=True):
        one, other = said(pair.draft.text, by=pair.draft.speaker), said(pair.known.text, by=pair.known.speaker)
        echo = compared(one, other, cosine=cosine, table=table)
        scores.append(-np.inf if echo is None or echo.adds or echo.substitutes else echo.score)
    right = [pair.kind == "restated" for pair in pairs]
    curve: list[Threshold] = []
    for least in THRESHOLDS:
        refused = [restated for restated, score in zip(right, scores, strict=True) if score >= least]
        precision = sum(refused) / len(refused) if refused else None
        curve.append(
            Threshold(score=least, refused=len(refused), precision=precision, recall=sum(refused) / sum(right))
        )
    return tuple(curve)


def _changes(pairs: Sequence[Pair]) -> Changes:
    told: Counter[Kind] = Counter()
    replaced: Counter[Kind] = Counter()
    for pair in pairs:
        if pair.known.speaker == pair.draft.speaker:
            told[pair.kind] += 1
            replaced[pair.kind] += _replaced(pair.known.text, pair.draft.text)
    texts = sorted({(pair.known.speaker, pair.known.text) for pair in pairs if pair.kind in ("restated", "new")})
    strangers = [
        (text, pair.draft.text)
        for pair in pairs
        if pair.kind in ("restated", "new")
        for speaker, text in texts
        if speaker == pair.draft.speaker and text != pair.known.text
    ]
    return Changes(
        told={kind: told[kind] for kind in KINDS},
        replaced={kind: replaced[kind] for kind in KINDS},
        unrelated=len(strangers),
        unrelated_replaced=sum(_replaced(old, new) for old, new in strangers),
    )


def _replaced(old: str, new: str) -> bool:
    return replaced_by(said(old, by=OWNER), said(new, by=OWNER)) is not None


async def _loop(store: MemoryStore, embedder: Embedder, turns: int) -> Loop:
    """Each turn somebody speaks of a fact, and the character says what came to mind again, or is told so."""
    paraphrases: dict[str, list[str]] = {}
    for pair in (pair for telling, held_out in PAIRS for pair in labelled_pairs(telling, held_out=held_out)):
        if pair.kind == "restated" and pair.known.speaker != LISTENER and can_be_turned(pair.known.text):
            own = [pair.draft.text] if pair.draft.speaker == LISTENER else []
            paraphrases.setdefault(str(pair.known), []).extend(own)
    clock = ManualClock(BEGIN)
    stored: Counter[str] = Counter()
    linked: Counter[str] = Counter()
    forms: Counter[str] = Counter()
    try:
        async with wiring.open_subconscious(
            LISTENER, store=store, embedder=embedder, clock=clock, settings=Settings()
        ) as mind:
            for fact in paraphrases:
                speaker, _, text = fact.partition(": ")
                await _told(mind, speaker, text)
            for number, fact in enumerate(islice(cycle(paraphrases), turns)):
                time = number // len(paraphrases)
                clock.set(clock.now() + timedelta(minutes=1))
                speaker, _, text = fact.partition(": ")
                recollection = await mind.recollect(text, said_by=speaker)
                first = next((flashback.memory.summary for flashback in recollection), None)
                if first is None:
                    continue
                form = IN_TURN[(time + number) % len(IN_TURN)]
                told = in_other_words(form, first, paraphrases.get(first, ()), listener=LISTENER, turn=time)
                forms[form] += 1
                became = await _told(mind, told.speaker, told.text, recollection)
                stored[form] += sum(memory.restates is None for memory in became.written)
                linked[form] += sum(memory.restates is not None for memory in became.written)
            memories = await mind.collection.count()
    finally:
        await store.erase(LISTENER)
    return Loop(
        turns=turns,
        restated=forms.total(),
        facts=len(paraphrases),
        memories=memories,
        stored=dict(stored),
        linked=dict(linked),
        forms=dict(forms),
    )


async def _duplicates(store: MemoryStore, embedder: Embedder, events: Sequence[Sequence[str]]) -> Duplicates:
    """Each event told again and again by one person, within the hour."""
    left: list[int] = []
    groups: list[int] = []
    for number, told in enumerate(events):
        owner = f"{OWNER} {number}"
        clock = ManualClock(BEGIN)
        try:
            async with wiring.open_subconscious(
                owner, store=store, embedder=embedder, clock=clock, settings=Settings()
            ) as mind:
                for text in told:
                    clock.set(clock.now() + timedelta(minutes=1))
                    await _told(mind, "Greta", text)
                memories = await mind.collection.recent(WORDINGS)
        finally:
            await store.erase(owner)
        left.append(len(memories))
        groups.append(len({memory.group for memory in memories}))
    return Duplicates(
        events=len(events), wordings=WORDINGS, mean=float(np.mean(left)), most=max(left), groups=max(groups)
    )
