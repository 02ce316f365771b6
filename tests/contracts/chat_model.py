"""What every ChatModel does. A backend's test subclasses one of these and gives it a model.

:class:`ChatModelContract` is for any of them, real ones included; :class:`WireContract` for those that speak HTTP,
against a server that misbehaves.
"""

from __future__ import annotations

import asyncio
import socket
import traceback
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

import pytest

from simuverse.agents.chat import ChatModel, ChatRequest, Purpose, conversation
from simuverse.errors import (
    ModelError,
    ModelNotFound,
    ModelRateLimited,
    ModelRefused,
    ModelReplyUnusable,
    ModelUnavailable,
)
from tests.fakes.http_server import Answer, FakeServer, Received, fake_server, json_answer

KEY = "sk-secret-5f1e"

REQUEST = ChatRequest(
    messages=conversation("You are Ada, a gardener.", "Did the roses freeze?", "<none/>", "Now in <xml/>, please."),
    purpose=Purpose.MEMORY,
    temperature=0.3,
    max_tokens=200,
    seed=11,
    agent="Ada",
)

SENT = [
    {"role": "system", "content": "You are Ada, a gardener."},
    {"role": "user", "content": "Did the roses freeze?"},
    {"role": "assistant", "content": "<none/>"},
    {"role": "user", "content": "Now in <xml/>, please."},
]
"""The messages of :data:`REQUEST` as most providers take them."""


class ChatModelContract(ABC):
    @pytest.fixture
    @abstractmethod
    def model(self) -> ChatModel:
        """Answers :data:`REQUEST` as often as asked; the suite closes it."""

    async def test_a_completion_holds_text_a_model_and_a_count_of_calls(self, model: ChatModel) -> None:
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.text.strip()
        assert completion.model
        assert completion.attempts == 1
        assert completion.seconds >= 0
        assert completion.finish in ("stop", "length")

    async def test_calls_at_once_are_all_answered(self, model: ChatModel) -> None:
        completions = await asyncio.gather(*(model.complete(REQUEST) for _ in range(3)))
        await model.aclose()
        assert all(completion.text.strip() for completion in completions)

    async def test_closing_twice_is_allowed(self, model: ChatModel) -> None:
        await model.aclose()
        await model.aclose()

    async def test_the_name_is_not_blank(self, model: ChatModel) -> None:
        assert model.name.strip()
        await model.aclose()


class WireContract(ChatModelContract):
    """For backends over HTTP.

    Args:
        provider: the first part of the model's name.
        ways_to_obtain: words of the message about a model that isn't there.
    """

    provider: str
    ways_to_obtain: str

    @abstractmethod
    def open(self, address: str, *, key: str | None = KEY, timeout: float = 10.0) -> ChatModel:
        """A model called ``tiny:1b``."""

    @abstractmethod
    def good(self, text: str, *, finish: str = "stop") -> object:
        """The JSON of an answer of model ``tiny-1b-0624``, 21 tokens read and 9 written.

        Args:
            finish: stop, length or refusal.
        """

    @abstractmethod
    def check_sent(self, received: Received) -> None:
        """That path, headers and body of :data:`REQUEST` are right."""

    @pytest.fixture
    async def server(self) -> AsyncIterator[FakeServer]:
        async with fake_server() as server:
            server.script(json_answer(self.good("<ok/>")))
            yield server

    @pytest.fixture
    async def model(self, server: FakeServer) -> ChatModel:
        return self.open(server.address)

    async def test_text_tokens_and_model_are_read(self, server: FakeServer, model: ChatModel) -> None:
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.text == "<ok/>"
        assert completion.model == "tiny-1b-0624"
        assert (completion.input_tokens, completion.output_tokens) == (21, 9)
        assert completion.finish == "stop"

    async def test_the_request_is_sent_as_the_provider_wants_it(self, server: FakeServer, model: ChatModel) -> None:
        await model.complete(REQUEST)
        await model.aclose()
        (received,) = server.received
        assert received.method == "POST"
        self.check_sent(received)

    async def test_the_name_is_what_a_user_types(self, model: ChatModel) -> None:
        assert model.name == f"{self.provider}:tiny:1b"
        await model.aclose()

    async def test_a_reply_cut_at_the_limit_says_so(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer(self.good("<turn><refl", finish="length")))
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.finish == "length"

    @pytest.mark.parametrize("status", [401, 403])
    async def test_a_key_that_is_refused(self, server: FakeServer, model: ChatModel, status: int) -> None:
        server.script(json_answer({"error": {"message": "no such key", "type": "authentication"}}, status=status))
        error = await self.failure(model, ModelRefused)
        assert server.address in str(error)
        assert "key" in str(error)

    async def test_a_model_that_is_not_there_says_how_to_get_it(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": {"message": "model 'tiny:1b' not found"}}, status=404))
        error = await self.failure(model, ModelNotFound)
        assert self.ways_to_obtain in str(error)

    async def test_too_many_calls_with_seconds_to_wait(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "7"}))
        error = await self.failure(model, ModelRateLimited)
        assert error.retry_after == 7
        assert len(server.received) == 1, "the library retried by itself"

    async def test_too_many_calls_with_a_date_to_wait_for(self, server: FakeServer, model: ChatModel) -> None:
        dates = {"Date": "Tue, 03 Mar 2026 08:00:00 GMT", "Retry-After": "Tue, 03 Mar 2026 08:01:30 GMT"}
        server.script(json_answer({"error": {"message": "slow down"}}, status=429, headers=dates))
        error = await self.failure(model, ModelRateLimited)
        assert error.retry_after == 90

    async def test_too_many_calls_without_a_time(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": {"message": "slow down"}}, status=429))
        error = await self.failure(model, ModelRateLimited)
        assert error.retry_after is None

    @pytest.mark.parametrize("status", [500, 502, 503, 529])
    async def test_a_server_in_trouble(self, server: FakeServer, model: ChatModel, status: int) -> None:
        server.script(Answer(status=status, body=b"<html>out of order</html>", headers={"Retry-After": "3"}))
        error = await self.failure(model, ModelUnavailable)
        assert server.address in str(error)
        assert error.retry_after == 3
        assert len(server.received) == 1, "the library retried by itself"

    async def test_a_slow_server_is_given_up_at_the_deadline(self, server: FakeServer) -> None:
        server.script(Answer(silent=True))
        error = await self.failure(self.open(server.address, timeout=0.1), ModelUnavailable)
        assert "0.1 s" in str(error)

    async def test_the_callers_own_deadline_passes_through(self, server: FakeServer, model: ChatModel) -> None:
        server.script(Answer(silent=True))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await model.complete(REQUEST)
        await model.aclose()

    async def test_an_answer_cut_in_the_middle(self, server: FakeServer, model: ChatModel) -> None:
        whole = json_answer(self.good("<ok/>"))
        server.script(Answer(body=whole.body, headers=whole.headers, cut=True))
        error = await self.failure(model, ModelUnavailable)
        assert server.address in str(error)

    async def test_a_closed_port_names_the_address(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            error = await self.failure(self.open(address), ModelUnavailable)
        assert address in str(error)
        assert "tart the server" in str(error)

    @pytest.mark.parametrize("text", ["", " \n\t"])
    async def test_an_empty_text(self, server: FakeServer, model: ChatModel, text: str) -> None:
        server.script(json_answer(self.good(text)))
        assert "empty text" in str(await self.failure(model, ModelReplyUnusable))

    @pytest.mark.parametrize(
        "body", [b"", b"I am not JSON", b"\xff\xfe", b'{"choices": [', b"[]", b"null", b'{"weather": "fine"}']
    )
    async def test_an_answer_that_is_not_the_protocol(self, server: FakeServer, model: ChatModel, body: bytes) -> None:
        server.script(Answer(body=body, headers={"Content-Type": "application/json"}))
        await self.failure(model, ModelReplyUnusable)

    async def test_a_page_instead_of_json(self, server: FakeServer, model: ChatModel) -> None:
        server.script(
            Answer(body=b"<html>Welcome to the hotel's network</html>", headers={"Content-Type": "text/html"})
        )
        await self.failure(model, ModelReplyUnusable)

    @pytest.mark.parametrize("status", [400, 413, 422])
    async def test_a_request_that_is_turned_down(self, server: FakeServer, model: ChatModel, status: int) -> None:
        server.script(json_answer({"error": {"message": "prompt is too long"}}, status=status))
        assert "prompt is too long" in str(await self.failure(model, ModelReplyUnusable))

    async def test_a_key_stays_secret_even_if_the_server_repeats_it(self, server: FakeServer, model: ChatModel) -> None:
        server.script(json_answer({"error": {"message": f"bad key {KEY}"}}, status=401))
        error = await self.failure(model, ModelRefused)
        assert "***" in str(error)
        assert KEY not in "".join(traceback.format_exception(error))
        assert KEY not in repr(model)
        assert KEY not in repr(vars(model))

    @pytest.mark.parametrize("foreign", ["sk-of-someone-else", "sk-schlüssel", "sk-a\nsk-b"])
    async def test_without_a_key_none_is_sent(
        self, server: FakeServer, foreign: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "OLLAMA_API_KEY", "OPENAI_ORG_ID"):
            monkeypatch.setenv(name, foreign)
        model = self.open(server.address, key=None)
        await model.complete(REQUEST)
        await model.aclose()
        (received,) = server.received
        assert not [name for name, value in received.headers.items() if "sk-" in value]
        assert "authorization" not in received.headers
        assert "x-api-key" not in received.headers

    async def test_an_error_leaves_the_model_usable(self, server: FakeServer, model: ChatModel) -> None:
        server.script(Answer(status=500), json_answer(self.good("<ok/>")))
        with pytest.raises(ModelUnavailable):
            await model.complete(REQUEST)
        completion = await model.complete(REQUEST)
        await model.aclose()
        assert completion.text == "<ok/>"

    async def failure(self, model: ChatModel, kind: type[ModelError]) -> ModelError:
        with pytest.raises(ModelError) as caught:
            await model.complete(REQUEST)
        await model.aclose()
        assert type(caught.value) is kind, caught.value
        assert caught.value.attempts == 1
        assert len(str(caught.value)) < 700
        return caught.value


def vendor_errors(root: type[BaseException]) -> set[type[BaseException]]:
    """``root`` and everything below it that is loaded."""
    return {root}.union(*(vendor_errors(child) for child in root.__subclasses__()))
