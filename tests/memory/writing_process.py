"""A process of its own that writes memories one by one and says so: ``python -m tests.memory.writing_process``.

Arguments: file, owner, number of the first memory, how many. Prints each number once the memory is acknowledged.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER


async def write(file: str, owner: str, first: int, count: int) -> None:
    store = await SQLiteStore.open(Path(file), embedder_name=EMBEDDER, dimension=DIMENSION)
    collection = await store.collection(owner)
    for number in range(first, first + count):
        await collection.add([entry(f"Bell {number} rang.", number, owner=owner)])
        sys.stdout.write(f"{number}\n")
        sys.stdout.flush()
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(write(sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])))
