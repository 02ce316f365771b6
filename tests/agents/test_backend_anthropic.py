from __future__ import annotations

import sys
from typing import Any

import anthropic
import pytest

from simuverse.agents.backends.anthropic import AnthropicModel, fault_table
from simuverse.agents.chat import ChatModel
from simuverse.errors import MissingExtra, MissingKey, ModelRefused, ModelReplyUnusable
from tests.contracts.chat_model import KEY, REQUEST, SENT, WireContract, vendor_errors
from tests.fakes.http_server import FakeServer, Received, json_answer

STOPS = {"stop": "end_turn", "length": "max_tokens", "refusal": "refusal"}


def message(*texts: str, stop: str = "end_turn", usage: dict[str, int] | None = None) -> dict[str, Any]:
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": "tiny-1b-0624",
        "content": [{"type": "text", "text": text} for text in texts],
        "stop_reason": stop,
        "stop_sequence": None,
        "usage": usage or {"input_tokens": 21, "output_tokens": 9},
    }


def turned_down(text: str) -> dict[str, Any]:
    return {"type": "error", "error": {"type": "invalid_request_error", "message": text}}


class TestAnthropic(WireContract):
    provider = "anthropic"
    ways_to_obtain = "/v1/models lists what there is"

    def open(self, address: str, *, key: str | None = KEY, timeout: float = 10.0) -> ChatModel:
        return AnthropicModel("tiny:1b", base_url=address, key=key, timeout=timeout)

    def good(self, text: str, *, finish: str = "stop") -> object:
        return message(text, stop=STOPS[finish])

    def check_sent(self, received: Received) -> None:
        assert received.path == "/v1/messages"
        assert KEY in received.headers.get("x-api-key", "") + received.headers.get("authorization", "")
        assert received.headers["anthropic-version"]
        assert received.json == {
            "model": "tiny:1b",
            "system": "You are Ada, a gardener.",
            "messages": SENT[1:],
            "temperature": 0.3,
            "max_tokens": 200,
        }

    async def test_a_refusal(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(self.good("I can't", finish="refusal")))
        assert "refused" in str(await self.failure(model, ModelReplyUnusable))

    async def test_no_content_at_all(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(message()))
        assert "empty text" in str(await self.failure(model, ModelReplyUnusable))

    async def test_thinking_is_not_part_of_the_text(self, server: FakeServer, model: ChatModel) -> None:
        reply = message("<ok", "/>")
        reply["content"].insert(0, {"type": "thinking", "thinking": "They want XML.", "signature": "c2ln"})
        server.script(json_answer(reply))
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.text == "<ok/>"

    async def test_tokens_read_from_a_cache_count_as_read(self, server: FakeServer, model: ChatModel) -> None:
        usage = {
            "input_tokens": 3,
            "cache_creation_input_tokens": 40,
            "cache_read_input_tokens": 500,
            "output_tokens": 9,
        }
        server.script(json_answer(message("<ok/>", usage=usage)))
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.input_tokens == 543

    async def test_a_bill_that_is_not_paid(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(turned_down("Your credit balance is too low"), status=402))
        assert "credit balance" in str(await self.failure(model, ModelRefused))

    async def test_a_temperature_that_is_refused_is_left_out_from_then_on(
        self, server: FakeServer, model: ChatModel, caplog: pytest.LogCaptureFixture
    ) -> None:
        refusal = turned_down("`temperature` is deprecated for this model.")
        server.script(json_answer(refusal, status=400), json_answer(self.good("<ok/>")))
        first, second = await model.complete(REQUEST), await model.complete(REQUEST)
        await model.aclose()
        assert (first.attempts, second.attempts) == (2, 1)
        assert ["temperature" in received.json for received in server.received] == [True, False, False]
        assert "takes no temperature" in caplog.text

    async def test_a_temperature_refused_for_ever_is_an_error(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(turned_down("temperature: no"), status=400))
        with pytest.raises(ModelReplyUnusable) as caught:
            await model.complete(REQUEST)
        await model.aclose()
        assert caught.value.attempts == 2


def test_anthropic_itself_needs_a_key() -> None:
    with pytest.raises(MissingKey, match="ANTHROPIC_API_KEY"):
        AnthropicModel("claude-large")


def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "anthropic", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[anthropic\]"'):
        AnthropicModel("tiny:1b", key=KEY)


def test_no_exception_of_the_library_is_forgotten() -> None:
    misuse = {
        "APIWebhookValidationError",  # no webhooks, tools or clouds of others are used here
        "ToolsetUsageError",
        "ToolsetConfigError",
        "ToolsetContractError",
        "ToolsetsFixedError",
        "ToolsetClosedError",
        "MutuallyExclusiveAuthError",
        "MissingDependencyError",
        "WorkloadIdentityError",
        "StreamAlreadyConsumed",  # can only be a fault of ours, which is raised as it is
        "RetryableError",  # only raised by middleware, and there is none
    }
    roots = {anthropic.AnthropicError, anthropic.APIError}
    mapped = (*(set(fault_table()) - roots), anthropic.APIStatusError)
    forgotten = {
        error.__name__
        for error in vendor_errors(anthropic.AnthropicError)
        if error not in roots and not issubclass(error, mapped)
    }
    assert forgotten <= misuse
