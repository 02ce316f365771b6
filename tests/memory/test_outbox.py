"""What a store couldn't take: nothing of it is lost, nothing doubled, and all goes out in order."""

from __future__ import annotations

import asyncio
import errno
import os
import sys
from asyncio import create_subprocess_exec, subprocess
from collections.abc import AsyncGenerator, AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from uuid import UUID

import numpy as np
import pytest

from simuverse.errors import BadVector, StoreCorrupt, StoreError, StoreRefused, StoreUnavailable, UsageError
from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.records import Memory, MemoryFilter
from simuverse.memory.store import Entry, MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, START, entry, memory
from tests.contracts.memory_store import EMBEDDER, MemoryStoreContract, everything
from tests.memory.failing_store import FailingCollection, FailingStore, InventedEmbedder, direction

ROOT = Path(__file__).parents[2]
AWAY, FULL = StoreUnavailable("the store is away"), StoreUnavailable("its disk is full; free some space")
READ_ONLY = StoreRefused("its shards are read only")
LATER = START + timedelta(days=1)
NEVER = (3600.0,)
"""A pause that no test outlasts: nothing goes out by itself."""


@pytest.fixture
async def store(tmp_path: Path) -> AsyncIterator[FailingStore]:
    store = FailingStore(await SQLiteStore.open(tmp_path / "memories.db", embedder_name=EMBEDDER, dimension=DIMENSION))
    yield store
    await store.aclose()


@asynccontextmanager
async def opened(
    store: MemoryStore, path: Path, *, pauses: tuple[float, ...] = NEVER, embedder: InventedEmbedder | None = None
) -> AsyncGenerator[Outbox]:
    async with Outbox.open(path, store=store, embedder=embedder or InventedEmbedder(), pauses=pauses) as outbox:
        yield outbox


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "outbox.jsonl"


@pytest.fixture
async def outbox(store: FailingStore, path: Path) -> AsyncIterator[Outbox]:
    async with opened(store, path) as outbox:
        yield outbox
        store.fault = None


@pytest.fixture
async def jade(store: FailingStore, outbox: Outbox) -> OutboxCollection:
    return outbox.collection(await store.collection("Jade"))


async def stored(store: FailingStore, owner: str = "Jade") -> list[Entry]:
    return [one async for one in (await store.collection(owner)).scan()]


async def summaries(store: FailingStore, owner: str = "Jade") -> list[str]:
    return [one.memory.summary for one in await stored(store, owner)]


async def eventually(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while True:
            if condition():
                return
            await asyncio.sleep(0.01)


class OutboxStore:
    """A store all of whose collections have an outbox."""

    def __init__(self, store: MemoryStore, outbox: Outbox, stack: AsyncExitStack) -> None:
        self._store, self._outbox, self._stack = store, outbox, stack

    @property
    def description(self) -> str:
        return self._store.description

    async def collection(self, owner: str) -> OutboxCollection:
        return self._outbox.collection(await self._store.collection(owner))

    async def owners(self) -> list[str]:
        return await self._store.owners()

    async def erase(self, owner: str) -> bool:
        return await self._store.erase(owner)

    async def aclose(self) -> None:
        await self._stack.aclose()


class TestStoreWithOutbox(MemoryStoreContract):
    """While the store works, nothing is other than without an outbox."""

    async def open(self, place: Path, *, embedder: str = EMBEDDER) -> MemoryStore:
        async with AsyncExitStack() as stack:
            store = await SQLiteStore.open(place / "memories.db", embedder_name=embedder, dimension=DIMENSION)
            stack.push_async_callback(store.aclose)
            number = sum(1 for _ in place.glob("outbox-*"))
            outbox = await stack.enter_async_context(opened(store, place / f"outbox-{number}.jsonl"))
            return OutboxStore(store, outbox, stack.pop_all())

    async def test_erasing_one_owner_leaves_the_others_byte_by_byte(self, store: MemoryStore) -> None:
        """And what is added to the erased one's collection afterwards waits, where it is refused without an outbox."""
        jade, twin = await store.collection("Jade"), await store.collection("jade")
        await jade.add([entry("The bell rang.", 0)])
        await twin.add([entry("Clouds drift by.", 0, owner="jade")])
        before = await everything(twin)
        assert await store.erase("Jade")
        assert await everything(twin) == before
        await jade.add([entry("The otter found a shell.", 1)])
        assert isinstance(jade, OutboxCollection)
        assert jade.backlog.waiting == 1
        assert await store.owners() == ["jade"]


# Waiting and going out


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


# Twice is once


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


async def test_a_change_that_the_store_took_without_saying_so_is_made_whole_by_adding_it_anew(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox
) -> None:
    old, new = entry("The inn is red.", 0), entry("The inn is blue.", 1)
    await jade.add([old, new])
    store.fault, store.answers_are_lost = AWAY, True
    await jade.supersede(old.memory.id, by=new.memory.id, at=LATER)
    await outbox.deliver()
    louder = replace(new.memory, supersedes=old.memory.id, importance=9)
    await jade.update([louder])
    await outbox.deliver()
    store.fault = None
    store.changes.clear()
    await outbox.deliver()
    both = [old.memory.id, new.memory.id]
    assert store.changes == [
        ("Jade", "supersede", both),
        ("Jade", "add", both),
        ("Jade", "update", [new.memory.id]),
    ]
    assert [one.memory for one in await stored(store)] == [
        replace(old.memory, superseded_by=new.memory.id, superseded_at=LATER),
        louder,
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


# Across processes and faults of the disk


async def test_a_later_opening_brings_out_what_an_earlier_one_left(store: FailingStore, path: Path) -> None:
    one, other = entry("The bell rang.", 0), entry("Clouds drift by.", 1)
    async with opened(store, path) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        store.fault = AWAY
        await jade.add([one])
        await jade.add([other])
        await jade.update([entry("The otter found a shell.", 1)])
    assert path.exists()
    async with opened(store, path) as outbox:
        assert outbox.backlog.waiting == 2
        assert outbox.backlog.problem == "the store is away"
    store.fault = None
    embedder = InventedEmbedder()
    async with opened(store, path, embedder=embedder) as outbox:
        assert (outbox.backlog.waiting, outbox.backlog.delivered) == (0, 2)
    assert embedder.asked == ["The bell rang.", "Clouds drift by.", "The otter found a shell."]
    assert await summaries(store) == ["The bell rang.", "The otter found a shell."]
    assert np.array_equal((await stored(store))[0].vector, direction("The bell rang."))
    assert not path.exists()


async def test_closing_brings_out_what_it_can(store: FailingStore, path: Path) -> None:
    async with opened(store, path) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        store.fault = AWAY
        await jade.add([entry("The bell rang.", 0)])
        store.fault = None
    assert await summaries(store) == ["The bell rang."]


async def test_what_is_delivered_in_part_is_not_delivered_again(store: FailingStore, path: Path) -> None:
    async with opened(store, path) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        mira = outbox.collection(await store.collection("Mira"))
        store.fault = AWAY
        await jade.add([entry("The bell rang.", 0)])
        await mira.add([entry("Clouds drift by.", 0, owner="Mira")])
        store.only = "Mira"
    store.changes.clear()
    store.fault = None
    async with opened(store, path) as outbox:
        assert outbox.backlog.delivered == 1
    assert [(owner, name) for owner, name, _ in store.changes] == [("Mira", "add")]


@pytest.mark.parametrize("torn", [b"{", b'{"number":2,"owner":"Jade","change":{"do":"touch","ids":[],"at":"2026-03'])
async def test_a_last_line_that_was_cut_short_is_none_and_the_next_one_is_whole(
    store: FailingStore, path: Path, torn: bytes
) -> None:
    async with opened(store, path) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        store.fault = AWAY
        await jade.add([entry("The bell rang.", 0)])
    with path.open("ab") as file:
        file.write(torn)
    async with opened(store, path) as outbox:
        store.fault = None
        jade = outbox.collection(await store.collection("Jade"))
        store.fault = AWAY
        await jade.add([entry("Clouds drift by.", 1)])
    store.fault = None
    async with opened(store, path):
        pass
    assert await summaries(store) == ["The bell rang.", "Clouds drift by."]


async def test_a_damaged_line_is_named(store: FailingStore, path: Path) -> None:
    path.write_bytes(b'{"number":1,"owner":"Jade","change":{"do":"dance"}}\n')
    with pytest.raises(StoreCorrupt, match=r"outbox\.jsonl, line 1 is damaged"):
        async with opened(store, path):
            pass


async def test_where_the_disk_is_full_too_it_fails_as_without_an_outbox_and_the_file_stays_whole(
    store: FailingStore, jade: OutboxCollection, outbox: Outbox, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    store.fault = AWAY
    await jade.add([entry("The bell rang.", 0)])
    before = path.read_bytes()
    with monkeypatch.context() as patched:
        patched.setattr("os.fsync", full)
        with pytest.raises(
            StoreUnavailable, match=r"the store is away\. Nor can it wait in .*: No space left on device"
        ):
            await jade.add([entry("Clouds drift by.", 1)])
    assert path.read_bytes() == before
    assert outbox.backlog.waiting == 1
    await jade.add([entry("The otter found a shell.", 2)])
    store.fault = None
    await outbox.deliver()
    assert await summaries(store) == ["The bell rang.", "The otter found a shell."]


async def test_two_minds_cannot_have_one_outbox(store: FailingStore, path: Path) -> None:
    async with opened(store, path):
        with pytest.raises(UsageError, match=r"outbox\.jsonl is another's outbox"):
            async with opened(store, path):
                pass
    async with opened(store, path):
        pass


async def test_what_counted_as_added_outlasts_a_process_that_is_killed(store: FailingStore, tmp_path: Path) -> None:
    path, file = tmp_path / "killed.jsonl", tmp_path / "memories.db"
    arguments = ("-m", "tests.memory.outbox_process", str(file), str(path))
    process = await create_subprocess_exec(sys.executable, *arguments, cwd=ROOT, stdout=subprocess.PIPE)
    assert process.stdout is not None
    told: list[int] = []
    while len(told) < 50:
        told.append(int(await process.stdout.readline()))
    process.kill()
    rest = await process.stdout.read()
    told += [int(line) for line in rest.split(b"\n")[:-1]]
    await process.wait()
    async with opened(store, path) as outbox:
        assert outbox.backlog.waiting == 0
    found = await summaries(store)
    assert found[: len(told)] == [f"Bell {number} rang." for number in told]
    assert len(found) <= len(told) + 1
