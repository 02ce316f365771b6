"""A bound on memories: what is worth least goes, exactly as many as are over, on record, and never what is anchored."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from random import Random
from uuid import UUID

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.errors import StoreUnavailable
from simuverse.memory.capacity import Capacity, retention
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Category, Memory, MemoryFilter, Provenance, Source, memory_id
from simuverse.memory.store import Entry
from tests.agents.minds import failing
from tests.memory.editing import Desk, desk, exported
from tests.memory.recalling import NOW

EAST = np.eye(1, HashingEmbedder.dimension, dtype=np.float32)[0]
EVER = MemoryFilter(include_superseded=True, include_forgotten=True)


def bound(here: Desk, most: int) -> Capacity:
    here.clock.set(NOW)
    return Capacity(most, collection=here.collection, embedder=HashingEmbedder(), clock=here.clock, audit=here.audit)


async def kept(here: Desk) -> set[UUID]:
    return {memory.id for memory in await here.collection.recent(1_000, filter=EVER)}


async def fill(here: Desk, count: int) -> list[Memory]:
    """Of all importances, the older the less they differ."""
    return [
        await here.pool.keep(f"Boat {number} came in.", importance=number % 10 + 1, age=timedelta(hours=number))
        for number in range(count)
    ]


async def test_the_two_hundred_and_first_of_two_hundred_evicts_exactly_one() -> None:
    async with desk(None) as here:
        memories = await fill(here, 200)
        capacity = bound(here, 200)
        assert await capacity.keep() == ()
        assert await here.audit.changes() == []
        newest = await here.pool.keep("One more boat came in.", importance=1)

        [gone] = await capacity.keep()

        least = min((*memories, newest), key=lambda memory: retention(memory, now=NOW))
        assert gone == least
        assert await kept(here) == {memory.id for memory in (*memories, newest)} - {least.id}
        [change] = await here.audit.changes()
        assert (change.kind, change.by, change.state) == ("evict", "rules", "done")
        assert (change.before, change.after, change.why) == ((least,), (), "more than 200 memories")
        assert await capacity.keep() == ()


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("over", [1, 7, 150])
async def test_what_goes_is_what_is_worth_least_of_all(seed: int, over: int) -> None:
    """Whatever was touched, used, anchored, hidden or written at one moment."""
    chance = Random(seed)
    async with desk(None) as here:
        kept: list[Memory] = []
        for number in range(200):
            age = timedelta(days=chance.choice([0, 0, 3, 40, 900, chance.randrange(2_000)]))
            kept.append(await here.pool.keep(f"Boat {number}.", importance=chance.randrange(1, 5), age=age))
        await here.collection.touch([one.id for one in kept if chance.random() < 0.5], NOW - timedelta(days=1))
        await here.collection.forget([one.id for one in kept if chance.random() < seed / 20], NOW)
        await here.editor.anchor([one.id for one in kept if chance.random() < 0.2])
        uses = {one.id: chance.randrange(4) for one in kept if chance.random() < 0.3}
        there = [one for one in await here.collection.recent(200, filter=EVER) if not one.anchored]
        order = sorted(
            there,
            key=lambda one: (one.current, retention(one, now=NOW, uses=uses.get(one.id, 0)), one.created_at, one.id),
        )

        gone = await bound(here, 200 - over).keep(lambda which: uses.get(which, 0))

        assert list(gone) == order[:over]


async def test_of_many_only_a_few_are_read_to_find_the_one_that_goes(monkeypatch: pytest.MonkeyPatch) -> None:
    async with desk(None) as here:
        entries = [Entry(memory=aged(number % 10 + 1, number, number), vector=EAST) for number in range(2_000)]
        await here.collection.add(entries)
        read: list[Memory] = []
        oldest = here.collection.oldest

        async def counted(limit: int, *, filter: MemoryFilter = EVER, past: bool = False) -> list[Memory]:
            page = await oldest(limit, filter=filter, past=past)
            read.extend(page)
            return page

        for name in ("recent", "scan", "search", "search_all"):
            monkeypatch.setattr(here.collection, name, failing(AssertionError(f"{name} of all memories")))
        monkeypatch.setattr(here.collection, "oldest", counted)

        [gone] = await bound(here, 1_999).keep()

        assert gone == entries[1_990].memory
        assert len(read) <= 160


async def test_an_eviction_is_undone_to_the_byte() -> None:
    async with desk(None) as here:
        await fill(here, 6)
        before = await exported(here.collection)
        assert len(await bound(here, 4).keep()) == 2

        await here.editor.undo()

        assert await exported(here.collection) == before


async def test_what_is_anchored_never_goes_even_if_nothing_else_is_left() -> None:
    async with desk(None) as here:
        memories = await fill(here, 5)
        anchored = [memory.id for memory in memories[:4]]
        await here.editor.anchor(anchored)

        gone = await bound(here, 2).keep()

        assert [memory.id for memory in gone] == [memories[4].id]
        assert await kept(here) == set(anchored)
        assert await bound(here, 2).keep() == ()


async def test_what_is_past_or_hidden_counts_and_goes_first() -> None:
    async with desk(None) as here:
        memories = await fill(here, 6)
        await here.editor.forget([memories[0].id])
        await here.editor.supersede(memories[1].id, by=memories[2].id)

        gone = await bound(here, 4).keep()

        assert {memory.id for memory in gone} == {memories[0].id, memories[1].id}


async def test_use_keeps_a_memory() -> None:
    async with desk(None) as here:
        one = await here.pool.keep("A boat came in.", importance=5)
        other = await here.pool.keep("A cart came in.", importance=5)

        gone = await bound(here, 1).keep(lambda which: 3 if which == min(one.id, other.id) else 0)

        assert [memory.id for memory in gone] == [max(one.id, other.id)]


def aged(importance: int, days: float, number: int = 1) -> Memory:
    at = NOW - timedelta(days=days)
    return Memory(
        id=memory_id("Jade", "kept", number),
        owner="Jade",
        summary="A boat came in.",
        category=Category.OBSERVATION,
        importance=importance,
        created_at=at,
        last_accessed_at=at,
        provenance=Provenance(source=Source.OBSERVED),
    )


@given(importance=st.integers(1, 10), days=st.floats(0, 3_000), uses=st.integers(0, 10_000), more=st.integers(1, 9_000))
def test_worth_is_bounded_and_grows_with_each_of_its_parts(importance: int, days: float, uses: int, more: int) -> None:
    worth = retention(aged(importance, days), now=NOW, uses=uses)

    assert 0 <= worth <= 1
    assert retention(aged(importance, days), now=NOW, uses=uses + more) >= worth
    assert retention(aged(importance, days + more / 10), now=NOW, uses=uses) <= worth
    if importance < 10:
        assert retention(aged(importance + 1, days), now=NOW, uses=uses) > worth


async def test_cut_short_it_is_found_never_to_have_begun_and_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with desk(tmp_path / "jade.db") as here:
        await fill(here, 5)
        before = await kept(here)
        with monkeypatch.context() as patched:
            patched.setattr(here.collection, "erase", failing(StoreUnavailable("disk full")))
            with pytest.raises(StoreUnavailable):
                await bound(here, 3).keep()

        assert await kept(here) == before
        assert [change.state for change in await here.editor.history()] == ["abandoned"]
        assert len(await bound(here, 3).keep()) == 2
        assert len(await kept(here)) == 3


async def test_a_bound_below_one_is_refused() -> None:
    async with desk(None) as here:
        with pytest.raises(ValueError, match="below 1"):
            bound(here, 0)
