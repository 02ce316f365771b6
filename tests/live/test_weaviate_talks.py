"""A talk whose Weaviate server ends in the middle of it: what was said then is remembered in the next one."""

from __future__ import annotations

from pathlib import Path

import pytest

from simuverse import wiring
from simuverse.config import Settings
from simuverse.errors import UsageError
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
