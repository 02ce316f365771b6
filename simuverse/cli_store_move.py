"""``simuverse store export``, ``import`` and ``migrate``: memories out of a store, into one, from one to another."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Annotated

import typer

from simuverse.cli_progress import agents, progress, resumable
from simuverse.config import Settings, load
from simuverse.errors import StoreMismatch, UsageError
from simuverse.keeping import open_source, open_target
from simuverse.memory.carrying import Carried, FileFreight, Freight, StoreFreight, carry, chosen
from simuverse.memory.exchange import change_lines, export_lines
from simuverse.memory.kept import EVERYTHING, EmbedderRecord, KeptStore, Progress

moves_app = typer.Typer()

Source = Annotated[str, typer.Argument(help="A run folder, or a store such as sqlite:ada.db.")]
Target = Annotated[str, typer.Argument(help="A store, made if it isn't there.")]
Agent = Annotated[str | None, typer.Option("--agent", help="Whose; everyone's by default.")]
Merge = Annotated[bool, typer.Option("--merge", help="Also into an agent's memories that hold others.")]

_UNFINISHED = ".part"


@moves_app.command(epilog="Example: simuverse store export run1 --out run1.jsonl")
def export(
    source: Source,
    out: Annotated[Path | None, typer.Option("--out", help="File; standard output by default.")] = None,
    agent: Agent = None,
) -> None:
    """Every memory with its vector, one JSON line each, then the record of changes."""
    asyncio.run(_export(source, load(), out, agent))


async def _export(source: str, settings: Settings, out: Path | None, agent: str | None) -> None:
    if out is not None and out.exists():
        raise UsageError(f"{out} is there already, and nothing is overwritten. Name another file with --out")
    async with open_source(source, settings, whole=True) as store:
        if out is None:
            async for line in _lines(store, agent, None):
                typer.echo(line)
            return
        unfinished = out.with_name(out.name + _UNFINISHED)
        try:
            with progress("exporting") as told, unfinished.open("w", encoding="utf-8") as file:
                async for line in _lines(store, agent, told):
                    file.write(line + "\n")
            unfinished.rename(out)
        except OSError as error:
            raise UsageError(f"{out} can't be written: {error.strerror}. Name another file with --out") from error
        counts = [
            await (await store.collection(*one)).count(filter=EVERYTHING)
            for one in (await chosen(store, agent)).items()
        ]
    typer.echo(f"{sum(counts)} memories of {agents(len(counts))} written to {out}")


async def _lines(store: KeptStore, agent: str | None, told: Progress | None) -> AsyncIterator[str]:
    for owner, embedder in (await chosen(store, agent)).items():
        collection = await store.collection(owner, embedder)
        total = await collection.count(filter=EVERYTHING)
        done = 0
        async for line in export_lines(collection, embedder=embedder.name):
            yield line
            done += 1
            if told is not None:
                told(owner, done, total)
    async for line in change_lines(store.audit, owner=agent):
        yield line


@moves_app.command("import", epilog="Example: simuverse store import sqlite:copy.db run1.jsonl")
def import_(
    target: Target,
    file: Annotated[Path, typer.Argument(help="JSON lines, as export writes them.")],
    embedder: Annotated[str | None, typer.Option("--embedder", help="That the vectors must be of.")] = None,
    merge: Merge = False,
) -> None:
    """Adds exported memories. All or nothing of a file that isn't whole; a line imported twice is there once."""
    carried = resumable(_import(target, load(), FileFreight(file), embedder, merge=merge))
    _tell(carried, f"imported into {target}")


async def _import(
    target: str, settings: Settings, freight: FileFreight, embedder: str | None, *, merge: bool
) -> Carried:
    contents = await freight.contents()
    for owner, record in contents.embedders.items():
        if embedder is not None and record.name != embedder:
            raise StoreMismatch(
                f"{owner}'s vectors in {freight.name} are of the embedder {record.name}, not of {embedder}. Import "
                f"them as they are, then: simuverse store reembed {target} --embedder {embedder}"
            )
    return await _carried(freight, target, settings, next(iter(contents.embedders.values()), None), merge=merge)


@moves_app.command(epilog="Example: simuverse store migrate run1 sqlite:all.db")
def migrate(source: Source, target: Target, agent: Agent = None, merge: Merge = False) -> None:
    """Carries memories with their vectors and the record of changes from one store to another. The first is only read.

    Interrupted, it goes on where it stopped when it is called again.
    """
    carried = resumable(_migrate(source, target, load(), agent, merge=merge))
    _tell(carried, f"carried from {source} to {target}")


async def _migrate(source: str, target: str, settings: Settings, agent: str | None, *, merge: bool) -> Carried:
    async with open_source(source, settings, whole=True) as store:
        records = list((await chosen(store, agent)).values())
        if not records:
            raise UsageError(f"{source} holds no agents, so there is nothing to carry")
        return await _carried(StoreFreight(store, agent=agent), target, settings, records[0], merge=merge)


async def _carried(
    freight: Freight, target: str, settings: Settings, new: EmbedderRecord | None, *, merge: bool
) -> Carried:
    async with open_target(target, settings, new=new) as store:
        with progress("carrying") as told:
            return await carry(freight, store, merge=merge, on_progress=told)


def _tell(carried: Carried, how: str) -> None:
    there = carried.memories - carried.written
    already = f", {there} of them there before" if there else ""
    changes = f", and {carried.changes} lines of the record of changes" if carried.changes else ""
    typer.echo(f"{carried.memories} memories of {agents(carried.agents)} {how}{already}{changes}")
