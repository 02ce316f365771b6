"""``simuverse agents``: whose memories a store holds; a collection made or erased."""

from __future__ import annotations

import asyncio
from contextlib import nullcontext
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simuverse import parts, sources, wiring
from simuverse.cli_memories import SourceFirst
from simuverse.cli_memories_edit import Why, Yes, confirm
from simuverse.config import Settings, load
from simuverse.editors import open_memories
from simuverse.errors import UnknownAgent, UsageError
from simuverse.keeping import open_source
from simuverse.memory.clock import SystemClock
from simuverse.memory.lifecycle import delete_owner
from simuverse.world.clearing import clear_owner
from simuverse.world.journal import JOURNAL
from simuverse.world.talk_outbox import held_outbox, outboxes_of

agents_app = typer.Typer(
    cls=SourceFirst,
    no_args_is_help=True,
    help="Whose memories a store or run holds.",
    epilog="Example: simuverse agents runs/grid-7 list",
)

Name = Annotated[str, typer.Argument(help="Of the agent.")]
AsJson = Annotated[bool, typer.Option("--json", help="As data.")]


@agents_app.callback()
def agents(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="A run folder, or a store such as sqlite:ada.db.")],
    config: Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="The store's own; a run knows it.")] = None,
) -> None:
    context.obj = (source, load(config, typed={"embedder": embedder}))


@agents_app.command("list", epilog="Example: simuverse agents run1 list")
def list_(context: typer.Context, json: AsJson = False) -> None:
    """Everyone, with the number of memories that can be recalled."""
    source, settings = context.obj
    asyncio.run(_list(source, settings, json=json))


async def _list(source: str, settings: Settings, *, json: bool) -> None:
    async with sources.memories(source, settings) as (store, _):
        counts = {
            owner: await (await store.collection(owner)).count() for owner in sources.agents(await store.owners())
        }
    if json:
        typer.echo(msgspec.json.encode([{"name": owner, "memories": count} for owner, count in counts.items()]))
    else:
        lines = (f"{owner}  {count} memories" for owner, count in counts.items())
        typer.echo("\n".join(lines) or "no agents")


@agents_app.command(epilog="Example: simuverse agents sqlite:friends.db create Ada")
def create(context: typer.Context, name: Name, json: AsJson = False) -> None:
    """Makes an empty memory for one more agent, and the store's file if it isn't there."""
    source, settings = context.obj
    asyncio.run(_create(source, settings, name, json=json))


async def _create(source: str, settings: Settings, name: str, *, json: bool) -> None:
    if not name.strip() or not sources.agents([name]):
        raise UsageError(f"an agent needs a name, and {name!r} is none")
    path = parts.store_path(source) if source.startswith("sqlite:") else None
    if path is not None and not path.exists():
        async with wiring.open_subconscious(name, store=source, settings=settings):
            pass
    else:
        async with sources.memories(source, settings) as (store, _):
            if name in await store.owners():
                raise UsageError(f"{name} is in {source} already")
            await store.collection(name)
    typer.echo(msgspec.json.encode({"name": name, "memories": 0}) if json else f"created {name} in {source}")


@agents_app.command(epilog="Example: simuverse agents sqlite:friends.db delete Ada --yes")
def delete(context: typer.Context, name: Name, why: Why = "", yes: Yes = False, json: AsJson = False) -> None:
    """Erases an agent's memories, all of them, and their words from the record of changes.

    The journal of a run keeps what the agent lived; the run folder is deleted by hand.
    """
    source, settings = context.obj
    asyncio.run(_delete(source, settings, name, why=why, yes=yes, json=json))


async def _delete(source: str, settings: Settings, name: str, *, why: str, yes: bool, json: bool) -> None:
    async with open_memories(source, settings) as opened:
        owners = sources.agents(await opened.store.owners())
        if name not in owners:
            raise UnknownAgent(f"there is no agent {name} in {source}. Agents: {', '.join(owners) or 'none'}")
        if not yes:
            confirm(f"Erase all memories of {name} in {source}?")
        if opened.folder is not None:
            clear_owner(opened.folder, name)
        with nullcontext() if opened.database is not None else held_outbox(name, opened.name) as talks:
            if talks is not None:
                talks.unlink(missing_ok=True)
            change = await delete_owner(opened.store, name, opened.audit, SystemClock(), why=why)
        waiting = [] if talks is None else outboxes_of(name)
    journal = None if opened.folder is None else opened.folder / JOURNAL
    kept = [] if journal is None else [str(journal)]
    async with open_source(source, settings) as whole:
        older = await whole.older()
    if json:
        typer.echo(msgspec.json.encode({"change": change, "still_held": [*kept, *map(str, waiting), *older]}))
        return
    typer.echo(f"deleted {name} from {source}: its memories are erased")
    if kept:
        typer.echo(f"what it lived in the run still stands in {', '.join(kept)}; delete the folder to be rid of it")
    if waiting:
        typer.echo(
            f"memories of {name} wait in {', '.join(map(str, waiting))} for a store of another name; delete the file "
            "if that is the same one"
        )
    if older:
        typer.echo(
            f"a version of before is kept and may hold them: {', '.join(older)}. To be rid of it: "
            f"simuverse store rebuild {source} --drop-old"
        )
