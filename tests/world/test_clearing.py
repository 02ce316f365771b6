"""A run's record without a memory: nothing of it is left, nothing else is touched, every turn can still be read."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import pytest

from simuverse.errors import RunFolderError
from simuverse.memory.records import Provenance, Source
from simuverse.world.clearing import RunRecord, files_holding
from tests.contracts.memory_reference import memory

BOX = memory(
    "Mira hid the zephyrine box.",
    provenance=Provenance(source=Source.SAID_BY, speaker="Mira", messages=("m1",)),
)


def lines(path: Path, *values: Any) -> list[bytes]:
    """Writes them, and gives them back as written."""
    written = [msgspec.json.encode(value) for value in values]
    path.write_bytes(b"".join(line + b"\n" for line in written))
    return written


async def test_lines_that_hold_none_of_it_stay_to_the_byte(tmp_path: Path) -> None:
    journal = tmp_path / "journal.jsonl"
    before = lines(
        journal,
        {"seq": 1, "kind": "tick", "note": "z before a"},
        {"seq": 2, "kind": "operator", "body": {"b": BOX.summary, "a": [BOX.summary.upper(), 7]}},
        {"seq": 3, "kind": "tick", "b": 1.50, "a": None},
    )
    await RunRecord(tmp_path).erase([BOX])
    after = journal.read_bytes().splitlines()
    assert (after[0], after[2]) == (before[0], before[2])
    assert msgspec.json.decode(after[1]) == {
        "seq": 2,
        "kind": "operator",
        "body": {"b": "[erased]", "a": ["[erased].", 7]},
    }


async def test_what_was_heard_is_found_by_its_message_and_taken_out_wherever_it_was_quoted(tmp_path: Path) -> None:
    lines(
        tmp_path / "journal.jsonl",
        {"heard": [{"id": "m1", "text": "I put my treasure away & told no one!"}]},
        {"prompt": "<said>I put my treasure away &amp; told no one!</said>"},
    )
    record = RunRecord(tmp_path)
    await record.erase([BOX])
    left = (tmp_path / "journal.jsonl").read_bytes()
    assert b"treasure" not in left
    assert left.count(b"[erased]") == 2
    assert "I put my treasure away & told no one!" in record.texts


async def test_earlier_wordings_go_too_and_other_files_of_the_run(tmp_path: Path) -> None:
    (tmp_path / "snapshots").mkdir()
    lines(tmp_path / "telemetry.jsonl", {"seq": 1, "calls": [0.25]})
    (tmp_path / "snapshots" / "25.json").write_text('{"minds": "Mira hid the quixotic chest."}', encoding="utf-8")
    await RunRecord(tmp_path).erase([BOX, replace(BOX, summary="Mira hid the quixotic chest.")])
    assert (tmp_path / "snapshots" / "25.json").read_text(encoding="utf-8") == '{"minds":"[erased]"}'
    assert (tmp_path / "telemetry.jsonl").read_bytes() == b'{"seq":1,"calls":[0.25]}\n'


async def test_a_line_that_a_crash_cut_short_goes_with_the_words(tmp_path: Path) -> None:
    [whole] = lines(tmp_path / "journal.jsonl", {"seq": 1})
    (tmp_path / "journal.jsonl").write_bytes(whole + b'\n{"seq":2,"text":"Mira hid the zephyr')
    await RunRecord(tmp_path).erase([BOX])
    assert (tmp_path / "journal.jsonl").read_bytes() == whole + b"\n"


async def test_what_cant_be_cleared_leaves_every_file_as_it_was(tmp_path: Path) -> None:
    lines(tmp_path / "early.jsonl", {"text": BOX.summary})
    (tmp_path / "journal.jsonl").write_bytes(b"{nonsense\n")
    with pytest.raises(RunFolderError, match=r"journal\.jsonl, line 1 is damaged"):
        await RunRecord(tmp_path).erase([BOX])
    assert b"zephyrine" in (tmp_path / "early.jsonl").read_bytes()


def test_files_are_searched_as_bytes(tmp_path: Path) -> None:
    lines(tmp_path / "a.jsonl", {"text": 'He said "no".'})
    (tmp_path / "b.bin").write_bytes(b"\x00He said nothing\xff")
    assert files_holding(list(tmp_path.iterdir()), ['He said "no".']) == [tmp_path / "a.jsonl"]
