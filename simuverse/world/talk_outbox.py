"""Where memories of talks wait for a store on a server: a file in the current folder, of one agent and one store."""

from __future__ import annotations

import asyncio
from collections.abc import Generator, Sequence
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

from filelock import FileLock, Timeout

from simuverse.errors import UsageError
from simuverse.memory.outbox_file import owners_in, without_memories
from simuverse.memory.records import Memory
from simuverse.world.claims import beside_server
from simuverse.world.journal import write_whole


@contextmanager
def held_outbox(name: str, store: str) -> Generator[Path]:
    """The file, which is there only while something waits, held for one talk or one erasure at a time.

    Args:
        store: as a user types it.

    Raises:
        UsageError: another has it.
    """
    path = Path(f"chat-{sha256(f'{name} {store}'.encode()).hexdigest()[:8]}.outbox.jsonl")
    lock = FileLock(f"{beside_server(str(path.resolve()))}.talk", blocking=False)
    try:
        with lock:
            yield path
    except Timeout as error:
        raise UsageError(
            f"another talk with {name} is under way in this folder. End it, or talk from another folder"
        ) from error


class TalkOutbox:
    """What waits in that file, as :class:`simuverse.memory.editing.Copies`."""

    def __init__(self, name: str, store: str) -> None:
        self._name = name
        self._store = store

    async def erase(self, memories: Sequence[Memory]) -> None:
        """Takes them and what rests on them alone out of it.

        Raises:
            UsageError: a talk is under way.
            StoreCorrupt: the file can't be read.
        """
        await asyncio.to_thread(self._erase, memories)

    def _erase(self, memories: Sequence[Memory]) -> None:
        with held_outbox(self._name, self._store) as path:
            if path.exists():
                write_whole(path, without_memories(path, memories))


def outboxes_here() -> list[Path]:
    """All such files in the current folder, of whatever agents and stores."""
    return sorted(Path().glob("chat-*.outbox.jsonl"))


def outboxes_of(name: str) -> list[Path]:
    """Those of them where anything of this agent waits.

    Raises:
        StoreCorrupt: one can't be read.
    """
    return [path for path in outboxes_here() if name in owners_in(path)]
