"""A talk whose Weaviate server ends in the middle of it: what was said then is remembered in the next one."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import msgspec
import pytest

from simuverse import wiring
from simuverse.config import Settings
from simuverse.errors import UsageError
from simuverse.memory.outbox_file import OutboxFile, Updated
from simuverse.memory.records import Memory
from tests.commands import Here
from tests.live.weaviate_server import WeaviateServer

pytestmark = pytest.mark.live


async def test_what_is_said_while_the_server_is_away_waits_in_the_folder_for_the_next_talk(
    weaviate_binary: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = tmp_path / "talks"
    folder.mkdir()
    monkeypatch.chdir(folder)
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        settings = Settings(embedder="hashing", store=f"weaviate:{server.url}")
        async with wiring.open_dialogue("Ada", partner="Bo", settings=settings) as opened:
            await opened.dialogue.answer("The blue kite hangs in the old oak.")
            assert opened.backlog.waiting == 0
            assert list(folder.iterdir()) == []
            with pytest.raises(UsageError, match="another talk with Ada is under way in this folder"):
                async with wiring.open_dialogue("Ada", partner="Cleo", settings=settings):
                    pass
            async with wiring.open_dialogue("Eve", partner="Cleo", settings=settings):
                pass
            server.kill()
            trace = await opened.dialogue.answer("The red kite fell into the brook.")
            assert trace.remembered.waiting == opened.backlog.waiting > 0
            assert f" in {opened.backlog.place} until the store takes " in trace.problems[-1]
        [waiting] = folder.iterdir()
        assert waiting.name == opened.backlog.place
        server.start()
        async with wiring.open_dialogue("Ada", partner="Bo", settings=settings) as opened:
            assert not waiting.exists()
            trace = await opened.dialogue.answer("Where is the red kite?")
            assert "red kite fell" in trace.recollection.flashbacks[0].memory.summary


def test_the_command_says_what_waits_at_the_end_of_a_talk(
    weaviate_binary: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        talk = ("chat", "Ada", "--me", "Bo", "--embedder", "hashing", "--store", f"weaviate:{server.url}")
        lines = iter(["The blue kite hangs in the old oak.\n", "The red kite fell into the brook.\n", ""])

        def line(prompt: str) -> str:
            typed = next(lines)
            if "red" in typed:
                server.kill()
            return typed

        with monkeypatch.context() as patched:
            patched.setattr("simuverse.cli._read_line", line)
            ended = here(*talk)
        assert ended.code == 0, ended.text
        assert ".outbox.jsonl until the store takes " in ended.out
        assert ended.out.endswith("; they go out in the next talk with Ada in this folder\n")
        server.start()
        assert "red kite fell" in here(*talk, typed=b"Where is the red kite?\n").out


def waiting_talk(here: Here, server: WeaviateServer, monkeypatch: pytest.MonkeyPatch, store: str) -> Path:
    """The file where what was said of a red kite waits, as the server was killed; it is back now."""
    lines = iter(["The blue kite hangs in the old oak.\n", "The red kite fell into the brook.\n", ""])

    def line(prompt: str) -> str:
        typed = next(lines)
        if "red" in typed:
            server.kill()
        return typed

    with monkeypatch.context() as patched:
        patched.setattr("simuverse.cli._read_line", line)
        ended = here("chat", "Ada", "--me", "Bo", "--embedder", "hashing", "--store", store)
    assert ended.code == 0, ended.text
    server.start()
    [file] = here.folder.glob("*.outbox.jsonl")
    assert b"red kite" in file.read_bytes()
    return file


def bytes_of(folder: Path) -> bytes:
    """Of the files in it; the server's are in a folder of their own, and it keeps what was deleted for a while."""
    return b"".join(path.read_bytes() for path in folder.iterdir() if path.is_file())


def test_a_deleted_agent_leaves_nothing_that_waits_and_a_memory_that_is_erased_neither(
    weaviate_binary: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    with WeaviateServer.running(weaviate_binary, tmp_path / "server") as server:
        source = f"weaviate:{server.url}"
        settings = ("--embedder", "hashing")
        file = waiting_talk(here, server, monkeypatch, source)
        # Words of one that is on the server wait there too, as it was touched or changed.
        told = json.loads(here("memories", source, *settings, "--agent", "Ada", "list", "--json").out)
        [blue] = [one for one in told if one["summary"] == "Bo: The blue kite hangs in the old oak."]
        waits = OutboxFile(file)
        changed = replace(msgspec.convert(blue, Memory), importance=1)
        waits.append("Ada", Updated(memories=(changed,)), {})
        assert b"blue kite" in bytes_of(here.folder)

        erased = here("memories", source, *settings, "--agent", "Ada", "forget", blue["id"], "--erase", "--yes")

        assert file.name not in erased.text
        assert b"blue kite" not in bytes_of(here.folder)
        assert b"red kite" in file.read_bytes()

        deleted = here("agents", source, *settings, "delete", "Ada", "--yes")

        assert deleted.code == 0, deleted.text
        assert "wait in" not in deleted.out
        assert b"kite" not in bytes_of(here.folder)
        assert b"Ada" not in bytes_of(here.folder)
        assert here("agents", source, *settings, "list").out == "no agents\n"
        here("chat", "Ada", "--me", "Bo", "--store", source, *settings, typed=b"")
        assert here("agents", source, *settings, "list").out == "Ada  0 memories\n"


def test_what_waits_for_a_store_by_another_name_is_named_where_its_agent_is_deleted(
    weaviate_binary: str, tmp_path: Path, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "server").mkdir()
    with WeaviateServer.running(weaviate_binary, tmp_path / "server") as server:
        source = f"weaviate:{server.url}"
        file = waiting_talk(here, server, monkeypatch, f"{source}&layout=collections")
        deleted = here("agents", source, "--embedder", "hashing", "delete", "Ada", "--yes", "--json")
        assert deleted.code == 0, deleted.text
        assert json.loads(deleted.out)["still_held"] == [file.name]
        assert b"red kite" in file.read_bytes()
