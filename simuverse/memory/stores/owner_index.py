"""One owner's memories as arrays in memory: what a search looks at before any record is read."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import count
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from simuverse.memory.analysis import query_terms
from simuverse.memory.fusion import relative_score_fusion
from simuverse.memory.keyword_index import KeywordIndex, Terms, grown
from simuverse.memory.records import Category, MemoryFilter, SearchType, Source
from simuverse.memory.store import OVER_FETCH, SearchRequest, Vector
from simuverse.memory.stores.ranking import Ranked, SortableIds, best

BETWEEN_TEXTS = "\n"

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_CATEGORIES = {category.value: code for code, category in enumerate(Category)}
_SOURCES = {source.value: code for code, source in enumerate(Source)}
_COLUMNS = np.dtype(
    [
        ("key", np.int64),
        ("id", np.uint64, 2),
        ("created_at", np.int64),
        ("importance", np.int8),
        ("category", np.int8),
        ("source", np.int8),
        ("superseded", np.bool_),
        ("forgotten", np.bool_),
        ("alive", np.bool_),
    ]
)


class IndexedMemory(NamedTuple):
    """What is searched of one memory.

    Args:
        key: the store's own number for it, the same for as long as it is kept.
        id: the 16 bytes of its UUID.
        created_at: microseconds since 1970, UTC.
        search_text: its tokens, joined by single spaces.
        context_text: those of its context, a text each, with BETWEEN_TEXTS between two of them.
        vector: float32, little endian.
    """

    key: int
    id: bytes
    created_at: int
    importance: int
    category: str
    source: str
    superseded: int
    forgotten: int
    search_text: str
    context_text: str
    vector: bytes


class Found(NamedTuple):
    """A hit before its record is read; fields, in their order, as in :class:`simuverse.memory.records.Hit`."""

    key: int
    fused: float
    cosine: float | None
    bm25: float | None
    reach: float | None
    semantic_rank: int | None
    keyword_rank: int | None


class OwnerIndex:
    """Rows are numbered from 0 and used again once a memory is gone."""

    def __init__(self, *, dimension: int) -> None:
        self._dimension = dimension
        self._size = 0
        self._columns = np.zeros(0, dtype=_COLUMNS)
        self._vectors = np.zeros((0, dimension), dtype=np.float32)
        self._terms = Terms()
        self._keywords = KeywordIndex(self._terms)
        self._in_context = KeywordIndex(self._terms)
        self._rows: dict[int, int] = {}
        self._free: list[int] = []

    def reserve(self, size: int) -> None:
        """Makes room for ``size`` memories at once, so that loading many doesn't copy again and again."""
        self._columns, self._vectors = grown(self._columns, size), grown(self._vectors, size)

    def put(self, memories: Sequence[IndexedMemory]) -> None:
        """Adds them, or replaces those whose key is there."""
        if not memories:
            return
        keys, ids, created_at, importance, category, source, superseded, forgotten, texts, contexts, vectors = zip(
            *memories, strict=True
        )
        rows = [self._row(key) for key in keys]
        self.reserve(self._size)
        columns = np.zeros(len(rows), dtype=_COLUMNS)
        columns["key"], columns["created_at"], columns["importance"] = keys, created_at, importance
        columns["id"] = np.frombuffer(b"".join(ids), dtype=">u8").reshape(-1, 2)
        columns["category"] = [_CATEGORIES[value] for value in category]
        columns["source"] = [_SOURCES[value] for value in source]
        columns["superseded"], columns["forgotten"], columns["alive"] = superseded, forgotten, True
        self._columns[rows] = columns
        new = np.frombuffer(b"".join(vectors), dtype="<f4").reshape(-1, self._dimension)
        in_a_row = rows == [*range(rows[0], rows[0] + len(rows))]
        self._vectors[slice(rows[0], rows[0] + len(rows)) if in_a_row else rows] = new  # a slice is copied faster
        # What was said before one memory was mostly said after another: each text is cut and numbered once.
        place_of: defaultdict[str, int] = defaultdict(count().__next__)
        counts = np.array([context.count(BETWEEN_TEXTS) + 2 if context else 1 for context in contexts])
        spoken = [
            text + BETWEEN_TEXTS + before if before else text for text, before in zip(texts, contexts, strict=True)
        ]
        spoken = BETWEEN_TEXTS.join(spoken).split(BETWEEN_TEXTS)
        places = np.fromiter(map(place_of.__getitem__, spoken), np.intp, len(spoken))
        lengths = [text.count(" ") + 1 if text else 0 for text in place_of]
        distinct = self._terms.numbered(" ".join(filter(None, place_of)).split(" "), lengths)
        own = places[np.cumsum(counts) - counts]
        self._keywords.put_numbered(rows, distinct.joined(own, np.ones_like(own)))
        self._in_context.put_numbered(rows, distinct.joined(places, counts))

    def keep(self, keys: Collection[int]) -> None:
        """Removes all others."""
        gone = self._rows.keys() - keys
        rows = [self._rows.pop(key) for key in gone]
        self._columns[rows] = np.zeros((), dtype=_COLUMNS)
        self._vectors[rows] = 0
        self._keywords.remove(rows)
        self._in_context.remove(rows)
        self._free.extend(rows)

    def search(self, request: SearchRequest) -> list[Found]:
        """Best first, ties by id.

        Args:
            request: its vector has length 1.
        """
        return self.search_all([request])[0]

    def search_all(self, requests: Sequence[SearchRequest]) -> list[list[Found]]:
        """The same for several; what they have in common is worked out once."""
        compared: dict[int, NDArray[np.float64]] = {}
        allowed: dict[MemoryFilter, NDArray[np.bool_]] = {}
        found: list[list[Found]] = []
        for request in requests:
            cosines = None
            if request.vector is not None:
                cosines = compared.get(id(request.vector))
                if cosines is None:
                    cosines = compared[id(request.vector)] = self._cosines(request.vector)
            if request.filter not in allowed:
                allowed[request.filter] = self._allowed(request.filter)
            found.append(self._search(request, cosines, allowed[request.filter]))
        return found

    def _cosines(self, vector: Vector) -> NDArray[np.float64]:
        # Not by `@`: BLAS would share the product among threads, which costs ten times as much where another
        # process, such as a language model, keeps the cores busy; and equal rows could come out a rounding apart.
        return np.asarray(np.vecdot(self._vectors[: self._size], vector), dtype=np.float64)

    def _search(
        self, request: SearchRequest, cosines: NDArray[np.float64] | None, allowed: NDArray[np.bool_]
    ) -> list[Found]:
        alpha = {SearchType.KEYWORD: 0.0, SearchType.SEMANTIC: 1.0}.get(request.search_type, request.alpha)
        depth = max(OVER_FETCH, request.limit)
        bm25 = reach = None
        semantic = keyword = Ranked()
        if cosines is not None and alpha > 0:
            semantic = best(cosines, self._ids, among=allowed, limit=depth)
        if alpha < 1:
            index = self._in_context if request.in_context else self._keywords
            bm25, reach = index.scores(request.terms, size=self._size), index.reach(request.terms)
            keyword = best(bm25, self._ids, among=allowed & (bm25 > 0), limit=depth)
        fusion = relative_score_fusion(
            semantic=semantic.pairs, keyword=keyword.pairs, alpha=alpha, order=self._sortable, limit=request.limit
        )
        rows = [fused.id for fused in fusion]
        semantic_ranks, keyword_ranks = semantic.ranks, keyword.ranks
        found_by_words = {} if bm25 is None else dict(zip(keyword_ranks, bm25[keyword.rows].tolist(), strict=True))
        nothing = [None] * len(rows)
        return list(
            map(
                Found,
                self._live["key"][rows].tolist(),
                [fused.score for fused in fusion],
                nothing if cosines is None else np.clip(cosines[rows], -1.0, 1.0).tolist(),
                map(found_by_words.get, rows),
                [reach] * len(rows),
                map(semantic_ranks.get, rows),
                map(keyword_ranks.get, rows),
            )
        )

    def recent(self, limit: int, filter: MemoryFilter) -> list[int]:
        """Keys, newest first, ties by id."""
        return self._by_time(np.flatnonzero(self._allowed(filter)), newest_first=True)[:limit]

    def oldest(self, limit: int, filter: MemoryFilter, *, past: bool) -> list[int]:
        """Keys, oldest first, ties by id."""
        ever = replace(filter, include_superseded=True, include_forgotten=True)
        allowed = self._allowed(ever if past else filter)
        if past:
            allowed &= self._live["superseded"] | self._live["forgotten"]
        return self._by_time(np.flatnonzero(allowed), newest_first=False)[:limit]

    def oldest_first(self) -> list[int]:
        """Keys of all, past and forgotten ones included, ties by id."""
        return self._by_time(np.flatnonzero(self._live["alive"]), newest_first=False)

    def count(self, filter: MemoryFilter) -> int:
        return int(np.count_nonzero(self._allowed(filter)))

    @property
    def _live(self) -> NDArray[Any]:
        return self._columns[: self._size]

    @property
    def _ids(self) -> SortableIds:
        return self._live["id"]

    def _sortable(self, row: int) -> tuple[int, ...]:
        """The row's id, as its text sorts."""
        high, low = self._ids[row].tolist()
        return high, low

    def _row(self, key: int) -> int:
        row = self._rows.get(key)
        if row is None:
            row = self._rows[key] = self._free.pop() if self._free else self._size
            self._size = max(self._size, row + 1)
        return row

    def _by_time(self, rows: NDArray[np.intp], *, newest_first: bool) -> list[int]:
        created_at, ids = self._live["created_at"][rows], self._ids[rows]
        order = np.lexsort((ids[:, 1], ids[:, 0], -created_at if newest_first else created_at))
        keys: list[int] = self._live["key"][rows[order]].tolist()
        return keys

    def _allowed(self, filter: MemoryFilter) -> NDArray[np.bool_]:
        """Which rows satisfy every part of the filter."""
        live = self._live
        allowed: NDArray[np.bool_] = live["alive"].copy()
        if filter.category is not None:
            allowed &= live["category"] == _CATEGORIES[filter.category]
        if filter.min_importance is not None:
            allowed &= live["importance"] >= filter.min_importance
        if filter.max_importance is not None:
            allowed &= live["importance"] <= filter.max_importance
        if filter.since is not None:
            allowed &= live["created_at"] >= microseconds(filter.since)
        if filter.until is not None:
            allowed &= live["created_at"] < microseconds(filter.until)
        for source in filter.exclude_sources:
            allowed &= live["source"] != _SOURCES[source]
        if not filter.include_superseded:
            allowed &= ~live["superseded"]
        if not filter.include_forgotten:
            allowed &= ~live["forgotten"]
        if filter.about is not None:
            allowed &= self._keywords.holding(query_terms(filter.about), size=self._size)
        return allowed


def microseconds(time: datetime) -> int:
    """Since 1970, UTC. A datetime holds no finer unit, so nothing is lost."""
    return (time - _EPOCH) // timedelta(microseconds=1)
