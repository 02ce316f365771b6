"""Disks that are full or may only be read: a message with the cure, and nothing lost that was finished."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from simuverse.errors import StoreUnavailable
from simuverse.memory.outbox import Outbox
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.world.journal import read_turns
from tests.commands import Here
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER
from tests.memory.failing_store import FailingStore, InventedEmbedder

FAST = ("--embedder", "hashing")


@pytest.mark.parametrize("disk", ["size=1500k"], indirect=True)
def test_a_disk_that_fills_up_ends_the_run_and_keeps_every_finished_tick(disk: Path, here: Here) -> None:
    ended = here("run", "--ticks", "100", "--out", str(disk / "run1"), *FAST)
    assert ended.code == 2
    assert "run1 can't be written any more: No space left on device. What was committed is safe; make room" in ended.err
    assert "Traceback" not in ended.err
    told = {int(line.split()[0]) for line in ended.out.splitlines() if line.startswith(" ")}
    kept = [turn.tick for turn in read_turns(disk / "run1")]
    assert told
    assert all(kept.count(tick) == 4 for tick in told)
    assert here("flashbacks", str(disk / "run1")).code == 0


@pytest.mark.parametrize("disk", ["size=64k"], indirect=True)
def test_a_disk_that_is_full_from_the_start_says_so(disk: Path, here: Here) -> None:
    ended = here("run", "--ticks", "1", "--out", str(disk / "run1"), *FAST)
    assert ended.code == 4
    assert "memory.db: the disk is full, and nothing of this write was stored; free some space" in ended.err
    assert not (disk / "run1" / "run.json").exists()


@pytest.mark.parametrize("disk", ["size=1m,ro"], indirect=True)
def test_a_disk_that_may_only_be_read_is_told_with_the_way_out(disk: Path, here: Here) -> None:
    for words in ((), ("--store", "memory:"), ("--memory", "off")):
        ended = here("run", "--ticks", "1", "--out", str(disk / "run1"), *FAST, *words)
        assert ended.code == 2
        assert "Read-only file system. Choose another folder" in ended.err
    ended = here("chat", "Ada", "--store", f"sqlite:{disk / 'ada.db'}", *FAST, typed=b"Hello.\n")
    assert ended.code == 4
    assert "ada.db" in ended.err
    assert "may write" in ended.err


@pytest.mark.parametrize("disk", ["size=16k"], indirect=True)
async def test_an_outbox_on_a_disk_that_fills_up_refuses_what_it_cannot_keep_and_keeps_the_rest(
    disk: Path, tmp_path: Path
) -> None:
    path = disk / "outbox.jsonl"
    store = FailingStore(await SQLiteStore.open(tmp_path / "a.db", embedder_name=EMBEDDER, dimension=DIMENSION))
    told: list[str] = []
    async with Outbox.open(path, store=store, embedder=InventedEmbedder(), locked=True, pauses=(3600,)) as outbox:
        jade = outbox.collection(await store.collection("Jade"))
        store.fault = StoreUnavailable("the store is away")

        async def fill() -> None:
            for number in range(1000):
                await jade.add([entry(f"Bell {number} rang.", number)])
                told.append(f"Bell {number} rang.")

        with pytest.raises(StoreUnavailable, match=r"Nor can it wait in .*: No space left on device; make room there"):
            await fill()
        assert outbox.backlog.waiting == len(told) > 0
    assert path.read_bytes().count(b"\n") == len(told)
    store.fault = None
    async with Outbox.open(path, store=store, embedder=InventedEmbedder(), locked=True):
        pass
    assert [one.memory.summary async for one in (await store.collection("Jade")).scan()] == told
    assert not path.exists()
    await store.aclose()


def test_a_full_disk_under_the_journal_alone_says_so_too(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    done: list[int] = []
    sync = os.fsync

    def fill(descriptor: int) -> None:
        done.append(descriptor)
        if len(done) > 7:  # run.json, then the journal and its telemetry at the start and after two ticks
            raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
        sync(descriptor)

    monkeypatch.setattr("os.fsync", fill)
    ended = here("run", "--ticks", "9", "--out", "run1", "--store", "memory:", *FAST)
    assert ended.code == 2
    assert "run1 can't be written any more: No space left on device" in ended.err
    assert {int(line.split()[0]) for line in ended.out.splitlines() if line.startswith(" ")} == {1, 2}
    assert {1, 2} <= {turn.tick for turn in read_turns(Path("run1"))}
