"""``simuverse store deliver``: brings out what waits in a run folder for its store."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simuverse import sources
from simuverse.cli_store import AsJson
from simuverse.config import load
from simuverse.errors import StoreUnavailable


def deliver(folder: Annotated[Path, typer.Argument(help="Of the run.")], json: AsJson = False) -> None:
    """Brings out the memories of a run that wait for their store, as it was away.

    Every command that opens the run's memories does so too, and the run itself as long as it lasts.
    """
    backlog, store = asyncio.run(sources.deliver(str(folder), load()))
    if json:
        typer.echo(msgspec.json.encode({"delivered": backlog.delivered, "waiting": backlog.waiting}))
    elif backlog.delivered:
        typer.echo(f"{backlog.delivered} memories delivered to {store}")
    elif not backlog.waiting:
        typer.echo(f"nothing waits in {folder}")
    if backlog.waiting:
        raise StoreUnavailable(f"{folder}: {backlog.sentence}")
