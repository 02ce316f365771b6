"""Opens what changes the memories in a run folder or store, looks for what an erasure left, writes down what couldn't
be."""

from __future__ import annotations

from collections.abc import AsyncGenerator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from datetime import tzinfo
from pathlib import Path

from simuverse import parts, sources, wiring
from simuverse.agents.chat import ChatModel
from simuverse.agents.subconscious import Retried, SubconsciousAgent
from simuverse.agents.unwritten import UnwrittenLog
from simuverse.config import Settings
from simuverse.keeping import open_source
from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import SystemClock
from simuverse.memory.editing import Erased, MemoryEditor
from simuverse.memory.embedding import Embedder
from simuverse.memory.erasing import Eraser
from simuverse.memory.store import MemoryStore
from simuverse.world.clearing import RunRecord, files_holding
from simuverse.world.journal import RUN, read_info, standing_still
from simuverse.world.talk_outbox import TalkOutbox, outboxes_here

_ENDINGS = ("", "-wal", "-shm", "-journal")


@dataclass(frozen=True, kw_only=True, slots=True)
class Opened:
    """Memories that may be changed.

    Args:
        name: of the store, as a user types it.
        folder: of the run, where there is one.
        database: the store's file, where it is one.
    """

    name: str
    settings: Settings
    store: MemoryStore
    embedder: Embedder
    audit: AuditLog
    folder: Path | None
    database: Path | None

    @property
    def of_database(self) -> list[Path]:
        """The store's file and what SQLite keeps beside it."""
        return [] if self.database is None else [self.database.with_name(self.database.name + e) for e in _ENDINGS]

    @property
    def others(self) -> list[Path]:
        """All other files of the run, and those beside the store's: the record of changes, copies under its name. Of a
        server, where talks of the current folder wait for one.
        """
        found = set(self.folder.rglob("*") if self.folder else ())
        if self.database is not None:
            found |= {path for path in self.database.parent.iterdir() if path.name.startswith(self.database.name)}
        else:
            found |= {*outboxes_here()}
        return sorted(found - {*self.of_database})


@dataclass(frozen=True, kw_only=True, slots=True)
class Editing:
    """Args: zone: by whose clocks times are shown."""

    opened: Opened
    editor: MemoryEditor
    record: RunRecord | None
    zone: tzinfo


@asynccontextmanager
async def open_memories(source: str, settings: Settings) -> AsyncGenerator[Opened]:
    """A store with the record of its changes: beside an SQLite file, or on the server."""
    name, _ = sources.names_behind(source, settings)
    database = None if parts.is_on_server(name) else parts.store_path(name)
    async with sources.memories(source, settings) as (store, embedder):
        yield Opened(
            name=name,
            settings=settings,
            store=store,
            embedder=embedder,
            audit=sources.record_of_changes(name, store, embedder),
            folder=_run_folder(source, database),
            database=database,
        )


def _run_folder(source: str, database: Path | None) -> Path | None:
    """The source, or where the database is: a run's own store is the run's, by whatever name it is opened."""
    for folder in (Path(source), *([database.parent] if database else [])):
        if (folder / RUN).is_file():
            return folder
    return None


@asynccontextmanager
async def open_editor(source: str, owner: str | None, settings: Settings) -> AsyncGenerator[Editing]:
    """An operator's editor of one owner's memories.

    Args:
        owner: may be None where the store holds one only.

    Raises:
        UnknownAgent: no such owner, or several and none named.
    """
    async with open_memories(source, settings) as opened:
        owner = sources.chosen_owner(owner, await opened.store.owners(), source)
        record = None if opened.folder is None else RunRecord(opened.folder)
        unwritten = UnwrittenLog(sources.file_beside(source))
        talks = [TalkOutbox(owner, opened.name)] if opened.database is None else []
        editor = MemoryEditor(
            await opened.store.collection(owner),
            opened.embedder,
            SystemClock(),
            opened.audit,
            copies=[*([] if record is None else [record]), *talks, unwritten],
        )
        yield Editing(opened=opened, editor=editor, record=record, zone=sources.zone_of(source, settings))


async def still_held(editing: Editing, erased: Erased) -> list[str]:
    """Where the erased words still stand, as phrases: in memories that say the same, and in files.

    Empty where nothing of them is left that could be looked at.
    """
    texts = (*erased.texts, *(editing.record.texts if editing.record else ()))
    eraser = Eraser([], texts=texts)
    store, owner = editing.opened.store, editing.editor.collection.owner
    held = [f"memory {memory.id} of {owner}" for memory in erased.restating]
    for other in sources.agents(await store.owners()):
        if other != owner:
            collection = await store.collection(other)
            held += [f"memory {e.memory.id} of {other}" async for e in collection.scan() if eraser.finds(e.memory)]
    held += await _held_by_older_versions(editing.opened, eraser)
    # The store's own files hold what its memories hold, which are told by id.
    files = editing.opened.others if held else [*editing.opened.others, *editing.opened.of_database]
    return [*held, *map(str, files_holding(files, texts))]


async def _held_by_older_versions(opened: Opened, eraser: Eraser) -> list[str]:
    """On a server; those of a file are files, and looked through as such."""
    if not parts.is_on_server(opened.name):
        return []
    async with open_source(opened.name, opened.settings) as kept:
        return [
            f"memory {e.memory.id} of {whose}"
            for whose, collection in (await kept.older_collections()).items()
            async for e in collection.scan()
            if eraser.finds(e.memory)
        ]


async def retry(
    source: str, owner: str | None, settings: Settings, *, model: str | None = None
) -> AsyncGenerator[Retried, None]:
    """Tries to write down what couldn't be in a run folder or store: each as it is done.

    Args:
        owner: None for everyone.
        model: that writes them down, or ``reflex``; by default what the run had, or the settings name.

    Raises:
        RunFolderError: the run is under way. UsageError, StoreError, EmbedderError: it can't be opened or read.
    """
    folder = Path(source) if ":" not in source or Path(source).is_dir() else None
    async with AsyncExitStack() as stack:
        store, embedder = await stack.enter_async_context(sources.memories(source, settings))
        if folder is not None:
            stack.enter_context(standing_still(folder, "nothing was tried again. End it, then try"))
        name = model or (read_info(folder).subconscious if folder is not None else wiring.subconscious_name(settings))
        log = UnwrittenLog(sources.file_beside(source))
        owners = sorted({one.owner for one in await log.all(owner)})
        writer: ChatModel | None = None
        if owners and name not in (wiring.REFLEX, "off"):
            writer = await parts.open_model(name, settings)
            stack.push_async_callback(writer.aclose)
        audit = sources.record_of_changes(sources.names_behind(source, settings)[0], store, embedder)
        for one in owners:
            mind = SubconsciousAgent(
                collection=await store.collection(one),
                embedder=embedder,
                clock=SystemClock(),
                model=writer,
                unwritten=log,
                audit=audit,
            )
            for tried in await mind.retry():
                yield tried
