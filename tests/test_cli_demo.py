"""``simuverse demo`` as a process: it says where the page is, serves it, lives, and ends in order at Ctrl-C."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
import threading
import time
import urllib.request
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import pytest

from simuverse.world.journal import read_turns
from tests.commands import Here, finish, start

PATIENCE = 5.0
"""Seconds from the server's start within which the page must be alive, as the README says."""


@contextmanager
def taken_port() -> Generator[int]:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        bound.listen()
        yield bound.getsockname()[1]


def free_port() -> int:
    with taken_port() as port:
        return port


def demo(*words: str, folder: Path, environment: dict[str, str] | None = None) -> subprocess.Popen[str]:
    return start("demo", "--embedder", "hashing", *words, folder=folder, environment=environment)


def address(line: str) -> str:
    found = re.search(r"the page is at (http://127\.0\.0\.1:\d+/)", line)
    assert found is not None, line
    return found[1]


def get(url: str) -> str:
    with urllib.request.urlopen(url, timeout=10) as answer:
        assert answer.status == 200
        return str(answer.read().decode())


def tick(page: str) -> int:
    """The last one that was lived to its end."""
    state = json.loads(get(f"{page}api/state"))
    return int(state["tick"]) - bool(state["stepping"])


def test_the_page_is_served_and_alive_and_ctrl_c_ends_it_with_a_readable_run(tmp_path: Path) -> None:
    port = free_port()
    process = demo("--port", str(port), "--out", "run1", folder=tmp_path)
    assert process.stdout is not None
    line = process.stdout.readline()
    assert line == f"the page is at http://127.0.0.1:{port}/ and the run in run1; Ctrl-C ends both\n"
    page = address(line)
    assert "<title>Simu-Verse" in get(page)
    started, pause = time.monotonic(), threading.Event()
    while tick(page) < 1:
        assert time.monotonic() < started + PATIENCE
        pause.wait(0.05)
    lived = tick(page)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert "Traceback" not in ended.err
    turns = list(read_turns(tmp_path / "run1"))
    assert {turn.tick for turn in turns} >= set(range(1, lived + 1))
    assert len(turns) % 4 == 0


def test_a_taken_port_moves_to_the_next_and_says_so(tmp_path: Path) -> None:
    with taken_port() as port:
        process = demo(folder=tmp_path, environment={"PORT": str(port)})
        assert process.stdout is not None
        moved, line = process.stdout.readline(), process.stdout.readline()
        page = address(line)
        get(page)
        process.send_signal(signal.SIGINT)
        ended = finish(process)
    assert ended.code == 130
    taken = int(page.rstrip("/").rpartition(":")[2])
    assert taken > port
    assert moved == f"port {port} is taken, so the page is on {taken}\n"
    assert "the run in runs/grid-7;" in line
    assert list(read_turns(tmp_path / "runs" / "grid-7")) is not None


@pytest.mark.parametrize("module", ["dash", "simuverse.dashboard.serving", "sqlite3"])
def test_ctrl_c_while_the_page_is_being_opened_ends_it_in_order(module: str, tmp_path: Path) -> None:
    process = start("demo", "--out", "run1", "--port", str(free_port()), folder=tmp_path, python=("-X", "importtime"))
    assert process.stderr is not None
    assert any(line.rpartition("|")[2].strip() == module for line in process.stderr)
    process.send_signal(signal.SIGINT)
    ended = finish(process)
    assert ended.code == 130
    assert [line for line in ended.err.splitlines() if not line.startswith("import time:")] == []


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--port", "70000"), "port is 70000; it must be 0 to 65535"),
        (("--model", "nonsense"), "'nonsense' is not a model"),
        (("--scenario", "nonsense"), "There is no scenario nonsense"),
        (("--host", "203.0.113.1"), "can't be served on 203.0.113.1"),
    ],
)
def test_what_cannot_be_shown_is_told_and_ends_with_code_2(words: tuple[str, ...], told: str, here: Here) -> None:
    ended = here("demo", "--embedder", "hashing", *words)
    assert ended.code == 2
    assert ended.err.startswith("simuverse: ")
    assert told in ended.err
    assert "Traceback" not in ended.text
