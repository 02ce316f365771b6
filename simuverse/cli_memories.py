"""``simuverse memories``: look into a store or a run, and add to it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any
from uuid import UUID

import msgspec
import typer
from typer.core import TyperGroup

from simuverse import report, wiring
from simuverse.agents.subconscious import SubconsciousAgent
from simuverse.config import Settings, load
from simuverse.errors import UsageError
from simuverse.memory.records import Category, MemoryFilter, MemoryQuery, SearchType, Source
from simuverse.sources import require_embedder


class SourceFirst(TyperGroup):
    """Takes its own options wherever they stand: ``memories run1 --agent Jade list`` or ``... list --agent Jade``."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        first: list[str] = []
        rest: list[str] = []
        words = iter(args)
        for word in words:
            if word.partition("=")[0] in _OWN_OPTIONS:
                first.append(word)
                first.extend([] if "=" in word else [value for value in [next(words, None)] if value is not None])
            else:
                rest.append(word)
        return super().parse_args(ctx, [*first, *rest])


memories_app = typer.Typer(
    cls=SourceFirst,
    no_args_is_help=True,
    help="Look into a store or a run, add to it, change it and take changes back.",
    epilog="Example: simuverse memories runs/grid-7 --agent Jade list",
)

Work = Callable[[SubconsciousAgent], Awaitable[None]]

_OWN_OPTIONS = ("--agent", "--config", "--embedder")

AsJson = Annotated[bool, typer.Option("--json", help="As data.")]
CategoryName = Annotated[Category | None, typer.Option("--category", help="Only these.")]


@memories_app.callback()
def memories(
    context: typer.Context,
    source: Annotated[str, typer.Argument(help="A run folder, or a store such as sqlite:ada.db.")],
    agent: Annotated[str | None, typer.Option("--agent", help="Whose; needed where there are several.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="The store's own; a run knows it.")] = None,
) -> None:
    settings = load(config, typed={"embedder": embedder})
    if embedder is not None:
        require_embedder(source, settings)
    context.obj = (source, agent, settings)


@memories_app.command("list", epilog="Example: simuverse memories run1 --agent Jade list --limit 5")
def list_(
    context: typer.Context,
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many.")] = 50,
    category: CategoryName = None,
    past: Annotated[bool, typer.Option("--past", help="Also superseded and forgotten ones.")] = False,
    json: AsJson = False,
) -> None:
    """The newest memories, one a line."""
    wanted = MemoryFilter(category=category, include_superseded=past, include_forgotten=past)

    async def work(mind: SubconsciousAgent) -> None:
        found = await mind.collection.recent(limit, filter=wanted)
        lines = (report.memory_line(memory, mind.settings.zone) for memory in found)
        typer.echo(msgspec.json.encode(found) if json else "\n".join(lines) or "no memories")

    _with_mind(context, work)


@memories_app.command(epilog='Example: simuverse memories run1 --agent Jade search "the red ball"')
def search(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="What to look for.")],
    limit: Annotated[int, typer.Option("--limit", min=1, help="How many.")] = 10,
    kind: Annotated[SearchType, typer.Option("--type", help="By words, by meaning, or both.")] = SearchType.HYBRID,
    category: CategoryName = None,
    json: AsJson = False,
) -> None:
    """What a search finds, best first, with its figures. Leaves no mark on the memories."""

    async def work(mind: SubconsciousAgent) -> None:
        if not text.strip():
            raise UsageError("there is nothing to look for: the text is blank")
        query = MemoryQuery(search_type=kind, text=text, filter=MemoryFilter(category=category))
        hits = await mind.search(query, limit=limit)
        lines = (report.hit_line(hit, mind.settings.zone) for hit in hits)
        data = [hit._asdict() for hit in hits]
        typer.echo(msgspec.json.encode(data) if json else "\n".join(lines) or "nothing found")

    _with_mind(context, work)


@memories_app.command(epilog="Example: simuverse memories run1 --agent Jade show 0c6b2e15-bf01-5b3e-87f3-e20a4117224d")
def show(
    context: typer.Context,
    id: Annotated[str, typer.Argument(help="Of the memory, as list shows it.")],
    json: AsJson = False,
) -> None:
    """Every field of one memory."""

    async def work(mind: SubconsciousAgent) -> None:
        try:
            found = await mind.collection.get([UUID(id)])
        except ValueError:
            raise UsageError(f"{id!r} is not an id. `list` shows the ids") from None
        if not found:
            raise UsageError(f"{mind.owner} has no memory {id}. `list` shows the ids")
        tally = await mind.ledger.tally(found[0].id)
        if json:
            typer.echo(msgspec.json.encode(msgspec.to_builtins(found[0]) | {"flashbacks": tally}))
        else:
            typer.echo(report.memory_fields(found[0], tally, mind.settings.zone))

    _with_mind(context, work)


@memories_app.command(epilog='Example: simuverse memories run1 --agent Jade add "The cafe is closed on Mondays."')
def add(
    context: typer.Context,
    text: Annotated[str, typer.Argument(help="One or two sentences.")],
    json: AsJson = False,
) -> None:
    """Adds a memory, marked as an operator's."""

    async def work(mind: SubconsciousAgent) -> None:
        if not text.strip():
            raise UsageError("there is nothing to add: the text is blank")
        remembered = await mind.remember(text, source=Source.OPERATOR)
        if not remembered.written:
            raise UsageError(f"nothing was added: {'; '.join(remembered.problems) or 'the text holds no words'}")
        memory = remembered.written[0]
        line = report.memory_line(memory, mind.settings.zone)
        typer.echo(msgspec.json.encode(memory) if json else f"added {line}")

    _with_mind(context, work)


def _with_mind(context: typer.Context, work: Work) -> None:
    source, agent, settings = context.obj
    asyncio.run(_work(source, agent, settings, work))


async def _work(source: str, agent: str | None, settings: Settings, work: Work) -> None:
    async with wiring.open_mind(source, agent, settings) as mind:
        await work(mind)
