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

from simuverse.memory.analysis import matched_share, memory_tokens, query_terms, tokens
from simuverse.memory.embedding import Embedder
from simuverse.memory.hygiene import ALIKE, differing_figures, likeness
from simuverse.memory.records import (
    NO_RELEVANCE,
    Candidate,
    Cut,
    Flashback,
    FoundBy,
    Hit,
    Memory,
    MemoryQuery,
    Relevance,
    SearchType,
)
from simuverse.memory.relevance import Evidence, relevance
from simuverse.memory.scoring import Preset, Weighed, preset, score_all
from simuverse.memory.store import DEFAULT_ALPHA, MemoryCollection, SearchRequest, Vector

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
        min_cosine, min_matched, min_found: the gate. A memory passes that is near enough in meaning; or that holds
            enough of the words of one of the queries (share, 0 to 1); or whose words, read in their context, are enough
            of what a query asks for (BM25 as a share of what it could reach, 0 to 1). All three are absolute, unlike
            the signals that rank.
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
    min_found: float = 0.12
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
        for name in ("min_matched", "min_found", "asked_again", "alpha"):
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
    relevance: Relevance = NO_RELEVANCE
    cosine: float | None = None
    found: float = 0.0
    matched: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class _Searched:
    """One query with what its two searches found: each memory alone, and read in its context."""

    query: MemoryQuery
    terms: tuple[str, ...]
    alone: list[Hit]
    in_context: list[Hit]


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
    searched = await _search(queries, collection=collection, embedder=embedder, alpha=settings.alpha)
    pool = _merge(searched)
    if not pool:
        return Recalled()
    weighed = [Weighed(memory=p.memory, relevance=p.relevance.total, cosine=p.cosine or 0.0) for p in pool]
    scores = score_all(weighed, settings.preset, now=now, step=settings.step)
    order = sorted(range(len(pool)), key=lambda i: (-round(scores[i].total, 9), str(pool[i].memory.id)))
    ranked = [
        (
            Candidate(
                memory=pool[i].memory,
                score=scores[i],
                found_by=tuple(pool[i].found_by),
                matched=pool[i].matched,
                relevance=pool[i].relevance,
            ),
            pool[i],
        )
        for i in order
    ]
    return _select(ranked, settings=settings, shown=shown)


async def _search(
    queries: Sequence[MemoryQuery], *, collection: MemoryCollection, embedder: Embedder, alpha: float
) -> list[_Searched]:
    """All queries at once."""
    vectors = await embedder.embed([query.semantic_text for query in queries], kind="query")

    async def search(query: MemoryQuery, vector: Vector) -> _Searched:
        terms = query_terms(query.keyword_text)
        request = SearchRequest(
            search_type=query.search_type, terms=terms, vector=vector, filter=query.filter, alpha=alpha
        )
        if query.search_type is SearchType.SEMANTIC:
            return _Searched(query=query, terms=(), alone=await collection.search(request), in_context=[])
        wider = replace(request, search_type=SearchType.KEYWORD, in_context=True)
        alone, in_context = await asyncio.gather(collection.search(request), collection.search(wider))
        return _Searched(query=query, terms=terms, alone=alone, in_context=in_context)

    return await asyncio.gather(*(search(query, vector) for query, vector in zip(queries, vectors, strict=True)))


def _merge(searched: Sequence[_Searched]) -> list[_Pooled]:
    """One entry a memory: the best relevance, and every query that found it."""
    pool: dict[UUID, _Pooled] = {}
    for number, one in enumerate(searched):
        alone = {hit.memory.id: hit for hit in one.alone}
        in_context = {hit.memory.id: hit for hit in one.in_context}
        hits = [*one.alone, *(hit for hit in one.in_context if hit.memory.id not in alone)]
        reach = max((hit.reach or 0.0 for hit in one.alone), default=0.0)
        weighed = relevance(
            [_evidence(one, alone.get(hit.memory.id), in_context.get(hit.memory.id)) for hit in hits], reach=reach
        )
        for hit, weight in zip(hits, weighed, strict=True):
            entry = pool.get(hit.memory.id)
            if entry is None:
                entry = pool[hit.memory.id] = _Pooled(memory=hit.memory, tokens=memory_tokens(hit.memory))
            own = alone.get(hit.memory.id)
            entry.found_by.append(_found_by(number, hit, own, in_context.get(hit.memory.id)))
            if weight.total > entry.relevance.total:
                entry.relevance = weight
            entry.found = max(entry.found, _found(in_context.get(hit.memory.id)))
            entry.matched = max(entry.matched, matched_share(one.terms, entry.tokens))
            if hit.cosine is not None:
                entry.cosine = hit.cosine if entry.cosine is None else max(entry.cosine, hit.cosine)
    return list(pool.values())


def _evidence(searched: _Searched, alone: Hit | None, in_context: Hit | None) -> Evidence:
    hit = alone or in_context
    assert hit is not None
    memory = hit.memory
    who = memory.provenance.speaker or memory.owner
    return Evidence(
        bm25=0.0 if alone is None else alone.bm25 or 0.0,
        context_bm25=0.0 if in_context is None else in_context.bm25 or 0.0,
        cosine=None if searched.query.search_type is SearchType.KEYWORD else hit.cosine,
        speaker_named=set(tokens(who)) <= set(searched.terms),
        episode=memory.episode,
        position=memory.position,
    )


def _found(hit: Hit | None) -> float:
    """How much of what BM25 could reach a hit has, 0 to 1."""
    return 0.0 if hit is None or hit.bm25 is None or not hit.reach else hit.bm25 / hit.reach


def _found_by(number: int, hit: Hit, alone: Hit | None, in_context: Hit | None) -> FoundBy:
    return FoundBy(
        query=number,
        cosine=hit.cosine,
        semantic_rank=None if alone is None else alone.semantic_rank,
        bm25=None if alone is None else alone.bm25,
        keyword_rank=None if alone is None else alone.keyword_rank,
        context_bm25=None if in_context is None else in_context.bm25,
        context_rank=None if in_context is None else in_context.keyword_rank,
    )


def _select(
    ranked: Sequence[tuple[Candidate, _Pooled]], *, settings: RecallSettings, shown: Collection[UUID]
) -> Recalled:
    """Gate, near-duplicates, cool-down and budget, from the best down."""
    chosen: list[tuple[Candidate, _Pooled]] = []
    cut: list[Candidate] = []
    kept: list[Candidate] = []
    spent = 0
    for candidate, entry in ranked:
        if len(chosen) == settings.count and len(cut) == settings.runners_up:
            break
        cost = estimated_tokens(candidate.memory)
        reason: Cut | None = None
        missed_by: float | None = None
        if (short := _gate_shortfall(entry, settings)) > 0:
            reason, missed_by = Cut.GATE, short
        elif candidate.memory.id in shown and entry.matched < settings.asked_again:
            reason = Cut.COOL_DOWN
        elif (alike := max((_sameness(entry.tokens, other.tokens) for _, other in chosen), default=0.0)) >= ALIKE:
            reason, missed_by = Cut.NEAR_DUPLICATE, alike - ALIKE
        elif len(chosen) == settings.count:
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
    """How much the best of the three signals lacks; 0 or less for what passes."""
    cosine = -1.0 if entry.cosine is None else entry.cosine
    return min(settings.min_cosine - cosine, settings.min_matched - entry.matched, settings.min_found - entry.found)


def estimated_tokens(memory: Memory) -> int:
    """Of a memory as a flashback in a prompt: rather too many than too few."""
    text = memory.summary + memory.critical_information
    latin = sum(char <= _LAST_LATIN for char in text)
    return _ELEMENTS + len(text) - latin + ceil(latin / CHARACTERS_PER_TOKEN)
