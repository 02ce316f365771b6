"""``simuverse memories``: the commands that change, and those that show and take back what was changed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Annotated
from uuid import UUID

import msgspec
import typer

from simuverse import editors, report, report_changes, sources
from simuverse.config import Settings
from simuverse.editors import Editing, open_editor, still_held
from simuverse.errors import CheckFailed, UsageError
from simuverse.memory.audit import Change
from simuverse.memory.records import Category, Source

edits_app = typer.Typer()

Work = Callable[[Editing], Awaitable[None]]

Ids = Annotated[list[str], typer.Argument(help="Of the memories, as list shows them.", metavar="ID...")]
Id = Annotated[str, typer.Argument(help="Of the memory, as list shows it.")]
Why = Annotated[str, typer.Option("--why", help="For the record.")]
Yes = Annotated[bool, typer.Option("--yes", help="Without the question before what can't be undone.")]
AsJson = Annotated[bool, typer.Option("--json", help="As data.")]


@edits_app.command(
    epilog="Example: simuverse memories run1 --agent Jade forget 498e5683-2082-52b0-afa8-0b6e870947be --why outdated"
)
def forget(
    context: typer.Context,
    ids: Ids,
    erase: Annotated[bool, typer.Option("--erase", help="For good, from store, history and run folder.")] = False,
    why: Why = "",
    yes: Yes = False,
    json: AsJson = False,
) -> None:
    """Hides memories from every search; `undo` brings them back. With --erase nothing does.

    What an erasure leaves, in another's memories for example, is told with code 5. It clears the run folder or store
    that is named, no copies or other runs.
    """

    async def work(editing: Editing) -> None:
        wanted = _uuids(ids)
        if not erase:
            _show(editing, await editing.editor.forget(wanted, why=why), json=json)
            return
        before = await editing.editor.collection.get(wanted)
        if not yes:
            confirm(f"Erase {len(wanted)} memories of {editing.editor.collection.owner}, and what rests on them alone?")
        erased = await editing.editor.erase(wanted, why=why)
        held = await still_held(editing, erased)
        if json:
            typer.echo(msgspec.json.encode({"change": erased.change, "bereft": erased.bereft, "still_held": held}))
        else:
            typer.echo(report_changes.erased(erased))
            if any(memory.provenance.source is Source.SEED for memory in before):
                typer.echo("the scenario holds it as well: a new run of it begins with this memory again")
        if held:
            raise CheckFailed(f"the memories are erased, but the same still stands in {'; '.join(held)}")

    _with_editor(context, work)


@edits_app.command(
    epilog="Example: simuverse memories run1 --agent Jade rewrite 9d3f789c-1eb1-5e2e-9e4b-a9d7adf31f3b "
    '"My first paid job was on a compiler."'
)
def rewrite(
    context: typer.Context,
    id: Id,
    text: Annotated[str | None, typer.Argument(help="The new wording; may be left out to change the rest.")] = None,
    keywords: Annotated[str | None, typer.Option("--keywords", help="Separated by commas.")] = None,
    critical: Annotated[str | None, typer.Option("--critical", help="What must survive: names, numbers.")] = None,
    importance: Annotated[int | None, typer.Option("--importance", min=1, max=10)] = None,
    category: Annotated[Category | None, typer.Option("--category")] = None,
    why: Why = "",
    json: AsJson = False,
) -> None:
    """Another wording. The old one is found no more, and stands in the history.

    Keywords and critical information that aren't in the new wording go, unless they are given.
    """

    async def work(editing: Editing) -> None:
        words = None if keywords is None else [word.strip() for word in keywords.split(",") if word.strip()]
        [wanted] = _uuids([id])
        change = await editing.editor.rewrite(
            wanted,
            text,
            keywords=words,
            critical_information=critical,
            importance=importance,
            category=category,
            why=why,
        )
        _show(editing, change, json=json)

    _with_editor(context, work)


@edits_app.command(
    epilog="Example: simuverse memories run1 --agent Jamal merge 93de5e03-ea5f-52e7-8231-e27e5964e0d6 "
    "f63716f3-4530-54ae-a730-00260a67ff79"
)
def merge(
    context: typer.Context,
    ids: Ids,
    text: Annotated[str | None, typer.Option("--text", help="The wording; by default that of the richest.")] = None,
    why: Why = "",
    json: AsJson = False,
) -> None:
    """One memory in place of several, which stay as its evidence."""

    async def work(editing: Editing) -> None:
        _show(editing, await editing.editor.merge(_uuids(ids), summary=text, why=why), json=json)

    _with_editor(context, work)


@edits_app.command(
    epilog="Example: simuverse memories run1 --agent Jamal separate babf4d87-b93b-5f79-a59c-3121683da8b6"
)
def separate(context: typer.Context, ids: Ids, why: Why = "", json: AsJson = False) -> None:
    """Of memories that `list` says may restate another: they don't, and each comes to mind by itself."""

    async def work(editing: Editing) -> None:
        _show(editing, await editing.editor.separate(_uuids(ids), why=why), json=json)

    _with_editor(context, work)


@edits_app.command(epilog="Example: simuverse memories run1 --agent James anchor 00884631-5535-5bbd-b170-9e08e5955948")
def anchor(context: typer.Context, ids: Ids, why: Why = "", json: AsJson = False) -> None:
    """Holds memories: they never fade, and are never merged, evicted, rewritten or forgotten."""

    async def work(editing: Editing) -> None:
        _show(editing, await editing.editor.anchor(_uuids(ids), why=why), json=json)

    _with_editor(context, work)


@edits_app.command(
    epilog="Example: simuverse memories run1 --agent James unanchor 00884631-5535-5bbd-b170-9e08e5955948"
)
def unanchor(context: typer.Context, ids: Ids, why: Why = "", json: AsJson = False) -> None:
    """Lets anchored memories go, so that they can be changed."""

    async def work(editing: Editing) -> None:
        _show(editing, await editing.editor.unanchor(_uuids(ids), why=why), json=json)

    _with_editor(context, work)


@edits_app.command(epilog="Example: simuverse memories run1 --agent Jade history")
def history(
    context: typer.Context,
    id: Annotated[str | None, typer.Argument(help="Of one memory; all changes by default.")] = None,
    json: AsJson = False,
) -> None:
    """Every change, oldest first: who, when, why, before (-) and after (+)."""

    async def work(editing: Editing) -> None:
        everything = await editing.editor.history()
        wanted = None if id is None else _uuids([id])[0]
        changes = [change for change in everything if wanted is None or wanted in change.touched]
        text = report_changes.history(changes, everything, editing.zone) or "nothing was ever changed"
        typer.echo(msgspec.json.encode(changes) if json else text)

    _with_editor(context, work)


@edits_app.command(epilog="Example: simuverse memories run1 --agent Jade undo")
def undo(
    context: typer.Context,
    change: Annotated[int | None, typer.Argument(help="Number of the change; the latest by default.")] = None,
    why: Why = "",
    json: AsJson = False,
) -> None:
    """Takes a change back. An undo can be undone too, by its number."""

    async def work(editing: Editing) -> None:
        _show(editing, await editing.editor.undo(change, why=why), json=json)

    _with_editor(context, work)


@edits_app.command(epilog="Example: simuverse memories run1 retry")
def retry(
    context: typer.Context,
    model: Annotated[
        str | None, typer.Option("--subconscious-model", help="That writes them down; reflex works by rule.")
    ] = None,
    json: AsJson = False,
) -> None:
    """Writes down what couldn't be when it happened, with the time and the source of then.

    What a model or store failed at is kept beside the store, and so is what a process was at when it was killed. It is
    written by what the run had for it unless another is named; of everyone, unless --agent names one.
    """
    source, agent, settings = context.obj
    asyncio.run(_retry(source, agent, settings, model, json=json))


async def _retry(source: str, agent: str | None, settings: Settings, model: str | None, *, json: bool) -> None:
    tried = [one async for one in editors.retry(source, agent, settings, model=model)]
    if json:
        typer.echo(msgspec.json.encode([one.remembered for one in tried]))
    else:
        zone = sources.zone_of(source, settings)
        lines = (report.retried(one, zone) for one in tried)
        typer.echo("\n".join(lines) or "nothing is left to be written down")
    failed = sum(one.remembered.failed for one in tried)
    if failed:
        raise CheckFailed(f"{failed} of {len(tried)} could not be written down, and are kept for another try")


def confirm(question: str) -> None:
    """Asks before what can't be undone.

    Raises:
        UsageError: the answer isn't yes, or there is none.
    """
    try:
        sure = typer.confirm(f"{question} This can't be undone.")
    except typer.Abort:
        sure = False
    if not sure:
        raise UsageError("nothing was erased. Answer y, or give --yes")


def _uuids(ids: list[str]) -> list[UUID]:
    found: list[UUID] = []
    for text in ids:
        try:
            found.append(UUID(text))
        except ValueError:
            raise UsageError(f"{text!r} is not an id. `list` shows the ids") from None
    return found


def _show(editing: Editing, change: Change, *, json: bool) -> None:
    typer.echo(msgspec.json.encode(change) if json else report_changes.change(change, editing.zone))


def _with_editor(context: typer.Context, work: Work) -> None:
    source, agent, settings = context.obj
    asyncio.run(_work(source, agent, settings, work))


async def _work(source: str, agent: str | None, settings: Settings, work: Work) -> None:
    async with open_editor(source, agent, settings) as editing:
        await work(editing)
