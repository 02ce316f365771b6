"""What a recall looks for: each query alone and read in its context, all at once; a time asked for alone is listed."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import tzinfo
from uuid import UUID

from simuverse.memory import timely
from simuverse.memory.analysis import query_terms
from simuverse.memory.embedding import Embedder
from simuverse.memory.records import Hit, Memory, MemoryFilter, MemoryQuery, SearchType
from simuverse.memory.store import MemoryCollection, SearchRequest, Vector

WEIGHED = 60
"""Hits of each search that are weighed: what stands further down was no find in any measurement, and costs time."""

_WIDER = 10 * WEIGHED
"""Hits that are looked at where one search brings half of what is weighed or more of groups already met."""


@dataclass(kw_only=True, slots=True)
class Searched:
    """One query with what was found for it.

    Args:
        terms: what its words were searched by.
        alone, in_context: hits of its two searches, each memory alone, and read in its context.
        listed: what it asks for by its time alone; then nothing is searched.
        held: once they are weighed, the share of its words that the best of what was found holds by meaning, 0 to 1;
            None where only the words as they are written can be compared.
    """

    query: MemoryQuery
    terms: tuple[str, ...] = ()
    alone: list[Hit] = field(default_factory=list[Hit])
    in_context: list[Hit] = field(default_factory=list[Hit])
    listed: list[Memory] = field(default_factory=list[Memory])
    held: float | None = None


async def search(
    queries: Sequence[MemoryQuery],
    *,
    collection: MemoryCollection,
    embedder: Embedder,
    alpha: float,
    zone: tzinfo,
    listed: int,
) -> list[Searched]:
    """One a query, in order.

    Args:
        listed: how many memories at most, where a time is asked for alone.

    Raises:
        StoreError, EmbedderError: it couldn't be searched.
    """
    filters = [timely.filters(query) for query in queries]
    searched = [
        Searched(query=query, terms=_terms(query) if wanted else ())
        for query, wanted in zip(queries, filters, strict=True)
    ]
    asked = [(one, wanted) for one, wanted in zip(searched, filters, strict=True) if wanted]
    vectors = await embedder.embed([one.query.semantic_text for one, _ in asked], kind="query") if asked else ()
    requests = [
        request
        for (one, wanted), vector in zip(asked, vectors, strict=True)
        for narrowed in wanted
        for request in _requests(one, vector, narrowed, alpha)
    ]
    hits = iter(await _various(requests, collection) if requests else ())
    for one, wanted in zip(searched, filters, strict=True):
        if not wanted:
            one.listed = await timely.listed(collection, one.query, limit=listed, zone=zone)
        for narrowed in wanted:
            one.alone += _of_its_time(next(hits), one.query, narrowed, zone)
            if one.query.search_type is not SearchType.SEMANTIC:
                one.in_context += _of_its_time(next(hits), one.query, narrowed, zone)
    return searched


def _terms(query: MemoryQuery) -> tuple[str, ...]:
    return () if query.search_type is SearchType.SEMANTIC else query_terms(query.keyword_text)


def _requests(one: Searched, vector: Vector, filter: MemoryFilter, alpha: float) -> list[SearchRequest]:
    """Alone and, where it has words, in context."""
    alone = SearchRequest(
        search_type=one.query.search_type, terms=one.terms, vector=vector, filter=filter, alpha=alpha, limit=WEIGHED
    )
    if one.query.search_type is SearchType.SEMANTIC:
        return [alone]
    return [alone, replace(alone, search_type=SearchType.KEYWORD, in_context=True)]


async def _various(requests: Sequence[SearchRequest], collection: MemoryCollection) -> list[list[Hit]]:
    """The hits of each; where many say the same, what else there is isn't crowded out by them."""
    found = await collection.search_all(requests)
    crowded = [place for place, hits in enumerate(found) if _crowded(hits)]
    if crowded:
        wider = await collection.search_all([replace(requests[place], limit=_WIDER) for place in crowded])
        for place, hits in zip(crowded, wider, strict=True):
            found[place] = _thinned(hits)
    return found


def _crowded(hits: Sequence[Hit]) -> bool:
    """Whether half of them or more are of groups already met."""
    if len(hits) < WEIGHED or sum(hit.memory.restates is not None for hit in hits) < WEIGHED / 2:
        return False
    return len({hit.memory.group for hit in hits}) <= WEIGHED / 2


def _thinned(hits: Sequence[Hit]) -> list[Hit]:
    """The best, of each group one, and what was told first, which may come to mind in its place."""
    met: set[UUID] = set()
    kept: list[Hit] = []
    for hit in hits:
        if hit.memory.restates is None or hit.memory.group not in met:
            kept.append(hit)
        met.add(hit.memory.group)
    return kept[:WEIGHED]


def _of_its_time(hits: list[Hit], query: MemoryQuery, searched: MemoryFilter, zone: tzinfo) -> list[Hit]:
    """All of them, unless the query asks about a time and the search was for what tells of it at other times."""
    time = query.time
    if time is None or searched == query.filter:
        return hits
    return [hit for hit in hits if timely.tells_of_from_elsewhere(hit.memory, time, zone)]
