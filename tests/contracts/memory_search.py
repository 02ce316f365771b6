"""What every store finds, and in which order: part of the suite in ``memory_store.py``."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simuverse.errors import BadVector
from simuverse.memory.analysis import query_terms
from simuverse.memory.records import NO_FILTER, Category, Hit, MemoryFilter, SearchType, Source
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore, SearchRequest
from tests.contracts.memory_reference import (
    DIMENSION,
    START,
    WORDS,
    entry,
    invented_village,
    memory,
    reference_allows,
    reference_search,
    said_by,
    vector,
)

FILTERS = st.builds(
    MemoryFilter,
    category=st.none() | st.sampled_from(Category),
    min_importance=st.none() | st.integers(1, 5),
    max_importance=st.none() | st.integers(5, 10),
    since=st.none() | st.integers(0, 30).map(lambda minutes: START + timedelta(minutes=minutes)),
    until=st.none() | st.integers(10, 45).map(lambda minutes: START + timedelta(minutes=minutes)),
    about=st.none() | st.sampled_from(["Mira", "Greta", "greta's BAKERY", "José", "jose key", "nobody", "the", ""]),
    exclude_sources=st.frozensets(st.sampled_from(Source), max_size=2),
    include_superseded=st.booleans(),
    include_forgotten=st.booleans(),
)

EACH_FILTER_ALONE = {
    "nothing": NO_FILTER,
    "category": MemoryFilter(category=Category.PLAN),
    "min_importance": MemoryFilter(min_importance=7),
    "max_importance": MemoryFilter(max_importance=2),
    "since": MemoryFilter(since=START + timedelta(minutes=20)),
    "until": MemoryFilter(until=START + timedelta(minutes=20)),
    "about": MemoryFilter(about="Old Tomas"),
    "exclude_sources": MemoryFilter(exclude_sources=frozenset({Source.INFERRED, Source.OBSERVED})),
    "include_superseded": MemoryFilter(include_superseded=True),
    "include_forgotten": MemoryFilter(include_forgotten=True),
}

REQUESTS = st.builds(
    SearchRequest,
    search_type=st.sampled_from(SearchType),
    terms=st.lists(st.sampled_from(WORDS), max_size=4).map(lambda words: query_terms(" ".join(words))),
    in_context=st.booleans(),
    vector=st.integers(0, 200).map(vector),
    filter=FILTERS | st.just(NO_FILTER),
    limit=st.sampled_from([1, 3, 10, 100, 150]),
    alpha=st.sampled_from([0.0, 0.25, 0.5, 1.0]),
)


class MemorySearchContract:
    """A base of :class:`tests.contracts.memory_store.MemoryStoreContract`, which has the fixtures."""

    @pytest.fixture
    async def village(self, store: MemoryStore) -> MemoryCollection:
        collection = await store.collection("Jade")
        await collection.add(invented_village())
        return collection

    @settings(
        max_examples=60,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(request_=REQUESTS)
    async def test_a_search_equals_the_reference_order_included(
        self, village: MemoryCollection, request_: SearchRequest
    ) -> None:
        assert_same(await village.search(request_), reference_search(invented_village(), request_))

    async def test_several_searches_together_find_what_each_finds_alone(self, village: MemoryCollection) -> None:
        asked = SearchRequest(
            search_type=SearchType.HYBRID, terms=query_terms("brass key bakery"), vector=vector(1), limit=20
        )
        requests = [
            asked,
            replace(asked, search_type=SearchType.KEYWORD, in_context=True),
            replace(asked, search_type=SearchType.SEMANTIC, vector=vector(2)),
            replace(asked, filter=EACH_FILTER_ALONE["about"]),
        ]
        together = await village.search_all(requests)
        assert len({tuple(hit.memory.id for hit in hits) for hits in together}) == len(requests)
        for request, hits in zip(requests, together, strict=True):
            assert_same(hits, await village.search(request))
        assert await village.search_all([]) == []

    @settings(
        max_examples=40,
        deadline=None,
        suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
    )
    @given(filter=FILTERS, limit=st.sampled_from([1, 20, 500]))
    async def test_recent_and_count_equal_the_reference(
        self, village: MemoryCollection, filter: MemoryFilter, limit: int
    ) -> None:
        allowed = [e.memory for e in invented_village() if reference_allows(e.memory, filter)]
        newest_first = sorted(allowed, key=lambda m: (-m.created_at.timestamp(), str(m.id)))
        assert await village.recent(limit, filter=filter) == newest_first[:limit]
        assert await village.count(filter=filter) == len(allowed)

    @pytest.mark.parametrize("name", EACH_FILTER_ALONE)
    async def test_each_filter_alone_keeps_some_and_only_what_it_allows(
        self, village: MemoryCollection, name: str
    ) -> None:
        alone = EACH_FILTER_ALONE[name]
        allowed = {e.memory.id for e in invented_village() if reference_allows(e.memory, alone)}
        assert 0 < len(allowed) < len(invented_village())
        for search_type in SearchType:
            request = SearchRequest(
                search_type=search_type,
                terms=query_terms("brass key bakery"),
                vector=vector(1),
                filter=alone,
                limit=200,
            )
            found = {hit.memory.id for hit in await village.search(request)}
            assert found
            assert found <= allowed
            if search_type is SearchType.SEMANTIC:
                assert found == allowed

    async def test_half_and_half_finds_what_only_words_and_what_only_meaning_finds(
        self, collection: MemoryCollection
    ) -> None:
        others = [entry("Clouds drift over the hills.", n) for n in range(2, 150)]
        words_only = entry("The heron stole a fish.", 0, seed=500)
        meaning_only = Entry(memory=memory("A grey bird took our dinner.", 1), vector=vector(900))
        await collection.add([*others, words_only, meaning_only])
        hits = await collection.search(
            SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("heron"), vector=vector(900), limit=2)
        )
        assert {hit.memory.id for hit in hits} == {words_only.memory.id, meaning_only.memory.id}

    async def test_alpha_0_is_keyword_order_and_alpha_1_is_vector_order(self, village: MemoryCollection) -> None:
        async def order(search_type: SearchType, alpha: float) -> list[object]:
            terms = query_terms("Greta's second key")
            request = SearchRequest(search_type=search_type, terms=terms, vector=vector(7), alpha=alpha)
            return [hit.memory.id for hit in await village.search(request)]

        assert await order(SearchType.HYBRID, 0) == await order(SearchType.KEYWORD, 0.5)
        assert await order(SearchType.HYBRID, 1) == await order(SearchType.SEMANTIC, 0.5)
        assert await order(SearchType.HYBRID, 0) != await order(SearchType.HYBRID, 1)

    async def test_hits_carry_the_figures_they_were_found_by(self, village: MemoryCollection) -> None:
        hits = await village.search(
            SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("copper"), vector=vector(3), limit=150)
        )
        assert {hit.keyword_rank is None for hit in hits} == {True, False}
        for hit in hits:
            assert hit.cosine is not None
            assert -1 <= hit.cosine <= 1
            assert (hit.bm25 is None) == (hit.keyword_rank is None)
            assert 0 <= hit.fused <= 1 + 1e-6

    async def test_the_cosine_of_a_hit_beyond_the_semantic_leg_is_known_too(self, collection: MemoryCollection) -> None:
        away = Entry(memory=memory("The heron stole a fish.", 0), vector=-vector(900))
        near = [Entry(memory=memory("Clouds drift over hills.", n), vector=vector(900)) for n in range(1, 102)]
        await collection.add([away, *near])
        hits = await collection.search(
            SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("heron"), vector=vector(900), limit=1000)
        )
        (found,) = [hit for hit in hits if hit.memory.id == away.memory.id]
        assert found.semantic_rank is not None
        hits = await collection.search(
            SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("heron"), vector=vector(900))
        )
        (found,) = [hit for hit in hits if hit.memory.id == away.memory.id]
        assert found.semantic_rank is None
        assert found.cosine == pytest.approx(-1, abs=1e-6)

    async def test_equal_memories_are_ordered_by_id(self, collection: MemoryCollection) -> None:
        twins = [Entry(memory=memory("The bell rang twice.", n, minutes=0), vector=vector(1)) for n in range(120)]
        await collection.add(twins)
        expected = sorted((twin.memory.id for twin in twins), key=str)[:5]
        for search_type in SearchType:
            request = SearchRequest(search_type=search_type, terms=query_terms("bell"), vector=vector(2), limit=5)
            assert [hit.memory.id for hit in await collection.search(request)] == expected
        assert [m.id for m in await collection.recent(5)] == expected

    @pytest.mark.parametrize("search_type", SearchType)
    async def test_an_empty_collection_gives_no_hits(
        self, collection: MemoryCollection, search_type: SearchType
    ) -> None:
        assert await collection.search(SearchRequest(search_type=search_type, terms=("key",), vector=vector(1))) == []
        assert await collection.recent(10) == []
        assert await collection.count() == 0

    @pytest.mark.parametrize("text", ["", "the and of", "?!"])
    async def test_a_query_without_a_token_finds_nothing_by_keyword_and_meaning_alone_otherwise(
        self, village: MemoryCollection, text: str
    ) -> None:
        terms = query_terms(text)
        assert await village.search(SearchRequest(search_type=SearchType.KEYWORD, terms=terms)) == []
        hybrid = await village.search(SearchRequest(search_type=SearchType.HYBRID, terms=terms, vector=vector(4)))
        semantic = await village.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(4)))
        assert [hit.memory.id for hit in hybrid] == [hit.memory.id for hit in semantic]

    @pytest.mark.parametrize(
        ("summary", "query"),
        [
            ("Сестра спрятала ключи под крышей.", "ключ"),
            ("姉は橋の下に鍵を隠した。", "鍵を隠した"),
            ("Η αδελφή έκρυψε το κλειδί.", "κλειδί"),
            ("أخفت الأخت المفتاح", "المفتاح"),
            ("José cantó en la montaña.", "montana jose"),
        ],
    )
    async def test_any_script_is_found_by_keyword_and_kept_verbatim(
        self, collection: MemoryCollection, summary: str, query: str
    ) -> None:
        await collection.add([entry(summary, 0), entry("Nothing happened at all.", 1)])
        hits = await collection.search(SearchRequest(search_type=SearchType.KEYWORD, terms=query_terms(query)))
        assert [hit.memory.summary for hit in hits] == [summary]

    async def test_a_memory_is_found_by_its_keywords_critical_information_and_speaker(
        self, collection: MemoryCollection
    ) -> None:
        told = memory("They will meet again.", keywords=("lighthouse",), provenance=said_by("Ottoline"))
        await collection.add([Entry(memory=told, vector=vector(1)), entry("Nothing happened at all.", 1)])
        for word in ("lighthouse", "ottoline"):
            hits = await collection.search(SearchRequest(search_type=SearchType.KEYWORD, terms=query_terms(word)))
            assert [hit.memory for hit in hits] == [told]

    def test_an_unknown_filter_is_refused(self) -> None:
        with pytest.raises(ValueError, match=r"unknown filter categroy\. Filters: category, "):
            MemoryFilter.from_mapping({"categroy": "plan"})

    @pytest.mark.parametrize(
        "bad",
        [np.zeros(DIMENSION), np.full(DIMENSION, np.nan), np.full(DIMENSION, np.inf), np.ones(DIMENSION + 1)],
        ids=["zeros", "nan", "infinity", "size"],
    )
    async def test_a_search_with_a_bad_vector_is_refused(
        self, village: MemoryCollection, bad: np.typing.NDArray[np.float64]
    ) -> None:
        with pytest.raises(BadVector):
            await village.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=bad.astype(np.float32)))


def assert_same(found: list[Hit], expected: list[Hit]) -> None:
    assert [hit.memory.id for hit in found] == [hit.memory.id for hit in expected]
    for one, other in zip(found, expected, strict=True):
        assert one.memory == other.memory
        assert one.cosine == (None if other.cosine is None else pytest.approx(other.cosine, abs=1e-5))
        assert one.bm25 == (None if other.bm25 is None else pytest.approx(other.bm25, rel=1e-5))
        assert one.reach == (None if other.reach is None else pytest.approx(other.reach, rel=1e-5))
        assert (one.semantic_rank, one.keyword_rank) == (other.semantic_rank, other.keyword_rank)
        assert one.fused == pytest.approx(other.fused, abs=1e-5)
