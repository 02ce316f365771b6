"""Moments of three months ago, asked for vaguely, among very many other memories.

Each moment is asked for twice: as by someone who half remembers it, and without any of its words. The others are
everyday sentences, put together from parts by a seed, over half a year in whose middle the moments lie.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from importlib import resources
from itertools import product
from time import perf_counter

import numpy as np

from simuverse import wiring
from simuverse.agents import reflex
from simuverse.bench.recall import SHIPPED, UNGATED
from simuverse.config import Settings
from simuverse.errors import StoreError, UsageError
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import Memory, Provenance, Source, memory_id
from simuverse.memory.store import Entry, MemoryStore

SIZES = (5_000, 100_000)
"""Memories: a few months, and a life."""

BACK = timedelta(days=90)
"""From a planted moment to the question, give or take a week."""

NOW = datetime(2032, 3, 1, 12, tzinfo=UTC)
OWNER = "simuverse bench depth"

_SPAN = timedelta(days=180)
"""Over which the other memories are spread."""

_BATCH = 1_000

_WHO = (
    *("I", "We", "Petra and I", "My aunt", "The caretaker", "Our neighbour", "Mr Duval", "The girl next door", "Ben"),
    *("My flatmate", "The postwoman", "Uncle Viktor", "The new teacher", "Hanne", "My boss", "The students", "Sami"),
)
_DID = (
    *("cleaned the windows", "baked two loaves of bread", "mended a chair", "watched a long film", "bought potatoes"),
    *("repaired the fence", "read the newspaper", "washed the curtains", "planted beans", "fed the hens", "drew a map"),
    *("played cards", "had pancakes", "ironed shirts", "wrote a postcard", "swept the yard", "peeled apples"),
    *("tidied the cellar", "talked about the weather", "carried boxes", "waited for a parcel", "painted a shelf"),
    *("practised the piano", "went jogging", "made jam", "sorted old photographs", "tuned the radio", "cut the hedge"),
    *("picked cherries", "knitted a scarf", "looked for the keys", "oiled the bicycle", "made a shopping list"),
)
_WHERE = (
    *("at home", "in the kitchen", "behind the house", "on the balcony", "in the park", "at the office", "by the lake"),
    *("at the station", "in the library", "next to the church", "on the third floor", "at the market", "in the garage"),
    *("at the school", "in the old barn", "near the mill", "at the allotment", "in the hallway", "by the canal"),
)
_HOW = (
    *("before breakfast", "after work", "in the rain", "for an hour", "again", "with some help", "rather slowly"),
    *("as every week", "until it got dark", "and was tired afterwards", "while the radio played", "without hurry"),
    *("for the first time this year", "and laughed a lot", "although it was cold", "before the others came", "at noon"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Moment:
    """Args:
    vague: a question as of someone who half remembers: it names a thing or a person of the moment.
    reworded: one that shares no content word with it.
    """

    text: str
    vague: str
    reworded: str


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthMeasured:
    """Args:
    size: memories in all.
    question: ``vague`` or ``reworded``.
    at_5, at_10: shares, 0 to 1, of moments among the first so many, the gate open.
    shipped: share among what comes back with the shipped settings, gate and all.
    p50_ms: of a question, embedding included.
    """

    size: int
    question: str
    at_5: float
    at_10: float
    shipped: float
    p50_ms: float


@dataclass(frozen=True, kw_only=True, slots=True)
class DepthBench:
    store: str
    embedder: str
    moments: int
    measured: tuple[DepthMeasured, ...]


def planted() -> list[Moment]:
    """The 20 moments, in the same order each time."""
    text = (resources.files("simuverse.bench") / "moments" / "planted.txt").read_text(encoding="utf-8")
    lines = (line.split(" | ") for line in text.splitlines())
    return [Moment(text=moment, vague=vague, reworded=reworded) for moment, vague, reworded in lines]


def everyday(count: int, *, seed: int) -> list[str]:
    """Different sentences of everyday life."""
    parts = (_WHO, _DID, _WHERE, _HOW)
    total = int(np.prod([len(part) for part in parts]))
    if count > total:
        raise UsageError(f"there are {total} everyday sentences, not {count}")
    places = np.random.default_rng(seed).choice(total, count, replace=False)
    sentences = [" ".join(chosen) + "." for chosen in product(*parts)]
    return [sentences[place] for place in places.tolist()]


async def measure_depth(
    store: MemoryStore,
    embedder: Embedder,
    *,
    sizes: Sequence[int] = SIZES,
    seed: int = 1,
    on_progress: Callable[[str], None] = lambda _: None,
) -> DepthBench:
    """Plants the moments among others, and asks for each; for each size anew.

    Raises:
        UsageError: a size has no room for the moments, or a collection of the benchmark's name is in the store already.
        StoreError, EmbedderError: as the parts raise them.
    """
    moments = planted()
    if any(size < len(moments) for size in sizes):
        raise UsageError(f"sizes are {len(moments)} or more, not {', '.join(map(str, sizes))}")
    measured: list[DepthMeasured] = []
    for size in sizes:
        if OWNER in await store.owners():
            raise UsageError(f"{store.description} already holds memories of {OWNER!r}; use another store")
        try:
            on_progress(f"{size} memories: writing")
            await _fill(store, embedder, moments, size=size, seed=seed)
            on_progress(f"{size} memories: asking")
            for question in ("vague", "reworded"):
                measured.append(await _ask(store, embedder, moments, question=question, size=size))
        finally:
            await store.erase(OWNER)
    return DepthBench(store=store.description, embedder=embedder.name, moments=len(moments), measured=tuple(measured))


async def _fill(store: MemoryStore, embedder: Embedder, moments: Sequence[Moment], *, size: int, seed: int) -> None:
    random = np.random.default_rng(seed)
    others = everyday(size - len(moments), seed=seed)
    minutes = random.integers(int(_SPAN / timedelta(minutes=1)), size=len(others)).tolist()
    told = [(NOW - timedelta(minutes=back), text) for back, text in zip(minutes, others, strict=True)]
    hours = random.integers(-7 * 24, 7 * 24, size=len(moments)).tolist()
    told += [(NOW - BACK + timedelta(hours=by), one.text) for by, one in zip(hours, moments, strict=True)]
    told.sort()
    collection = await store.collection(OWNER)
    for at in range(0, len(told), _BATCH):
        some = told[at : at + _BATCH]
        vectors = await embedder.embed([text for _, text in some])
        memories = (_memory(number, time, text) for number, (time, text) in enumerate(some, at))
        await collection.add([Entry(memory=one, vector=vector) for one, vector in zip(memories, vectors, strict=True)])


def _memory(number: int, time: datetime, text: str) -> Memory:
    """As a mind without a model would write it down."""
    draft = reflex.statement(text)
    return Memory(
        id=memory_id(OWNER, "bench", number),
        owner=OWNER,
        summary=draft.summary,
        category=draft.category,
        keywords=draft.keywords,
        critical_information=draft.critical_information,
        importance=draft.importance,
        created_at=time,
        last_accessed_at=time,
        provenance=Provenance(source=Source.OBSERVED),
    )


async def _ask(
    store: MemoryStore, embedder: Embedder, moments: Sequence[Moment], *, question: str, size: int
) -> DepthMeasured:
    places: list[int | None] = []
    shipped: list[bool] = []
    times: list[float] = []
    for setting in (UNGATED, SHIPPED):
        async with wiring.open_subconscious(
            OWNER, store=store, embedder=embedder, clock=ManualClock(NOW), recall=setting, settings=Settings()
        ) as mind:
            for one in moments:
                started = perf_counter()
                recollection = await mind.recollect(one.vague if question == "vague" else one.reworded, stateful=False)
                elapsed = 1000 * (perf_counter() - started)
                if recollection.problems:
                    raise StoreError("; ".join(recollection.problems))
                texts = [flashback.memory.summary for flashback in recollection]
                if setting is UNGATED:
                    places.append(texts.index(one.text) if one.text in texts else None)
                else:
                    shipped.append(one.text in texts)
                    times.append(elapsed)
    return DepthMeasured(
        size=size,
        question=question,
        at_5=float(np.mean([place is not None and place < 5 for place in places])),
        at_10=float(np.mean([place is not None and place < 10 for place in places])),
        shipped=float(np.mean(shipped)),
        p50_ms=float(np.median(times)),
    )
