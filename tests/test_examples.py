"""Every file in ``examples/`` runs as it stands, and so does the code in the package's own documentation."""

from __future__ import annotations

import inspect
import subprocess
import sys
from pathlib import Path

import pytest

from simuverse import blocking
from tests.commands import ROOT

EXAMPLES = sorted((ROOT / "examples").glob("*.py"))

AS_DOCUMENTED = """\
    async with open_subconscious("Jade", store="sqlite:jade.db") as mind:
        await mind.remember("I left the red ball by the fountain.", said_by="James")
        recalled = await mind.recollect("Where is James's ball?")
        print(recalled.as_xml())
        for flashback in recalled:
            print(flashback.memory.summary, flashback.score.parts)
"""


def output(program: str, folder: Path) -> str:
    done = subprocess.run(
        [sys.executable, "-W", "error", program], cwd=folder, capture_output=True, text=True, check=False, timeout=60
    )
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_there_are_examples() -> None:
    assert [file.name for file in EXAMPLES] != []


@pytest.mark.parametrize("file", EXAMPLES, ids=lambda file: file.stem)
def test_an_example_runs(file: Path, tmp_path: Path) -> None:
    assert output(str(file), tmp_path).strip()


def test_the_subconscious_alone_brings_back_what_it_was_told(tmp_path: Path) -> None:
    file = ROOT / "examples" / "remember_and_recall.py"
    assert AS_DOCUMENTED in file.read_text(encoding="utf-8")
    for _ in range(2):  # the second time from the file of the first
        printed = output(str(file), tmp_path)
        assert printed.startswith("<flashbacks>")
        assert "I left the red ball by the fountain." in printed
        assert "James: I left the red ball by the fountain. {'relevance': " in printed
    assert (tmp_path / "jade.db").exists()


def test_the_example_of_the_blocking_facade_runs(tmp_path: Path) -> None:
    code = inspect.cleandoc(inspect.getdoc(blocking) or "").partition("::\n\n")[2]
    program = tmp_path / "script.py"
    program.write_text(inspect.cleandoc(code), encoding="utf-8")
    assert "I left the red ball by the fountain." in output(str(program), tmp_path)
