"""Ctrl-C at any moment, a reader that goes away, and a process that is killed: what was finished can be read."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from random import Random

import pytest

from simuverse.agents.trace import TurnTrace
from simuverse.config import Settings
from simuverse.sources import memories
from simuverse.world.journal import read_turns
from tests.commands import Ended, finish, run, start

RUN = ("run", "--ticks", "500", "--out", "run1", "--embedder", "hashing")
_chance = Random(7)
MOMENTS = [_chance.randrange(lines, lines + 12) for lines in (2, 14, 26)]
"""Lines of output after which a run is stopped; four are a tick."""


def until(process: subprocess.Popen[str], lines: int) -> list[str]:
    """Waits for so many lines of output."""
    assert process.stdout is not None
    return [process.stdout.readline() for _ in range(lines)]


def interrupted(process: subprocess.Popen[str]) -> Ended:
    process.send_signal(signal.SIGINT)
    return finish(process)


def ticks_told(lines: list[str]) -> set[int]:
    return {int(line.split()[0]) for line in lines if line.startswith(" ")}


async def assert_memories_are_there(folder: Path, turns: list[TurnTrace]) -> None:
    """Every memory that a turn on record wrote is in the run's store."""
    async with memories(str(folder), Settings()) as (store, _):
        for owner in await store.owners():
            written = [memory for turn in turns if turn.agent == owner for memory in turn.remembered.written]
            collection = await store.collection(owner)
            assert [memory.id for memory in await collection.get([memory.id for memory in written])] == [
                memory.id for memory in written
            ]


@pytest.mark.parametrize("module", ["msgspec", "numpy", "simuverse.cli"])
def test_ctrl_c_while_the_program_loads_ends_it_without_a_word(module: str, tmp_path: Path) -> None:
    process = start(*RUN, folder=tmp_path, python=("-X", "importtime"))
    assert process.stderr is not None
    assert any(line.rpartition("|")[2].strip() == module for line in process.stderr)
    ended = interrupted(process)
    assert ended.code == 130
    assert [line for line in ended.err.splitlines() if not line.startswith("import time:")] == []
    assert not (tmp_path / "run1" / "run.json").exists()


@pytest.mark.parametrize("lines", [1, *MOMENTS])
async def test_ctrl_c_in_a_run_keeps_every_finished_tick(lines: int, tmp_path: Path) -> None:
    process = start(*RUN, folder=tmp_path)
    told = until(process, lines)
    ended = interrupted(process)
    assert ended.code == 130
    assert ended.err == "interrupted; every finished tick is in run1\n"
    turns = list(read_turns(tmp_path / "run1"))
    assert [turn.tick for turn in turns] == [1 + place // 4 for place in range(len(turns))]
    assert len(turns) % 4 == 0
    assert ticks_told(told + ended.out.splitlines(keepends=True)) <= {turn.tick for turn in turns}
    await assert_memories_are_there(tmp_path / "run1", turns)
    if turns:
        assert run("flashbacks", "run1", folder=tmp_path).code == 0


@pytest.mark.parametrize("lines", MOMENTS[1:])
async def test_a_killed_run_loses_at_most_the_unfinished_tick(lines: int, tmp_path: Path) -> None:
    process = start(*RUN, folder=tmp_path)
    told = ticks_told(until(process, lines))
    process.kill()
    ended = finish(process)
    assert ended.code == 128 + signal.SIGKILL
    told |= ticks_told(ended.out.splitlines(keepends=True)[:-1])
    turns = list(read_turns(tmp_path / "run1"))
    for tick in told:
        assert len([turn for turn in turns if turn.tick == tick]) == 4
    await assert_memories_are_there(tmp_path / "run1", turns)


def test_ctrl_c_while_a_talk_waits_for_a_line_ends_it_and_keeps_what_was_said(tmp_path: Path) -> None:
    talk = ("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing")
    process = start(*talk, folder=tmp_path)
    assert process.stdin is not None
    process.stdin.write("The blue kite hangs in the old oak.\n")
    process.stdin.flush()
    assert "Ada: I see, Guest." in until(process, 2)[1]
    ended = interrupted(process)
    assert (ended.code, ended.err) == (130, "")
    found = run("memories", "sqlite:ada.db", "--embedder", "hashing", "search", "kite", folder=tmp_path)
    assert "said by Guest  Guest: The blue kite hangs in the old oak." in found.out


def test_a_reader_that_goes_away_ends_the_run_quietly(tmp_path: Path) -> None:
    process = start(*RUN, folder=tmp_path)
    assert process.stdout is not None
    process.stdout.readline()
    process.stdout.close()
    assert process.stderr is not None
    said = process.stderr.read()
    process.stderr.close()
    assert process.stdin is not None
    process.stdin.close()
    process.wait(timeout=60)
    assert said == ""
    assert len(list(read_turns(tmp_path / "run1"))) % 4 == 0
