"""What a search must find, worked out the slow and obvious way, and invented memories to search.

Nothing here shares code with a store, but the tokens and the fusion, which have golden tests of their own.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from datetime import UTC, datetime, timedelta
from itertools import product
from math import log
from uuid import UUID

import numpy as np

from simuverse.memory.analysis import memory_tokens, query_terms
from simuverse.memory.fusion import relative_score_fusion
from simuverse.memory.records import Category, Hit, Memory, MemoryFilter, Provenance, SearchType, Source, memory_id
from simuverse.memory.store import Entry, SearchRequest, Vector

DIMENSION = 16
START = datetime(2026, 3, 1, 8, 0, tzinfo=UTC)
TIE = 1e-6


def vector(seed: int) -> Vector:
    """A direction of its own for each seed."""
    raw = np.random.default_rng(seed).standard_normal(DIMENSION)
    return np.asarray(raw / np.linalg.norm(raw), dtype=np.float32)


def said_by(speaker: str) -> Provenance:
    return Provenance(source=Source.SAID_BY, speaker=speaker)


SEEN = Provenance(source=Source.OBSERVED)


def memory(
    summary: str,
    number: int = 0,
    *,
    owner: str = "Jade",
    category: Category = Category.OBSERVATION,
    keywords: tuple[str, ...] = (),
    importance: int = 5,
    minutes: float | None = None,
    provenance: Provenance = SEEN,
    superseded_by: UUID | None = None,
    forgotten_at: datetime | None = None,
    episode: str = "",
    position: int = 0,
) -> Memory:
    """The ``number``-th memory of its owner, made ``minutes`` after START, by default one a minute."""
    at = START + timedelta(minutes=number if minutes is None else minutes)
    return Memory(
        id=memory_id(owner, "invented", number),
        owner=owner,
        summary=summary,
        category=category,
        keywords=keywords,
        importance=importance,
        created_at=at,
        last_accessed_at=at,
        provenance=provenance,
        superseded_by=superseded_by,
        superseded_at=START if superseded_by else None,
        forgotten_at=forgotten_at,
        episode=episode,
        position=position,
    )


def entry(summary: str, number: int = 0, *, seed: int | None = None, owner: str = "Jade") -> Entry:
    """A plain memory with the vector of its own number, or of ``seed``."""
    return Entry(memory=memory(summary, number, owner=owner), vector=vector(number if seed is None else seed))


PEOPLE = ("Mira", "Old Tomas", "the ferryman", "José")
DEEDS = ("hid a brass key under", "sang about the rain at", "lost two copper coins near", "mended the roof of")
PLACES = ("the mill", "the harbour wall", "Greta's bakery", "the bakery, where Greta keeps a second bakery key")
WORDS = ("key", "bakery", "rain", "coins", "mira", "jose", "greta", "roof", "copper", "second", "unheard")


def invented_village(owner: str = "Jade") -> list[Entry]:
    """128 memories that differ in all that can be filtered by; every text and vector twice, so that ties are common."""
    provenances = (SEEN, said_by("Mira"), Provenance(source=Source.INFERRED), Provenance(source=Source.OWN_ACTION))
    categories = list(Category)
    entries: list[Entry] = []
    for number, (person, deed, place, twin) in enumerate(product(PEOPLE, DEEDS, PLACES, (0, 1))):
        made = memory(
            f"{person} {deed} {place}.",
            number,
            owner=owner,
            category=categories[number * 7 % len(categories)],
            keywords=("brass key",) if number % 5 == 0 else (),
            importance=number * 3 % 10 + 1,
            minutes=number // 3,
            provenance=provenances[number * 5 % len(provenances)],
            superseded_by=memory_id(owner, "invented", number - 1) if number % 11 == 10 else None,
            forgotten_at=START if number % 13 == 12 else None,
            episode=f"walk {number // 10}" if number % 4 else "",
            position=number % 10 // 2,
        )
        entries.append(Entry(memory=made, vector=vector(number - twin)))
    return entries


def reference_allows(memory: Memory, filter: MemoryFilter) -> bool:
    about = query_terms(filter.about or "")
    return (
        (filter.category is None or memory.category == filter.category)
        and (filter.min_importance is None or memory.importance >= filter.min_importance)
        and (filter.max_importance is None or memory.importance <= filter.max_importance)
        and (filter.since is None or memory.created_at >= filter.since)
        and (filter.until is None or memory.created_at < filter.until)
        and memory.provenance.source not in filter.exclude_sources
        and (filter.include_superseded or memory.superseded_by is None)
        and (filter.include_forgotten or memory.forgotten_at is None)
        and (filter.about is None or (bool(about) and set(about) <= set(memory_tokens(memory))))
    )


def reference_search(entries: Sequence[Entry], request: SearchRequest) -> list[Hit]:
    memories = {e.memory.id: e.memory for e in entries}
    allowed = [e for e in entries if reference_allows(e.memory, request.filter)]
    alpha = {SearchType.KEYWORD: 0.0, SearchType.SEMANTIC: 1.0, SearchType.HYBRID: request.alpha}[request.search_type]
    depth = max(100, request.limit)
    cosines: dict[UUID, float] = {}
    if request.vector is not None:
        query = request.vector.astype(np.float64)
        cosines = {e.memory.id: float(e.vector.astype(np.float64) @ query) for e in allowed}
    bm25, reach = _bm25(_documents(entries, in_context=request.in_context), request.terms)
    semantic = _leg(cosines, depth) if alpha > 0 else []
    keyword = _leg({e.memory.id: bm25[e.memory.id] for e in allowed if bm25[e.memory.id] > 0}, depth)
    if alpha == 1:
        keyword = []
    semantic_rank = {found: rank for rank, (found, _) in enumerate(semantic, 1)}
    keyword_rank = {found: rank for rank, (found, _) in enumerate(keyword, 1)}
    return [
        Hit(
            memory=memories[fused.id],
            cosine=cosines.get(fused.id),
            bm25=bm25[fused.id] if fused.id in keyword_rank else None,
            reach=reach if alpha < 1 else None,
            semantic_rank=semantic_rank.get(fused.id),
            keyword_rank=keyword_rank.get(fused.id),
            fused=fused.score,
        )
        for fused in relative_score_fusion(semantic=semantic, keyword=keyword, alpha=alpha, limit=request.limit)
    ]


def _documents(entries: Sequence[Entry], *, in_context: bool) -> dict[UUID, Counter[str]]:
    documents = {e.memory.id: Counter(memory_tokens(e.memory)) for e in entries}
    if not in_context:
        return documents
    return {
        e.memory.id: documents[e.memory.id]
        + sum((documents[other.memory.id] for other in entries if _leads_to(other.memory, e.memory)), Counter[str]())
        for e in entries
    }


def _leads_to(one: Memory, other: Memory) -> bool:
    back = other.position - one.position
    return bool(other.episode) and one.episode == other.episode and 1 <= back <= 2 and one.forgotten_at is None


def _bm25(documents: dict[UUID, Counter[str]], terms: Sequence[str]) -> tuple[dict[UUID, float], float]:
    """Scores, and the sum of the terms' idf."""
    average = sum(d.total() for d in documents.values()) / max(1, sum(bool(d) for d in documents.values()))
    scores = dict.fromkeys(documents, 0.0)
    reach = 0.0
    for term, times in Counter(terms).items():
        holders = sum(term in d for d in documents.values())
        idf = log(1 + (len(documents) - holders + 0.5) / (holders + 0.5)) * times
        reach += idf
        for holder, document in documents.items():
            if term in document:
                length = 0.25 + 0.75 * document.total() / average
                scores[holder] += idf * document[term] / (document[term] + 1.2 * length)
    return scores, reach


def _leg(scores: dict[UUID, float], depth: int) -> list[tuple[UUID, float]]:
    """Best first; scores a rounding below the first of their group count as that one, and the id decides."""
    ranked: list[tuple[UUID, float]] = []
    for scored, score in sorted(scores.items(), key=lambda item: -item[1]):
        head = ranked[-1][1] if ranked else None
        ranked.append((scored, head if head is not None and head - score < TIE else score))
    return sorted(ranked, key=lambda item: (-item[1], str(item[0])))[:depth]
