"""``simuverse bench depth`` and ``importance``: events of one's own, asked for and graded."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simuverse import parts
from simuverse.bench.depth import SIZES, DepthBench, measure_depth
from simuverse.bench.importance import ImportanceBench, measure_importance
from simuverse.cli_bench_parts import opened_parts, tell
from simuverse.config import load
from simuverse.errors import SettingsError


def depth(
    sizes: Annotated[str, typer.Option("--sizes", help="Numbers of memories, by commas.")] = ",".join(map(str, SIZES)),
    store: Annotated[str | None, typer.Option("--store", help="By default a new file, deleted afterwards.")] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="wordllama, hashing or provider:model.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As data.")] = False,
) -> None:
    """How many of 20 moments of three months ago come back, among very many other memories."""
    try:
        wanted = [int(size) for size in sizes.split(",")]
    except ValueError:
        raise SettingsError(f"--sizes takes whole numbers by commas, such as 5000,100000, not {sizes!r}") from None
    settings = load(config, typed={"store": store, "embedder": embedder})

    async def measure() -> DepthBench:
        async with opened_parts(settings) as (opened, embedding):
            return await measure_depth(opened, embedding, sizes=wanted, on_progress=tell)

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else _depth_table(measured))


def importance(
    model: Annotated[
        str | None, typer.Option("--model", help="provider:model, which then rates; by default the rule does.")
    ] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="wordllama, hashing or provider:model.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As data.")] = False,
) -> None:
    """Whether importance rises with a person's grades, over two lists of invented events: Spearman's correlation."""
    settings = load(config, typed={"embedder": embedder})

    async def measure() -> ImportanceBench:
        async with opened_parts(settings) as (opened, embedding):
            if model is None:
                return await measure_importance(opened, embedding)
            rating = await parts.open_model(model, settings)
            try:
                return await measure_importance(opened, embedding, model=rating, on_progress=tell)
            finally:
                await rating.aclose()

    measured = asyncio.run(measure())
    typer.echo(msgspec.json.encode(measured) if json else _importance_table(measured))


def _depth_table(measured: DepthBench) -> str:
    lines = [
        f"embedder {measured.embedder}; {measured.moments} moments; of 100 among the first 5 and 10, the gate open,",
        "and among what comes back as shipped; a question's time (p50)",
        f"{'memories':>9} {'question':<10} {'at 5':>6} {'at 10':>6} {'shipped':>8} {'ms':>7}",
    ]
    lines += [
        f"{one.size:>9} {one.question:<10} {100 * one.at_5:>6.1f} {100 * one.at_10:>6.1f} {100 * one.shipped:>8.1f} "
        f"{one.p50_ms:>7.1f}"
        for one in measured.measured
    ]
    return "\n".join(lines)


def _importance_table(measured: ImportanceBench) -> str:
    lines = [
        f"rated by {measured.rated_by}; Spearman's rank correlation with a person's grades",
        f"{'list':<10} {'events':>6} {'correlation':>12}",
    ]
    lines += [f"{one.events:<10} {one.count:>6} {one.correlation:>12.2f}" for one in measured.measured]
    return "\n".join(lines)
