"""Servers that end in the middle of a run, and runs that end while theirs is away: nothing is lost, nothing doubled."""

from __future__ import annotations

import asyncio
import random
import shutil
import subprocess
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import timedelta
from functools import partial
from itertools import count
from pathlib import Path
from uuid import UUID

import pytest

from simuverse import sources, wiring
from simuverse.config import Settings
from simuverse.errors import StoreError
from simuverse.memory.checking import check
from simuverse.memory.outbox import Outbox, OutboxCollection
from simuverse.memory.store import Entry, MemoryCollection
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_names import collection_name
from simuverse.world.journal import OUTBOX, read_turns
from simuverse.world.simulation import Simulation
from tests import commands
from tests.commands import Here
from tests.contracts.kept_store import nothing
from tests.contracts.memory_reference import DIMENSION, START, entry
from tests.contracts.memory_store import EMBEDDER
from tests.live.test_weaviate_store import PATIENT
from tests.live.weaviate_server import SETTINGS, WeaviateServer, own_client
from tests.memory.failing_store import InventedEmbedder

pytestmark = pytest.mark.live

AGENTS = ("Jade", "James", "Jesse", "Jamal")
BREATH = 0.1
"""Seconds between two ticks while a server is away, as it is for many."""
FAST = ("--embedder", "hashing")

KILLS = 100
CHECKED_EVERY = 5
QUICK_START = {"RAFT_TIMEOUTS_MULTIPLIER": "1", "RAFT_HEARTBEAT_TIMEOUT": "1", "RAFT_ELECTION_TIMEOUT": "1"}
"""A server that was killed is ready in two seconds then, not in eight, as it waits for others that long."""


def settings_for(server: WeaviateServer) -> Settings:
    return Settings(embedder="hashing", store=f"weaviate:{server.url}")


def journalled(folder: Path) -> dict[str, list[UUID]]:
    """Ids of the memories that the journal has as written, by owner."""
    found: dict[str, list[UUID]] = {agent: [] for agent in AGENTS}
    for turn in read_turns(folder):
        found[turn.agent] += [memory.id for memory in turn.remembered.written]
    return found


async def assert_stored_once(collection: MemoryCollection, ids: Sequence[UUID]) -> None:
    """All are there, each once, and both indexes reach each."""
    stored = [one.memory.id async for one in collection.scan()]
    assert max(Counter(stored).values()) == 1
    assert set(ids) <= set(stored)
    checked = await check(collection, on_progress=nothing)
    assert checked.faults == []
    assert checked.counted == checked.with_words == len(stored)


async def assert_run_is_stored(folder: Path, settings: Settings) -> None:
    written = journalled(folder)
    assert all(written.values())
    assert not (folder / OUTBOX).exists()
    async with sources.memories(str(folder), settings) as (store, _):
        for agent, ids in written.items():
            await assert_stored_once(await store.collection(agent), ids)


async def live_until(simulation: Simulation, condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(120):
        while True:
            assert len(await simulation.step()) == 4
            if condition():
                return
            await asyncio.sleep(BREATH)


def waiting(simulation: Simulation) -> int:
    assert simulation.outbox is not None
    return simulation.outbox.backlog.waiting


async def live_through_an_end(
    simulation: Simulation, server: WeaviateServer, end: Callable[[], None], *, away: float
) -> None:
    """Args:
    end: of the server, in the middle of a tick.
    away: seconds until it is started again, at least.
    """
    loop = asyncio.get_running_loop()
    await live_until(simulation, lambda: simulation.tick >= 3)
    assert waiting(simulation) == 0
    ended = asyncio.create_task(asyncio.to_thread(end))
    await live_until(simulation, ended.done)
    until = loop.time() + away
    await live_until(simulation, lambda: waiting(simulation) >= 8 and loop.time() >= until)
    for trace in simulation.last.values():
        assert trace.recollection.flashbacks == ()
        assert trace.remembered.problems[-1].startswith(f"{trace.remembered.waiting} memor")
    started = asyncio.create_task(asyncio.to_thread(server.start))
    await live_until(simulation, lambda: started.done() and waiting(simulation) == 0)
    await started
    await live_until(simulation, lambda: not any(trace.problems for trace in simulation.last.values()))


@pytest.mark.parametrize("end", [WeaviateServer.kill, WeaviateServer.terminate])
async def test_a_server_that_ends_in_the_middle_of_a_run_and_comes_back_costs_no_memory(
    weaviate_binary: str, tmp_path: Path, end: Callable[[WeaviateServer], None]
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = settings_for(server)
        async with wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation:
            await live_through_an_end(simulation, server, lambda: end(server), away=0)
        await assert_run_is_stored(tmp_path / "run1", settings)


@pytest.mark.long
@pytest.mark.timeout(900)
async def test_a_server_killed_for_twenty_seconds_time_and_again_costs_no_memory(
    weaviate_binary: str, tmp_path: Path
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = settings_for(server)
        async with wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation:
            for _ in range(3):
                await live_through_an_end(simulation, server, server.kill, away=20)
        await assert_run_is_stored(tmp_path / "run1", settings)


def test_a_run_that_is_killed_while_its_server_is_away_loses_nothing(weaviate_binary: str, tmp_path: Path) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = settings_for(server)
        store = f"weaviate:{server.url}"
        run = commands.start("run", "--ticks", "100000", "--out", "run1", "--store", store, *FAST, folder=tmp_path)
        try:
            read_until(run, "   3  ")
            server.kill()
            read_until(run, "memories wait in outbox.jsonl until the store takes them: Weaviate at")
        finally:
            run.kill()
            run.communicate()
        assert (tmp_path / "run1" / OUTBOX).exists()
        refused = commands.run("store", "deliver", "run1", folder=tmp_path)
        assert refused.code == 4
        assert "nothing answers there" in refused.err
        server.start()
        delivered = commands.run("store", "deliver", "run1", folder=tmp_path)
        assert delivered.code == 0
        assert " memories delivered to Weaviate 1." in delivered.out
        asyncio.run(assert_run_is_stored(tmp_path / "run1", settings))
        again = commands.run("store", "deliver", "run1", folder=tmp_path)
        assert again.out == "nothing waits in run1\n"


async def test_a_server_that_lost_its_data_is_told_and_gets_what_waits_when_the_run_has_ended(
    weaviate_binary: str, tmp_path: Path, here: Here
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        async with wiring.open_simulation(settings_for(server), folder=tmp_path / "run1") as simulation:
            await live_until(simulation, lambda: simulation.tick >= 3)
            server.kill()
            shutil.rmtree(tmp_path / "data")
            server.start()
            await live_until(simulation, lambda: waiting(simulation) >= 8)
            for trace in simulation.last.values():
                assert "simuverse store deliver" in trace.problems[-1]
                assert "simuverse store deliver" in trace.problems[0]
            kept = waiting(simulation)
        delivered = await asyncio.to_thread(here, "store", "deliver", "run1")
        assert (delivered.code, delivered.out.startswith(f"{kept} memories delivered to")) == (0, True), delivered.text


def read_until(process: subprocess.Popen[str], text: str) -> None:
    assert process.stdout is not None
    for line in process.stdout:
        if text in line:
            return
    raise AssertionError(f"it never printed {text!r}")


async def test_a_command_that_opens_the_memories_brings_out_what_waits_as_soon_as_the_server_can_take_it(
    weaviate_binary: str, tmp_path: Path
) -> None:
    """Also while it recovers its log and mounts its collections, which it is asked for from the first moment on."""
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = settings_for(server)
        async with wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation:
            store = await WeaviateStore.open([server.address], embedder_name="none", dimension=4, prefix="Others")
            for number in range(15):
                await store.collection(f"other {number}")
            await store.aclose()
            await live_until(simulation, lambda: simulation.tick >= 5)
            server.kill()
            await live_until(simulation, lambda: waiting(simulation) >= 12)
        left = (tmp_path / "run1" / OUTBOX).read_bytes()
        assert left
        server.launch()
        async with asyncio.timeout(60):
            while True:
                try:
                    async with sources.memories(str(tmp_path / "run1"), settings):
                        pass
                except StoreError:
                    assert (tmp_path / "run1" / OUTBOX).read_bytes().startswith(left)
                if not (tmp_path / "run1" / OUTBOX).exists():
                    break
                await asyncio.sleep(0.01)
        await assert_run_is_stored(tmp_path / "run1", settings)


async def test_memories_that_a_read_only_server_refuses_wait_while_all_are_still_recalled(
    weaviate_binary: str, tmp_path: Path
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = settings_for(server)
        async with (
            wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation,
            own_client(server.address) as client,
        ):
            configs = [client.collections.use(collection_name(agent)).config for agent in AGENTS]
            await live_until(simulation, lambda: simulation.tick >= 3)
            for config in configs:
                await config.update_shards("READONLY")
            await live_until(simulation, lambda: waiting(simulation) >= 8)
            assert any(trace.recollection.flashbacks for trace in simulation.last.values())
            assert any("set READY" in trace.problems[-1] for trace in simulation.last.values())
            for config in configs:
                await config.update_shards("READY")
            await live_until(simulation, lambda: waiting(simulation) == 0)
        await assert_run_is_stored(tmp_path / "run1", settings)


@pytest.mark.long
@pytest.mark.timeout(3600)
async def test_a_hundred_kills_of_the_server_during_writes_lose_nothing(weaviate_binary: str, tmp_path: Path) -> None:
    chance = random.Random(7)
    told, written = count(), {agent: list[UUID]() for agent in AGENTS}
    with WeaviateServer.running(weaviate_binary, tmp_path, {**SETTINGS, **QUICK_START}) as server:
        store = await WeaviateStore.open([server.address], embedder_name=EMBEDDER, dimension=DIMENSION)
        async with Outbox.open(tmp_path / OUTBOX, store=store, embedder=InventedEmbedder()) as outbox:
            inner = [await store.collection(agent) for agent in AGENTS]
            collections = [outbox.collection(one) for one in inner]
            turns = {agent: count() for agent in AGENTS}
            by_the_store = 0
            for kill in range(1, KILLS + 1):
                async with asyncio.TaskGroup() as group:
                    enough = asyncio.Event()
                    for collection in collections:
                        group.create_task(
                            write(collection, told, turns[collection.owner], written[collection.owner], enough)
                        )
                    wanted = sum(map(len, written.values())) + chance.randrange(20, 100)
                    await until(partial(enough_are, written, wanted))
                    by_the_store += wanted - outbox.backlog.waiting
                    server.kill()
                    await asyncio.to_thread(server.start)
                    enough.set()
                await until(lambda: outbox.backlog.waiting == 0)
                if kill % CHECKED_EVERY == 0:
                    for one in inner:
                        await assert_stored_once(one, written[one.owner])
            assert by_the_store > 0
        await store.aclose()
        server.terminate()
        server.start()
        store = await WeaviateStore.open(
            [server.address], embedder_name=EMBEDDER, dimension=DIMENSION, deadline=PATIENT
        )
        for agent, ids in written.items():
            await assert_stored_once(await store.collection(agent), ids)
        await store.aclose()


def enough_are(written: Mapping[str, list[UUID]], wanted: int) -> bool:
    return sum(map(len, written.values())) >= wanted


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(600):
        while True:
            if condition():
                return
            await asyncio.sleep(0.001)


async def write(
    collection: OutboxCollection, told: count[int], turns: count[int], written: list[UUID], enough: asyncio.Event
) -> None:
    """Adds memories, one and three at a time, notes each that counts as added, and has the last ones come to mind."""
    for turn in turns:
        if enough.is_set():
            return
        some = [said(next(told), collection.owner, turn) for _ in range(3 if turn % 2 else 1)]
        await collection.add(some)
        written += [one.memory.id for one in some]
        await collection.touch(written[-8:], START + timedelta(minutes=turn))
        if collection.backlog.waiting:
            await asyncio.sleep(5 * BREATH)


def said(number: int, owner: str, turn: int) -> Entry:
    """In talks of a hundred turns in twenty places, so that most change the contexts of many that are there already."""
    talk, place = divmod(turn, 100)
    plain = entry(f"Bell {number} rang.", number, owner=owner)
    return replace(plain, memory=replace(plain.memory, episode=f"talk {talk}", position=place * 7 % 20))
