"""A search on a Weaviate server: two legs fetched, then scored, cut and fused here, to rank as on any store."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING, Any, NamedTuple
from uuid import UUID

import numpy as np

from simuverse.errors import StoreUnavailable
from simuverse.memory.fusion import relative_score_fusion
from simuverse.memory.records import Hit, SearchType
from simuverse.memory.store import OVER_FETCH, Entry, SearchRequest, Vector
from simuverse.memory.stores.ranking import TIE, best
from simuverse.memory.stores.weaviate_connection import Connection
from simuverse.memory.stores.weaviate_objects import (
    SERVER_MAXIMUM,
    NothingAllowed,
    Text,
    ids_filter,
    server_filter,
    vector_of,
)
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_records import FIELDS, FoundRecords, Record
from simuverse.memory.stores.weaviate_schema import VECTOR
from simuverse.memory.stores.weaviate_statistics import CountedWords, WordStatistics
from simuverse.memory.stores.weaviate_vectors import KnownVectors

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.filters import FilterReturn
    from weaviate.collections.classes.internal import Object

_log = logging.getLogger(__name__)

_MARGIN = {"by meaning": 4, "by words": 20}
"""Candidates fetched beyond a leg's depth, among which the ids decide where scores tie at its end. By words there are
more, as the server's word counts are approximate."""

_MOST_TIED = 2_000
"""Candidates fetched at most for that, in about 0.1 s: of more memories that are alike the server leaves out some."""


class _Found(NamedTuple):
    """What both legs found, by ids as numbers, which are faster to compare than the client's and sort as their text.

    Args:
        cosines, bm25: as the server gives them.
        records: of all of these.
    """

    cosines: dict[int, float]
    bm25: dict[int, float]
    records: dict[int, Record]


class Searcher:
    """Searches one collection."""

    def __init__(
        self,
        connection: Connection,
        partition: Partition,
        words: CountedWords,
        vectors: KnownVectors,
        records: FoundRecords,
    ) -> None:
        self._connection = connection
        self._partition = partition
        self._words = words
        self._vectors = vectors
        self._records = records

    async def search(self, request: SearchRequest) -> list[Hit]:
        """Best first, ties by id.

        Args:
            request: its vector has length 1.
        """
        try:
            filters = server_filter(request.filter)
        except NothingAllowed:
            return []
        alpha = {SearchType.KEYWORD: 0.0, SearchType.SEMANTIC: 1.0}.get(request.search_type, request.alpha)
        depth = min(max(OVER_FETCH, request.limit), SERVER_MAXIMUM)
        text: Text = "context_text" if request.in_context else "search_text"
        vector, terms = request.vector if alpha > 0 else None, request.terms if alpha < 1 else ()
        statistics, found = await asyncio.gather(
            self._statistics(text, request.terms if alpha < 1 else None),
            self._found(vector, terms, text, filters, depth),
        )
        cosines, bm25, records = found
        if statistics is not None:
            score = statistics.scorer(terms)
            # 0 where it changed between the two searches.
            bm25 = {one: exact for one in bm25 if (exact := score(records[one].words(text)))}
        semantic_leg, keyword_leg = _leg(cosines, depth), _leg(bm25, depth)
        fusion = relative_score_fusion(
            semantic=semantic_leg, keyword=keyword_leg, alpha=alpha, order=int, limit=request.limit
        )
        memories = {fused.id: records[fused.id].memory for fused in fusion}
        if request.vector is not None:
            found_by_words = [records[one] for one in memories if one not in cosines]
            cosines |= await self._cosines(request.vector, found_by_words)
        semantic_ranks = {found: rank for rank, (found, _) in enumerate(semantic_leg, start=1)}
        keyword_ranks = {found: rank for rank, (found, _) in enumerate(keyword_leg, start=1)}
        reach = None if statistics is None else statistics.reach(request.terms)
        return [
            Hit(
                memory=memories[fused.id],
                cosine=cosines.get(fused.id),
                bm25=bm25[fused.id] if fused.id in keyword_ranks else None,
                reach=reach,
                semantic_rank=semantic_ranks.get(fused.id),
                keyword_rank=keyword_ranks.get(fused.id),
                fused=fused.score,
            )
            for fused in fusion
        ]

    async def _statistics(self, text: Text, terms: Sequence[str] | None) -> WordStatistics | None:
        """None without terms to count, and where counting alone fails, as while a node dies: then the server's own
        scores have to do, and the log says so.
        """
        if terms is None:
            return None
        try:
            return await self._words.of(text, terms)
        except StoreUnavailable as error:
            _log.warning("words weren't counted, so scores by words are the server's own, which may be off: %s", error)
            return None

    async def _found(
        self, vector: Vector | None, terms: Sequence[str], text: Text, filters: FilterReturn | None, depth: int
    ) -> _Found:
        fields = self._records.fields(text)
        while True:
            semantic, keyword = await asyncio.gather(
                self._semantic(vector, filters, depth, fields), self._keyword(terms, text, filters, depth, fields)
            )
            records = await self._records.read([*keyword, *semantic], text=text, fields=fields)
            if records is not None:
                return _Found(
                    cosines={one.uuid.int: _cosine(one) for one in semantic},
                    bm25={one.uuid.int: _score(one) for one in keyword},
                    records=records,
                )
            fields = FIELDS[text]

    async def _semantic(
        self, vector: Vector | None, filters: FilterReturn | None, depth: int, fields: Sequence[str]
    ) -> list[Object[Any, Any]]:
        if vector is None:
            return []
        fetch = partial(self._nearest, vector.tolist(), filters, fields)
        return await self._through_ties(fetch, _cosine, depth, margin=_MARGIN["by meaning"])

    async def _cosines(self, vector: Vector, records: Sequence[Record]) -> dict[int, float]:
        """Of what only the keyword leg found: of vectors that are known here, or else fetched."""
        known = {one.memory.id: self._vectors.get(self._partition, one.memory) for one in records}
        missing = {one.memory.id: one for one in records if known[one.memory.id] is None}
        ids = [*missing]
        for start in range(0, len(ids), SERVER_MAXIMUM):
            for found in await self._connection.query(partial(self._stored, ids[start : start + SERVER_MAXIMUM])):
                record, (stored, _) = missing[found.uuid], vector_of(found)
                known[record.memory.id] = stored
                # Where it has changed since, the vector may be of another summary.
                if found.metadata.last_update_time == record.changed:
                    self._vectors.put(self._partition, Entry(memory=record.memory, vector=stored))
        there = {one.int: found for one, found in known.items() if found is not None}
        if not there:
            return {}
        cosines = np.clip(np.array(list(there.values())) @ vector, -1, 1)
        return dict(zip(there, cosines.tolist(), strict=True))

    async def _stored(self, ids: Sequence[UUID], client: WeaviateAsyncClient) -> list[Object[Any, Any]]:
        from weaviate.classes.query import MetadataQuery

        found = await self._partition.on(client).query.fetch_objects(
            filters=ids_filter(ids),
            limit=len(ids),
            include_vector=True,
            return_metadata=MetadataQuery(last_update_time=True),
            return_properties=False,
        )
        return list(found.objects)

    async def _nearest(
        self,
        vector: Sequence[float],
        filters: FilterReturn | None,
        fields: Sequence[str],
        client: WeaviateAsyncClient,
        limit: int,
    ) -> list[Object[Any, Any]]:
        from weaviate.classes.query import MetadataQuery

        found = await self._partition.on(client).query.near_vector(
            list(vector),
            target_vector=VECTOR,
            limit=limit,
            filters=filters,
            return_metadata=MetadataQuery(distance=True, last_update_time=True),
            return_properties=list(fields) or False,
        )
        return list(found.objects)

    async def _keyword(
        self, terms: Sequence[str], text: Text, filters: FilterReturn | None, depth: int, fields: Sequence[str]
    ) -> list[Object[Any, Any]]:
        if not terms:
            return []
        from weaviate.classes.query import MetadataQuery

        query, metadata = " ".join(terms), MetadataQuery(score=True, last_update_time=True)

        async def fetch(client: WeaviateAsyncClient, limit: int) -> list[Object[Any, Any]]:
            found = await self._partition.on(client).query.bm25(
                query,
                query_properties=[text],
                limit=limit,
                filters=filters,
                return_metadata=metadata,
                return_properties=list(fields) or False,
            )
            return list(found.objects)

        return await self._through_ties(fetch, _score, depth, margin=_MARGIN["by words"])

    async def _through_ties(
        self,
        fetch: Callable[..., Coroutine[Any, Any, list[Object[Any, Any]]]],
        score: Callable[[Object[Any, Any]], float],
        depth: int,
        *,
        margin: int,
    ) -> list[Object[Any, Any]]:
        """The best ``depth``, and what ties with the last of them: whom the server left out there was chance."""
        limit = min(depth + margin, SERVER_MAXIMUM)
        while True:
            found = await self._connection.query(partial(fetch, limit=limit))
            if len(found) < limit or limit >= _MOST_TIED or score(found[depth - 1]) - score(found[-1]) > 2 * TIE:
                return found
            limit = min(4 * limit, _MOST_TIED)


def _leg(scores: dict[int, float], depth: int) -> list[tuple[int, float]]:
    """Best first, ties by id, each with the best score of those it ties with."""
    ids = list(scores)
    halves = np.frombuffer(b"".join(one.to_bytes(16, "big") for one in ids), dtype=">u8").reshape(-1, 2)
    values = np.fromiter(scores.values(), dtype=np.float64, count=len(ids))
    ranked = best(values, halves.astype(np.uint64), among=np.ones(len(ids), dtype=np.bool_), limit=depth)
    return [(ids[row], score) for row, score in ranked.pairs]


def _finite(value: float | None) -> float:
    """Raises:
    StoreUnavailable: the server gave no score, or none that can be compared.
    """
    if value is None or not isfinite(value):
        raise StoreUnavailable(f"the Weaviate server gave a score of {value}; its index may be damaged: restart it.")
    return value


def _score(found: Object[Any, Any]) -> float:
    return _finite(found.metadata.score)


def _cosine(found: Object[Any, Any]) -> float:
    return min(1.0, max(-1.0, 1 - _finite(found.metadata.distance)))
