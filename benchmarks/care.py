"""What looking after a store takes: ``store check`` and ``store rebuild --force``, each a process of its own.

    python -m benchmarks.care --json benchmarks/results/care.json --weaviate weaviate:http://127.0.0.1:8080

Without ``--weaviate`` SQLite alone is measured. A server is looked at with all that is on it, so take an empty one.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import subprocess
import sys
import tempfile
from pathlib import Path
from time import perf_counter
from typing import Any

from benchmarks.machine import machine
from benchmarks.memories import OWNER, fill
from simuverse import parts
from simuverse.config import Settings

SIZES = "5000,20000"
COMMANDS = (("store", "check"), ("store", "rebuild", "--force"))


def main() -> None:
    asked = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    asked.add_argument("--sizes", default=SIZES, help="numbers of memories, by commas")
    asked.add_argument("--weaviate", help="a server's address, as --store takes it")
    asked.add_argument("--json", type=Path, help="file that is written beside the table")
    options = asked.parse_args()
    figures: list[dict[str, Any]] = []
    for size in map(int, options.sizes.split(",")):
        with tempfile.TemporaryDirectory() as scratch:
            figures.append(_measured("SQLite", f"sqlite:{scratch}/care.db", size))
        if options.weaviate:
            try:
                figures.append(_measured("Weaviate", options.weaviate, size))
            finally:
                asyncio.run(_erase(options.weaviate))
    if options.json:
        options.json.write_text(json.dumps({**machine(), "measured": figures}, indent=1) + "\n")
    for one in figures:
        seconds = ", ".join(f"{command} {taken:.1f} s" for command, taken in one["seconds"].items())
        print(f"{one['memories']:>7,} memories, {one['store']}: {seconds}")


def _measured(store: str, name: str, size: int) -> dict[str, Any]:
    asyncio.run(fill(name, OWNER, size))
    seconds: dict[str, float] = {}
    for command in COMMANDS:
        started = perf_counter()
        subprocess.run([sys.executable, "-m", "simuverse", *command, name], stdout=subprocess.DEVNULL, check=True)
        seconds[" ".join(command)] = perf_counter() - started
    return {"store": store, "memories": size, "seconds": seconds}


async def _erase(name: str) -> None:
    settings = Settings()
    embedder = await parts.open_embedder("wordllama", settings)
    try:
        store = await parts.open_store(name, embedder, settings)
        try:
            await store.erase(OWNER)
        finally:
            await store.aclose()
    finally:
        await embedder.aclose()


if __name__ == "__main__":
    main()
