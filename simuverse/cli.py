"""The command line: reads what was typed, calls what does the work, prints what comes back.

Exit codes are those of :mod:`simuverse.errors`; 130 after Ctrl-C.
"""

from __future__ import annotations

import asyncio
import sys
import threading
import traceback
from enum import StrEnum
from io import TextIOWrapper
from itertools import takewhile
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simuverse import __version__, report, wiring
from simuverse.agents.trace import TurnTrace
from simuverse.cli_agents import agents_app
from simuverse.cli_bench import bench_app
from simuverse.cli_deliver import deliver
from simuverse.cli_memories import memories_app
from simuverse.cli_memories_edit import edits_app
from simuverse.cli_store import store_app
from simuverse.config import Settings, load
from simuverse.errors import ModelUnavailable, SimuverseError, UnknownAgent, UsageError
from simuverse.world.journal import OUTBOX, RUN, read_info, read_turns
from simuverse.world.simulation import OUTAGE

app = typer.Typer(
    name="simuverse",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A subconscious for LLM agents: memories written and brought back for them, without their asking.",
    epilog="Example: simuverse demo",
)
memories_app.add_typer(edits_app)
app.add_typer(memories_app, name="memories")
app.add_typer(agents_app, name="agents")
store_app.command(epilog="Example: simuverse store deliver run1")(deliver)
app.add_typer(store_app, name="store")
app.add_typer(bench_app, name="bench")


DEBUG = "--debug"


class Switch(StrEnum):
    ON = "on"
    OFF = "off"


Config = Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")]
Model = Annotated[str | None, typer.Option("--model", help="Of the characters: rehearsal or provider:model.")]
SubconsciousModel = Annotated[
    str | None, typer.Option("--subconscious-model", help="Of their second minds: reflex (rules) or provider:model.")
]
EmbedderName = Annotated[str | None, typer.Option("--embedder", help="wordllama, hashing or provider:model.")]
StoreName = Annotated[
    str | None, typer.Option("--store", help="sqlite:FILE, memory: or weaviate:http://localhost:8080")
]
Scenario = Annotated[str | None, typer.Option("--scenario", help="A scenario's name or TOML file.")]
Seed = Annotated[int | None, typer.Option("--seed", help="Of all chance in the run.")]
Concurrency = Annotated[int | None, typer.Option("--concurrency", help="Agents that think at once.")]
MemorySwitch = Annotated[Switch | None, typer.Option("--memory", help="Whether the characters have a subconscious.")]
AsJson = Annotated[bool, typer.Option("--json", help="As data.")]


@app.callback(invoke_without_command=True)
def root(
    version: Annotated[bool, typer.Option("--version", help="Print the version and end.", is_eager=True)] = False,
    debug: Annotated[bool, typer.Option(DEBUG, help="Before a command: show where an error came from.")] = False,
) -> None:
    # What --debug asks for is done in main, which is where errors end.
    del debug
    if version:
        typer.echo(f"simuverse {__version__}")
        raise typer.Exit


@app.command(epilog="Example: simuverse demo --port 8060 --model ollama:qwen2.5:14b")
def demo(
    config: Config = None,
    port: Annotated[int | None, typer.Option("--port", help="Of the page; the next free one if taken.")] = None,
    host: Annotated[str | None, typer.Option("--host", help="Address to listen on.")] = None,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run; a new one in runs/ by default.")] = None,
    model: Model = None,
    subconscious_model: SubconsciousModel = None,
    embedder: EmbedderName = None,
    store: StoreName = None,
    scenario: Scenario = None,
    seed: Seed = None,
    concurrency: Concurrency = None,
    memory: MemorySwitch = None,
) -> None:
    """The page: a grid with four characters, and beside it what each remembers and why."""
    from simuverse.dashboard.serving import free_port, serve
    from simuverse.dashboard.session import Session

    settings = load(
        config,
        typed={
            "port": port,
            "host": host,
            "model": model,
            "subconscious_model": subconscious_model,
            "embedder": embedder,
            "store": store,
            "scenario": scenario,
            "seed": seed,
            "concurrency": concurrency,
            "memory": None if memory is None else memory is Switch.ON,
        },
    )
    folder = out or wiring.next_folder(settings.scenario, settings.seed)
    session = Session(lambda: wiring.open_simulation(settings, folder=folder))
    free_port(settings.host, settings.port).close()  # a wrong address is told before a run begins
    try:
        session.start()
        with serve(session, settings.host, settings.port) as served:
            if served.moved:
                typer.echo(f"port {served.asked} is taken, so the page is on {served.port}")
            typer.echo(f"the page is at {served.url} and the run in {folder}; Ctrl-C ends both")
            threading.Event().wait()
    finally:
        session.stop()


@app.command(epilog="Example: simuverse run --ticks 50 --seed 7 --out run1")
def run(
    ticks: Annotated[int, typer.Option("--ticks", min=1, help="How long, in turns of everyone.")] = 50,
    out: Annotated[Path | None, typer.Option("--out", help="Folder of the run; a new one in runs/ by default.")] = None,
    config: Config = None,
    model: Model = None,
    subconscious_model: SubconsciousModel = None,
    embedder: EmbedderName = None,
    store: StoreName = None,
    scenario: Scenario = None,
    seed: Seed = None,
    concurrency: Concurrency = None,
    memory: MemorySwitch = None,
) -> None:
    """The same world without a page. Last line: the hash of its journal."""
    settings = load(
        config,
        typed={
            "model": model,
            "subconscious_model": subconscious_model,
            "embedder": embedder,
            "store": store,
            "scenario": scenario,
            "seed": seed,
            "concurrency": concurrency,
            "memory": None if memory is None else memory is Switch.ON,
        },
    )
    folder = out or wiring.next_folder(settings.scenario, settings.seed)
    try:
        asyncio.run(_run(settings, folder, ticks))
    except KeyboardInterrupt:
        if (folder / RUN).exists():
            typer.echo(f"interrupted; every finished tick is in {folder}", err=True)
        if (folder / OUTBOX).exists():
            typer.echo(f"memories wait in {folder / OUTBOX} for their store; {_bring_out(folder)}", err=True)
        raise


async def _run(settings: Settings, folder: Path, ticks: int) -> None:
    async with wiring.open_simulation(settings, folder=folder) as simulation:
        parts = simulation.parts
        typer.echo(f"store {parts.store} | embedder {parts.embedder} | model {parts.model} | mind {parts.subconscious}")
        typer.echo(f"run folder {folder}")
        failed = 0
        for _ in range(ticks):
            traces = await simulation.step()
            for trace in traces:
                typer.echo(_turn_line(trace))
                failed += trace.remembered.failed
            if simulation.unanswered >= OUTAGE:
                problem = next(call.problem for trace in traces for call in trace.calls if call.reply is None)
                raise ModelUnavailable(
                    f"{simulation.unanswered} model calls in a row had no reply, so the run in {folder} ended after "
                    f"tick {simulation.tick}. The first: {problem}"
                )
    if failed:
        typer.echo(f"{failed} turns are not written down yet; `simuverse memories {folder} retry` tries again")
    if simulation.outbox is not None:
        backlog = simulation.outbox.backlog
        if backlog.waiting:
            typer.echo(f"{backlog.sentence.rstrip('.')}; {_bring_out(folder)}")
        elif backlog.delivered:
            typer.echo(f"{backlog.delivered} memories had to wait for the store, and are in it")
    typer.echo(f"journal sha256: {simulation.journal_sha256}")


def _bring_out(folder: Path) -> str:
    return f"they go out when these memories are opened again, or with: simuverse store deliver {folder}"


def _turn_line(trace: TurnTrace) -> str:
    recalled = len(trace.recollection)
    delivered = f", {trace.remembered.delivered} that had waited delivered" if trace.remembered.delivered else ""
    problems = f" | problem: {'; '.join(trace.problems)}" if trace.problems else ""
    return (
        f"{trace.tick:>4}  {trace.agent:<8} {report.call_text(trace)}: {trace.outcome.sentence}"
        f" | {recalled} recalled, {len(trace.remembered.written)} remembered{delivered}{problems}"
    )


@app.command(epilog="Example: simuverse flashbacks run1 --agent Jade --tick 20")
def flashbacks(
    folder: Annotated[Path, typer.Argument(help="Run folder.")],
    agent: Annotated[str | None, typer.Option("--agent", help="Whose turns; everyone's by default.")] = None,
    tick: Annotated[int | None, typer.Option("--tick", help="Which turn; the last one by default.")] = None,
    json: AsJson = False,
) -> None:
    """What was recalled in a turn, why, and what just missed."""
    info = read_info(folder)
    if agent is not None and agent not in info.agents:
        raise UnknownAgent(f"there is no agent {agent} in {folder}. Agents: {', '.join(info.agents)}")
    turns = list(read_turns(folder, agent=agent, tick=tick))
    last = max((trace.tick for trace in turns), default=None)
    if last is None:
        if tick is None:
            raise UsageError(
                f"the run in {folder} ended before its first tick was finished. Start another: simuverse run"
            )
        raise UsageError(f"{folder} has no turn at tick {tick}. `simuverse flashbacks {folder}` shows the last one")
    shown = [trace for trace in turns if trace.tick == last]
    if json:
        typer.echo(msgspec.json.encode(shown))
    else:
        typer.echo("\n\n".join(map(report.turn, shown)))


@app.command(epilog="Example: simuverse chat Ada --store sqlite:ada.db")
def chat(
    name: Annotated[str, typer.Argument(help="With whom; anyone new is made up on the spot.")],
    me: Annotated[str, typer.Option("--me", help="Your own name.")] = "Guest",
    why: Annotated[bool, typer.Option("--why/--no-why", help="Show what came to mind before each reply.")] = True,
    config: Config = None,
    model: Model = None,
    subconscious_model: SubconsciousModel = None,
    embedder: EmbedderName = None,
    store: StoreName = None,
) -> None:
    """Talk with one agent that remembers between calls. An empty line or Ctrl-D ends it."""
    settings = load(
        config,
        typed={
            "model": model,
            "subconscious_model": subconscious_model,
            "embedder": embedder,
            "store": store,
        },
    )
    with asyncio.Runner() as runner:
        opening = wiring.open_dialogue(name, partner=me, settings=settings)
        opened = runner.run(opening.__aenter__())
        try:
            parts = opened.parts
            typer.echo(
                f"{name} runs on {parts.model}, mind {parts.subconscious}, store {parts.store}. An empty line ends."
            )
            # Read between two turns of the loop, not on it: a thread of its own that waits for a line can't be ended.
            while line := _read_line(f"{me}: ").strip():
                _show_answer(name, runner.run(opened.dialogue.answer(line)), why=why)
        finally:
            runner.run(opening.__aexit__(None, None, None))
            if opened.backlog.waiting:
                typer.echo(
                    f"{opened.backlog.sentence.rstrip('.')}; they go out in the next talk with {name} in this folder"
                )


def _show_answer(name: str, trace: TurnTrace, *, why: bool) -> None:
    if trace.decision.failed and all(call.reply is None for call in trace.decision.calls):
        raise ModelUnavailable(f"{name} can't answer. {'; '.join(trace.decision.problems)}")
    if why:
        for flashback in trace.recollection:
            typer.secho(f"  (recalled: {flashback.memory.summary})", dim=True)
    said = trace.outcome.said
    typer.echo(f"{name}: {said.text}" if said is not None else f"({name} says nothing: {trace.outcome.sentence})")
    for problem in trace.problems:
        typer.echo(f"  problem: {problem}", err=True)


def _read_line(prompt: str) -> str:
    """A line from standard input, empty at its end.

    Raises:
        UsageError: it isn't text in the terminal's encoding.
    """
    if sys.stdin.isatty():
        typer.echo(prompt, nl=False)
    try:
        return sys.stdin.buffer.readline().decode(sys.stdin.encoding)
    except UnicodeDecodeError as error:
        raise UsageError(
            f"what was typed isn't {sys.stdin.encoding}: {error.reason}. Nothing was made of it"
        ) from error


@app.command(epilog="Example: simuverse doctor --model ollama:qwen2.5:14b")
def doctor(
    config: Config = None,
    model: Model = None,
    embedder: EmbedderName = None,
    store: StoreName = None,
    json: AsJson = False,
) -> None:
    """One line a part: what is used, whether it works, and what to do if not. Asks a model for one word."""
    from simuverse import doctor as examination

    settings = load(config, typed={"model": model, "embedder": embedder, "store": store})
    findings = asyncio.run(examination.examine(settings))
    if json:
        typer.echo(msgspec.json.encode(findings))
    else:
        for finding in findings:
            typer.echo(f"{'ok ' if finding.ok else 'NO '} {finding.part:<10} {finding.what}")
            if finding.cure:
                typer.echo(f"               {finding.cure}")
    bad = [finding for finding in findings if not finding.ok]
    if bad:
        raise typer.Exit(max(finding.exit_code for finding in bad))


def main() -> None:
    """Runs the command line and ends the process with the code that what went wrong asks for.

    The library ends it itself after Ctrl-C, with 130, and after what was typed wrongly, with 2.
    """
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            # A memory may be in any script, a terminal need not.
            stream.reconfigure(errors="backslashreplace")
    try:
        _check_words(sys.argv[1:])
        app()
    except SimuverseError as error:
        if DEBUG in takewhile(lambda word: word.startswith("-"), sys.argv[1:]):
            traceback.print_exception(error)
        typer.echo(f"simuverse: {error}", err=True)
        sys.exit(error.exit_code)


def _check_words(words: list[str]) -> None:
    """Raises:
    UsageError: one isn't text in the system's encoding.
    """
    for word in words:
        if word.encode("utf-8", "ignore").decode("utf-8") != word:
            raise UsageError(f"{word!r} isn't {sys.getfilesystemencoding()}. Type it again, or rename the file")
