"""What goes out a second time, or meets what others did since, is done once."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.records import Memory
from tests.contracts.memory_reference import entry
from tests.memory.failing_store import FailingCollection, FailingStore, direction
from tests.memory.outboxes import AWAY, LATER, opened, stored, summaries


async def test_where_the_store_took_it_and_its_answer_was_lost_nothing_doubles(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox
) -> None:
    bell, clouds = entry("The bell rang.", 0), entry("Clouds drift by.", 1)
    store.fault, store.answers_are_lost = AWAY, True
    await jade.add([bell])
    await outbox.deliver()
    await jade.add([clouds])
    store.fault = None
    store.changes.clear()
    await outbox.deliver()
    assert await summaries(store) == ["The bell rang.", "Clouds drift by."]
    # The first may be there in part alone, so it is added anew.
    assert store.changes == [("Jade", "add", [bell.memory.id, clouds.memory.id])]
    assert np.array_equal((await stored(store))[0].vector, bell.vector)


async def test_a_change_that_another_process_left_is_made_whole_by_adding_it_anew(
    store: FailingStore, tmp_path: Path
) -> None:
    """The store that took it in part, without saying so, doesn't know that any more."""
    old, new = entry("The inn is red.", 0), entry("The inn is blue.", 1)
    both, louder = [old.memory.id, new.memory.id], replace(new.memory, supersedes=old.memory.id, importance=9)
    async with opened(store, tmp_path / "outbox.jsonl") as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        await jade.add([old, new])
        store.fault, store.answers_are_lost = AWAY, True
        await jade.supersede(both[0], by=both[1], at=LATER)
        await outbox.deliver()
        await jade.update([louder])
        await jade.touch(both, LATER)
        await outbox.deliver()
    store.fault = None
    store.changes.clear()
    async with opened(store, tmp_path / "outbox.jsonl"):
        pass
    assert store.changes == [
        ("Jade", "supersede", both),
        ("Jade", "add", both),
        ("Jade", "update", both[1:]),
        ("Jade", "add", both[1:]),
        ("Jade", "touch", both),
        ("Jade", "add", both),
    ]
    assert [one.memory for one in await stored(store)] == [
        replace(old.memory, superseded_by=new.memory.id, superseded_at=LATER, last_accessed_at=LATER),
        replace(louder, last_accessed_at=LATER),
    ]


async def test_what_someone_changed_since_is_left_as_it_is(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox
) -> None:
    one, other = entry("The bell rang.", 0), entry("Clouds drift by.", 1)
    store.fault, store.answers_are_lost = AWAY, True
    await jade.add([one])
    await jade.add([other])
    store.fault = None
    changed = entry("The otter found a shell.", 0)
    await (await store.collection("Jade")).update([changed])
    await outbox.deliver()
    assert await summaries(store) == ["The otter found a shell.", "Clouds drift by."]


async def test_a_change_of_what_was_erased_since_is_passed_over(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox
) -> None:
    one, other = entry("The bell rang.", 0), entry("Clouds drift by.", 1)
    await jade.add([one, other])
    store.fault = AWAY
    await jade.update([replace(one.memory, importance=9), replace(other.memory, importance=9)])
    await jade.supersede(one.memory.id, by=other.memory.id, at=LATER)
    store.fault = None
    await (await store.collection("Jade")).erase([one.memory.id])
    await outbox.deliver()
    assert [one.memory for one in await stored(store)] == [replace(other.memory, importance=9)]
    assert outbox.backlog.waiting == 0


async def test_what_another_program_erases_in_the_middle_of_a_delivery_is_tried_again(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = entry("The bell rang.", 0)
    await jade.add([one])
    store.fault = AWAY
    await jade.update([replace(one.memory, importance=9)])
    store.fault = None

    async def stale(collection: FailingCollection, ids: Sequence[UUID]) -> list[Memory]:
        return [one.memory]

    await (await store.collection("Jade")).erase([one.memory.id])
    with monkeypatch.context() as patched:
        patched.setattr(FailingCollection, "get", stale)
        await outbox.deliver()
        assert outbox.backlog.waiting == 1
    await outbox.deliver()
    assert outbox.backlog.waiting == 0
    assert await stored(store) == []


async def test_a_waiting_particular_of_what_was_reworded_since_gets_its_own_vector(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox
) -> None:
    one = entry("The bell rang.", 0)
    await jade.add([one])
    store.fault = AWAY
    await jade.update([replace(one.memory, importance=9)])
    store.fault = None
    await (await store.collection("Jade")).update([entry("The otter found a shell.", 0)])
    await outbox.deliver()
    [kept] = await stored(store)
    assert kept.memory == replace(one.memory, importance=9)
    assert np.array_equal(kept.vector, direction("The bell rang."))


# What needs the store
