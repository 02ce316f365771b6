"""What a user names as a source, a run folder or a store that is there: opened, with what belongs to it."""

from __future__ import annotations

import logging
from collections.abc import AsyncGenerator, Iterable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import tzinfo
from pathlib import Path

from simuverse.config import Settings
from simuverse.errors import RunFolderError, SettingsError, StoreMismatch, UnknownAgent
from simuverse.memory.audit import AuditLog
from simuverse.memory.audit_lines import LEDGER
from simuverse.memory.backlog import NO_BACKLOG, Backlog
from simuverse.memory.clock import time_zone
from simuverse.memory.embedding import Embedder
from simuverse.memory.outbox import Outbox
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite_schema import recorded_embedder
from simuverse.parts import IN_MEMORY, is_on_server, open_embedder, open_store, store_path
from simuverse.world.journal import MEMORY, OUTBOX, RUN, read_info, standing_still

_log = logging.getLogger(__name__)

NO_STORE = "none"


@asynccontextmanager
async def memories(source: str, settings: Settings) -> AsyncGenerator[tuple[MemoryStore, Embedder], None]:
    """The store that ``source`` names, a run folder or a store, with the embedder it was made with.

    What waits in the run folder is brought out first; where that can't be, it is logged.
    """
    async with _behind(source, settings) as (store, embedder):
        try:
            backlog = await _bring_out(source, store, embedder)
        except RunFolderError as error:
            _log.warning("%s", error)
        else:
            if backlog.waiting:
                _log.warning("%s: %s", source, backlog.sentence)
        yield store, embedder


async def deliver(source: str, settings: Settings) -> tuple[Backlog, str]:
    """Brings out what waits in a run folder for its store, as far as that takes it.

    Returns:
        How things stand then, and the store's description.

    Raises:
        RunFolderError: the run is under way, which does that itself.
    """
    async with _behind(source, settings) as (store, embedder):
        return await _bring_out(source, store, embedder), store.description


async def _bring_out(source: str, store: MemoryStore, embedder: Embedder) -> Backlog:
    path = Path(source) / OUTBOX
    if not path.exists():
        return NO_BACKLOG
    with standing_still(path.parent, "it brings out itself what waits there"):
        async with Outbox.open(path, store=store, embedder=embedder, locked=True) as outbox:
            pass
    return outbox.backlog


@asynccontextmanager
async def _behind(source: str, settings: Settings) -> AsyncGenerator[tuple[MemoryStore, Embedder], None]:
    store_name, embedder_name = names_behind(source, settings)
    async with AsyncExitStack() as stack:
        embedder = await open_embedder(embedder_name, settings)
        stack.push_async_callback(embedder.aclose)
        store = await open_store(store_name, embedder, settings)
        stack.push_async_callback(store.aclose)
        yield store, embedder


def names_behind(source: str, settings: Settings) -> tuple[str, str]:
    """Names of the store and the embedder behind a run folder or a store's name, which must be there.

    An SQLite file knows its embedder itself, so the settings' matters for stores on a server alone.
    """
    store_name, embedder_name = source, settings.embedder
    folder = Path(source)
    if ":" not in source or folder.is_dir():
        info = read_info(folder)
        if info.store in (IN_MEMORY, NO_STORE):
            raise RunFolderError(f"{folder} kept no memories: its store was {info.store!r}")
        store_name = f"sqlite:{folder / MEMORY}" if info.store == f"sqlite:{MEMORY}" else info.store
        embedder_name = info.embedder
    if is_on_server(store_name):
        return store_name, embedder_name
    path = store_path(store_name)
    if path is None or not path.exists():
        raise SettingsError(f"there is no store {store_name}. A run, a chat or open_subconscious makes one")
    return store_name, recorded_embedder(path)[0]


def require_embedder(source: str, settings: Settings) -> None:
    """Raises:
    StoreMismatch: the settings' embedder isn't the one that ``source`` was made with, where it knows that itself.
    """
    made_with = names_behind(source, settings)[1]
    if made_with != settings.embedder:
        raise StoreMismatch(
            f"the vectors in {source} are those of the embedder {made_with!r}, not of {settings.embedder!r}. Leave "
            f"--embedder out, or make them anew: simuverse store reembed {source} --embedder {settings.embedder}"
        )


def record_of_changes(name: str, store: MemoryStore, embedder: Embedder) -> AuditLog:
    """That of a store that is open, by its name: beside its file, on the server, or in memory."""
    if is_on_server(name):
        return AuditLog.within(store, dimension=embedder.dimension)
    return AuditLog.beside(store_path(name))


def file_beside(source: str) -> Path | None:
    """The file beside which a run folder or a store has what isn't in the store; None for a server without a run."""
    if ":" not in source or Path(source).is_dir():
        return Path(source) / MEMORY
    return None if is_on_server(source) else store_path(source)


def zone_of(source: str, settings: Settings) -> tzinfo:
    """By whose clocks the times of a run folder or store are shown: a run's own, else the settings'."""
    folder = Path(source)
    return time_zone(read_info(folder).zone if (folder / RUN).is_file() else settings.zone)


def agents(owners: Iterable[str]) -> list[str]:
    """Without the owner of a store's own record of changes."""
    return [owner for owner in owners if owner != LEDGER]


def chosen_owner(owner: str | None, owners: Sequence[str], source: str) -> str:
    """The owner, or the only one there is.

    Raises:
        UnknownAgent: no such owner, or several and none named.
    """
    owners = agents(owners)
    if owner is None and len(owners) == 1:
        return owners[0]
    if owner is None or owner not in owners:
        asked = "name one with --agent" if owner is None else f"there is no agent {owner} in {source}"
        raise UnknownAgent(f"{asked}. Agents: {', '.join(owners) or 'none'}")
    return owner
