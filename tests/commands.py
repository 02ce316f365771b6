"""The command line under test: in this process, or as a process of its own that can be interrupted and killed."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest

from simuverse import cli

ROOT = Path(__file__).parents[1]
OUTSIDE = ("SIMUVERSE_", "OPENAI_", "ANTHROPIC_", "OLLAMA_", "WEAVIATE_", "PORT")
"""Beginnings of variables that would change what a command does."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Ended:
    """How a command ended, and what it printed. Code: as a shell reports it, 128 and the signal's number if by one."""

    code: int
    out: str
    err: str

    @property
    def text(self) -> str:
        return self.out + self.err


class Here:
    """Runs commands in this process, in a folder of its own, with none of the settings of whoever tests."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
        self.folder = folder
        self._monkeypatch = monkeypatch
        self._capsys = capsys
        monkeypatch.chdir(folder)
        for name in os.environ:
            if name.startswith(OUTSIDE):
                monkeypatch.delenv(name)

    def __call__(self, *words: str, typed: bytes = b"") -> Ended:
        self._capsys.readouterr()
        self._monkeypatch.setattr(sys, "argv", ["simuverse", *words])
        self._monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(typed), encoding="utf-8"))
        code: object = 0
        try:
            cli.main()
        except SystemExit as ended:
            code = ended.code
        printed = self._capsys.readouterr()
        assert isinstance(code, int)
        return Ended(code=code, out=printed.out, err=printed.err)


def start(
    *words: str, folder: Path, python: tuple[str, ...] = (), environment: dict[str, str] | None = None
) -> subprocess.Popen[str]:
    """A process of the command line in ``folder``, which Ctrl-C reaches also where this process ignores it.

    Args:
        python: options of the interpreter.
        environment: what it gets besides this process's own variables.
    """
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(OUTSIDE)}
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    try:
        return subprocess.Popen(
            [sys.executable, *python, "-m", "simuverse", *words],
            cwd=folder,
            env={**inherited, "PYTHONUNBUFFERED": "1", **(environment or {})},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
    finally:
        signal.signal(signal.SIGINT, before)


def finish(process: subprocess.Popen[str], *, within: float = 60.0) -> Ended:
    """Waits for the end; one that doesn't come within so many seconds fails the test."""
    try:
        out, err = process.communicate(timeout=within)
    except subprocess.TimeoutExpired:
        process.kill()
        out, err = process.communicate()
        raise AssertionError(f"still running after {within} s; it printed {out!r} and {err!r}") from None
    code = process.returncode
    return Ended(code=code if code >= 0 else 128 - code, out=out, err=err)


def run(*words: str, folder: Path, environment: dict[str, str] | None = None) -> Ended:
    return finish(start(*words, folder=folder, environment=environment))
