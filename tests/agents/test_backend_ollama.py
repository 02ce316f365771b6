from __future__ import annotations

import sys
from typing import Any

import httpx
import ollama
import pytest

from simuverse.agents.backends.ollama import OllamaModel, fault_table
from simuverse.agents.chat import ChatModel
from simuverse.errors import MissingExtra, ModelNotFound, ModelReplyUnusable
from tests.contracts.chat_model import KEY, REQUEST, SENT, WireContract, vendor_errors
from tests.fakes.http_server import FakeServer, Received, json_answer


def chat_response(text: str, *, done_reason: str = "stop") -> dict[str, Any]:
    return {
        "model": "tiny-1b-0624",
        "created_at": "2026-03-03T08:00:00Z",
        "message": {"role": "assistant", "content": text},
        "done": True,
        "done_reason": done_reason,
        "prompt_eval_count": 21,
        "eval_count": 9,
    }


class TestOllama(WireContract):
    provider = "ollama"
    ways_to_obtain = "`ollama pull tiny:1b`"

    def open(self, address: str, *, key: str | None = KEY, timeout: float = 10.0) -> ChatModel:
        return OllamaModel("tiny:1b", base_url=address, key=key, timeout=timeout, context=4096)

    def good(self, text: str, *, finish: str = "stop") -> object:
        return chat_response(text, done_reason=finish)

    def check_sent(self, received: Received) -> None:
        assert received.path == "/api/chat"
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert received.json == {
            "model": "tiny:1b",
            "messages": SENT,
            "options": {"temperature": 0.3, "seed": 11, "num_predict": 200, "num_ctx": 4096},
            "tools": [],
            "stream": False,
        }

    async def test_a_missing_model_as_ollama_puts_it(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": "model 'tiny:1b' not found"}, status=404))
        assert "`ollama pull tiny:1b`" in str(await self.failure(model, ModelNotFound))

    async def test_tokens_spent_on_hidden_thinking(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(chat_response("", done_reason="length")))
        assert "hidden thinking" in str(await self.failure(model, ModelReplyUnusable))

    async def test_counts_that_are_missing_are_unknown_and_not_zero(self, server: FakeServer, model: ChatModel) -> None:
        reply = chat_response("<ok/>")
        del reply["prompt_eval_count"], reply["eval_count"]
        server.script(json_answer(reply))
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert (completion.input_tokens, completion.output_tokens) == (None, None)


def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ollama", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[ollama\]"'):
        OllamaModel("tiny:1b")


def test_no_exception_of_the_library_is_forgotten() -> None:
    misuse = {
        "HTTPError",  # roots
        "RequestError",
        "HTTPStatusError",  # statuses are looked at before the library does
    }
    errors = vendor_errors(httpx.HTTPError) | vendor_errors(ollama.RequestError) | vendor_errors(ollama.ResponseError)
    forgotten = {error.__name__ for error in errors if not issubclass(error, tuple(fault_table()))}
    assert forgotten <= misuse
