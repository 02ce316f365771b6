"""``simuverse bench``: every number that is claimed, measured again."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Annotated

import msgspec
import typer

from simuverse.bench.ablation import FULL, measure_ablation
from simuverse.bench.agents import AGENTS, MEMORIES, AgentsBench, agents_table, measure_agents
from simuverse.bench.changes import ChangesBench, measure_changes
from simuverse.bench.dialogues import Dialogue, invented, load_dialogues
from simuverse.bench.hygiene import TURNS, HygieneBench, measure_hygiene
from simuverse.bench.hygiene_table import hygiene_table
from simuverse.bench.latency import SIZES, Latency, measure_latency
from simuverse.bench.latency_table import latency_table
from simuverse.bench.recall import Measured, RecallBench, Share, measure_recall
from simuverse.bench.silence import SilenceBench, measure_silence
from simuverse.bench.silence_table import silence_table
from simuverse.bench.soak import soak
from simuverse.bench.times import TimesBench, measure_times
from simuverse.bench.times_table import times_table
from simuverse.cli_bench_events import depth, importance
from simuverse.cli_bench_parts import opened_parts, tell
from simuverse.config import Settings, load
from simuverse.errors import SettingsError

PATIENT = 60.0
"""Seconds for a query: how late an answer is shall be measured, not end the measuring."""

StoreOption = Annotated[str | None, typer.Option("--store", help="By default a new file, deleted afterwards.")]
EmbedderOption = Annotated[str | None, typer.Option("--embedder", help="wordllama, hashing or provider:model.")]
ConfigOption = Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")]
JsonOption = Annotated[bool, typer.Option("--json", help="As data.")]
DataOption = Annotated[
    Path | None, typer.Option("--data", help="Folder of dialogues with questions, JSON, measured first.")
]

bench_app = typer.Typer(
    no_args_is_help=True,
    help="Measure. Figures depend on the machine; ratios less so.",
    epilog="Example: simuverse bench latency --sizes 1000",
)
bench_app.command(epilog="Example: simuverse bench depth --sizes 5000")(depth)
bench_app.command(epilog="Example: simuverse bench importance --model ollama:qwen3:4b")(importance)


@bench_app.command(epilog="Example: simuverse bench latency --sizes 1000,10000 --store sqlite --store memory:")
def latency(
    sizes: Annotated[str, typer.Option("--sizes", help="Numbers of memories, by commas.")] = ",".join(map(str, SIZES)),
    stores: Annotated[
        list[str] | None, typer.Option("--store", help="Again for others beside it. By default a new file.")
    ] = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """How long a recall takes beside a bare matrix product and a bare FTS5 query; writes; memory.

    A store on a server is measured beside what its client alone takes, too.
    """
    try:
        wanted = [int(size) for size in sizes.split(",")]
    except ValueError:
        raise SettingsError(f"--sizes takes whole numbers by commas, such as 1000,10000, not {sizes!r}") from None
    settings = load(config, typed={"embedder": embedder})
    named = _stores(stores, settings)

    async def measure() -> list[Latency]:
        measured: list[Latency] = []
        for one in named:
            async with opened_parts(one) as (opened, embedding):
                measured.append(await measure_latency(opened, embedding, sizes=wanted, on_progress=tell))
        return measured

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else latency_table(measured))


@bench_app.command(epilog="Example: simuverse bench agents --agents 50 --store memory:")
def agents(
    number: Annotated[int, typer.Option("--agents", help="How many.")] = AGENTS,
    memories: Annotated[int, typer.Option("--memories", help="How many each has.")] = MEMORIES,
    stores: Annotated[
        list[str] | None, typer.Option("--store", help="Again for others beside it. By default a new file.")
    ] = None,
    servers: Annotated[
        list[int] | None, typer.Option("--server", help="Process of each store's server, to read its memory from.")
    ] = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Many agents in one store: making, filling, asking and erasing them, and the memory of the server.

    The store must be empty, as all that is in it afterwards is erased.
    """
    settings = load(config, typed={"embedder": embedder})
    named = _stores(stores, settings)
    pids: list[int | None] = [*servers] if servers else [None for _ in named]
    if len(pids) != len(named):
        raise SettingsError(f"--server is given {len(pids)} times and --store {len(named)}: one for each, or none")

    async def measure() -> list[AgentsBench]:
        measured: list[AgentsBench] = []
        for one, pid in zip(named, pids, strict=True):
            async with opened_parts(one) as (opened, embedding):
                measured.append(
                    await measure_agents(
                        opened,
                        embedding,
                        agents=number,
                        memories=memories,
                        server=pid,
                        on_progress=tell,
                    )
                )
        return measured

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else agents_table(measured))


@bench_app.command(epilog="Example: simuverse bench recall --ablate")
def recall(
    data: DataOption = None,
    ablate: Annotated[bool, typer.Option("--ablate", help="Again without each part, and by each preset.")] = False,
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """How much of what a question asks for comes back, a week after the last of many talks.

    Without --data: two dialogues of the program's own, asked in words that their answers don't hold, and plainly.
    """
    settings = load(config, typed={"store": store, "embedder": embedder})
    sources = _dialogues(data)

    async def measure() -> RecallBench:
        async with opened_parts(settings) as (opened, embedding):
            measured = measure_ablation if ablate else measure_recall
            return await measured(sources, opened, embedding, on_progress=tell)

    measured = asyncio.run(measure())
    if json:
        typer.echo(msgspec.json.encode(measured))
    else:
        typer.echo(_ablation_table(measured) if ablate else _recall_table(measured))


@bench_app.command(epilog="Example: simuverse bench changes --json")
def changes(
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Of facts that changed, how often what holds now comes first, and what held on a day that is asked for."""
    settings = load(config, typed={"store": store, "embedder": embedder})

    async def measure() -> ChangesBench:
        async with opened_parts(settings) as (opened, embedding):
            return await measure_changes(opened, embedding)

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else _changes_table(measured))


@bench_app.command("time", epilog="Example: simuverse bench time --store memory:")
def times(
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """Whether times in questions are understood, what comes back of them, and that nothing else does; in four zones."""
    settings = load(config, typed={"store": store, "embedder": embedder})

    async def measure() -> TimesBench:
        async with opened_parts(settings) as (opened, embedding):
            return await measure_times(opened, embedding, on_progress=tell)

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else times_table(measured))


@bench_app.command(epilog="Example: simuverse bench hygiene --turns 200")
def hygiene(
    turns: Annotated[
        int, typer.Option("--turns", min=1, help="In which a character says again what came to mind.")
    ] = TURNS,
    soak_turns: Annotated[
        int, typer.Option("--soak", min=0, help="Turns of the rehearsed village; 10000 take minutes, 0 none.")
    ] = 0,
    data: DataOption = None,
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """What becomes of echoes, of one thing told in many words and of facts that changed, and when nothing comes."""
    settings = load(config, typed={"store": store, "embedder": embedder})
    sources = _dialogues(data)

    async def measure() -> HygieneBench:
        async with opened_parts(settings) as (opened, embedding):
            measured = await measure_hygiene(opened, embedding, turns=turns)
            silent = await measure_silence(sources, opened, embedding, on_progress=tell)
        measured = replace(measured, silence=silent)
        if not soak_turns:
            return measured
        with TemporaryDirectory(prefix="simuverse-soak-") as folder:
            soaked = await soak(
                soak_turns, embedder=settings.embedder, store=settings.store, folder=Path(folder), on_progress=tell
            )
        return replace(measured, soak=soaked)

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else hygiene_table(measured))


@bench_app.command(epilog="Example: simuverse bench silence --data dialogues")
def silence(
    data: DataOption = None,
    store: StoreOption = None,
    embedder: EmbedderOption = None,
    config: ConfigOption = None,
    json: JsonOption = False,
) -> None:
    """How often nothing comes back for what was never talked about, and what that costs."""
    settings = load(config, typed={"store": store, "embedder": embedder})
    sources = _dialogues(data)

    async def measure() -> SilenceBench:
        async with opened_parts(settings) as (opened, embedding):
            return await measure_silence(sources, opened, embedding, on_progress=tell)

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else silence_table(measured))


def _dialogues(data: Path | None) -> Mapping[str, Sequence[Dialogue]]:
    """By source: those of a folder, and the program's own."""
    return ({} if data is None else {"data": load_dialogues(data)}) | invented()


def _stores(typed: list[str] | None, settings: Settings) -> list[Settings]:
    """Settings for each store that was named; ``sqlite`` is a new file."""
    names: list[str | None] = [*typed] if typed else [settings.store]
    return [replace(settings, store=None if name == "sqlite" else name) for name in names]


def _recall_table(measured: RecallBench) -> str:
    lines = [
        f"embedder {measured.embedder}; share of the evidence found among the first 5, 10, 20, of 100; questions whose",
        "whole evidence is among the first 10; mean reciprocal rank; each with its 95 % interval",
    ]
    for one in measured.measured:
        lines.append(f"\n{one.source}, {one.setting}: {one.p50_ms:.1f} ms a question (p50), {one.p95_ms:.1f} ms (p95)")
        columns = (f"{head:<20}" for head in ("at 5", "at 10", "at 20", "all at 10", "MRR"))
        lines.append(f"{'':<14} {'n':>5}  {''.join(columns)}".rstrip())
        for figures in one.categories:
            shares = (figures.at_5, figures.at_10, figures.at_20, figures.all_at_10, figures.mrr)
            cells = "".join(f"{_percent(share):<20}" for share in shares)
            lines.append(f"{figures.category:<14} {figures.questions:>5}  {cells}".rstrip())
    return "\n".join(lines)


def _ablation_table(measured: RecallBench) -> str:
    """A row a setting, all sources beside each other; differences are to the first row."""
    sources: dict[str, list[Measured]] = {}
    for one in measured.measured:
        sources.setdefault(one.source, []).append(one)
    head = "".join(f"  {source + ': at 10':<20} {'+/-':>5} {'all@10':>6} {'MRR':>5}" for source in sources)
    lines = [f"embedder {measured.embedder}; of 100", f"{'':<24}{head}"]
    for row in zip(*sources.values(), strict=True):
        cells = ""
        for one, (full, *_) in zip(row, sources.values(), strict=True):
            total, base = one.total, full.total
            change = "" if one.setting == FULL else f"{100 * (total.at_10.mean - base.at_10.mean):+.1f}"
            cells += f"  {_percent(total.at_10):<20} {change:>5} {100 * total.all_at_10.mean:>6.1f}"
            cells += f" {100 * total.mrr.mean:>5.1f}"
        lines.append(f"{row[0].setting:<24}{cells}")
    return "\n".join(lines)


def _changes_table(measured: ChangesBench) -> str:
    hours = list(measured.measured[0].now_by_distance)
    lines = [
        f"embedder {measured.embedder}; {measured.memories} memories, {measured.questions} questions; of 100, the right"
        " fact first;",
        "now by the hours since the fact that it replaced",
        f"{'preset':<20} {'now':>6} {'then':>6}  " + " ".join(f"{hour:>6}" for hour in hours),
    ]
    for one in measured.measured:
        apart = " ".join(f"{100 * one.now_by_distance[hour]:>6.1f}" for hour in hours)
        lines.append(f"{one.setting:<20} {100 * one.now:>6.1f} {100 * one.then:>6.1f}  {apart}")
    return "\n".join(lines)


def _percent(share: Share) -> str:
    return f"{100 * share.mean:.1f} ({100 * share.low:.1f}-{100 * share.high:.1f})"
