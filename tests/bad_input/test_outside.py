"""What the outside does: closed ports, refused keys, models and stores that aren't what was asked for. Code 4."""

from __future__ import annotations

import json
import socket
import threading
from collections.abc import Generator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from simuverse.world.journal import read_turns
from tests.commands import Here

KEY = "sk-hazel-7741"


@pytest.fixture(autouse=True)
def no_waiting(monkeypatch: pytest.MonkeyPatch) -> None:
    """Calls are tried again at once."""

    def at_once(*_: object) -> float:
        return 0.0

    monkeypatch.setattr("simuverse.agents.wrappers.Retrying._wait", at_once)


def closed_port() -> int:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        port: int = bound.getsockname()[1]
        return port


@contextmanager
def answering(status: int, body: object) -> Generator[str]:
    """The address of a server that answers everything alike."""
    content = json.dumps(body).encode()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            self.rfile.read(int(self.headers.get("Content-Length", "0")))
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(content)))
            self.end_headers()
            self.wfile.write(content)

        def log_message(self, format: str, *args: object) -> None:
            del format, args

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def ended_with_4(here: Here, *words: str) -> str:
    """What ``run`` says when its model is no use; the run must be readable, and no key in it or on the terminal."""
    ended = here("run", "--ticks", "3", "--out", "run1", "--embedder", "hashing", *words)
    assert ended.code == 4
    assert "Traceback" not in ended.text
    turns = list(read_turns(Path("run1")))
    assert [turn.tick for turn in turns] == [1] * 4
    assert all(turn.decision.failed for turn in turns)
    assert KEY not in ended.text
    for file in Path("run1").iterdir():
        assert KEY.encode() not in file.read_bytes()
    return ended.err


@pytest.mark.parametrize("provider", ["openai", "anthropic"])
def test_a_closed_port_is_told_with_its_address(provider: str, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    address = f"http://127.0.0.1:{closed_port()}"
    monkeypatch.setenv(f"{provider.upper()}_API_KEY", KEY)
    monkeypatch.setenv(f"{provider.upper()}_BASE_URL", address)
    told = ended_with_4(here, "--model", f"{provider}:tiny")
    assert f"{provider}:tiny can't be reached at {address}" in told
    assert "Start the server, or correct the address." in told


@pytest.mark.parametrize(
    ("status", "message", "told"),
    [(401, f"Incorrect API key provided: {KEY}", "key"), (404, "The model tiny does not exist", "openai:tiny")],
)
def test_a_refused_key_and_an_unknown_model_are_told_apart(
    status: int, message: str, told: str, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    with answering(status, {"error": {"message": message, "type": "x", "code": "y"}}) as address:
        monkeypatch.setenv("OPENAI_BASE_URL", f"{address}/v1")
        assert told in ended_with_4(here, "--model", "openai:tiny")


def test_a_model_that_ollama_does_not_have_is_told_how_to_get_it(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    with answering(404, {"error": "model 'tiny' not found"}) as address:
        monkeypatch.setenv("OLLAMA_HOST", address)
        assert "ollama pull tiny" in ended_with_4(here, "--model", "ollama:tiny")


def test_a_subconscious_without_its_model_costs_no_character_its_turn(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{closed_port()}")
    words = ("--subconscious-model", "ollama:tiny", "--embedder", "hashing")
    ended = here("run", "--ticks", "2", "--out", "run1", *words)
    assert ended.code == 0
    assert "problem: the observation itself was the query" in ended.out
    turns = list(read_turns(Path("run1")))
    assert len(turns) == 8
    assert not any(turn.decision.failed for turn in turns)
    assert all(turn.recollection.problems and turn.remembered.problems for turn in turns)
    assert all(turn.remembered.raw for turn in turns)


def test_an_embedder_behind_a_closed_port_stops_before_a_run_is_made(
    here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("OLLAMA_HOST", f"127.0.0.1:{closed_port()}")
    ended = here("run", "--ticks", "1", "--out", "run1", "--embedder", "ollama:nomic-embed-text")
    assert ended.code == 4
    assert "ollama serve" in ended.err
    assert not Path("run1").exists()


def test_a_store_from_another_embedder_is_left_as_it_was(here: Here) -> None:
    here("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", typed=b"The kite is blue.\n")
    before = Path("ada.db").read_bytes()
    for words in (("run", "--ticks", "1", "--out", "run1"), ("chat", "Ada")):
        ended = here(*words, "--store", "sqlite:ada.db", typed=b"Hello.\n")
        assert ended.code == 4
        assert "embedder hashing" in ended.err
        assert "Go on with --embedder hashing" in ended.err
    assert Path("ada.db").read_bytes() == before
    assert not Path("run1/run.json").exists()


@pytest.mark.parametrize("content", [b"Milk, bread, eggs.\n" * 200, b"SQLite format 3\x00" + b"\xff" * 4000])
def test_a_store_that_is_something_else_is_left_as_it_was(content: bytes, here: Here) -> None:
    Path("notes.db").write_bytes(content)
    ended = here("run", "--ticks", "1", "--out", "run1", "--store", "sqlite:notes.db", "--embedder", "hashing")
    assert ended.code == 4
    assert "notes.db" in ended.err
    assert "Traceback" not in ended.err
    assert Path("notes.db").read_bytes() == content
