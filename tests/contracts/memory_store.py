"""The one suite that every memory store passes: what it keeps, finds, changes and forgets.

A test module takes it by subclassing :class:`MemoryStoreContract` and saying how its store is opened.
"""

from __future__ import annotations

import asyncio
from abc import abstractmethod
from collections.abc import AsyncIterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path
from typing import ClassVar
from uuid import UUID, uuid4

import numpy as np
import pytest

from simuverse.errors import BadVector, StoreError, StoreMismatch
from simuverse.memory.analysis import query_terms
from simuverse.memory.records import Category, Memory, MemoryFilter, Provenance, SearchType, Source
from simuverse.memory.store import Entry, MemoryCollection, MemoryStore, SearchRequest
from tests.contracts.memory_reference import DIMENSION, START, entry, invented_village, memory, reference_search, vector
from tests.contracts.memory_search import MemorySearchContract, assert_same

EMBEDDER = "invented-embedder"
LATER = START + timedelta(days=1)

FULL = Memory(
    id=uuid4(),
    owner="Jade",
    summary='Mira said "wait" & left\n<them>.\x00 Ça va, 鍵, 🗝️.',
    category=Category.REFLECTION,
    keywords=("Mira", "brass key"),
    critical_information="12 coins; 鍵",
    importance=9,
    created_at=datetime(2026, 3, 1, 9, 30, 1, 123456, tzinfo=timezone(timedelta(hours=5, minutes=30))),
    last_accessed_at=LATER,
    location="the mill",
    provenance=Provenance(source=Source.TOLD, speaker="Mira", listener="Tomas", turn="t7", messages=("m1", "m2")),
    evidence=(uuid4(), uuid4()),
    episode="e1",
    position=3,
    anchored=True,
    supersedes=uuid4(),
    superseded_by=uuid4(),
    superseded_at=LATER,
    restates=uuid4(),
    forgotten_at=LATER,
    flags=("category_unknown:gossip",),
)

ODD_OWNERS = [
    "jade",
    "JADE",
    "Jade ",
    "../x",
    "a/b\\c:d*?",
    "'; DROP TABLE memories; --",
    "日本の橋",
    "Zoë",
    "Zoe\u0308",
    "🗝️",
    "CON",
    "%41",
    "_",
    "-",
    "0",
    "x" * 200,
]


class MemoryStoreContract(MemorySearchContract):
    """``lasts``: whether what was written is there again when the store is closed and opened."""

    lasts: ClassVar[bool] = True

    @abstractmethod
    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        """A store of vectors of DIMENSION numbers. The same place is the same store; another is empty at first."""

    @pytest.fixture
    async def store(self, tmp_path: Path) -> AsyncIterator[MemoryStore]:
        store = await self.open(tmp_path)
        yield store
        await store.aclose()

    @pytest.fixture
    async def collection(self, store: MemoryStore) -> MemoryCollection:
        return await store.collection("Jade")

    # Adding and getting

    async def test_a_memory_comes_back_as_it_was_written(self, collection: MemoryCollection) -> None:
        await collection.add([Entry(memory=FULL, vector=vector(1))])
        (found,) = await collection.get([FULL.id])
        assert found == FULL
        assert found.created_at.tzinfo is UTC

    async def test_get_keeps_the_order_asked_and_leaves_out_what_is_not_there(
        self, collection: MemoryCollection
    ) -> None:
        entries = [entry("The bell rang.", n) for n in range(3)]
        await collection.add(entries)
        ids = [e.memory.id for e in entries]
        found = await collection.get([ids[2], uuid4(), ids[0]])
        assert [m.id for m in found] == [ids[2], ids[0]]
        assert await collection.get([]) == []

    async def test_adding_again_changes_nothing(self, collection: MemoryCollection) -> None:
        await collection.add(invented_village())
        before = await everything(collection)
        await collection.add(invented_village()[:20])
        assert await everything(collection) == before
        request = SearchRequest(search_type=SearchType.HYBRID, terms=query_terms("brass key"), vector=vector(3))
        assert [h.memory.id for h in await collection.search(request)] == [
            h.memory.id for h in reference_search(invented_village(), request)
        ]

    async def test_adding_an_id_that_is_there_replaces_text_and_vector(self, collection: MemoryCollection) -> None:
        await collection.add([entry("The heron stole a fish.", 0, seed=1), entry("Clouds drift by.", 1, seed=2)])
        await collection.add([entry("The otter found a shell.", 0, seed=3)])
        assert await by_keyword(collection, "heron") == []
        assert [m.summary for m in await by_keyword(collection, "otter")] == ["The otter found a shell."]
        (nearest, _) = await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(3)))
        assert nearest.cosine == pytest.approx(1, abs=1e-6)
        assert await collection.count() == 2

    async def test_adding_nothing_is_allowed(self, collection: MemoryCollection) -> None:
        await collection.add([])
        assert await collection.count() == 0

    async def test_a_memory_of_another_owner_is_refused_and_nothing_is_written(
        self, collection: MemoryCollection
    ) -> None:
        with pytest.raises(ValueError, match="Mira"):
            await collection.add([entry("The bell rang.", 0), entry("The bell rang.", 1, owner="Mira")])
        assert await collection.count() == 0

    @pytest.mark.parametrize(
        "bad",
        [np.zeros(DIMENSION), np.full(DIMENSION, np.nan), np.full(DIMENSION, np.inf), np.ones(DIMENSION - 1)],
        ids=["zeros", "nan", "infinity", "size"],
    )
    async def test_a_bad_vector_is_refused_before_anything_is_written(
        self, collection: MemoryCollection, bad: np.typing.NDArray[np.float64]
    ) -> None:
        good, other = entry("The bell rang.", 0), memory("The bell rang again.", 1)
        with pytest.raises(BadVector):
            await collection.add([good, Entry(memory=other, vector=bad.astype(np.float32))])
        assert await everything(collection) == []
        await collection.add([good])
        with pytest.raises(BadVector):
            await collection.update([Entry(memory=good.memory, vector=bad.astype(np.float32))])
        (kept,) = [e async for e in collection.scan()]
        assert np.array_equal(kept.vector, good.vector)

    async def test_recent_asks_for_at_least_one(self, collection: MemoryCollection) -> None:
        with pytest.raises(ValueError, match="limit 0"):
            await collection.recent(0)

    # Changing

    async def test_touch_sets_the_last_access_and_nothing_else(self, collection: MemoryCollection) -> None:
        first, second = entry("The bell rang.", 0), entry("The bell fell.", 1)
        await collection.add([first, second])
        await collection.touch([first.memory.id, uuid4()], LATER)
        found = await collection.get([first.memory.id, second.memory.id])
        assert found == [replace(first.memory, last_accessed_at=LATER), second.memory]
        assert next(m.id for m in await by_keyword(collection, "bell rang")) == first.memory.id

    async def test_what_was_found_before_is_found_as_each_change_leaves_it(self, collection: MemoryCollection) -> None:
        first, second = entry("The bell rang.", 0), entry("The bell fell.", 1)

        async def found() -> dict[UUID, Memory]:
            ever = MemoryFilter(include_superseded=True, include_forgotten=True)
            return {m.id: m for m in await by_keyword(collection, "bell", filter=ever)}

        await collection.add([first, second])
        ids = [first.memory.id, second.memory.id]
        assert await found() == {first.memory.id: first.memory, second.memory.id: second.memory}
        await collection.touch(ids[:1], LATER)
        assert await found() == {m.id: m for m in await collection.get(ids)}
        assert (await found())[ids[0]].last_accessed_at == LATER
        await collection.update([replace(second.memory, importance=9)])
        assert (await found())[ids[1]].importance == 9
        await collection.supersede(ids[0], by=ids[1], at=LATER)
        assert [(await found())[one].superseded_by for one in ids] == [ids[1], None]
        await collection.forget(ids[1:], LATER)
        assert [(await found())[one].forgotten_at for one in ids] == [None, LATER]
        await collection.add([first])
        assert (await found())[ids[0]] == first.memory
        await collection.erase(ids[:1])
        assert list(await found()) == ids[1:]

    async def test_touch_refuses_a_time_without_zone(self, collection: MemoryCollection) -> None:
        with pytest.raises(ValueError, match="no time zone"):
            await collection.touch([], datetime(2026, 3, 1))  # noqa: DTZ001

    async def test_update_replaces_a_record_and_keeps_its_vector(self, collection: MemoryCollection) -> None:
        old = entry("The bell rang.", 0)
        await collection.add([old, entry("Clouds drift by.", 1)])
        new = replace(old.memory, keywords=("belfry",), importance=9, category=Category.KNOWLEDGE)
        await collection.update([new])
        assert await by_keyword(collection, "belfry") == [new]
        assert await collection.count(filter=MemoryFilter(category=Category.KNOWLEDGE, min_importance=9)) == 1
        nearest = (await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=old.vector)))[0]
        assert nearest.memory == new

    async def test_update_with_a_vector_may_change_the_summary(self, collection: MemoryCollection) -> None:
        await collection.add([entry("The bell rang.", 0), entry("Clouds drift by.", 1)])
        await collection.update([entry("The otter found a shell.", 0, seed=77)])
        assert await by_keyword(collection, "bell") == []
        nearest = (await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(77))))[0]
        assert nearest.memory.summary == "The otter found a shell."

    async def test_update_is_all_or_nothing(self, collection: MemoryCollection) -> None:
        known = entry("The bell rang.", 0).memory
        await collection.add([entry("The bell rang.", 0)])
        changed = replace(known, importance=9)
        with pytest.raises(KeyError):
            await collection.update([changed, memory("Never added.", 8)])
        with pytest.raises(ValueError, match="needs a new vector"):
            await collection.update([changed, replace(known, summary="The bell is gone.")])
        with pytest.raises(ValueError, match="Mira"):
            await collection.update([changed, memory("The bell rang.", 0, owner="Mira")])
        assert await collection.get([known.id]) == [known]

    async def test_supersede_marks_the_old_as_past_and_links_both(self, collection: MemoryCollection) -> None:
        old, new = entry("Mira lives in Ostend.", 0).memory, entry("Mira lives in Ghent.", 1).memory
        await collection.add([entry("Mira lives in Ostend.", 0), entry("Mira lives in Ghent.", 1)])
        await collection.supersede(old.id, by=new.id, at=LATER)
        past, current = await collection.get([old.id, new.id])
        assert (past.superseded_by, past.superseded_at) == (new.id, LATER)
        assert current.supersedes == old.id
        assert await by_keyword(collection, "mira") == [current]
        assert await collection.recent(5) == [current]
        assert await collection.count() == 1
        with_past = MemoryFilter(include_superseded=True)
        assert {m.id for m in await by_keyword(collection, "mira", with_past)} == {old.id, new.id}

    async def test_supersede_changes_nothing_if_either_is_not_there(self, collection: MemoryCollection) -> None:
        known = entry("Mira lives in Ostend.", 0).memory
        await collection.add([entry("Mira lives in Ostend.", 0)])
        for old, by in ((known.id, uuid4()), (uuid4(), known.id)):
            with pytest.raises(KeyError):
                await collection.supersede(old, by=by, at=LATER)
        with pytest.raises(ValueError, match="itself"):
            await collection.supersede(known.id, by=known.id, at=LATER)
        assert await collection.get([known.id]) == [known]

    async def test_forget_hides_but_get_and_the_filter_still_show(self, collection: MemoryCollection) -> None:
        entries = [entry("The bell rang.", n) for n in range(3)]
        await collection.add(entries)
        gone = entries[1].memory
        assert await collection.forget([gone.id, uuid4()], LATER) == 1
        assert await collection.forget([gone.id], LATER + timedelta(days=1)) == 0
        assert await collection.get([gone.id]) == [gone.forgotten(at=LATER)]
        assert gone.id not in {m.id for m in await by_keyword(collection, "bell")}
        assert gone.id not in {m.id for m in await collection.recent(9)}
        assert await collection.count() == 2
        assert await collection.count(filter=MemoryFilter(include_forgotten=True)) == 3

    async def test_the_oldest_come_first_page_by_page_and_what_is_past_or_hidden_alone_where_asked(
        self, collection: MemoryCollection
    ) -> None:
        entries = [entry(f"The bell rang {n} times.", n) for n in range(9)]
        await collection.add(entries[4:])
        await collection.add(entries[:4])
        kept = [one.memory for one in entries]
        await collection.forget([kept[7].id], LATER)
        await collection.supersede(kept[1].id, by=kept[8].id, at=LATER)
        current = [kept[n].id for n in (0, 2, 3, 4, 5, 6, 8)]
        assert [m.id for m in await collection.oldest(20)] == current
        assert [m.id for m in await collection.oldest(3)] == current[:3]
        later = MemoryFilter(since=kept[3].created_at)
        assert [m.id for m in await collection.oldest(2, filter=later)] == current[2:4]
        assert [m.id for m in await collection.oldest(20, past=True)] == [kept[1].id, kept[7].id]
        assert [m.id for m in await collection.oldest(20, filter=later, past=True)] == [kept[7].id]
        assert await collection.oldest(20, filter=MemoryFilter(about="nobody at all"), past=True) == []
        with pytest.raises(ValueError, match="limit 0"):
            await collection.oldest(0)

    async def test_erase_removes_from_every_index(self, collection: MemoryCollection) -> None:
        await collection.add([entry("The heron stole a fish.", 0), entry("Clouds drift by.", 1)])
        gone = memory("The heron stole a fish.", 0).id
        assert await collection.erase([gone, uuid4()]) == 1
        assert await collection.erase([gone]) == 0
        assert await collection.get([gone]) == []
        assert await by_keyword(collection, "heron") == []
        hits = await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(0)))
        assert gone not in {hit.memory.id for hit in hits}
        assert gone not in {e.memory.id async for e in collection.scan()}
        assert await collection.count(filter=MemoryFilter(include_forgotten=True, include_superseded=True)) == 1

    async def test_what_was_erased_can_be_added_again(self, collection: MemoryCollection) -> None:
        await collection.add([entry("The heron stole a fish.", 0)])
        await collection.erase([memory("The heron stole a fish.", 0).id])
        await collection.add([entry("The heron stole a fish.", 0)])
        assert len(await by_keyword(collection, "heron")) == 1

    async def test_scan_gives_all_oldest_first_with_their_vectors(self, collection: MemoryCollection) -> None:
        village = invented_village()
        await collection.add(village)
        scanned = [e async for e in collection.scan()]
        expected = sorted(village, key=lambda e: (e.memory.created_at, str(e.memory.id)))
        assert [e.memory for e in scanned] == [e.memory for e in expected]
        assert np.array_equal([e.vector for e in scanned], [e.vector for e in expected])

    # Owners

    async def test_owners_see_only_their_own(self, store: MemoryStore) -> None:
        jade, mira = await store.collection("Jade"), await store.collection("Mira")
        await jade.add([entry("The heron stole a fish.", 0)])
        await mira.add([entry("The heron built a nest.", 0, owner="Mira")])
        assert [m.summary for m in await by_keyword(jade, "heron")] == ["The heron stole a fish."]
        assert [m.summary for m in await by_keyword(mira, "heron")] == ["The heron built a nest."]
        theirs = memory("The heron built a nest.", 0, owner="Mira").id
        assert await jade.get([theirs]) == []
        assert await jade.forget([theirs], LATER) == 0
        assert await jade.erase([theirs]) == 0
        assert await mira.count() == 1

    async def test_odd_names_are_owners_of_their_own(self, store: MemoryStore) -> None:
        names = ["Jade", *ODD_OWNERS]
        for number, name in enumerate(names):
            collection = await store.collection(name)
            assert collection.owner == name
            await collection.add([entry(f"This is number {number + 100}.", 0, owner=name)])
        assert await store.owners() == sorted(names)
        for number, name in enumerate(names):
            collection = await store.collection(name)
            assert [m.summary for m in await collection.recent(5)] == [f"This is number {number + 100}."]

    async def test_a_nameless_owner_is_refused(self, store: MemoryStore) -> None:
        with pytest.raises(ValueError, match="owner"):
            await store.collection("")

    async def test_erasing_one_owner_leaves_the_others_byte_by_byte(self, store: MemoryStore) -> None:
        jade, twin = await store.collection("Jade"), await store.collection("jade")
        await jade.add(invented_village())
        await twin.add(invented_village("jade"))
        before = await everything(twin)
        assert await store.erase("Jade")
        assert not await store.erase("Jade")
        assert await everything(twin) == before
        assert await store.owners() == ["jade"]
        with pytest.raises(StoreError):
            await jade.add([entry("The bell rang.", 0)])
        with pytest.raises(StoreError):
            await jade.count()
        assert await (await store.collection("Jade")).count() == 0

    # Opening, closing, and many at once

    async def test_closing_twice_is_allowed_and_use_afterwards_is_a_clear_error(self, tmp_path: Path) -> None:
        store = await self.open(tmp_path)
        collection = await store.collection("Jade")
        await store.aclose()
        await store.aclose()
        with pytest.raises(StoreError, match="closed"):
            await collection.count()
        with pytest.raises(StoreError, match="closed"):
            await store.owners()

    async def test_everything_is_there_again_after_closing_and_opening(self, tmp_path: Path) -> None:
        self._skip_unless_it_lasts()
        store = await self.open(tmp_path)
        collection = await store.collection("Jade")
        await collection.add(invented_village())
        before = await everything(collection)
        await store.aclose()
        store = await self.open(tmp_path)
        collection = await store.collection("Jade")
        assert await everything(collection) == before
        for search_type in SearchType:
            request = SearchRequest(search_type=search_type, terms=query_terms("copper coins"), vector=vector(5))
            assert_same(await collection.search(request), reference_search(invented_village(), request))
        await store.aclose()

    async def test_another_embedder_is_refused_by_name_with_the_command_that_helps(self, tmp_path: Path) -> None:
        self._skip_unless_it_lasts()
        store = await self.open(tmp_path)
        await (await store.collection("Jade")).add([entry("The bell rang.", 0)])
        await store.aclose()
        with pytest.raises(StoreMismatch, match="Go on with --embedder") as caught:
            await self._use_with_another_embedder(tmp_path)
        assert EMBEDDER in str(caught.value)
        assert "another-embedder" in str(caught.value)

    async def test_four_writers_at_once_lose_nothing(self, store: MemoryStore) -> None:
        async def write(owner: str) -> None:
            collection = await store.collection(owner)
            for n in range(200):
                await collection.add([entry(f"Bell {n} rang.", n, owner=owner)])

        owners = ["Jade", "Mira", "Tomas", "Greta"]
        await asyncio.gather(*(write(owner) for owner in owners))
        for owner in owners:
            collection = await store.collection(owner)
            assert await collection.count() == 200
            assert len(await by_keyword(collection, "bell", limit=500)) == 200

    async def test_writers_and_readers_of_one_collection_at_once(self, collection: MemoryCollection) -> None:
        async def write(writer: int) -> None:
            for n in range(50):
                await collection.add([entry("The bell rang.", 100 * writer + n)])
                assert len(await by_keyword(collection, "bell", limit=500)) > n

        await asyncio.gather(*(write(writer) for writer in range(4)))
        assert await collection.count() == 200

    async def test_ten_thousand_and_one(self, collection: MemoryCollection) -> None:
        words = ("bell", "otter", "copper", "harbour", "rain")
        entries = [entry(f"The {words[n % 5]} number {n}.", n) for n in range(10_001)]
        for start in range(0, len(entries), 1000):
            await collection.add(entries[start : start + 1000])
        assert await collection.count() == 10_001
        assert len({e.memory.id async for e in collection.scan()}) == 10_001
        assert [m.summary for m in await by_keyword(collection, "9999")] == ["The rain number 9999."]
        last = await collection.search(SearchRequest(search_type=SearchType.SEMANTIC, vector=vector(10_000), limit=1))
        assert last[0].memory.summary == "The bell number 10000."
        assert [m.id for m in await collection.recent(2)] == [e.memory.id for e in entries[:-3:-1]]

    async def _use_with_another_embedder(self, place: Path) -> None:
        store = await self.open(place, embedder="another-embedder")
        try:
            await store.collection("Jade")
        finally:
            await store.aclose()

    def _skip_unless_it_lasts(self) -> None:
        if not self.lasts:
            pytest.skip("this store ends when it is closed")


async def by_keyword(
    collection: MemoryCollection, words: str, filter: MemoryFilter | None = None, *, limit: int = 100
) -> list[Memory]:
    request = SearchRequest(
        search_type=SearchType.KEYWORD, terms=query_terms(words), filter=filter or MemoryFilter(), limit=limit
    )
    return [hit.memory for hit in await collection.search(request)]


async def everything(collection: MemoryCollection) -> list[tuple[UUID, Memory, bytes]]:
    return [(e.memory.id, e.memory, e.vector.tobytes()) async for e in collection.scan()]
