"""What starting costs: the import, the first recall of a fresh process, and opening a store of many memories.

    python -m benchmarks.start --json benchmarks/results/start.json

Each figure is the median over processes of their own.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median
from time import perf_counter

from benchmarks.machine import machine
from benchmarks.memories import OWNER, fill, recall_once
from simuverse import parts
from simuverse.config import Settings

PROCESSES = 7


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--memories", type=int, default=100_000, help="in the store that is opened")
    asked.add_argument("--json", type=Path, help="file that is written beside the table")
    asked.add_argument("--child", help=argparse.SUPPRESS)
    options = asked.parse_args()
    if options.child:
        print(json.dumps(asyncio.run(_opened(options.child))))
        return
    with tempfile.TemporaryDirectory() as scratch:
        small, large = f"sqlite:{scratch}/small.db", f"sqlite:{scratch}/large.db"
        asyncio.run(fill(small, OWNER, 100))
        asyncio.run(fill(large, OWNER, options.memories))
        python = median(_process_ms("-c", "pass") for _ in range(PROCESSES))
        figures = {
            "import_ms": median(_process_ms("-c", "import simuverse") for _ in range(PROCESSES)) - python,
            "first_recall_ms": median(
                _process_ms("-m", "benchmarks.start", "--child", small) for _ in range(PROCESSES)
            ),
            "store_opens_ms": median(_child(large)["opens_ms"] for _ in range(PROCESSES)),
            "memories": options.memories,
        }
    measured = {**machine(), **figures}
    if options.json:
        options.json.write_text(json.dumps(measured, indent=1) + "\n")
    print(f"import simuverse                          {figures['import_ms']:>7.0f} ms beyond Python's own start")
    print(f"first recall, whole fresh process         {figures['first_recall_ms']:>7.0f} ms")
    print(f"a store of {options.memories:,} opens, first search {figures['store_opens_ms']:>7.0f} ms")


async def _opened(name: str) -> dict[str, float]:
    """From opening the store to its first answer; the embedder is open already."""
    settings = Settings()
    embedder = await parts.open_embedder("wordllama", settings)
    try:
        await embedder.embed(["one sentence"])
        started = perf_counter()
        store = await parts.open_store(name, embedder, settings)
        try:
            await recall_once(store, embedder, OWNER, "Where is the blue kettle?")
            return {"opens_ms": 1000 * (perf_counter() - started)}
        finally:
            await store.aclose()
    finally:
        await embedder.aclose()


def _child(name: str) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, "-m", "benchmarks.start", "--child", name], capture_output=True, text=True, check=True
    )
    answer: dict[str, float] = json.loads(done.stdout)
    return answer


def _process_ms(*arguments: str) -> float:
    started = perf_counter()
    subprocess.run([sys.executable, *arguments], capture_output=True, check=True)
    return 1000 * (perf_counter() - started)


if __name__ == "__main__":
    main()
