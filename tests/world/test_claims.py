"""Ids of runs on a shared store: never the same for two that are under way."""

from __future__ import annotations

import multiprocessing
import os
import signal
from dataclasses import replace
from multiprocessing.connection import Connection
from pathlib import Path

import pytest

from simuverse.config import Settings
from simuverse.errors import StoreUnavailable
from simuverse.memory.records import MemoryFilter
from simuverse.wiring import open_simulation
from simuverse.world.claims import beside_server, claimed
from simuverse.world.journal import read_events

FAST = Settings(embedder="hashing")
EVER = MemoryFilter(include_superseded=True, include_forgotten=True)


def ids(number: int) -> str:
    return f"id{number}"


def test_two_at_once_have_different_ids_and_the_first_is_free_again(tmp_path: Path) -> None:
    beside = tmp_path / "all.db"
    with claimed(ids, beside=beside) as first:
        with claimed(ids, beside=beside) as second, claimed(ids, beside=tmp_path / "other.db") as elsewhere:
            assert (first, second, elsewhere) == ("id0", "id1", "id0")
        with claimed(ids, beside=beside) as third:
            assert third == "id1"
    with claimed(ids, beside=beside) as fourth:
        assert fourth == "id0"
    assert [path.name for path in tmp_path.iterdir() if ".run-" in path.name] == []


def _hold(beside: Path, told: Connection) -> None:
    with claimed(ids, beside=beside) as held:
        told.send(held)
        signal.pause()


def test_a_process_that_is_killed_holds_its_id_no_longer(tmp_path: Path) -> None:
    beside = tmp_path / "all.db"
    spawn = multiprocessing.get_context("spawn")
    telling, told = spawn.Pipe()
    other = spawn.Process(target=_hold, args=(beside, told))
    other.start()
    assert telling.recv() == "id0"
    with claimed(ids, beside=beside) as beside_it:
        assert beside_it == "id1"
    assert other.pid is not None
    os.kill(other.pid, signal.SIGKILL)
    other.join()
    with claimed(ids, beside=beside) as after:
        assert after == "id0"


def test_where_no_file_can_be_made_no_run_begins(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(StoreUnavailable, match="no run can begin"), claimed(ids, beside=tmp_path / "file" / "all.db"):
        pass


def test_servers_are_told_apart_by_their_address() -> None:
    assert beside_server("weaviate:http://a:8080") == beside_server("weaviate:http://a:8080")
    assert beside_server("weaviate:http://a:8080") != beside_server("weaviate:http://b:8080")


async def test_two_runs_of_one_scenario_and_seed_at_once_overwrite_nothing_of_each_other(tmp_path: Path) -> None:
    shared = replace(FAST, store=f"sqlite:{tmp_path / 'shared.db'}")
    async with open_simulation(shared):
        pass  # so that both begin with the same memories, the seeds
    async with open_simulation(shared, folder=tmp_path / "one") as one, open_simulation(shared) as two:
        assert one.run != two.run
        traces = [trace for _ in range(4) for simulation in (one, two) for trace in await simulation.step()]
        written = {(trace.agent, memory.id) for trace in traces for memory in trace.remembered.written}
        assert len(written) == sum(len(trace.remembered.written) for trace in traces)
        runs: set[str] = set()
        for agent in one.agents.values():
            assert agent.subconscious is not None
            there = await agent.subconscious.collection.recent(1_000, filter=EVER)
            assert {known for owner, known in written if owner == agent.name} <= {memory.id for memory in there}
            runs |= {str(memory.provenance.turn).split("/")[0] for memory in there}
    assert runs == {"seed", one.run, two.run}


async def test_a_run_alone_on_a_named_store_writes_the_journal_that_it_writes_in_its_folder(tmp_path: Path) -> None:
    hashes: list[str | None] = []
    for name, settings in (("own", FAST), ("named", replace(FAST, store=f"sqlite:{tmp_path / 'named.db'}"))):
        async with open_simulation(settings, folder=tmp_path / name) as simulation:
            await simulation.step()
        hashes.append(simulation.journal_sha256)
        assert next(read_events(tmp_path / name)).body["run"] == simulation.run
    assert hashes[0] == hashes[1]
