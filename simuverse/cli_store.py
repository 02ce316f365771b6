"""``simuverse store``: care of a store as a whole, a file's or a server's."""

from __future__ import annotations

import asyncio
from shlex import quote
from typing import Annotated

import msgspec
import typer

from simuverse import parts, sources
from simuverse.cli_progress import agents, progress, resumable
from simuverse.cli_store_move import Source, moves_app
from simuverse.config import Settings, load
from simuverse.errors import CheckFailed
from simuverse.keeping import open_source
from simuverse.memory.audit import Change
from simuverse.memory.checking import Checked, check
from simuverse.memory.clock import shown_time
from simuverse.memory.figures import Figures, figures
from simuverse.memory.kept import EmbedderRecord, KeptStore
from simuverse.memory.reembedding import Renewed, renew

store_app = typer.Typer(
    no_args_is_help=True,
    help="Care of a store as a whole: an SQLite file, a run's, or a Weaviate server's.",
    epilog="Example: simuverse store stats sqlite:ada.db",
)
store_app.add_typer(moves_app)

AsJson = Annotated[bool, typer.Option("--json", help="As data.")]
DropOld = Annotated[bool, typer.Option("--drop-old", help="Delete the old version, and any that is kept of before.")]


@store_app.command(epilog="Example: simuverse store stats run1")
def stats(source: Source, json: AsJson = False) -> None:
    """Whose memories it holds, how many of what kind, and of which embedder the vectors are."""
    asyncio.run(_stats(source, load(), json=json))


async def _stats(source: str, settings: Settings, *, json: bool) -> None:
    async with open_source(source, settings) as store:
        found: dict[str, Figures] = {}
        for owner, embedder in (await store.embedders()).items():
            found[owner] = await figures(await store.collection(owner, embedder), embedder)
        size, changes, older = await store.size(), len(await store.audit.changes()), await store.older()
        description = store.description
    if json:
        data = {"store": description, "bytes": size, "agents": found, "changes": changes, "older_versions": older}
        typer.echo(msgspec.json.encode(data))
        return
    zone = sources.zone_of(source, settings)
    on_disk = "its size isn't told" if size is None else f"{size / 1e6:.1f} MB"
    typer.echo(f"{description}: {on_disk}, {agents(len(found))}, {changes} changes on record")
    for owner, one in found.items():
        typer.echo(f"{owner}: {one.memories} memories, {one.superseded} superseded, {one.forgotten} forgotten")
        typer.echo(f"  vectors of {one.embedder}")
        if one.oldest and one.newest:
            kinds = (
                ", ".join(f"{kind} {count}" for kind, count in by.items()) for by in (one.by_category, one.by_source)
            )
            oldest, newest = (shown_time(time, zone) for time in (one.oldest, one.newest))
            typer.echo(f"  from {oldest} to {newest}; {'; '.join(kinds)}")
    for version in older:
        typer.echo(f"kept of before: {version}")


@store_app.command("check", epilog="Example: simuverse store check run1")
def check_(source: Source, json: AsJson = False) -> None:
    """Reads every memory, and looks for each by a word of its own and by meaning. Code 5 if one isn't found."""
    asyncio.run(_check(source, load(), json=json))


async def _check(source: str, settings: Settings, *, json: bool) -> None:
    async with open_source(source, settings) as store:
        damage, checked = await _examined(store)
        owners = {one.owner for one in checked}
        unfinished = [one for one in await store.audit.changes() if one.state == "pending" and one.owner in owners]
        name = store.name
    if json:
        told = {one.owner: {"checked": one, "faults": one.faults} for one in checked}
        typer.echo(msgspec.json.encode({"damage": damage, "agents": told, "unfinished": unfinished}))
    else:
        for one in checked:
            typer.echo(f"{one.owner}: {'; '.join(one.faults) or _sound(one)}")
        for fault in damage:
            typer.echo(fault)
        for change in unfinished:
            typer.echo(f"{change.owner}: change {change.number}, {change.kind}, was begun and isn't finished")
    cures = [_finishing(source, change) for change in unfinished]
    faults = len(damage) + sum(bool(one.faults) for one in checked)
    if faults:
        cures.append(_cure(name, checked))
    if cures:
        raise CheckFailed(f"{name} has {faults + len(unfinished)} faults. {' '.join(dict.fromkeys(cures))}")


def _sound(one: Checked) -> str:
    if not one.counted:
        return "no memories"
    silent = one.read - one.with_words
    words = "all" if not silent else f"all but {silent} without any word"
    meaning = "all" if not one.not_looked_for else f"all but {one.not_looked_for} of one moment, not looked for,"
    return f"{one.counted} memories, all read, {words} found by words, {meaning} found by meaning"


def _finishing(source: str, change: Change) -> str:
    """The command that finishes a change, in the words of the message that names it."""
    owner = quote(change.owner)
    command = (
        f"agents {source} delete {owner}" if change.kind == "delete" else f"memories {source} --agent {owner} history"
    )
    return f"Finish what was begun, unless it is under way: simuverse {command}"


def _cure(name: str, checked: list[Checked]) -> str:
    if any(one.unreadable for one in checked):
        return (
            "What can't be read is mended from outside alone: restore a backup, or bring it back from an export: "
            f"simuverse store import {name} FILE --merge"
        )
    return f"Make it anew from what can be read: simuverse store rebuild {name}"


async def _examined(store: KeptStore) -> tuple[list[str], list[Checked]]:
    damage = await store.damage()
    await store.audit.changes()
    with progress("checking") as told:
        return damage, [
            await check(await store.collection(owner, embedder), on_progress=told)
            for owner, embedder in (await store.embedders()).items()
        ]


@store_app.command("reembed", epilog="Example: simuverse store reembed sqlite:ada.db --embedder hashing")
def reembed_(
    source: Source,
    embedder: Annotated[str, typer.Option("--embedder", help="The one to go on with.")],
    drop_old: DropOld = False,
    again: Annotated[
        bool, typer.Option("--again", help="Also where all vectors are of that embedder already.")
    ] = False,
) -> None:
    """Computes all vectors anew: in a new version beside the old one, which takes its place once it is found sound."""
    resumable(_reembed(source, load(typed={"embedder": embedder}), drop_old=drop_old, again=again))


async def _reembed(source: str, settings: Settings, *, drop_old: bool, again: bool) -> None:
    embedder = await parts.open_embedder(settings.embedder, settings)
    wanted = EmbedderRecord(name=embedder.name, dimension=embedder.dimension)
    try:
        async with open_source(source, settings, whole=True) as store:
            before = set((await store.embedders()).values())
            if before <= {wanted} and not again:
                typer.echo(f"all vectors of {store.name} are of {wanted} already")
            else:
                async with store.renewal(wanted) as renewal:
                    with progress("embedding") as told:
                        renewed = await renew(renewal, embedder=embedder, on_progress=told)
                names = ", ".join(sorted(one.name for one in before))
                _tell(renewed, store.name, f"from {names} to {wanted.name}", kept=renewal.old, drop_old=drop_old)
            await _drop(store, drop_old=drop_old)
    finally:
        await embedder.aclose()


@store_app.command(epilog="Example: simuverse store rebuild run1")
def rebuild(
    source: Source,
    drop_old: DropOld = False,
    force: Annotated[bool, typer.Option("--force", help="Also where `check` finds nothing wrong.")] = False,
) -> None:
    """Makes all indexes anew from the memories, if `check` finds that one needs it; vectors stay as they are."""
    resumable(_rebuild(source, load(), drop_old=drop_old, force=force))


async def _rebuild(source: str, settings: Settings, *, drop_old: bool, force: bool) -> None:
    async with open_source(source, settings, whole=True) as store:
        if not force and await _is_sound(store):
            typer.echo(f"{store.name} is sound, so nothing needs to be made anew; --force does it all the same")
        else:
            async with store.renewal(None) as renewal:
                with progress("copying") as told:
                    renewed = await renew(renewal, embedder=None, on_progress=told)
            _tell(renewed, store.name, "in new indexes", kept=renewal.old, drop_old=drop_old)
        await _drop(store, drop_old=drop_old)


async def _is_sound(store: KeptStore) -> bool:
    damage, checked = await _examined(store)
    return not damage and not any(one.faults for one in checked)


def _tell(renewed: Renewed, name: str, how: str, *, kept: str, drop_old: bool) -> None:
    late = f", {renewed.late} of them written meanwhile" if renewed.late else ""
    typer.echo(f"{renewed.memories} memories of {agents(renewed.agents)} in {name}: {how}{late}")
    if not drop_old:
        typer.echo(f"the old version is kept as {kept}; --drop-old deletes it")


async def _drop(store: KeptStore, *, drop_old: bool) -> None:
    for version in await store.drop_older() if drop_old else ():
        typer.echo(f"deleted {version}")
