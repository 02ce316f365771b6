"""A process that changes memories and kills itself: ``python -m tests.memory.editing_process FILE EDIT STEP``.

Dies by SIGKILL before the STEP-th write, counted from 0 over the record of changes and the store together; a write to
the record that is to be cut short, with ``STEP`` as ``3.5``, leaves half a line. Ends with 0 if there are fewer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import Any
from uuid import UUID

from simuverse.memory.audit_lines import FileLines
from simuverse.memory.records import memory_id
from simuverse.memory.stores.sqlite_database import SQLiteDatabase
from tests.memory.editing import Desk, desk

ONE, OTHER, GUESS = (memory_id("Jade", "kept", number) for number in (1, 2, 3))


class Steps:
    """Counts writes, and ends the process before the one that it was told."""

    def __init__(self, last: float) -> None:
        self.last = last
        self.done = 0

    def count(self) -> None:
        if self.done == self.last:
            os.kill(os.getpid(), signal.SIGKILL)
        self.done += 1


async def change(edit: str, here: Desk) -> None:
    """The edit alone: what it needs has been done before."""
    match edit:
        case "forget":
            await here.editor.forget([ONE, OTHER])
        case "rewrite":
            await here.editor.rewrite(ONE, "Nobody sells anything.")
        case "merge":
            await here.editor.merge([ONE, OTHER])
        case "undo":
            await here.editor.undo()
        case "erase":
            await here.editor.erase([ONE])
        case _:
            raise AssertionError(edit)


def watch(steps: Steps) -> None:
    """Every write of the record and of the store is a step."""
    append, replace = vars(FileLines)["_append"], vars(FileLines)["_replace"]

    def appending(file_lines: FileLines, lines: Sequence[bytes]) -> None:
        steps.count()
        if steps.done - 0.5 == steps.last:
            whole = b"\n".join(lines)
            with file_lines.path.open("ab") as file:
                file.write(whole[: len(whole) // 2])
            os.kill(os.getpid(), signal.SIGKILL)
        append(file_lines, lines)

    def replacing(lines: FileLines, renewed: Mapping[int, bytes]) -> None:
        steps.count()
        replace(lines, renewed)

    setattr(FileLines, "_append", appending)  # noqa: B010
    setattr(FileLines, "_replace", replacing)  # noqa: B010
    for name in ("add", "update", "erase"):
        setattr(SQLiteDatabase, name, _counted(getattr(SQLiteDatabase, name), steps))


def _counted(write: Any, steps: Steps) -> Any:
    def counted(database: SQLiteDatabase, owner_id: int, what: Sequence[Any], *more: datetime | UUID) -> Any:
        steps.count()
        return write(database, owner_id, what, *more)

    return counted


async def run(file: str, edit: str, step: float) -> None:
    async with desk(Path(file)) as here:
        watch(Steps(step))
        await change(edit, here)


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], sys.argv[2], float(sys.argv[3])))
