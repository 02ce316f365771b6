"""Whoever else is on the loop."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager


class Turns:
    """How often another has had a turn."""

    def __init__(self) -> None:
        self.count = 0

    async def take(self) -> None:
        while True:
            self.count += 1
            await asyncio.sleep(0)


@asynccontextmanager
async def others() -> AsyncGenerator[Turns]:
    """Another that wants every turn it can have, until the block is left."""
    turns = Turns()
    taking = asyncio.create_task(turns.take())
    try:
        yield turns
    finally:
        taking.cancel()
