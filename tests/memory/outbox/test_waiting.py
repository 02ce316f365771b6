"""What a store couldn't take waits, and goes out whole and in order."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from simuverse.errors import BadVector, StoreError, StoreUnavailable
from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.records import MemoryFilter
from simuverse.memory.store import Entry
from tests.contracts.memory_reference import DIMENSION, entry, memory
from tests.memory.failing_store import FailingStore
from tests.memory.outboxes import AWAY, FULL, LATER, READ_ONLY, eventually, opened, stored, summaries


@pytest.mark.parametrize("fault", [AWAY, FULL, READ_ONLY])
async def test_what_a_store_refuses_counts_as_added_waits_on_disk_and_goes_out_once_it_can(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox, path: Path, fault: StoreError
) -> None:
    store.fault = fault
    await jade.add([entry("The bell rang.", 0), entry("Clouds drift by.", 1)])
    assert outbox.backlog.waiting == 2
    assert outbox.backlog.sentence == f"2 memories wait in outbox.jsonl until the store takes them: {fault}"
    assert b"Clouds drift by." in path.read_bytes()
    await outbox.deliver()
    assert await summaries_of_working(store) == []
    store.fault = None
    await outbox.deliver()
    assert await summaries(store) == ["The bell rang.", "Clouds drift by."]
    assert (outbox.backlog.waiting, outbox.backlog.delivered, outbox.backlog.sentence) == (0, 2, "")
    assert not path.exists()


async def summaries_of_working(store: FailingStore) -> list[str]:
    fault, store.fault = store.fault, None
    found = await summaries(store)
    store.fault = fault
    return found


async def test_it_goes_out_by_itself(store: FailingStore, path: Path) -> None:
    async with opened(store, path, pauses=(0.01,)) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        heard: list[int] = []
        outbox.listener = lambda: heard.append(outbox.backlog.delivered)
        for number in range(3):
            store.fault = AWAY
            await jade.add([entry("The bell rang.", number)])
            store.fault = None
            await eventually(lambda: outbox.backlog.waiting == 0)
        assert heard == [1, 2, 3]
        assert len(await stored(store)) == 3


async def test_while_some_wait_further_ones_wait_behind_them(store: FailingStore, jade: OutboxCollection) -> None:
    store.fault = AWAY
    await jade.add([entry("The bell rang.", 0)])
    store.fault = None
    await jade.add([entry("Clouds drift by.", 1)])
    assert await stored(store) == []
    assert jade.backlog.waiting == 2


async def test_vectors_go_out_as_they_were(store: FailingStore, jade: OutboxCollection, outbox: Outbox) -> None:
    store.fault = AWAY
    entries = [entry("The bell rang.", number) for number in range(5)]
    for one in entries:
        await jade.add([one])
    store.fault = None
    await outbox.deliver()
    for one, other in zip(await stored(store), entries, strict=True):
        assert one.memory == other.memory
        assert np.array_equal(one.vector, other.vector)


async def test_changes_keep_their_order(store: FailingStore, jade: OutboxCollection, outbox: Outbox) -> None:
    old, new, there = entry("The inn is red.", 0), entry("The inn is blue.", 1), entry("The bell rang.", 2)
    await jade.add([there])
    store.fault = AWAY
    await jade.add([old])
    await jade.touch([old.memory.id, there.memory.id], LATER)
    await jade.add([new])
    await jade.supersede(old.memory.id, by=new.memory.id, at=LATER)
    louder = replace(new.memory, supersedes=old.memory.id, importance=9)
    await jade.update([louder])
    reworded = entry("The inn is green.", 1, seed=77)
    await jade.update([replace(reworded, memory=replace(reworded.memory, supersedes=old.memory.id, importance=9))])
    store.changes.clear()
    store.fault = None
    await outbox.deliver()
    assert [name for _, name, _ in store.changes] == ["add", "touch", "add", "supersede", "update", "update"]
    past, present, touched = await stored(store)
    assert past.memory == replace(old.memory, last_accessed_at=LATER, superseded_by=new.memory.id, superseded_at=LATER)
    assert present.memory == replace(louder, summary="The inn is green.")
    assert np.array_equal(present.vector, reworded.vector)
    assert touched.memory.last_accessed_at == LATER


async def test_a_change_of_what_does_not_wait_is_made_at_once(store: FailingStore, jade: OutboxCollection) -> None:
    there = entry("The bell rang.", 0)
    await jade.add([there])
    store.fault = AWAY
    await jade.add([entry("Clouds drift by.", 1)])
    store.fault = None
    await jade.touch([there.memory.id], LATER)
    await jade.update([replace(there.memory, last_accessed_at=LATER, importance=9)])
    assert [one.memory for one in await stored(store)] == [replace(there.memory, last_accessed_at=LATER, importance=9)]


async def test_one_owners_trouble_holds_up_no_other(store: FailingStore, outbox: Outbox, path: Path) -> None:
    jade, mira = outbox.collection(await store.collection("Jade")), outbox.collection(await store.collection("Mira"))
    store.fault = AWAY
    await jade.add([entry("The bell rang.", 0)])
    await mira.add([entry("Clouds drift by.", 0, owner="Mira")])
    store.fault, store.only = READ_ONLY, "Jade"
    await outbox.deliver()
    assert await summaries(store, "Mira") == ["Clouds drift by."]
    assert await summaries_of_working(store) == []
    assert outbox.backlog.sentence == f"1 memory waits in outbox.jsonl until the store takes it: {READ_ONLY}"
    assert path.exists()
    store.fault = None
    await outbox.deliver()
    assert await summaries(store) == ["The bell rang."]
    assert not path.exists()


async def test_many_go_out_together(store: FailingStore, jade: OutboxCollection, outbox: Outbox) -> None:
    store.fault = AWAY
    for number in range(450):
        await jade.add([entry("The bell rang.", number)])
    store.fault = None
    store.changes.clear()
    await outbox.deliver()
    assert [len(ids) for _, _, ids in store.changes] == [200, 200, 50]
    assert len(await stored(store)) == 450


async def test_agents_at_once_share_it(store: FailingStore, path: Path) -> None:
    owners = ("Jade", "James", "Jesse", "Jamal")
    async with opened(store, path, pauses=(0.01,)) as outbox:
        collections = {owner: outbox.collection(await store.collection(owner)) for owner in owners}

        async def live(owner: str) -> None:
            collection = collections[owner]
            for number in range(40):
                store.fault = AWAY if number % 7 < 4 else None
                await collection.add([entry(f"Bell {number} rang.", number, owner=owner)])
                await asyncio.sleep(0)
            store.fault = None

        await asyncio.gather(*(live(owner) for owner in owners))
        await eventually(lambda: outbox.backlog.waiting == 0)
    for owner in owners:
        assert await summaries(store, owner) == [f"Bell {number} rang." for number in range(40)]


async def test_forgetting_and_erasing_bring_out_first_what_waits_and_fail_without_the_store(
    store: FailingStore, jade: OutboxCollection
) -> None:
    one, other = entry("The bell rang.", 0).memory, entry("Clouds drift by.", 1).memory
    store.fault = AWAY
    await jade.add([entry("The bell rang.", 0), entry("Clouds drift by.", 1)])
    for work in (jade.forget([one.id], LATER), jade.erase([one.id])):
        with pytest.raises(StoreUnavailable, match="the store is away"):
            await work
    store.fault = None
    assert await jade.forget([one.id], LATER) == 1
    assert await jade.erase([other.id]) == 1
    assert [one.memory for one in await stored(store)] == [replace(one, forgotten_at=LATER)]


async def test_without_the_store_the_latest_are_those_that_wait(store: FailingStore, jade: OutboxCollection) -> None:
    first, second, third = (entry(f"Bell {number} rang.", number) for number in range(3))
    store.fault = AWAY
    assert await jade.recent(5) == []
    await jade.add([first])
    await jade.add([second, third])
    await jade.update([replace(third.memory, importance=9)])
    assert await jade.recent(2) == [replace(third.memory, importance=9), second.memory]
    with pytest.raises(StoreUnavailable):
        await jade.recent(2, filter=MemoryFilter(min_importance=5))


async def test_nonsense_is_refused_also_while_others_wait(store: FailingStore, jade: OutboxCollection) -> None:
    store.fault = AWAY
    await jade.add([entry("The bell rang.", 0)])
    with pytest.raises(BadVector):
        await jade.add([Entry(memory=memory("Clouds drift by.", 1), vector=np.zeros(DIMENSION, dtype=np.float32))])
    with pytest.raises(ValueError, match="'Mira'"):
        await jade.update([memory("Clouds drift by.", 1, owner="Mira")])
    with pytest.raises(ValueError, match="itself"):
        await jade.supersede(memory("x", 0).id, by=memory("x", 0).id, at=LATER)
    assert jade.backlog.waiting == 1
