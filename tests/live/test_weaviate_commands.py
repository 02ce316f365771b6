"""The command line on a real Weaviate server: it does there all that it does on SQLite."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.commands import Here
from tests.live.weaviate_server import WeaviateServer, settings_with_key

pytestmark = pytest.mark.live

HASHING = ("--embedder", "hashing")
KEY = "sEcret-root-key"


@pytest.fixture(scope="module")
def server(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    """Of these tests alone, as collections bear the characters' names, and theirs may be on another server."""
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("commands")) as server:
        yield server


@pytest.fixture(scope="module")
def locked(weaviate_binary: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[WeaviateServer]:
    with WeaviateServer.running(weaviate_binary, tmp_path_factory.mktemp("locked"), settings_with_key(KEY)) as server:
        yield server


def test_a_run_goes_as_on_sqlite_and_its_memories_can_be_looked_at(here: Here, server: WeaviateServer) -> None:
    store = ("--store", f"weaviate:{server.url}")
    on_server = here("run", "--ticks", "8", "--out", "on-server", *store, *HASHING)
    on_sqlite = here("run", "--ticks", "8", "--out", "on-sqlite", *HASHING)
    assert on_server.code == on_sqlite.code == 0, on_server.text
    assert "recalled" in on_server.out
    turns = [line for line in on_server.out.splitlines() if "recalled" in line]
    assert turns == [line for line in on_sqlite.out.splitlines() if "recalled" in line]
    for command in (("list", "--agent", "Jade"), ("search", "lab door", "--agent", "Jade")):
        seen = here("memories", "on-server", *command)
        assert seen.code == 0, seen.text
        assert "lab_door" in seen.out
    examined = here("doctor", *store, *HASHING)
    assert examined.code == 0
    assert "Weaviate 1." in examined.out
    assert f"at {server.address.url}, no key; memories: " in examined.out


def test_the_key_is_read_from_its_variable_and_shown_nowhere(
    here: Here, locked: WeaviateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = ("--store", f"weaviate:{locked.url}")
    without = here("run", "--ticks", "2", "--out", "without", *store, *HASHING)
    assert without.code == 4
    assert "it wants a key: set WEAVIATE_API_KEY" in without.err
    monkeypatch.setenv("WEAVIATE_API_KEY", KEY)
    ran = here("run", "--ticks", "2", "--out", "with", *store, *HASHING)
    assert ran.code == 0, ran.text
    examined = here("doctor", *store, *HASHING)
    assert "API key; memories: " in examined.out
    written = "".join(path.read_text() for path in (here.folder / "with").iterdir())
    assert "sEcret" not in ran.text + examined.text + written


def test_a_key_for_a_server_without_keys_ends_the_command_with_its_cure(
    here: Here, server: WeaviateServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WEAVIATE_API_KEY", KEY)
    ended = here("run", "--ticks", "2", "--out", "run", "--store", f"weaviate:{server.url}", *HASHING)
    assert ended.code == 4
    assert "it takes no keys: unset WEAVIATE_API_KEY" in ended.err
    assert "sEcret" not in ended.text


def test_no_server_ends_the_command_and_nothing_is_put_in_its_place(here: Here) -> None:
    ended = here("run", "--ticks", "2", "--out", "run", "--store", "weaviate:http://127.0.0.1:9", *HASHING)
    assert ended.code == 4
    assert "start the server" in ended.err
    examined = here("doctor", "--store", "weaviate:http://127.0.0.1:9", *HASHING)
    assert examined.code == 4
    assert "start the server" in examined.out
