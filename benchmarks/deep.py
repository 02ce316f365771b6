"""The moments of ``simuverse bench depth`` with each embedder at hand, as ``benchmarks.embedders`` has them.

python -m benchmarks.deep --json benchmarks/results/deep.json
"""

from __future__ import annotations

import argparse
import asyncio
import json
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from benchmarks.embedders import EMBEDDERS, installed
from benchmarks.machine import machine
from simuverse.bench.depth import measure_depth
from simuverse.memory.stores.sqlite import SQLiteStore

SIZE = 5_000
"""Memories among which the moments lie; a sentence embedder takes a minute or two to write so many."""


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--json", type=Path, help="file that is written beside the table")
    options = asked.parse_args()
    figures = [asyncio.run(_measured(package)) for package in installed()]
    if options.json:
        options.json.write_text(json.dumps({**machine(), "memories": SIZE, "embedders": figures}, indent=1) + "\n")
    for one in figures:
        for row in one["measured"]:
            print(
                f"{one['name']:<42} {row['question']:<10} at 5 {100 * row['at_5']:.0f}  at 10 {100 * row['at_10']:.0f}"
            )


async def _measured(package: str) -> dict[str, Any]:
    embedder = await EMBEDDERS[package]()
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    try:
        bench = await measure_depth(
            store, embedder, sizes=[SIZE], on_progress=lambda text: print(text, file=sys.stderr)
        )
    finally:
        await store.aclose()
    return {"name": embedder.name, "measured": [asdict(one) for one in bench.measured]}


if __name__ == "__main__":
    main()
