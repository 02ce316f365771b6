"""A mind that writes down a turn and kills itself: ``python -m tests.agents.remembering_process FILE MODE STEP``.

Dies by SIGKILL before the STEP-th step, counted from 0 over what is kept beside the store, the model, the embedder and
the store together. Ends with 0 if there are fewer.
"""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.subconscious import Exchange, SubconsciousAgent
from simuverse.agents.turn import ToolCall
from simuverse.agents.unwritten import UnwrittenLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.agents.minds import NOW, memory_xml, moment, said

TALK = Exchange(
    observation=moment(("Tomas", "The sluice opens at seven.")), call=ToolCall(tool="say"), outcome=said("Thank you.")
)
REPLY = memory_xml("Tomas said that the sluice opens at seven.", importance=4)


async def mind_on(file: Path, mode: str) -> tuple[SQLiteStore, SubconsciousAgent]:
    store = await SQLiteStore.open(file, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    mind = SubconsciousAgent(
        collection=await store.collection("Mira"),
        embedder=HashingEmbedder(),
        clock=ManualClock(NOW),
        model=Scripted([REPLY]) if mode == "deliberate" else None,
        unwritten=UnwrittenLog(file),
    )
    return store, mind


def killing(mind: SubconsciousAgent, step: int) -> None:
    steps = iter(range(1_000_000))

    def counted(work: Callable[..., Coroutine[Any, Any, Any]]) -> Callable[..., Coroutine[Any, Any, Any]]:
        async def count(*args: Any, **kwargs: Any) -> Any:
            if next(steps) == step:
                os.kill(os.getpid(), signal.SIGKILL)
            return await work(*args, **kwargs)

        return count

    for part, names in (
        (mind.unwritten, ("keep", "drop")),
        (mind.model, ("complete",)),
        (mind.embedder, ("embed",)),
        (mind.collection, ("recent", "add")),
    ):
        for name in names if part is not None else ():
            setattr(part, name, counted(getattr(part, name)))


async def run(file: str, mode: str, step: int) -> None:
    store, mind = await mind_on(Path(file), mode)
    killing(mind, step)
    await mind.remember(TALK)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(run(sys.argv[1], sys.argv[2], int(sys.argv[3])))
