"""From queries to flashbacks: search, merge, rank, gate, budget.

Every step leaves its figures on the candidates, so that whoever asks can be told why a memory came back, and what kept
another from it. Silence is a result: when nothing passes the gate, nothing comes back.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from math import ceil
from uuid import UUID

from simuverse.memory.analysis import matched_share, memory_tokens, query_terms
from simuverse.memory.embedding import Embedder
from simuverse.memory.hygiene import ALIKE, differing_figures, likeness
from simuverse.memory.records import Candidate, Cut, Flashback, FoundBy, Hit, Memory, MemoryQuery, SearchType
from simuverse.memory.scoring import Preset, Weighed, preset, score_all
from simuverse.memory.store import DEFAULT_ALPHA, MemoryCollection, SearchRequest

CHARACTERS_PER_TOKEN = 4
"""A common rule of thumb for Latin letters; a budget is a bound, not a bill."""

_LAST_LATIN = "\u024f"
"""Characters beyond it count as a token each."""

_ELEMENTS = 50
"""Tokens of what stands around a flashback's texts in a prompt: its elements, its time and its source."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RecallSettings:
    """How eager a recall is.

    Args:
        preset: the three factors' weights and scaling.
        count, tokens: the most that comes back, in flashbacks and in (estimated) tokens. Never passed.
        min_cosine, min_matched: the gate. A memory passes that is near enough in meaning, or that holds enough of the
            words of one of the queries (share, 0 to 1). Both are absolute, unlike fused scores.
        contiguity: how much of its relevance a memory lends to its neighbours in the same episode, 0 to 1.
        cool_down: a memory shown in the last so many turns stays away, unless it is asked for again: unless it holds
            ``asked_again`` of a query's words.
        runners_up: how many of those that were cut are kept for the record.
        step: what the presets that count in steps take a step to be.
    """

    preset: Preset = field(default_factory=lambda: preset("balanced"))
    count: int = 5
    tokens: int = 600
    min_cosine: float = 0.45
    min_matched: float = 0.3
    contiguity: float = 0.2
    cool_down: int = 3
    asked_again: float = 0.4
    runners_up: int = 10
    alpha: float = DEFAULT_ALPHA
    step: timedelta = timedelta(minutes=1)

    def __post_init__(self) -> None:
        for name, low in (("count", 1), ("tokens", 1), ("cool_down", 0), ("runners_up", 0)):
            if getattr(self, name) < low:
                raise ValueError(f"{name} {getattr(self, name)} is below {low}")
        if not -1 <= self.min_cosine <= 1:
            raise ValueError(f"min_cosine {self.min_cosine} is outside -1 to 1")
        for name in ("min_matched", "contiguity", "asked_again", "alpha"):
            if not 0 <= getattr(self, name) <= 1:
                raise ValueError(f"{name} {getattr(self, name)} is outside 0 to 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Recalled:
    """See :class:`simuverse.agents.trace.Recollection` for the fields."""

    flashbacks: tuple[Flashback, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    considered: int = 0


@dataclass(kw_only=True, slots=True)
class _Pooled:
    """A memory with all that found it."""

    memory: Memory
    tokens: list[str]
    found_by: list[FoundBy] = field(default_factory=list[FoundBy])
    relevance: float = 0.0
    cosine: float | None = None
    matched: float = 0.0
    lent: float = 0.0


async def recall(
    queries: Sequence[MemoryQuery],
    *,
    collection: MemoryCollection,
    embedder: Embedder,
    now: datetime,
    settings: RecallSettings,
    shown: Collection[UUID] = (),
) -> Recalled:
    """What comes to mind.

    Args:
        now: the run's time; recency is measured against it.
        shown: ids of the memories shown in the last ``cool_down`` turns.

    Raises:
        StoreError, EmbedderError: it couldn't be searched.
    """
    terms = [query_terms(query.keyword_text) for query in queries]
    results = await _search(queries, terms, collection=collection, embedder=embedder, alpha=settings.alpha)
    pool = _merge(results, terms)
    if not pool:
        return Recalled()
    _lend(pool, settings.contiguity)
    weighed = [Weighed(memory=p.memory, relevance=min(1.0, p.relevance + p.lent), cosine=p.cosine or 0.0) for p in pool]
    scores = score_all(weighed, settings.preset, now=now, step=settings.step)
    order = sorted(range(len(pool)), key=lambda i: (-round(scores[i].total, 9), str(pool[i].memory.id)))
    ranked = [
        (
            Candidate(
                memory=pool[i].memory,
                score=scores[i],
                found_by=tuple(pool[i].found_by),
                matched=pool[i].matched,
                lent=pool[i].lent,
            ),
            pool[i],
        )
        for i in order
    ]
    return _select(ranked, settings=settings, shown=shown)


async def _search(
    queries: Sequence[MemoryQuery],
    terms: Sequence[tuple[str, ...]],
    *,
    collection: MemoryCollection,
    embedder: Embedder,
    alpha: float,
) -> list[list[Hit]]:
    """All queries at once; the hits of each."""
    semantic = [i for i, query in enumerate(queries) if query.search_type is not SearchType.KEYWORD]
    vectors = await embedder.embed([queries[i].semantic_text for i in semantic], kind="query")
    vector_of = dict(zip(semantic, vectors, strict=True))
    return await asyncio.gather(
        *(
            collection.search(
                SearchRequest(
                    search_type=query.search_type,
                    terms=terms[i],
                    vector=vector_of.get(i),
                    filter=query.filter,
                    alpha=alpha,
                )
            )
            for i, query in enumerate(queries)
        )
    )


def _merge(results: Sequence[Sequence[Hit]], terms: Sequence[tuple[str, ...]]) -> list[_Pooled]:
    """One entry a memory: the best relevance, and every query that found it."""
    pool: dict[UUID, _Pooled] = {}
    for number, hits in enumerate(results):
        for hit in hits:
            entry = pool.get(hit.memory.id)
            if entry is None:
                entry = pool[hit.memory.id] = _Pooled(memory=hit.memory, tokens=memory_tokens(hit.memory))
            entry.found_by.append(
                FoundBy(
                    query=number,
                    fused=hit.fused,
                    cosine=hit.cosine,
                    bm25=hit.bm25,
                    semantic_rank=hit.semantic_rank,
                    keyword_rank=hit.keyword_rank,
                )
            )
            entry.relevance = max(entry.relevance, hit.fused)
            entry.matched = max(entry.matched, matched_share(terms[number], entry.tokens))
            if hit.cosine is not None:
                entry.cosine = hit.cosine if entry.cosine is None else max(entry.cosine, hit.cosine)
    return list(pool.values())


def _lend(pool: Sequence[_Pooled], share: float) -> None:
    """Neighbours in an episode lend each other part of their relevance: what was said around it helps find it."""
    by_place: dict[tuple[str, int], float] = {}
    for entry in pool:
        place = entry.memory.episode, entry.memory.position
        by_place[place] = max(entry.relevance, by_place.get(place, 0.0))
    for entry in pool:
        episode, position = entry.memory.episode, entry.memory.position
        if episode:
            entry.lent = share * max(by_place.get((episode, position + step), 0.0) for step in (-1, 1))


def _select(
    ranked: Sequence[tuple[Candidate, _Pooled]], *, settings: RecallSettings, shown: Collection[UUID]
) -> Recalled:
    """Gate, near-duplicates, cool-down and budget, from the best down."""
    chosen: list[tuple[Candidate, _Pooled]] = []
    cut: list[Candidate] = []
    kept: list[Candidate] = []
    spent = 0
    for candidate, entry in ranked:
        cost = estimated_tokens(candidate.memory)
        short = _gate_shortfall(entry, settings)
        alike = max((_sameness(entry.tokens, other.tokens) for _, other in chosen), default=0.0)
        reason: Cut | None = None
        missed_by: float | None = None
        if short > 0:
            reason, missed_by = Cut.GATE, short
        elif candidate.memory.id in shown and entry.matched < settings.asked_again:
            reason = Cut.COOL_DOWN
        elif alike >= ALIKE:
            reason, missed_by = Cut.NEAR_DUPLICATE, alike - ALIKE
        elif len(chosen) >= settings.count:
            reason, missed_by = Cut.COUNT, chosen[-1][0].score.total - candidate.score.total
        elif spent + cost > settings.tokens:
            reason, missed_by = Cut.TOKENS, float(spent + cost - settings.tokens)
        if reason is None:
            chosen.append((candidate, entry))
            kept.append(candidate)
            spent += cost
        elif len(cut) < settings.runners_up:
            marked = replace(candidate, cut=reason, missed_by=missed_by)
            cut.append(marked)
            kept.append(marked)
    flashbacks = tuple(
        Flashback(memory=c.memory, score=c.score, rank=rank, found_by=c.found_by)
        for rank, (c, _) in enumerate(chosen, start=1)
    )
    return Recalled(flashbacks=flashbacks, candidates=tuple(kept), considered=len(ranked))


def _sameness(tokens: Sequence[str], shown: Sequence[str]) -> float:
    """Likeness; 0 for what holds a number that the one shown doesn't: it is another fact."""
    return 0.0 if differing_figures(tokens, shown) else likeness(tokens, shown)


def _gate_shortfall(entry: _Pooled, settings: RecallSettings) -> float:
    """How much the better of the two signals lacks; 0 or less for what passes."""
    cosine = -1.0 if entry.cosine is None else entry.cosine
    return min(settings.min_cosine - cosine, settings.min_matched - entry.matched)


def estimated_tokens(memory: Memory) -> int:
    """Of a memory as a flashback in a prompt: rather too many than too few."""
    text = memory.summary + memory.critical_information
    latin = sum(char <= _LAST_LATIN for char in text)
    return _ELEMENTS + len(text) - latin + ceil(latin / CHARACTERS_PER_TOKEN)
