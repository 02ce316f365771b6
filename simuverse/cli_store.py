"""``simuverse store``: care of an SQLite store as a whole."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Annotated, TypeVar

import msgspec
import typer

from simuverse import parts, wiring
from simuverse.config import Settings, load
from simuverse.errors import SettingsError, UsageError
from simuverse.memory.exchange import export_lines, import_lines
from simuverse.memory.records import MemoryFilter
from simuverse.memory.reembedding import reembed
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.stores.sqlite_schema import recorded_embedder

Value = TypeVar("Value")

ALL = MemoryFilter(include_superseded=True, include_forgotten=True)

store_app = typer.Typer(
    no_args_is_help=True,
    help="Care of a store as a whole: SQLite files.",
    epilog="Example: simuverse store stats sqlite:ada.db",
)

Source = Annotated[str, typer.Argument(help="A run folder, or a store such as sqlite:ada.db.")]
AsJson = Annotated[bool, typer.Option("--json", help="As data.")]


@store_app.command(epilog="Example: simuverse store stats run1")
def stats(source: Source, json: AsJson = False) -> None:
    """Whose memories it holds, how many, and of which embedder its vectors are."""
    path = _file(source)
    name, dimension = recorded_embedder(path)

    async def work(store: SQLiteStore) -> dict[str, dict[str, int]]:
        counts: dict[str, dict[str, int]] = {}
        for owner in await store.owners():
            collection = await store.collection(owner)
            current = await collection.count()
            counts[owner] = {"memories": current, "past_or_hidden": await collection.count(filter=ALL) - current}
        return counts

    counts = asyncio.run(_with_store(path, work))
    if json:
        found = {"embedder": name, "dimension": dimension, "bytes": path.stat().st_size, "owners": counts}
        typer.echo(msgspec.json.encode(found))
        return
    typer.echo(f"{path}: embedder {name}, {dimension} dimensions, {path.stat().st_size / 1e6:.1f} MB")
    for owner, count in counts.items():
        typer.echo(f"{owner}: {count['memories']} memories, {count['past_or_hidden']} past or hidden")


@store_app.command(epilog="Example: simuverse store export run1 --out run1.jsonl")
def export(
    source: Source,
    out: Annotated[Path | None, typer.Option("--out", help="File; standard output by default.")] = None,
    agent: Annotated[str | None, typer.Option("--agent", help="Whose; everyone's by default.")] = None,
) -> None:
    """Every memory with its vector, one JSON line each."""
    path = _file(source)
    name, _ = recorded_embedder(path)

    async def lines(store: SQLiteStore) -> AsyncIterator[str]:
        owners = await store.owners()
        if agent is not None and agent not in owners:
            raise UsageError(f"there is no agent {agent} in {source}. Agents: {', '.join(owners) or 'none'}")
        for owner in owners if agent is None else [agent]:
            async for line in export_lines(await store.collection(owner), embedder=name):
                yield line

    async def work(store: SQLiteStore) -> None:
        if out is None:
            async for line in lines(store):
                typer.echo(line)
            return
        written = 0
        try:
            with out.open("x", encoding="utf-8") as file:
                async for line in lines(store):
                    file.write(line + "\n")
                    written += 1
        except OSError as error:
            raise UsageError(f"{out} can't be written: {error.strerror}. Name another file with --out") from error
        typer.echo(f"{written} memories written to {out}")

    asyncio.run(_with_store(path, work))


@store_app.command("import", epilog="Example: simuverse store import sqlite:copy.db run1.jsonl")
def import_(
    target: Annotated[str, typer.Argument(help="A store, made if it isn't there.")],
    file: Annotated[Path, typer.Argument(help="JSON lines, as export writes them.")],
    embedder: Annotated[str | None, typer.Option("--embedder", help="That the vectors are of.")] = None,
) -> None:
    """Adds exported memories; a line imported twice is there once."""
    settings = load(typed={"embedder": embedder})
    typer.echo(f"{asyncio.run(_import(target, file, settings))} memories imported into {target}")


async def _import(target: str, file: Path, settings: Settings) -> int:
    embedder = await parts.open_embedder(settings.embedder, settings)
    store = await parts.open_store(target, embedder, settings)
    try:
        with file.open(encoding="utf-8") as lines:
            return await import_lines(store, lines, embedder=embedder.name)
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it isn't UTF-8 text"
        raise UsageError(f"{file} can't be read: {reason}") from error
    finally:
        await store.aclose()
        await embedder.aclose()


@store_app.command("reembed", epilog="Example: simuverse store reembed sqlite:ada.db --embedder hashing")
def reembed_(
    source: Source,
    embedder: Annotated[str, typer.Option("--embedder", help="The one to go on with.")],
    drop_old: Annotated[bool, typer.Option("--drop-old", help="Delete the old file afterwards.")] = False,
) -> None:
    """Computes all vectors anew: in a new file, compared with the old one, which then takes its place."""
    path = _file(source)
    typer.echo(asyncio.run(_reembed(path, load(typed={"embedder": embedder}), drop_old=drop_old)))


async def _reembed(path: Path, settings: Settings, *, drop_old: bool) -> str:
    name, _ = recorded_embedder(path)
    copy, old = path.with_name(f"{path.name}.reembedded"), path.with_name(f"{path.name}.old")
    if old.exists():
        raise UsageError(f"{old} is in the way, from an earlier time. Delete it or move it")
    embedder = await parts.open_embedder(settings.embedder, settings)
    try:
        target = await SQLiteStore.open(copy, embedder_name=embedder.name, dimension=embedder.dimension)
        try:

            async def work(source: SQLiteStore) -> int:
                return await reembed(source, target, embedder, on_progress=typer.echo)

            count = await _with_store(path, work)
        finally:
            await target.aclose()
    finally:
        await embedder.aclose()
    os.replace(path, old)
    os.replace(copy, path)
    if drop_old:
        old.unlink()
    kept = "the old file is deleted" if drop_old else f"the old file is kept as {old}"
    return f"{count} memories of {path}: from {name} to {embedder.name}; {kept}"


async def _with_store(path: Path, work: Callable[[SQLiteStore], Awaitable[Value]]) -> Value:
    name, dimension = recorded_embedder(path)
    store = await SQLiteStore.open(path, embedder_name=name, dimension=dimension, read_only=True)
    try:
        return await work(store)
    finally:
        await store.aclose()


def _file(source: str) -> Path:
    """Of a run folder or a store's name.

    Raises:
        SettingsError: no file, or none that is there.
    """
    store, _ = wiring.names_behind(source, load())
    path = parts.store_path(store)
    if path is None:
        raise SettingsError(f"{source} is no file. SQLite stores are written sqlite:FILE")
    return path
