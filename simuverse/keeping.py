"""Opens stores as a whole, by what a user types: a run folder or a store's name."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator
from contextlib import asynccontextmanager
from pathlib import Path

from simuverse import parts, sources
from simuverse.config import Settings
from simuverse.errors import StoreUnavailable
from simuverse.memory.kept import EmbedderRecord, KeptStore
from simuverse.world.journal import OUTBOX

_log = logging.getLogger(__name__)


@asynccontextmanager
async def open_source(source: str, settings: Settings, *, whole: bool = False) -> AsyncGenerator[KeptStore]:
    """A store that is there. Nothing of a file is changed.

    Args:
        whole: what waits in a run folder is brought out first; otherwise it is only said that something waits.

    Raises:
        UsageError: there is none, or the run whose memories wait is under way. StoreError: it can't be used, or doesn't
            take what waits.
    """
    name, _ = sources.names_behind(source, settings)
    if (waiting := Path(source) / OUTBOX).exists():
        if whole:
            await _bring_out(source, settings)
        else:
            _log.warning("memories wait in %s and aren't in the store yet: simuverse store deliver %s", waiting, source)
    store = await parts.open_kept(name, settings, read_only=True)
    try:
        yield store
    finally:
        await store.aclose()


@asynccontextmanager
async def open_target(target: str, settings: Settings, *, new: EmbedderRecord | None) -> AsyncGenerator[KeptStore]:
    """A store to write to, made if it is a file that isn't there.

    Args:
        new: of the vectors of what is made; None makes no file.
    """
    name = sources.names_behind(target, settings)[0] if _is_folder(target) else target
    store = await parts.open_kept(name, settings, new=new)
    try:
        yield store
    finally:
        await store.aclose()


async def _bring_out(source: str, settings: Settings) -> None:
    backlog, _ = await sources.deliver(source, settings)
    if backlog.waiting:
        raise StoreUnavailable(f"{source}: {backlog.sentence}. Nothing was done; start again when it takes them")


def _is_folder(target: str) -> bool:
    return ":" not in target or Path(target).is_dir()
