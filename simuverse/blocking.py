"""The subconscious for scripts without ``await``: one thread with one loop, and the same names.

::

    from simuverse.blocking import open_subconscious

    with open_subconscious("Jade", store="sqlite:jade.db") as mind:
        mind.remember("I left the red ball by the fountain.", said_by="James")
        print(mind.recollect("Where is James's ball?").as_xml())
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine, Generator
from contextlib import contextmanager
from typing import Any, TypeVar

from simuverse import wiring
from simuverse.agents.subconscious import Exchange, Retried, SubconsciousAgent
from simuverse.agents.trace import Recollection, Remembered
from simuverse.agents.turn import Observation
from simuverse.memory.records import Source

Value = TypeVar("Value")


class BlockingSubconscious:
    """A :class:`SubconsciousAgent` whose methods return when they are done."""

    def __init__(self, mind: SubconsciousAgent, loop: asyncio.AbstractEventLoop) -> None:
        self.mind = mind
        self._loop = loop

    def recollect(
        self, situation: Observation | str, *, said_by: str = "someone", stateful: bool = True
    ) -> Recollection:
        return self._wait(self.mind.recollect(situation, said_by=said_by, stateful=stateful))

    def remember(
        self,
        what: Exchange | str,
        *,
        said_by: str | None = None,
        to: str | None = None,
        source: Source = Source.OBSERVED,
        recollection: Recollection | None = None,
    ) -> Remembered:
        return self._wait(self.mind.remember(what, said_by=said_by, to=to, source=source, recollection=recollection))

    def retry(self) -> tuple[Retried, ...]:
        return self._wait(self.mind.retry())

    def _wait(self, work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()


@contextmanager
def open_subconscious(name: str, **options: Any) -> Generator[BlockingSubconscious, None, None]:
    """As :func:`simuverse.open_subconscious`, with the same options."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name=f"subconscious of {name}", daemon=True)
    thread.start()

    def wait(work: Coroutine[Any, Any, Value]) -> Value:
        return asyncio.run_coroutine_threadsafe(work, loop).result()

    opened = wiring.open_subconscious(name, **options)
    try:
        mind = wait(_enter(opened))
        try:
            yield BlockingSubconscious(mind, loop)
        finally:
            wait(_leave(opened))
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


async def _enter(opened: Any) -> SubconsciousAgent:
    mind: SubconsciousAgent = await opened.__aenter__()
    return mind


async def _leave(opened: Any) -> None:
    await opened.__aexit__(None, None, None)
