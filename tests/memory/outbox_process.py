"""A process of its own whose store is away: ``python -m tests.memory.outbox_process FILE OUTBOX``.

It adds memories, one by one, and prints the number of each that counts as added, until it is killed.
"""

from __future__ import annotations

import asyncio
import sys
from itertools import count
from pathlib import Path

from simuverse.errors import StoreUnavailable
from simuverse.memory.outbox import Outbox
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER
from tests.memory.failing_store import FailingStore, InventedEmbedder


async def write(file: Path, outbox: Path) -> None:
    store = FailingStore(await SQLiteStore.open(file, embedder_name=EMBEDDER, dimension=DIMENSION))
    async with Outbox.open(outbox, store=store, embedder=InventedEmbedder()) as opened:
        collection = opened.collection(await store.collection("Jade"))
        store.fault = StoreUnavailable("the store is away")
        for number in count():
            await collection.add([entry(f"Bell {number} rang.", number)])
            sys.stdout.write(f"{number}\n")
            sys.stdout.flush()


if __name__ == "__main__":
    asyncio.run(write(Path(sys.argv[1]), Path(sys.argv[2])))
