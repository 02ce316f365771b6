"""The Ollama backend against a real server."""

from __future__ import annotations

import pytest

from simuverse.agents.backends.ollama import OllamaModel
from simuverse.agents.chat import ChatModel
from simuverse.errors import ModelNotFound
from tests.contracts.chat_model import REQUEST, ChatModelContract

pytestmark = pytest.mark.live


class TestOllamaLive(ChatModelContract):
    @pytest.fixture
    def model(self, ollama_server: tuple[str, str]) -> ChatModel:
        address, model = ollama_server
        return OllamaModel(model, base_url=address)


async def test_the_same_seed_gives_the_same_reply(ollama_server: tuple[str, str]) -> None:
    address, name = ollama_server
    model = OllamaModel(name, base_url=address)
    first, second = await model.complete(REQUEST), await model.complete(REQUEST)
    await model.aclose()
    assert first.text == second.text
    assert first.input_tokens
    assert first.output_tokens


async def test_a_model_that_is_not_there_says_how_to_get_it(ollama_server: tuple[str, str]) -> None:
    model = OllamaModel("no-such-model:1b", base_url=ollama_server[0])
    with pytest.raises(ModelNotFound, match="`ollama pull no-such-model:1b`"):
        await model.complete(REQUEST)
    await model.aclose()
