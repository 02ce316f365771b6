"""An erasure on a real server that is cut short at any step, together with the server, is finished by the next look."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pytest

from simuverse import parts
from simuverse.config import load
from simuverse.errors import StoreError, StoreUnavailable
from simuverse.memory.audit import AuditLog
from simuverse.memory.clock import ManualClock
from simuverse.memory.dependents import EVIDENCE_ERASED
from simuverse.memory.editing import MemoryEditor
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import Entry
from simuverse.memory.stores.weaviate import WeaviateStore
from simuverse.memory.stores.weaviate_connection import Connection, T, Work
from tests.commands import Here
from tests.contracts.memory_reference import entry
from tests.live.test_weaviate_sending import lose_words
from tests.live.weaviate_server import WeaviateServer, own_client
from tests.memory.editing import TODAY

pytestmark = pytest.mark.live

SETTINGS = load(typed={"embedder": "hashing"})


async def talk(embedder: HashingEmbedder) -> list[Entry]:
    """The first is to go, and the last has it for a part of its evidence."""
    texts = ["The zephyrine bell rang.", "The second bell rang.", "The third bell rang.", "All bells rang."]
    vectors = await embedder.embed(texts)
    plain = [
        replace(entry(text, number).memory, owner="Jade", episode="a talk", position=number)
        for number, text in enumerate(texts)
    ]
    plain[3] = replace(plain[3], evidence=(plain[0].id, plain[1].id))
    return [Entry(memory=memory, vector=vector) for memory, vector in zip(plain, vectors, strict=True)]


async def opened(server: WeaviateServer, embedder: HashingEmbedder) -> WeaviateStore:
    store = await parts.open_store(f"weaviate:{server.url}", embedder, SETTINGS, deadline=60.0)
    assert isinstance(store, WeaviateStore)
    return store


async def erase(store: WeaviateStore, embedder: HashingEmbedder, id: UUID) -> None:
    audit = AuditLog.within(store, dimension=embedder.dimension)
    await MemoryEditor(await store.collection("Jade"), embedder, ManualClock(TODAY), audit).erase([id])


def lost_after(count: int) -> Callable[[Connection, Work[T]], Awaitable[T]]:
    """Writes whose answer is lost from that one on; what comes after it isn't made at all."""
    write, made = Connection.write, [0]

    async def lossy(connection: Connection, work: Work[T]) -> T:
        made[0] += 1
        if made[0] > count:
            raise StoreUnavailable("it is gone")
        answer = await write(connection, work)
        if made[0] == count:
            raise StoreUnavailable("its answer was lost")
        return answer

    return lossy


async def texts(server: WeaviateServer) -> dict[str, str]:
    """All that the server holds of each object, by its own."""
    async with own_client(server.address) as client:
        found: dict[str, str] = {}
        for name in await client.collections.list_all():
            objects = (await client.collections.use(name).query.fetch_objects(limit=100)).objects
            found |= {str(one.uuid): json.dumps(one.properties, default=str) for one in objects}
        return found


async def test_an_erasure_cut_short_at_any_step_is_named_and_finished_by_the_command_that_is_named(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, here: Here
) -> None:
    embedder = HashingEmbedder()
    entries = await talk(embedder)
    gone = entries[0].memory.id
    ends: list[tuple[bool, bool]] = []
    cut_short = True
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        source = f"weaviate:{server.url}"
        while cut_short:
            store = await opened(server, embedder)
            await (await store.collection("Jade")).add(entries)
            with monkeypatch.context() as patched:
                patched.setattr(Connection, "write", lost_after(len(ends) + 1))
                try:
                    await erase(store, embedder, gone)
                except StoreError:
                    pass
                else:
                    cut_short = False
            there = str(gone) in await texts(server)
            server.kill()
            await store.aclose()
            if there:
                lose_words(tmp_path)
            server.start()
            checked = await asyncio.to_thread(here, "store", "check", source)
            begun = "erase, was begun and isn't finished" in checked.out
            ends.append((begun, there))
            if begun:
                named = f"memories {source} --agent Jade history"
                assert (checked.code, f"simuverse {named}" in checked.err) == (5, True), checked.text
                ended = await asyncio.to_thread(here, *named.split(), "--embedder", "hashing")
                assert ended.code == 0, ended.text
            if begun or not there:
                assert "zephyr" not in "".join((await texts(server)).values())
                checked = await asyncio.to_thread(here, "store", "check", source)
                assert checked.code == 0, checked.text
                assert "3 memories, all read, all found by words, all found by meaning" in checked.out
            store = await opened(server, embedder)
            if begun or not there:
                [rested] = await (await store.collection("Jade")).get([entries[3].memory.id])
                assert rested.evidence == (entries[1].memory.id,)
                assert EVIDENCE_ERASED in rested.flags
            for owner in await store.owners():
                await store.erase(owner)
            await store.aclose()
    assert {(True, True), (True, False)} < set(ends)
    assert ends[-1] == (False, False)
