"""``simuverse bench``: every number that is claimed, measured again."""

from __future__ import annotations

import asyncio
import tempfile
from pathlib import Path
from typing import Annotated

import msgspec
import typer

from simuverse import wiring
from simuverse.bench.latency import SIZES, Latency, measure_latency
from simuverse.config import Settings, load
from simuverse.errors import SettingsError

bench_app = typer.Typer(
    no_args_is_help=True,
    help="Measure. Figures depend on the machine; ratios less so.",
    epilog="Example: simuverse bench latency --sizes 1000",
)


@bench_app.callback()
def bench() -> None:
    """Keeps ``latency`` a command of its own, however few there are."""


@bench_app.command(epilog="Example: simuverse bench latency --sizes 1000,10000")
def latency(
    sizes: Annotated[str, typer.Option("--sizes", help="Numbers of memories, by commas.")] = ",".join(map(str, SIZES)),
    store: Annotated[str | None, typer.Option("--store", help="By default a new file, deleted afterwards.")] = None,
    embedder: Annotated[str | None, typer.Option("--embedder", help="wordllama, hashing or provider:model.")] = None,
    config: Annotated[Path | None, typer.Option("--config", help="Settings file, TOML.")] = None,
    json: Annotated[bool, typer.Option("--json", help="As data.")] = False,
) -> None:
    """How long a recall takes beside a bare matrix product and a bare FTS5 query; writes; memory."""
    try:
        wanted = [int(size) for size in sizes.split(",")]
    except ValueError:
        raise SettingsError(f"--sizes takes whole numbers by commas, such as 1000,10000, not {sizes!r}") from None
    settings = load(config, typed={"store": store, "embedder": embedder})
    measured = asyncio.run(_measure(settings, wanted))
    typer.echo(msgspec.json.encode(measured) if json else _table(measured))


async def _measure(settings: Settings, sizes: list[int]) -> Latency:
    with tempfile.TemporaryDirectory() as scratch:
        embedder = await wiring.open_embedder(settings.embedder, settings)
        store = await wiring.open_store(settings.store or f"sqlite:{scratch}/bench.db", embedder)
        try:
            return await measure_latency(
                store, embedder, sizes=sizes, on_progress=lambda step: typer.echo(step, err=True)
            )
        finally:
            await store.aclose()
            await embedder.aclose()


def _table(measured: Latency) -> str:
    head = f"{'memories':>9} {'recall':>13} {'embed':>13} {'search':>13} {'matrix':>13} {'FTS5':>13} {'ratio':>11}"
    lines = [
        f"embedder {measured.embedder}, {measured.cores} cores; p50 / p95 in ms; ratio of recall to matrix + FTS5",
        f"{head} {'write/s':>8} {'batch/s':>8} {'MB':>6}",
    ]
    for size in measured.sizes:
        spreads = (size.recall, size.embed, size.search, size.matrix, size.fts)
        times = " ".join(f"{spread.p50:>5.1f} / {spread.p95:>5.1f}" for spread in spreads)
        memory = "" if size.memory_mb is None else f"{size.memory_mb:.0f}"
        lines.append(
            f"{size.size:>9} {times} {size.ratio_p50:>4.2f} / {size.ratio_p95:>4.2f} "
            f"{size.single_writes:>8.0f} {size.batch_writes:>8.0f} {memory:>6}"
        )
    return "\n".join(lines)
