"""SmolLM2 for real: llama.cpp in the process, and the OpenAI backend against llama.cpp's own server."""

from __future__ import annotations

import asyncio
import importlib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest

from simuverse.agents.backends.local import LocalModel, smollm2_weights
from simuverse.agents.backends.openai import OpenAIModel
from simuverse.agents.chat import ChatModel, ChatRequest, Purpose, conversation
from simuverse.agents.xml import parse_judgement, parse_memories, parse_queries, parse_turn
from simuverse.errors import ModelRefused, ModelReplyUnusable
from tests.contracts.chat_model import REQUEST, ChatModelContract

pytestmark = [pytest.mark.live, pytest.mark.usefixtures("engine_and_weights")]

READERS: Mapping[Purpose, Callable[[str], object]] = {
    Purpose.QUERIES: parse_queries,
    Purpose.JUDGEMENT: lambda text: parse_judgement(text, shown=10),
    Purpose.MEMORY: parse_memories,
    Purpose.TURN: parse_turn,
}

WHAT_HAPPENED = ChatRequest(
    messages=conversation(
        "You are the memory of Tomas, a baker.",
        "Ines said: I left my umbrella behind your oven, and it must be dry by noon.",
    ),
    purpose=Purpose.MEMORY,
    temperature=0.6,
    seed=4,
)


@pytest.fixture
async def smollm2() -> AsyncIterator[LocalModel]:
    model = await LocalModel.open("smollm2", context=2048)
    yield model
    await model.aclose()


class TestLocalLive(ChatModelContract):
    @pytest.fixture
    def model(self, smollm2: LocalModel) -> ChatModel:
        return smollm2


@pytest.mark.parametrize("temperature", [0.0, 1.0])
@pytest.mark.parametrize("purpose", Purpose)
async def test_every_reply_passes_its_reader(smollm2: LocalModel, purpose: Purpose, temperature: float) -> None:
    request = replace(WHAT_HAPPENED, purpose=purpose, temperature=temperature)
    completion = await smollm2.complete(request)
    assert completion.finish == "stop"
    assert completion.input_tokens
    assert completion.output_tokens
    READERS[purpose](completion.text)


@pytest.mark.parametrize("purpose", Purpose)
async def test_a_model_that_rambles_still_ends_in_time(smollm2: LocalModel, purpose: Purpose) -> None:
    ramble = conversation("You never stop talking.", "Tell it all, in a thousand words, and repeat yourself. " * 5)
    request = replace(WHAT_HAPPENED, messages=ramble, purpose=purpose, max_tokens=500)
    completion = await smollm2.complete(request)
    assert completion.finish == "stop"
    READERS[purpose](completion.text)


async def test_the_same_request_gives_the_same_reply_whatever_came_between(smollm2: LocalModel) -> None:
    request = replace(WHAT_HAPPENED, temperature=1.0, max_tokens=120)
    first = await smollm2.complete(request)
    other = await smollm2.complete(replace(request, seed=5))
    again = await smollm2.complete(request)
    assert first.text == again.text
    assert first.text != other.text


async def test_a_prompt_longer_than_the_context_names_its_size(smollm2: LocalModel) -> None:
    request = replace(WHAT_HAPPENED, messages=conversation("You are Tomas.", "bread " * 3000))
    with pytest.raises(ModelReplyUnusable, match="context room for 2048"):
        await smollm2.complete(request)


async def test_the_engine_writes_nothing_to_the_terminal(capfd: pytest.CaptureFixture[str]) -> None:
    model = await LocalModel.open("smollm2", context=512)
    await model.complete(replace(WHAT_HAPPENED, max_tokens=120))
    await model.aclose()
    assert capfd.readouterr() == ("", "")


async def test_the_port_that_the_engine_opens_gives_nothing_away(smollm2: LocalModel) -> None:
    server: Any = smollm2._server
    for path in ("/v1/models", "/props", "/slots", "/metrics"):
        status, allowed_origin = await asyncio.to_thread(asked_from_a_web_page, server.listening_address + path)
        assert status == 401
        assert allowed_origin == ""


def asked_from_a_web_page(url: str) -> tuple[int, str]:
    with pytest.raises(HTTPError) as caught, urlopen(Request(url, headers={"Origin": "http://example.org"})):
        pass
    with caught.value as refusal:
        return refusal.code, refusal.headers.get("Access-Control-Allow-Origin", "")


@dataclass(frozen=True, kw_only=True, slots=True)
class Served:
    address: str
    key: str


@pytest.fixture(scope="module")
def llama_server(engine_and_weights: None) -> Iterator[Served]:
    """llama.cpp's own OpenAI-compatible server, on loopback."""
    library = importlib.import_module("xllamacpp")
    parameters = library.CommonParams()
    parameters.model.path = str(smollm2_weights())
    parameters.n_ctx = 1024
    parameters.n_parallel = 1
    parameters.cpuparams.n_threads = 1
    parameters.cpuparams_batch.n_threads = 1
    parameters.verbosity = 0
    parameters.api_keys = ["sk-for-this-test"]
    server = library.Server(parameters)
    yield Served(address=f"{server.listening_address}/v1", key="sk-for-this-test")
    del server


class TestOpenAIAgainstLlamaServer(ChatModelContract):
    @pytest.fixture
    def model(self, llama_server: Served) -> ChatModel:
        return OpenAIModel("smollm2", base_url=llama_server.address, key=llama_server.key)

    async def test_limit_seed_and_counts_are_understood(self, model: ChatModel) -> None:
        request = replace(REQUEST, max_tokens=6, temperature=0.9)
        first, again = await model.complete(request), await model.complete(request)
        await model.aclose()
        assert first.finish == "length"
        assert first.output_tokens == 6
        assert first.input_tokens
        assert first.text == again.text
        assert first.attempts == 1

    async def test_a_wrong_key_is_refused(self, llama_server: Served) -> None:
        model = OpenAIModel("smollm2", base_url=llama_server.address, key="sk-wrong")
        with pytest.raises(ModelRefused):
            await model.complete(REQUEST)
        await model.aclose()

    async def test_a_prompt_longer_than_the_context_is_unusable(self, model: ChatModel) -> None:
        with pytest.raises(ModelReplyUnusable, match="context"):
            await model.complete(replace(REQUEST, messages=conversation("You are Ada.", "rose " * 2000)))
        await model.aclose()
