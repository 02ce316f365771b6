from __future__ import annotations

import sys
from typing import Any

import openai
import pytest

from simuverse.agents.backends.openai import OpenAIModel, fault_table
from simuverse.agents.chat import ChatModel
from simuverse.errors import (
    MissingExtra,
    MissingKey,
    ModelNotFound,
    ModelRefused,
    ModelReplyUnusable,
    SettingsError,
)
from tests.contracts.chat_model import KEY, REQUEST, SENT, WireContract, vendor_errors
from tests.fakes.http_server import FakeServer, Received, json_answer


def chat_completion(text: str | None, *, finish: str = "stop", refusal: str | None = None) -> dict[str, Any]:
    return {
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1780000000,
        "model": "tiny-1b-0624",
        "choices": [
            {
                "index": 0,
                "finish_reason": finish,
                "message": {"role": "assistant", "content": text, "refusal": refusal},
            }
        ],
        "usage": {"prompt_tokens": 21, "completion_tokens": 9, "total_tokens": 30},
    }


def refuses(parameter: str) -> dict[str, Any]:
    message = f"Unsupported value: '{parameter}' isn't taken by this model."
    return {"error": {"message": message, "type": "invalid_request_error", "param": parameter, "code": "unsupported"}}


class TestOpenAI(WireContract):
    provider = "openai"
    ways_to_obtain = "/models lists what there is"

    def open(self, address: str, *, key: str | None = KEY, timeout: float = 10.0) -> ChatModel:
        return OpenAIModel("tiny:1b", base_url=f"{address}/v1/", key=key, timeout=timeout)

    def good(self, text: str, *, finish: str = "stop") -> object:
        return chat_completion(text, finish=finish)

    def check_sent(self, received: Received) -> None:
        assert received.path == "/v1/chat/completions"
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert received.json == {
            "model": "tiny:1b",
            "messages": SENT,
            "temperature": 0.3,
            "seed": 11,
            "max_tokens": 200,
        }

    async def test_a_refusal(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(chat_completion(None, refusal="I'd rather not say that.")))
        assert "I'd rather not say that" in str(await self.failure(model, ModelReplyUnusable))

    async def test_a_content_filter(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(chat_completion("half a sen", finish="content_filter")))
        assert "content filter" in str(await self.failure(model, ModelReplyUnusable))

    async def test_tokens_spent_on_hidden_reasoning(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(chat_completion("", finish="length")))
        assert "hidden reasoning" in str(await self.failure(model, ModelReplyUnusable))

    async def test_no_choices(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({**chat_completion("<ok/>"), "choices": []}))
        await self.failure(model, ModelReplyUnusable)

    async def test_an_empty_account_is_not_a_matter_of_waiting(self, server: FakeServer, model: ChatModel) -> None:
        body = {"error": {"message": "You exceeded your current quota", "code": "insufficient_quota"}}
        server.script(json_answer(body, status=429))
        assert "quota" in str(await self.failure(model, ModelRefused))

    async def test_a_missing_model_told_as_a_bad_request(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": {"message": "no tiny:1b", "code": "model_not_found"}}, status=400))
        await self.failure(model, ModelNotFound)

    @pytest.mark.parametrize("parameter", ["temperature", "seed"])
    async def test_a_parameter_that_is_refused_is_left_out_from_then_on(
        self, server: FakeServer, model: ChatModel, parameter: str, caplog: pytest.LogCaptureFixture
    ) -> None:
        server.script(json_answer(refuses(parameter), status=400), json_answer(self.good("<ok/>")))
        first, second = await model.complete(REQUEST), await model.complete(REQUEST)
        await model.aclose()
        assert (first.attempts, second.attempts) == (2, 1)
        assert [parameter in received.json for received in server.received] == [True, False, False]
        assert [parameter in record.message for record in caplog.records if record.name.startswith("simuverse")] == [
            True
        ]

    async def test_a_token_limit_under_its_other_name(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(refuses("max_tokens"), status=400), json_answer(self.good("<ok/>")))
        assert (await model.complete(REQUEST)).attempts == 2
        await model.aclose()
        assert "max_tokens" not in server.received[1].json
        assert server.received[1].json["max_completion_tokens"] == 200

    async def test_a_parameter_refused_for_ever_is_an_error(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(refuses("temperature"), status=400))
        with pytest.raises(ModelReplyUnusable) as caught:
            await model.complete(REQUEST)
        await model.aclose()
        assert caught.value.attempts == 2

    async def test_missing_usage_is_unknown_and_not_zero(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({**chat_completion("<ok/>"), "usage": None}))
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert (completion.input_tokens, completion.output_tokens) == (None, None)

    async def test_a_seed_of_any_size_fits(self, server: FakeServer, model: ChatModel) -> None:
        from dataclasses import replace

        await model.complete(replace(REQUEST, seed=2**70 + 5))
        await model.aclose()
        assert server.received[0].json["seed"] == 5


def test_openai_itself_needs_a_key() -> None:
    with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
        OpenAIModel("gpt-large")


async def test_openai_itself_is_given_the_newer_name_of_the_limit() -> None:
    model = OpenAIModel("gpt-large", key=KEY)
    assert model._body(REQUEST)["max_completion_tokens"] == 200
    assert "max_tokens" not in model._body(REQUEST)
    await model.aclose()


@pytest.mark.parametrize("address", ["localhost:8000", "ftp://host", "http://", "http://host:99999", "http://a:b@host"])
def test_an_address_that_is_none_is_refused_at_once(address: str) -> None:
    with pytest.raises(SettingsError, match="address"):
        OpenAIModel("tiny:1b", base_url=address)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
def test_a_key_that_cannot_be_sent_is_refused_unquoted(key: str) -> None:
    with pytest.raises(SettingsError) as caught:
        OpenAIModel("tiny:1b", base_url="http://localhost:8000", key=key)
    assert key not in str(caught.value)


def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[openai\]"'):
        OpenAIModel("tiny:1b", key=KEY)


def test_no_exception_of_the_library_is_forgotten() -> None:
    roots = {openai.OpenAIError, openai.APIStatusError}
    misuse = {
        "SubjectTokenProviderError",  # workload identities, websockets and Azure are never used here
        "WebSocketConnectionClosedError",
        "WebSocketQueueFullError",
        "MutuallyExclusiveAuthError",
        "StreamAlreadyConsumed",  # the rest can only be faults of ours, which are raised as they are
        "APIRemovedInV1",
        "_AmbiguousModuleClientUsageError",
    }
    known = set(fault_table()) | roots
    forgotten = {
        error.__name__
        for error in vendor_errors(openai.OpenAIError)
        if error not in known and not issubclass(error, openai.APIStatusError)
    }
    assert forgotten <= misuse
