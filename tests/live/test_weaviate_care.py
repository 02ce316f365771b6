"""Care of memories on a real Weaviate server by the command line: moved, checked, made anew, backed up and restored."""

from __future__ import annotations

import asyncio
import json
import signal
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.request import Request, urlopen

import pytest

from simuverse.memory.stores.weaviate_address import Address
from tests.commands import Here, finish, start
from tests.live.weaviate_server import BACKUP_SETTINGS, SETTINGS, WeaviateServer, own_client, settings_with_key

pytestmark = pytest.mark.live

KEY = "sEcret-root-key"
ASKED = ("the red ball", "lab door", "Will you come to the cafe?", "yesterday evening")
LONGEST = 120.0
"""Seconds that a backup may take, on a busy machine."""


@pytest.fixture(scope="module")
def running(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    """Of these tests alone: stores are known by the server's address, and each test wants an empty one."""
    folder = tmp_path_factory.mktemp("care")
    settings = {**SETTINGS, **BACKUP_SETTINGS, "BACKUP_FILESYSTEM_PATH": str(folder / "backups")}
    with WeaviateServer.running(weaviate_binary, folder, settings) as server:
        yield server


@pytest.fixture
def server(running: WeaviateServer) -> Iterator[WeaviateServer]:
    yield running
    asyncio.run(erase_all(running.address))


async def erase_all(address: Address) -> None:
    async with own_client(address) as client:
        for alias in await client.alias.list_all():
            await client.alias.delete(alias_name=alias)
        await client.collections.delete_all()


@pytest.fixture
def lived(here: Here) -> Here:
    """A folder with ``run1``, in which Jade was told something more and forgot it again."""
    assert here("run", "--ticks", "6", "--out", "run1", "--embedder", "hashing").code == 0
    added = here("memories", "run1", "--agent", "Jade", "add", "The cafe is closed on Mondays.", "--json")
    assert here("memories", "run1", "--agent", "Jade", "forget", json.loads(added.out)["id"]).code == 0
    return here


def exported(here: Here, source: str) -> str:
    ended = here("store", "export", source)
    assert ended.code == 0, ended.text
    return ended.out


def order(here: Here, source: str, *, embedder: str = "hashing") -> list[tuple[str, str]]:
    """What searches find, in their order."""
    found: list[tuple[str, str]] = []
    for agent in ("Jade", "James"):
        for text in ASKED:
            ended = here("memories", source, "--embedder", embedder, "--agent", agent, "search", text, "--json")
            assert ended.code == 0, ended.text
            found += [(text, hit["memory"]["id"]) for hit in json.loads(ended.out)]
    assert len(found) > 40
    return found


def test_a_file_goes_to_three_nodes_with_a_key_and_back_again(
    lived: Here, weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEAVIATE_API_KEY", KEY)
    before = order(lived, "run1")
    (tmp_path / "cluster").mkdir()
    with WeaviateServer.cluster(weaviate_binary, tmp_path / "cluster", settings_with_key(KEY)) as nodes:
        store = f"weaviate:{','.join(node.url for node in nodes)}&replication=3"
        carried = lived("store", "migrate", "run1", store)
        assert carried.code == 0, carried.text
        assert "sEcret" not in carried.text
        assert lived("store", "check", store).code == 0
        assert order(lived, store) == before
        assert exported(lived, store) == exported(lived, "run1")
        ended = lived("store", "reembed", store, "--embedder", "wordllama")
        assert ended.code == 0, ended.text
        back = lived("store", "migrate", store, "sqlite:back.db")
        assert back.code == 0, back.text
        assert exported(lived, store) == exported(lived, "sqlite:back.db")
        assert order(lived, store, embedder="wordllama") == order(lived, "sqlite:back.db", embedder="wordllama")
        with urlopen(
            Request(f"{nodes[1].address.url}/v1/schema", headers={"Authorization": f"Bearer {KEY}"})
        ) as answer:
            classes = json.load(answer)["classes"]
        factors = {one["class"]: one["replicationConfig"]["factor"] for one in classes}
        assert factors["Memories__Jade"] == factors["MemoriesV2__Jade"] == 3


def test_another_embedder_is_refused_with_the_command_that_helps_and_it_does(
    lived: Here, server: WeaviateServer
) -> None:
    store = f"weaviate:{server.url}"
    assert lived("store", "migrate", "run1", store).code == 0
    talk = ("chat", "Jade", "--store", store, "--embedder", "wordllama")
    refused = lived(*talk)
    assert refused.code == 4
    assert f"simuverse store reembed weaviate:{server.address.url} --embedder wordllama" in refused.err

    ended = lived("store", "reembed", store, "--embedder", "wordllama")

    assert ended.code == 0, ended.text
    assert "the old version is kept as collections Memories at" in ended.out
    assert lived(*talk, typed=b"Where is the red ball?\n").code == 0
    assert "Go on with --embedder wordllama" in lived("chat", "Jade", "--store", store, "--embedder", "hashing").err
    assert "kept of before: collections Memories at" in lived("store", "stats", store).out
    dropped = lived("store", "rebuild", store, "--drop-old")
    assert "nothing needs to be made anew" in dropped.out
    assert "deleted collections Memories at" in dropped.out
    assert "kept of before" not in lived("store", "stats", store).out
    assert lived("store", "check", store).code == 0
    # And once more, from the second version to a third.
    assert lived("store", "reembed", store, "--embedder", "hashing", "--drop-old").code == 0
    assert "vectors of hashing" in lived("store", "stats", store).out


async def spoil(address: Address) -> None:
    """Files three of Jade's memories under another word, past the store."""
    async with own_client(address) as client:
        jade = client.collections.use("Memories__Jade")
        for one in (await jade.query.fetch_objects(limit=3)).objects:
            await jade.data.update(one.uuid, properties={"search_text": "zither"})


async def take_a_vector(address: Address) -> str:
    """From one of Jade's memories; returns its id."""
    async with own_client(address) as client:
        jade = client.collections.use("Memories__Jade")
        [one] = (await jade.query.fetch_objects(limit=1)).objects
        await jade.data.replace(one.uuid, properties=dict(one.properties), vector={})
        return str(one.uuid)


async def delete(address: Address, one: str) -> None:
    """One of Jade's memories, past the store."""
    async with own_client(address) as client:
        assert await client.collections.use("Memories__Jade").data.delete_by_id(one)


def test_what_is_filed_wrongly_on_the_server_is_found_and_made_anew(lived: Here, server: WeaviateServer) -> None:
    store = f"weaviate:{server.url}"
    assert lived("store", "migrate", "run1", store).code == 0
    asyncio.run(spoil(server.address))
    checked = lived("store", "check", store)
    assert checked.code == 5
    assert "3 (" in checked.out
    assert "can't be found by words" in checked.out
    assert f"simuverse store rebuild {store}" in checked.err
    rebuilt = lived("store", "rebuild", store, "--drop-old")
    assert rebuilt.code == 0, rebuilt.text
    assert lived("store", "check", store).code == 0
    assert exported(lived, store) == exported(lived, "run1")
    assert order(lived, store) == order(lived, "run1")


def test_a_memory_without_its_vector_is_named_and_an_export_brings_it_back(
    lived: Here, server: WeaviateServer, tmp_path: Path
) -> None:
    store = f"weaviate:{server.url}"
    assert lived("store", "migrate", "run1", store).code == 0
    assert lived("store", "export", store, "--out", "good.jsonl").code == 0
    gone = asyncio.run(take_a_vector(server.address))
    checked = lived("store", "check", store)
    assert checked.code == 5
    assert f"memory {gone} on the Weaviate server has lost its vector" in checked.out
    assert f"simuverse store import {store} FILE --merge" in checked.err
    assert lived("store", "rebuild", store).code == 4
    asyncio.run(delete(server.address, gone))
    mended = lived("store", "import", store, "good.jsonl")
    assert mended.code == 0, mended.text
    assert lived("store", "check", store).code == 0


def test_what_is_erased_is_told_to_stand_in_the_version_of_before_until_that_is_dropped(
    lived: Here, server: WeaviateServer
) -> None:
    store = f"weaviate:{server.url}"
    wordllama = ("--embedder", "wordllama")
    assert lived("store", "migrate", "run1", store).code == 0
    assert lived("store", "reembed", store, *wordllama).code == 0
    [one, *_] = json.loads(lived("memories", store, *wordllama, "--agent", "Jade", "list", "--json").out)
    erased = lived("memories", store, *wordllama, "--agent", "Jade", "forget", one["id"], "--erase", "--yes")
    assert erased.code == 5
    assert f"memory {one['id']} of Jade in collections Memories at" in erased.err
    later = json.loads(lived("memories", store, *wordllama, "--agent", "Jade", "add", "Zither lessons.", "--json").out)
    erased = lived("memories", store, *wordllama, "--agent", "Jade", "forget", later["id"], "--erase", "--yes")
    assert erased.code == 0, erased.text
    deleted = lived("agents", store, *wordllama, "delete", "Jade", "--yes")
    assert deleted.code == 0
    assert f"simuverse store rebuild {store} --drop-old" in deleted.out
    assert lived("store", "rebuild", store, "--drop-old").code == 0
    deleted = lived("agents", store, *wordllama, "delete", "James", "--yes")
    assert "a version of before" not in deleted.out


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_a_command_stopped_in_the_middle_is_whole_after_the_next(lived: Here, server: WeaviateServer, how: str) -> None:
    store = f"weaviate:{server.url}"
    rebuilding, reembedding = ("rebuild", store, "--force"), ("reembed", store, "--embedder", "wordllama")
    for words in (("migrate", "run1", store), rebuilding, reembedding):
        process = start("store", *words, folder=lived.folder)
        assert process.stderr is not None
        assert process.stderr.readline() != ""
        process.send_signal(signal.SIGINT if how == "interrupted" else signal.SIGKILL)
        assert finish(process).code in (130, 137)
        again = lived("store", *words) if words[0] == "migrate" else lived("store", *words, "--drop-old")
        assert again.code == 0, again.text
        assert lived("store", "check", store).code == 0
    back = lived("store", "reembed", store, "--embedder", "hashing", "--drop-old")
    assert back.code == 0, back.text
    assert exported(lived, store) == exported(lived, "run1")


def test_a_server_that_is_killed_in_the_middle_ends_the_command_and_the_next_goes_on(
    lived: Here, weaviate_binary: str, tmp_path: Path
) -> None:
    (tmp_path / "mortal").mkdir()
    with WeaviateServer.running(weaviate_binary, tmp_path / "mortal") as server:
        store = f"weaviate:{server.url}"
        assert lived("store", "migrate", "run1", store, "--agent", "James").code == 0
        process = start("store", "migrate", "run1", store, folder=lived.folder)
        server.kill()
        ended = finish(process)
        assert (ended.code, "start the server" in ended.err or "in time" in ended.err) == (4, True), ended.text
        server.start()
        again = lived("store", "migrate", "run1", store)
        assert again.code == 0, again.text
        assert exported(lived, store) == exported(lived, "run1")


def test_where_nothing_answers_every_command_says_so(lived: Here) -> None:
    store = "weaviate:http://127.0.0.1:9"
    for words in (
        ("stats", store),
        ("check", store),
        ("export", store),
        ("migrate", "run1", store),
        ("migrate", store, "sqlite:new.db"),
        ("reembed", store, "--embedder", "hashing"),
        ("rebuild", store),
    ):
        ended = lived("store", *words)
        assert ended.code == 4, words
        assert "nothing answers there; start the server" in ended.err
    assert not (lived.folder / "new.db").exists()


def test_a_backup_restored_on_an_empty_server_gives_the_same_ids_in_the_same_order(
    lived: Here, server: WeaviateServer
) -> None:
    store = f"weaviate:{server.url}"
    assert lived("store", "migrate", "run1", store).code == 0
    assert lived("store", "reembed", store, "--embedder", "wordllama", "--drop-old").code == 0
    before, found = exported(lived, store), order(lived, store, embedder="wordllama")
    backed_up(server.address, "/v1/backups/filesystem", {"id": "monday"}, look="/v1/backups/filesystem/monday")
    asyncio.run(erase_all(server.address))
    assert exported(lived, store) == ""
    restore = "/v1/backups/filesystem/monday/restore"
    backed_up(server.address, restore, {}, look=restore)
    assert exported(lived, store) == before
    assert order(lived, store, embedder="wordllama") == found
    assert lived("store", "check", store).code == 0


def backed_up(address: Address, path: str, body: dict[str, str], *, look: str) -> None:
    """Asks for it, and looks until it is done."""
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(address.url + path, data=json.dumps(body).encode(), headers=headers)) as answer:
        assert json.load(answer)["status"] == "STARTED"
    end = time.monotonic() + LONGEST
    status = ""
    while status not in ("SUCCESS", "FAILED") and time.monotonic() < end:
        with urlopen(address.url + look) as answer:
            status = json.load(answer)["status"]
    assert status == "SUCCESS"
