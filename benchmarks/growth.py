"""How a recall's cost grows with memories, agents and queries; writes JSON and the plots of ``docs/performance.md``.

    python -m benchmarks.growth --json benchmarks/results/growth.json --weaviate weaviate:http://127.0.0.1:8080

Without ``--weaviate`` SQLite alone is measured.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

from benchmarks.machine import machine
from benchmarks.memories import recall_once, write
from benchmarks.plot import Line, plot
from simuverse import parts
from simuverse.bench.invented_texts import InventedTexts
from simuverse.bench.latency import measure_latency
from simuverse.bench.timing import process_mb
from simuverse.config import Settings
from simuverse.memory.embedding import Embedder

IMAGES = Path(__file__).parents[1] / "docs" / "images"
SIZES = "1000,3000,10000,30000,100000"
AGENTS = "1,10,30,100"
EACH = 1_000
"""Memories of one agent, where agents are counted."""

QUERIES = (1, 2, 3, 6)
"""Queries of one recall; a mind without a model asks up to three."""

MANY = 10_000
"""Memories, where queries are counted."""

RECALLS = 100


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sizes", default=SIZES, help="numbers of memories, by commas")
    asked.add_argument("--agents", default=AGENTS, help="numbers of agents, by commas")
    asked.add_argument("--weaviate", help="a server's address, as --store takes it")
    asked.add_argument("--json", type=Path, help="file that is written beside the plots")
    options = asked.parse_args()
    sizes, agents = ([int(number) for number in option.split(",")] for option in (options.sizes, options.agents))
    measured = {**machine(), **asyncio.run(_measure(sizes, agents, options.weaviate))}
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    _draw(measured)
    print(json.dumps(measured, indent=1))


async def _measure(sizes: list[int], agents: list[int], weaviate: str | None) -> dict[str, Any]:
    settings = Settings()
    embedder = await parts.open_embedder("wordllama", settings)
    with tempfile.TemporaryDirectory() as scratch:
        stores = {"SQLite": f"sqlite:{scratch}/memories.db"} | ({"Weaviate": weaviate} if weaviate else {})
        memories: dict[str, list[dict[str, float | None]]] = {}
        for name, store in stores.items():
            opened = await parts.open_store(store, embedder, settings)
            try:
                latency = await measure_latency(opened, embedder, sizes=sizes, on_progress=print)
            finally:
                await opened.aclose()
            memories[name] = [
                {
                    "memories": size.size,
                    "p50_ms": size.recall.p50,
                    "p95_ms": size.recall.p95,
                    "fresh_p50_ms": size.fresh.p50,
                    "at_once_p50_ms": size.at_once.p50,
                    "first_search_ms": size.first_search,
                    "memory_mb": size.memory_mb,
                }
                for size in latency.sizes
            ]
        return {
            "memories": memories,
            "agents": [await _agents(count, f"sqlite:{scratch}/agents{count}.db", embedder) for count in agents],
            "queries": await _queries(f"sqlite:{scratch}/queries.db", embedder),
        }


async def _agents(agents: int, name: str, embedder: Embedder) -> dict[str, float | None]:
    """Each recalls in turn; the first time of each, which reads its memories, counts apart."""
    store = await parts.open_store(name, embedder, Settings())
    questions = [text.removesuffix(".") for text in InventedTexts(2).draw(RECALLS)]
    try:
        owners = [f"agent {number}" for number in range(agents)]
        for number, owner in enumerate(owners):
            await write(store, embedder, owner, EACH, seed=number)
        before = process_mb(os.getpid())
        first = [await _timed((store, embedder, owner, "first")) for owner in owners]
        after = process_mb(os.getpid())
        times = [
            await _timed((store, embedder, owners[place % agents], question))
            for place, question in enumerate(questions)
        ]
    finally:
        await store.aclose()
    return {
        "agents": agents,
        "p50_ms": float(np.median(times)),
        "first_p50_ms": float(np.median(first)),
        "memory_mb": None if before is None or after is None else after - before,
    }


async def _queries(name: str, embedder: Embedder) -> list[dict[str, float]]:
    store = await parts.open_store(name, embedder, Settings())
    try:
        await write(store, embedder, "agent", MANY)
        await recall_once(store, embedder, "agent", "first")
        measured: list[dict[str, float]] = []
        for queries in QUERIES:
            texts = [text.removesuffix(".") for text in InventedTexts(3).draw(RECALLS * queries)]
            times = [
                await _timed((store, embedder, "agent", *texts[place * queries : (place + 1) * queries]))
                for place in range(RECALLS)
            ]
            measured.append({"queries": queries, "p50_ms": float(np.median(times))})
        return measured
    finally:
        await store.aclose()


async def _timed(arguments: tuple[Any, ...]) -> float:
    started = perf_counter()
    await recall_once(*arguments)
    return 1000 * (perf_counter() - started)


def _draw(measured: dict[str, Any]) -> None:
    lines = [
        Line(name=name, points=[(row["memories"], row["p50_ms"]) for row in rows])
        for name, rows in measured["memories"].items()
    ]
    (IMAGES / "growth-memories.svg").write_text(
        plot("A recall, by the memories of the one who asks", lines, x="memories", y="ms, median")
    )
    for what, x, title in (
        ("agents", "agents in the store, 1,000 memories each", "A recall, by the agents in the store"),
        ("queries", "queries of one recall, 10,000 memories", "A recall, by its queries"),
    ):
        points = [(row[what], row["p50_ms"]) for row in measured[what]]
        line = Line(name="SQLite", points=points)
        (IMAGES / f"growth-{what}.svg").write_text(plot(title, [line], x=x, y="ms, median", logarithmic=False))


if __name__ == "__main__":
    main()
