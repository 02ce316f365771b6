"""The record of changes is the same wherever its lines are."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from simuverse.memory.audit import AuditLog
from simuverse.memory.audit_lines import LEDGER
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from tests.memory.editing import Desk, desk, exported, now

TEXT = "The zephyrine box is under the quince tree."


@pytest.fixture(params=["beside", "within", "in memory"])
async def jade(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[tuple[Desk, MemoryEditor]]:
    async with desk(tmp_path / "jade.db") as opened:
        audit = {
            "beside": AuditLog.beside(tmp_path / "jade.db"),
            "within": AuditLog.within(opened.store, dimension=HashingEmbedder.dimension),
            "in memory": AuditLog.beside(None),
        }[request.param]
        yield opened, MemoryEditor(opened.collection, HashingEmbedder(), opened.clock, audit)


async def test_changes_are_numbered_settled_undone_and_told(jade: tuple[Desk, MemoryEditor]) -> None:
    here, editor = jade
    box = await here.pool.keep(TEXT)
    before = await exported(here.collection)
    assert await editor.history() == []
    await editor.rewrite(box.id, "There is no box.\nNor was there.", why="a jest")
    await editor.forget([box.id])
    await editor.undo()
    await editor.undo()
    assert await exported(here.collection) == before
    assert [(change.number, change.kind, change.state, change.undoes) for change in await editor.history()] == [
        (1, "rewrite", "done", None),
        (2, "forget", "done", None),
        (3, "undo", "done", 2),
        (4, "undo", "done", 1),
    ]
    assert (await editor.history())[0].after[0].summary == "There is no box.\nNor was there."
    assert await now(here.collection, box) == box


async def test_erased_words_are_out_of_it(jade: tuple[Desk, MemoryEditor], tmp_path: Path) -> None:
    here, editor = jade
    box, other = await here.pool.keep(TEXT), await here.pool.keep("The ferry leaves at noon.")
    await editor.rewrite(box.id, "The zephyrine chest is gone.")
    await editor.rewrite(other.id, "The ferry leaves at one.")
    await editor.erase([box.id])
    assert [(change.kind, change.redacted) for change in await editor.history()] == [
        ("rewrite", True),
        ("rewrite", False),
        ("erase", False),
    ]
    left = b"".join(path.read_bytes() for path in tmp_path.iterdir())
    assert b"zephyrin" not in left
    await editor.undo()
    assert (await now(here.collection, other)).summary == "The ferry leaves at noon."


async def test_a_record_within_the_store_goes_with_it_and_is_nobodys_memory(tmp_path: Path) -> None:
    async with desk(tmp_path / "jade.db") as here:
        audit = AuditLog.within(here.store, dimension=HashingEmbedder.dimension)
        box = await here.pool.keep(TEXT)
        await MemoryEditor(here.collection, HashingEmbedder(), here.clock, audit).forget([box.id])
        assert await here.store.owners() == [LEDGER, "Jade"]
    async with desk(tmp_path / "jade.db") as again:
        audit = AuditLog.within(again.store, dimension=HashingEmbedder.dimension)
        editor = MemoryEditor(again.collection, HashingEmbedder(), again.clock, audit)
        assert [change.kind for change in await editor.history()] == ["forget"]
        assert again.audit.lines.path == tmp_path / "jade.db.audit.jsonl"
        assert not (tmp_path / "jade.db.audit.jsonl").exists()
