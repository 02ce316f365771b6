"""A real Weaviate server whose disk fills up: it is told with its cure, and no memory is lost."""

from __future__ import annotations

import asyncio
import shutil
from itertools import count
from pathlib import Path

import pytest

from simuverse import wiring
from simuverse.errors import StoreRefused
from simuverse.memory.records import SearchType
from simuverse.memory.store import Entry, MemoryCollection, SearchRequest
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_address import Layout
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER
from tests.live.test_weaviate_outbox import BREATH, assert_run_is_stored, live_until, settings_for, waiting
from tests.live.test_weaviate_store import PATIENT
from tests.live.weaviate_server import SETTINGS, WeaviateServer

pytestmark = pytest.mark.live

THRESHOLD = 70
"""Percent of its disk in use, from which on a server takes no writes; 90 where nobody says."""


def fill(disk: Path, percent: float) -> Path:
    """A file that leaves no more of the disk than is to be left."""
    filler, usage = disk / "filler", shutil.disk_usage(disk)
    try:
        with filler.open("wb") as file:
            file.write(bytes(max(0, int(usage.total * percent / 100) - usage.used)))
    except OSError:
        assert percent == 100
    return filler


async def refused(collection: MemoryCollection) -> tuple[StoreRefused, int]:
    """The server looks at its disk twice a second: how it refuses, and the number of the first that it refused."""
    async with asyncio.timeout(60):
        for number in count(1):
            try:
                await collection.add([entry("Clouds drift by.", number)])
            except StoreRefused as error:
                return error, number
    raise AssertionError


async def taken(collection: MemoryCollection, one: Entry) -> None:
    async with asyncio.timeout(60):
        while True:
            try:
                return await collection.add([one])
            except StoreRefused:
                await asyncio.sleep(BREATH)


@pytest.mark.parametrize("disk", ["size=300m"], indirect=True)
async def test_a_run_goes_on_while_its_servers_disk_is_too_full_to_write_and_all_goes_out_when_there_is_room(
    disk: Path, weaviate_binary: str, tmp_path: Path
) -> None:
    limited = {**SETTINGS, "DISK_USE_READONLY_PERCENTAGE": str(THRESHOLD)}
    with WeaviateServer.running(weaviate_binary, disk, limited) as server:
        settings = settings_for(server)
        async with wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation:
            await live_until(simulation, lambda: simulation.tick >= 3)
            assert waiting(simulation) == 0
            filler = fill(disk, THRESHOLD + 10)
            await live_until(simulation, lambda: waiting(simulation) >= 8)
            assert any(trace.recollection.flashbacks for trace in simulation.last.values())
            assert any("its disk is nearly full; free some" in trace.problems[-1] for trace in simulation.last.values())
            filler.unlink()
            await live_until(simulation, lambda: waiting(simulation) == 0)
        await assert_run_is_stored(tmp_path / "run1", settings)


@pytest.mark.parametrize("disk", ["size=300m"], indirect=True)
@pytest.mark.parametrize("layout", Layout)
async def test_a_disk_that_is_too_full_to_write_is_named_and_what_is_there_is_still_found(
    disk: Path, weaviate_binary: str, layout: Layout
) -> None:
    limited = {**SETTINGS, "DISK_USE_READONLY_PERCENTAGE": str(THRESHOLD)}
    with WeaviateServer.running(weaviate_binary, disk, limited) as server:
        store = await WeaviateStore.open(
            [server.address], embedder_name=EMBEDDER, dimension=DIMENSION, layout=layout, deadline=PATIENT
        )
        jade = await store.collection("Jade")
        await jade.add([entry("The bell rang.", 0)])
        filler = fill(disk, THRESHOLD + 10)
        error, number = await refused(jade)
        assert "its disk is nearly full; free some" in str(error)
        with pytest.raises(StoreRefused, match="its disk is nearly full; free some"):
            await jade.add([entry("Clouds drift by.", number), entry("The otter found a shell.", number + 1)])
        found = await jade.search(SearchRequest(search_type=SearchType.KEYWORD, terms=("bell",)))
        assert [hit.memory.summary for hit in found] == ["The bell rang."]
        filler.unlink()
        await taken(jade, entry("Clouds drift by.", number))
        assert await jade.count() == number + 1
        await store.aclose()


@pytest.mark.parametrize("disk", ["size=300m"], indirect=True)
async def test_a_disk_without_any_room_costs_no_memory(disk: Path, weaviate_binary: str, tmp_path: Path) -> None:
    """Such a server may not find its way back by itself, but it does when it is started anew."""
    unlimited = {**SETTINGS, "DISK_USE_READONLY_PERCENTAGE": "0"}
    with WeaviateServer.running(weaviate_binary, disk, unlimited) as server:
        settings = settings_for(server)
        async with wiring.open_simulation(settings, folder=tmp_path / "run1") as simulation:
            await live_until(simulation, lambda: simulation.tick >= 3)
            assert waiting(simulation) == 0
            filler = fill(disk, 100)
            await live_until(simulation, lambda: waiting(simulation) >= 8)
            filler.unlink()
            server.kill()
            server.start()
            await live_until(simulation, lambda: waiting(simulation) == 0)
        await assert_run_is_stored(tmp_path / "run1", settings)
