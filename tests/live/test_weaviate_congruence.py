"""The two stores on the same memories: the same ids in the same order, whatever is asked."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simuverse.memory.analysis import query_terms
from simuverse.memory.records import NO_FILTER, Category, MemoryFilter, Provenance, SearchType, Source
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_names import collection_name
from tests.contracts.memory_reference import DIMENSION, SEEN, START, memory, said_by, vector
from tests.contracts.memory_search import assert_same
from tests.live.test_weaviate_store import PATIENT, prefix_for
from tests.live.weaviate_server import own_client

pytestmark = pytest.mark.live

LATER = START + timedelta(days=2)

SENTENCES = (
    "Mira hid the brass key under the mill.",
    "The ferryman told Mira that the harbour floods in spring.",
    "Greta bakes rye bread, and Greta keeps the second key.",
    "I promised José twelve copper coins for the roof.",
    "Die Fähre fährt nicht, weil der Fährmann krank ist.",
    "Mira hat den Schlüssel unter der Mühle versteckt.",
    "Le passeur a perdu la clé près du moulin.",
    "La sœur de Greta habite au bord de la rivière.",
    "José arregló el tejado de la panadería.",
    "La llave de cobre está debajo del molino.",
    "Сестра спрятала ключ под мельницей.",
    "Паромщик болен, и паром сегодня не ходит.",
    "Η αδελφή έκρυψε το κλειδί κάτω από τον μύλο.",
    "أخفت الأخت المفتاح تحت الطاحونة.",
    "姉は水車小屋の下に鍵を隠した。",
    "渡し守は病気で、船は出ない。",
    "姐姐把钥匙藏在磨坊下面。",
    "누나는 방앗간 밑에 열쇠를 숨겼다.",
    "พี่สาวซ่อนกุญแจไว้ใต้โรงสี",
    "At 14:30 Mira paid 12,500 coins; see https://example.org/ledger?page=2.",
)
ENDINGS = ("", " It rained.", " Nobody saw it.", " Mira was there, and Mira laughed.", " C'était hier.", " 雨だった。")
ASKED = (
    *SENTENCES,
    "key",
    "Schlüssel",
    "Mira and the mill",
    "鍵",
    "열쇠",
    "ключи",
    "mira mira greta",
    "unheard of",
    "the",
)


def corpus(owner: str = "Jade") -> list[Entry]:
    """240 memories in eleven languages, in talks of six, some alike word for word."""
    chance = np.random.default_rng(11)
    provenances = (SEEN, said_by("Mira"), said_by("José"), Provenance(source=Source.INFERRED))
    categories = list(Category)
    entries: list[Entry] = []
    for number in range(240):
        text = str(chance.choice(SENTENCES)) + str(chance.choice(ENDINGS))
        made = memory(
            text,
            number,
            owner=owner,
            category=categories[int(chance.integers(len(categories)))],
            importance=int(chance.integers(1, 11)),
            minutes=number // 2,
            provenance=provenances[int(chance.integers(len(provenances)))],
            episode=f"talk {number // 6}" if number % 7 else "",
            position=number % 6,
        )
        entries.append(Entry(memory=made, vector=vector(SENTENCES.index(text.removesuffix(_ending(text))) * 10)))
    return entries


def _ending(text: str) -> str:
    return next(ending for ending in reversed(ENDINGS) if text.endswith(ending))


FILTERS = st.builds(
    MemoryFilter,
    category=st.none() | st.sampled_from(Category),
    min_importance=st.none() | st.integers(1, 6),
    since=st.none() | st.integers(0, 60).map(lambda minutes: START + timedelta(minutes=minutes)),
    until=st.none() | st.integers(60, 130).map(lambda minutes: START + timedelta(minutes=minutes)),
    about=st.none() | st.sampled_from(["Mira", "José", "鍵", "the mill"]),
    exclude_sources=st.frozensets(st.sampled_from([Source.INFERRED, Source.OBSERVED]), max_size=2),
    include_superseded=st.booleans(),
    include_forgotten=st.booleans(),
)
REQUESTS = st.builds(
    SearchRequest,
    search_type=st.sampled_from(SearchType),
    terms=st.lists(st.sampled_from(ASKED), min_size=1, max_size=2).map(lambda texts: query_terms(" ".join(texts))),
    in_context=st.booleans(),
    vector=st.integers(0, 250).map(vector),
    filter=st.just(NO_FILTER) | FILTERS,
    limit=st.sampled_from([1, 5, 20, 100, 300]),
    alpha=st.sampled_from([0.0, 0.3, 0.5, 0.75, 1.0]),
)
MANY = settings(
    max_examples=120,
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.differing_executors],
)


@dataclass(frozen=True)
class Both:
    embedded: MemoryCollection
    server: MemoryCollection
    server_store: WeaviateStore
    prefix: str

    async def same(self, request: SearchRequest) -> None:
        assert_same(await self.server.search(request), await self.embedded.search(request))


@pytest.fixture
async def both(weaviate_address: Address, tmp_path: Path) -> AsyncIterator[Both]:
    prefix = prefix_for(tmp_path)
    embedded = await SQLiteStore.open(None, embedder_name="invented", dimension=DIMENSION)
    server = await WeaviateStore.open(
        [weaviate_address], embedder_name="invented", dimension=DIMENSION, deadline=PATIENT, prefix=prefix
    )
    pair = Both(await embedded.collection("Jade"), await server.collection("Jade"), server, prefix)
    for start in range(0, 240, 60):
        for collection in (pair.embedded, pair.server):
            await collection.add(corpus()[start : start + 60])
    yield pair
    for owner in await server.owners():
        await server.erase(owner)
    await server.aclose()
    await embedded.aclose()


@MANY
@given(request_=REQUESTS)
async def test_both_stores_find_the_same_in_the_same_order(both: Both, request_: SearchRequest) -> None:
    await both.same(request_)


async def test_they_still_do_after_updates_and_deletes(both: Both, weaviate_address: Address) -> None:
    """The server's own scores are off by now, here by up to 2 %; ours follow each change."""
    for collection in (both.embedded, both.server):
        await collection.erase([e.memory.id for e in corpus()[50:75]])
    await all_the_same(both)
    await change_a_third(both)
    request = SearchRequest(search_type=SearchType.KEYWORD, terms=query_terms("Mira and the mill"))
    exact = {hit.memory.id: hit.bm25 for hit in await both.server.search(request) if hit.bm25 is not None}
    native = await native_keyword(weaviate_address, collection_name("Jade", prefix=both.prefix), request)
    assert max(abs(native[found] / score - 1) for found, score in exact.items()) > 0.01
    await all_the_same(both)
    ever = MemoryFilter(include_superseded=True, include_forgotten=True)
    assert await both.server.recent(500, filter=ever) == await both.embedded.recent(500, filter=ever)
    assert [e.memory async for e in both.server.scan()] == [e.memory async for e in both.embedded.scan()]


async def test_fusing_here_equals_the_servers_own_hybrid_search(both: Both, weaviate_address: Address) -> None:
    """Under 100 memories, so nothing is left to who was cut off; unchanged, so the server's own counts are right."""
    fresh = await both.server_store.collection("Greta")
    await fresh.add(corpus("Greta")[:90])
    name = collection_name("Greta", prefix=both.prefix)
    for text in SENTENCES:
        for alpha in (0.25, 0.5, 0.75):
            request = SearchRequest(
                search_type=SearchType.HYBRID, terms=query_terms(text), vector=vector(40), limit=90, alpha=alpha
            )
            ours = {hit.memory.id: hit.fused for hit in await fresh.search(request)}
            theirs = await native_hybrid(weaviate_address, name, request)
            assert len(ours) == 90
            assert ours == pytest.approx(theirs, abs=1e-5)


async def all_the_same(both: Both) -> None:
    for text in ASKED:
        for search_type in SearchType:
            for in_context in (False, True):
                await both.same(
                    SearchRequest(
                        search_type=search_type, terms=query_terms(text), in_context=in_context, vector=vector(30)
                    )
                )


async def change_a_third(both: Both) -> None:
    """Without changing how many there are, which alone would have all counted anew."""
    entries = corpus()
    for collection in (both.embedded, both.server):
        await collection.touch([e.memory.id for e in entries[::2]], LATER)
        await collection.forget([e.memory.id for e in entries[10:40]], LATER)
        await collection.supersede(entries[90].memory.id, by=entries[91].memory.id, at=LATER)
        await collection.update(
            [
                Entry(memory=replace(e.memory, summary=f"{e.memory.summary} Greta says so."), vector=e.vector)
                for e in entries[100:125]
            ]
        )
        await collection.update([replace(e.memory, keywords=("brass key",)) for e in entries[200:220]])


async def native_hybrid(address: Address, name: str, request: SearchRequest) -> dict[UUID, float]:
    from weaviate.classes.query import HybridFusion, MetadataQuery

    assert request.vector is not None
    async with own_client(address) as client:
        found = await client.collections.use(name).query.hybrid(
            " ".join(request.terms),
            vector=request.vector.tolist(),
            alpha=request.alpha,
            fusion_type=HybridFusion.RELATIVE_SCORE,
            query_properties=["search_text"],
            limit=request.limit,
            return_metadata=MetadataQuery(score=True),
        )
    return {UUID(str(one.uuid)): one.metadata.score or 0.0 for one in found.objects}


async def native_keyword(address: Address, name: str, request: SearchRequest) -> dict[UUID, float]:
    from weaviate.classes.query import MetadataQuery

    async with own_client(address) as client:
        found = await client.collections.use(name).query.bm25(
            " ".join(request.terms),
            query_properties=["search_text"],
            limit=1000,
            return_metadata=MetadataQuery(score=True),
        )
    return {UUID(str(one.uuid)): one.metadata.score or 0.0 for one in found.objects}
