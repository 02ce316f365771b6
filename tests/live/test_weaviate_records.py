"""Searches that a server is asked for less for, as most of what they find is known: they find the same."""

from __future__ import annotations

from collections.abc import AsyncIterator, Sequence
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from simuverse.errors import StoreUnavailable
from simuverse.memory.analysis import query_terms
from simuverse.memory.records import Hit, SearchType
from simuverse.memory.store import MemoryCollection, SearchRequest
from simuverse.memory.stores import weaviate_records, weaviate_statistics
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Address
from simuverse.memory.stores.weaviate_objects import Text
from simuverse.memory.stores.weaviate_partition import Partition
from simuverse.memory.stores.weaviate_records import ALL, FIELDS, FoundRecords
from tests.contracts.memory_reference import DIMENSION, START, entry, vector
from tests.contracts.memory_store import EMBEDDER
from tests.live.test_weaviate_store import PATIENT, prefix_for

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.collections.classes.filters import FilterReturn
    from weaviate.collections.classes.internal import Object

pytestmark = pytest.mark.live

BELLS = [entry(f"The bell rang {'again ' * number}.", number) for number in range(12)]
REQUESTS = [
    SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("bell rang"), vector=vector(1), in_context=context)
    for context in (False, True)
]


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[Sequence[str]]:
    """What searches ask for, in turn; all that is read is kept, however new it is."""
    asked: list[Sequence[str]] = []
    read = FoundRecords.read

    async def noted(
        records: FoundRecords, found: Sequence[Object[Any, Any]], *, text: Text, fields: Sequence[str]
    ) -> dict[int, weaviate_records.Record] | None:
        asked.append(fields)
        return await read(records, found, text=text, fields=fields)

    monkeypatch.setattr(FoundRecords, "read", noted)
    monkeypatch.setattr(weaviate_records, "RESTED", timedelta(0))
    return asked


@pytest.fixture
async def empty(weaviate_address: Address, tmp_path: Path) -> AsyncIterator[Sequence[MemoryCollection]]:
    """The same collection as three programs have it."""
    stores = [
        await WeaviateStore.open(
            [weaviate_address],
            embedder_name=EMBEDDER,
            dimension=DIMENSION,
            deadline=PATIENT,
            prefix=prefix_for(tmp_path),
        )
        for _ in range(3)
    ]
    yield [await store.collection("Jade") for store in stores]
    await stores[0].erase("Jade")
    for store in stores:
        await store.aclose()


@pytest.fixture
async def programs(empty: Sequence[MemoryCollection]) -> Sequence[MemoryCollection]:
    """Two, with the same memories."""
    here, there, _ = empty
    await there.add(BELLS)
    return here, there


async def found(collection: MemoryCollection) -> list[list[Hit]]:
    return [await collection.search(request) for request in REQUESTS]


async def test_what_another_program_changed_is_found_as_it_is_now(
    programs: Sequence[MemoryCollection], asked: list[Sequence[str]]
) -> None:
    here, there = programs
    ids = [one.memory.id for one in BELLS]
    first = await found(here)
    assert await found(here) == first
    # The second time they ask as much, as all was unknown before, and learn that it is no more.
    assert asked == [FIELDS["search_text"], ALL, FIELDS["search_text"], ALL]
    assert await found(here) == first
    assert asked[4:] == [(), ()]
    moved = replace(BELLS[0].memory, importance=9)
    await there.update([moved])
    await there.touch(ids[1:2], START + timedelta(days=1))
    await there.forget(ids[2:3], START + timedelta(days=1))
    asked.clear()
    hits = {hit.memory.id: hit.memory for hit in (await found(here))[0]}
    assert asked == [(), ()]
    assert hits[ids[0]] == moved
    assert hits[ids[1]].last_accessed_at == START + timedelta(days=1)
    assert hits.keys() == {*ids} - {ids[2]}


async def test_most_of_what_is_found_being_unknown_all_of_it_is_asked_for_at_once_the_next_time(
    programs: Sequence[MemoryCollection], asked: list[Sequence[str]]
) -> None:
    here, there = programs
    first = [await found(here) for _ in range(2)][1]
    await there.touch([one.memory.id for one in BELLS[:4]], START + timedelta(days=1))
    asked.clear()
    changed = await found(here)
    assert asked == [(), ()]
    await found(here)
    assert asked[2:] == [FIELDS["search_text"], ()]
    assert [[hit.memory.id for hit in hits] for hits in changed] == [[hit.memory.id for hit in hits] for hits in first]


async def test_what_is_found_by_no_id_is_found_all_the_same(
    programs: Sequence[MemoryCollection], asked: list[Sequence[str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As where a killed server has lost that index."""
    here, there = programs
    for _ in range(2):
        await found(here)
    await there.touch([BELLS[0].memory.id], START + timedelta(days=1))

    async def nothing(records: FoundRecords, ids: Sequence[int]) -> list[object]:
        return []

    monkeypatch.setattr(FoundRecords, "_fetched", nothing)
    asked.clear()
    hits = (await found(here))[0]
    assert asked == [(), FIELDS["search_text"], (), ALL]
    assert {hit.memory.id for hit in hits} == {one.memory.id for one in BELLS}


async def test_the_server_counts_no_word_of_a_collection_that_was_asked_when_it_was_empty(
    empty: Sequence[MemoryCollection], monkeypatch: pytest.MonkeyPatch
) -> None:
    """As an agent asks before its first turn. What another program adds is noticed by the size all the same."""
    monkeypatch.setattr(weaviate_statistics, "RECHECKED", 0.0)
    counted: list[object] = []
    count = Partition.count

    async def noted(place: Partition, client: WeaviateAsyncClient, filters: FilterReturn | None = None) -> int:
        if filters is not None:
            counted.append(filters)
        return await count(place, client, filters)

    monkeypatch.setattr(Partition, "count", noted)
    here, there, elsewhere = empty
    assert await found(here) == [[], []]
    counted.clear()
    await here.add(BELLS[:8])
    await here.update([replace(BELLS[0].memory, keywords=("brass",))])
    await here.erase([BELLS[1].memory.id])
    hits = await found(here)
    assert not counted
    assert hits == await found(there)
    assert counted
    await there.add(BELLS[8:])
    assert await found(here) == await found(elsewhere)


async def test_where_counting_alone_fails_the_servers_own_scores_do_and_the_log_says_so(
    programs: Sequence[MemoryCollection], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    here, there = programs
    expected = (await found(there))[0]

    async def fail(place: Partition, client: WeaviateAsyncClient, filters: FilterReturn | None = None) -> int:
        raise StoreUnavailable("this node has just died")

    monkeypatch.setattr(Partition, "count", fail)
    hits = (await found(here))[0]
    assert {hit.memory.id for hit in hits} == {hit.memory.id for hit in expected}
    assert all(hit.reach is None for hit in hits)
    assert "words weren't counted" in caplog.text
    assert "this node has just died" in caplog.text
