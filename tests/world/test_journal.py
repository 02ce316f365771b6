"""The run folder: one writer, nothing lost that was committed, and a clear word about every folder that isn't one."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from simuverse.agents.trace import TurnTrace
from simuverse.config import Settings
from simuverse.errors import RunFolderError
from simuverse.wiring import open_simulation
from simuverse.world import journal as journals
from simuverse.world.journal import FORMAT, Journal, RunInfo, read_events, read_info, read_turns

INFO = RunInfo(
    version="0.1.0",
    id="0f1e2d3c4b5a",
    scenario="grid",
    seed=7,
    model="rehearsal",
    subconscious="reflex",
    embedder="hashing",
    store="sqlite:memory.db",
    memory=True,
    agents=("Jade", "James"),
    started="2026-06-01T08:00:00+00:00",
)
FULL = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "run", INFO) as opened:
        yield opened


async def live(folder: Path, ticks: int = 2) -> list[TurnTrace]:
    settings = Settings(embedder="hashing", model="rehearsal", subconscious_model="rehearsal")
    async with open_simulation(settings, folder=folder) as simulation:
        return [trace for _ in range(ticks) for trace in await simulation.step()]


def test_events_come_back_in_order_and_the_hash_is_that_of_the_file(journal: Journal) -> None:
    assert journal.append("start", tick=0, body={"state": "a"}) == 1
    assert journal.append("operator", tick=1, agent="Jade", body=[1.5, "é", None]) == 2
    journal.commit()
    events = list(read_events(journal.folder))
    assert [(event.seq, event.tick, event.kind, event.agent, event.body) for event in events] == [
        (1, 0, "start", "", {"state": "a"}),
        (2, 1, "operator", "Jade", [1.5, "é", None]),
    ]
    assert journal.sha256 == sha256((journal.folder / "journal.jsonl").read_bytes()).hexdigest()


def test_what_a_run_was_started_with_comes_back(journal: Journal) -> None:
    assert read_info(journal.folder) == INFO
    assert json.loads((journal.folder / "run.json").read_text(encoding="utf-8"))["format"] == FORMAT


async def test_turns_come_back_whole_wall_clock_figures_included(tmp_path: Path) -> None:
    lived = await live(tmp_path / "run")
    assert all(call.seconds >= 0 for trace in lived for call in trace.calls)
    assert all(trace.timings.decide > 0 and trace.timings.act > 0 for trace in lived)
    assert all(len(trace.calls) == 3 for trace in lived)
    assert list(read_turns(tmp_path / "run")) == lived
    assert list(read_turns(tmp_path / "run", agent="Jade", tick=2)) == [
        trace for trace in lived if (trace.agent, trace.tick) == ("Jade", 2)
    ]


async def test_the_journal_holds_no_wall_clock_figure(tmp_path: Path) -> None:
    await live(tmp_path / "run")
    for event in read_events(tmp_path / "run"):
        if event.kind == "turn":
            assert set(event.body["timings"].values()) == {0.0}
            calls = [call for part in ("recollection", "decision", "remembered") for call in event.body[part]["calls"]]
            assert [call["seconds"] for call in calls] == [0.0] * 3


def test_a_folder_is_not_used_twice(journal: Journal) -> None:
    journal.close()
    before = (journal.folder / "run.json").read_bytes()
    with pytest.raises(RunFolderError, match="holds a run already"):
        Journal(journal.folder, replace(INFO, seed=8))
    assert (journal.folder / "run.json").read_bytes() == before


def test_a_second_process_is_refused_while_the_first_writes(journal: Journal) -> None:
    (journal.folder / "run.json").unlink()  # so that only the lock can refuse
    program = (
        "import sys; from pathlib import Path\n"
        "from simuverse.errors import RunFolderError\n"
        "from tests.world.test_journal import INFO, Journal\n"
        "try: Journal(Path(sys.argv[1]), INFO)\n"
        "except RunFolderError as error: print(error)\n"
    )
    root = Path(__file__).parents[2]
    done = subprocess.run(
        [sys.executable, "-c", program, str(journal.folder)], cwd=root, capture_output=True, text=True, check=True
    )
    assert f"{journal.folder} is being written by another process. Choose another folder" in done.stdout


def test_a_closed_journal_lets_go_of_its_folder(journal: Journal) -> None:
    journal.close()
    (journal.folder / "run.json").unlink()
    Journal(journal.folder, INFO).close()


@pytest.mark.parametrize(
    ("content", "told"),
    [
        ("", "is damaged"),
        ("{", "is damaged"),
        ("[1]", "is damaged"),
        ('{"name": "a web app"}', "isn't a run of Simu-Verse: it states no format"),
        ('{"format": "one"}', "isn't a run of Simu-Verse: it states no format"),
        ('{"format": 1}', "is damaged"),
        (f'{{"format": {FORMAT + 1}}}', "Update it: pip install -U simu-verse"),
    ],
)
def test_a_folder_of_something_else_is_told_apart(content: str, told: str, tmp_path: Path) -> None:
    (tmp_path / "run.json").write_text(content, encoding="utf-8")
    with pytest.raises(RunFolderError) as error:
        read_info(tmp_path)
    assert f"{tmp_path / 'run.json'}" in str(error.value)
    assert told in str(error.value)


def test_a_folder_without_a_run_and_a_file_are_told_apart(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    for path in (tmp_path, tmp_path / "none", tmp_path / "notes.txt"):
        with pytest.raises(RunFolderError, match=f"{path} is not a run folder: it has no run.json"):
            read_info(path)


@pytest.mark.parametrize("file", ["journal.jsonl", "telemetry.jsonl"])
def test_a_run_without_one_of_its_files_is_told_of(file: str, journal: Journal) -> None:
    (journal.folder / file).unlink()
    with pytest.raises(RunFolderError, match=f"{file} can't be read: No such file"):
        list(read_turns(journal.folder))


def test_a_damaged_line_is_named_by_its_number(journal: Journal) -> None:
    for tick in range(3):
        journal.append("tick", tick=tick)
    journal.commit()
    file = journal.folder / "journal.jsonl"
    lines = file.read_bytes().splitlines(keepends=True)
    for damage in (b'{"seq": 2, "tick\n', b"\xff\xfe\n", b'{"seq": 2}\n', b"\n"):
        file.write_bytes(lines[0] + damage + lines[2])
        with pytest.raises(RunFolderError, match=r"journal\.jsonl, line 2 is damaged"):
            list(read_events(journal.folder))


def test_a_turn_that_is_none_is_named_by_its_event(journal: Journal) -> None:
    journal.append("turn", tick=1, agent="Jade", body={"agent": "Jade"})
    journal.commit()
    with pytest.raises(RunFolderError, match=r"journal\.jsonl, event 1 isn't a turn"):
        list(read_turns(journal.folder))


@pytest.mark.parametrize("kept", [1, 10, -1])
async def test_a_last_line_cut_short_anywhere_costs_that_line_alone(kept: int, tmp_path: Path) -> None:
    lived = await live(tmp_path / "run", ticks=1)
    for name in ("journal.jsonl", "telemetry.jsonl"):
        file = tmp_path / "run" / name
        lines = file.read_bytes().splitlines(keepends=True)
        turns = 5 if name == "journal.jsonl" else 4  # the last turn's line, without the event that ends the tick
        file.write_bytes(b"".join(lines[: turns - 1]) + lines[turns - 1][:kept])
    assert list(read_turns(tmp_path / "run")) == lived[:3]


def test_a_run_folder_that_cannot_be_made_is_told_of(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("milk", encoding="utf-8")
    with pytest.raises(RunFolderError, match=r"notes\.txt/run can't be written: Not a directory. Choose another"):
        Journal(tmp_path / "notes.txt" / "run", INFO)


def test_a_disk_that_is_full_from_the_start_leaves_the_folder_free(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(path: Path, content: bytes) -> None:
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr(journals, "write_whole", refuse)
        with pytest.raises(RunFolderError, match="can't be written: No space left on device"):
            Journal(tmp_path / "run", INFO)
    with pytest.raises(RunFolderError, match=r"has no run\.json"):
        read_info(tmp_path / "run")
    Journal(tmp_path / "run", INFO).close()


def test_a_disk_that_fills_up_is_told_of_once_and_keeps_what_was_committed(
    journal: Journal, monkeypatch: pytest.MonkeyPatch
) -> None:
    journal.append("tick", tick=1)
    journal.commit()
    committed = (journal.folder / "journal.jsonl").read_bytes()

    def refuse(descriptor: int) -> None:
        raise FULL

    with monkeypatch.context() as patch:
        patch.setattr("os.fsync", refuse)
        journal.append("tick", tick=2)
        with pytest.raises(RunFolderError, match="can't be written any more: No space left on device"):
            journal.commit()
    with pytest.raises(RunFolderError, match="can't be written any more"):
        journal.append("tick", tick=3)
    journal.close()
    assert (journal.folder / "journal.jsonl").read_bytes().startswith(committed)
    assert [event.tick for event in read_events(journal.folder)][:1] == [1]
    assert 3 not in [event.tick for event in read_events(journal.folder)]


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="needs a device that is always full")
def test_a_device_without_room_is_told_of_and_closing_it_lets_go_of_the_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "journal.jsonl").symlink_to("/dev/full")
    journal = Journal(folder, INFO)
    journal.append("tick", tick=1)
    with pytest.raises(RunFolderError, match="No space left on device"):
        journal.commit()
    journal.close()
    (folder / "run.json").unlink()
    Journal(folder, INFO).close()
