"""Recall at 1,000, 10,000 and 100,000 memories beside the bare work: ``python benchmarks/latency.py [SIZE ...]``."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from dataclasses import asdict
from json import dumps
from pathlib import Path

from simuverse.bench.latency import SIZES, measure_latency
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore


async def main(sizes: list[int]) -> None:
    embedder = await WordLlamaEmbedder.open()
    with tempfile.TemporaryDirectory() as folder:
        store = await SQLiteStore.open(
            Path(folder, "bench.db"), embedder_name=embedder.name, dimension=embedder.dimension
        )
        measured = await measure_latency(
            store, embedder, sizes=sizes, on_progress=lambda step: print(step, file=sys.stderr)
        )
        await store.aclose()
    print(dumps(asdict(measured), indent=2))


if __name__ == "__main__":
    asyncio.run(main([int(size) for size in sys.argv[1:]] or list(SIZES)))
