"""An outbox across openings, processes and faults of the disk."""

from __future__ import annotations

import errno
import os
import sys
from asyncio import create_subprocess_exec, subprocess
from pathlib import Path

import numpy as np
import pytest

from simuverse.errors import StoreCorrupt, StoreUnavailable, UsageError
from simuverse.memory.outbox import Outbox, OutboxCollection
from tests.contracts.memory_reference import entry
from tests.memory.failing_store import FailingStore, InventedEmbedder, direction
from tests.memory.outboxes import AWAY, opened, stored, summaries

ROOT = Path(__file__).parents[3]


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
