"""How far a long command has come, on standard error: a bar on a terminal, a line now and then elsewhere."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

import typer
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
from rich.progress import Progress as Bars

from simuverse.memory.kept import Progress

Value = TypeVar("Value")

_EVERY = 2_000
"""Memories between two lines: some seconds on a server."""


@contextmanager
def progress(doing: str) -> Generator[Progress]:
    """Args:
    doing: what is done, as a phrase: ``checking``.
    """
    if not sys.stderr.isatty():
        yield _lines(doing)
        return
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Bars(*columns, console=Console(stderr=True), transient=True) as bars:
        tasks: dict[str, int] = {}

        def tell(whose: str, done: int, of: int) -> None:
            # Ids of tasks are plain numbers of the library's.
            if whose not in tasks:
                tasks[whose] = bars.add_task(f"{doing} {whose}", total=of)
            bars.update(bars.task_ids[tasks[whose]], completed=done, total=of)

        yield tell


def resumable(work: Coroutine[Any, Any, Value]) -> Value:
    """Runs what can be called again after Ctrl-C, and says so."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        typer.echo("interrupted; nothing is lost, and the same command goes on from here", err=True)
        raise


def agents(number: int) -> str:
    return "1 agent" if number == 1 else f"{number} agents"


def _lines(doing: str) -> Progress:
    def tell(whose: str, done: int, of: int) -> None:
        if done == of or done % _EVERY == 0:
            typer.echo(f"{doing} {whose}: {done} of {of}", err=True)

    return tell
