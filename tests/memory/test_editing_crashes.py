"""Processes that are killed in the middle of a change: the memories are as before or as after, and the record knows."""

from __future__ import annotations

import shutil
import sys
from asyncio import create_subprocess_exec
from dataclasses import replace
from pathlib import Path

import pytest

from simuverse.memory.records import Category
from tests.memory.editing import desk, exported
from tests.memory.editing_process import GUESS, ONE, OTHER, change

ROOT = Path(__file__).parents[2]
KILLED, ENDED = -9, 0


async def prepare(file: Path, edit: str) -> None:
    """Two memories that say nearly the same, one that rests on the first alone, and what the edit is about."""
    async with desk(file) as here:
        await here.pool.keep("Mira sells boats.", episode="e", position=1)
        await here.pool.keep("Mira sells three boats.", episode="e", position=2)
        guess = await here.pool.keep("Mira must be rich.", category=Category.REFLECTION)
        assert guess.id == GUESS
        await here.collection.update([replace(guess, evidence=(ONE,))])
        if edit == "undo":
            await here.editor.merge([ONE, OTHER])
        if edit == "erase":
            await here.editor.rewrite(ONE, "Mira sells zephyrs.")


async def killed(file: Path, edit: str, step: float) -> int:
    arguments = ("-m", "tests.memory.editing_process", str(file), edit, str(step))
    process = await create_subprocess_exec(sys.executable, *arguments, cwd=ROOT)
    return await process.wait()


def copy(source: Path, target: Path) -> Path:
    shutil.copytree(source, target)
    return target / "jade.db"


@pytest.mark.parametrize("edit", ["rewrite", "merge", "undo", "erase"])
async def test_killed_at_any_step_it_is_as_before_or_as_after_and_the_record_says_which(
    tmp_path: Path, edit: str
) -> None:
    (tmp_path / "start").mkdir()
    await prepare(tmp_path / "start" / "jade.db", edit)
    async with desk(tmp_path / "start" / "jade.db") as here:
        before = await exported(here.collection)
        earlier = len(await here.editor.history())
    async with desk(copy(tmp_path / "start", tmp_path / "whole")) as here:
        await change(edit, here)
        after = await exported(here.collection)
    seen: list[bool] = []
    halves = 2 if edit == "rewrite" else 1
    for step in [n / halves for n in range(20)]:
        file = copy(tmp_path / "start", tmp_path / str(step))
        code = await killed(file, edit, step)
        if step == int(step) and code == ENDED:
            break
        if code == ENDED:
            continue  # no half of a write to the store
        assert code == KILLED
        async with desk(file) as here:
            history = (await here.editor.history())[earlier:]
            now = await exported(here.collection)
            assert [one.state for one in history] in ([], ["done"], ["abandoned"])
            done = [one.state for one in history] == ["done"]
            assert now == (after if done else before)
            seen.append(done)
            left = b"".join(path.read_bytes() for path in file.parent.iterdir())
            assert (edit != "erase" or not done) or b"zephyrs" not in left
            assert (edit != "erase" or not done) or b"Mira sells boats" not in left
    else:
        raise AssertionError("it never came to an end")
    assert seen == sorted(seen)
    assert False in seen
    assert True in seen
