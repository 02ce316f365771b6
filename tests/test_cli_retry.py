"""``simuverse memories RUN retry``: what a second mind failed to write down in a run is written down afterwards."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from filelock import FileLock

from simuverse.world.journal import LOCK, read_turns
from tests.bad_input.test_outside import closed_port
from tests.commands import Here


@pytest.fixture
def failed(here: Here, monkeypatch: pytest.MonkeyPatch) -> Here:
    """A folder with ``run1``, two ticks in which nobody's memory could be written, as the model was gone."""

    def at_once(*_: object) -> float:
        return 0.0

    monkeypatch.setattr("simuverse.agents.wrappers.Retrying._wait", at_once)
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{closed_port()}")
    ended = here(
        *("run", "--ticks", "2", "--out", "run1", "--subconscious-model", "ollama:tiny", "--embedder", "hashing")
    )
    assert "8 turns are not written down yet; `simuverse memories run1 retry` tries again" in ended.out
    shown = here("flashbacks", "run1", "--agent", "Jade").out
    assert "not written down yet; `memories SOURCE retry` tries again" in shown
    assert all(turn.remembered.failed for turn in read_turns(Path("run1")))
    return here


def test_what_failed_is_written_down_with_the_time_and_turn_of_then_and_once(failed: Here) -> None:
    turns = {turn.observation.turn: turn for turn in read_turns(Path("run1"))}
    ended = failed("memories", "run1", "retry", "--subconscious-model", "reflex", "--json")
    assert ended.code == 0
    written = [memory for one in json.loads(ended.out) for memory in one["written"]]
    assert written
    for memory in written:
        turn = turns[memory["provenance"]["turn"]]
        assert memory["owner"] == turn.agent
        assert memory["created_at"] == turn.observation.time.isoformat().replace("+00:00", "Z")
    for owner in {memory["owner"] for memory in written}:
        listed = json.loads(failed("memories", "run1", "--agent", owner, "list", "--json").out)
        ids = [memory["id"] for memory in listed]
        assert {memory["id"] for memory in written if memory["owner"] == owner} <= set(ids)
        assert len(ids) == len(set(ids))
    assert failed("memories", "run1", "retry").out == "nothing is left to be written down\n"
    assert not list(Path("run1").glob("*unwritten*"))


def test_by_default_it_is_written_by_what_the_run_had_and_a_failure_is_told_with_code_5(failed: Here) -> None:
    kept = sorted(path.name for path in Path("run1").glob("*unwritten*"))
    ended = failed("memories", "run1", "--agent", "Jade", "retry")
    assert ended.code == 5
    assert "failed again: nothing was remembered: " in ended.out
    assert "2 of 2 could not be written down, and are kept for another try" in ended.err
    assert sorted(path.name for path in Path("run1").glob("*unwritten*")) == kept


def test_a_run_under_way_is_left_alone(failed: Here) -> None:
    with FileLock(Path("run1") / LOCK):
        ended = failed("memories", "run1", "retry")
    assert ended.code == 2
    assert "run1 is being written by another process, and nothing was tried again" in ended.err


def test_a_store_alone_has_nothing_left_either(here: Here) -> None:
    assert here("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", typed=b"").code == 0
    assert here("memories", "sqlite:ada.db", "retry").out == "nothing is left to be written down\n"
