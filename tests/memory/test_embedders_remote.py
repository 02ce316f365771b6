from __future__ import annotations

import sys
from typing import cast

import httpx
import ollama
import openai
import pytest

from simuverse.errors import MissingExtra, MissingKey
from simuverse.memory.embedders import ollama as our_ollama
from simuverse.memory.embedders import openai as our_openai
from simuverse.memory.embedders.ollama import OllamaEmbedder
from simuverse.memory.embedders.openai import OpenAIEmbedder
from simuverse.memory.embedders.remote import retry_after
from simuverse.memory.embedders.texts import prefixed
from simuverse.memory.embedding import Embedder
from tests.contracts.embedder import KEY, EmbeddingServer, WireContract, vendor_errors
from tests.fakes.http_server import Received, json_answer


class TestOllama(WireContract):
    provider = "ollama"
    ways_to_obtain = "`ollama pull tiny:1b`"
    path = "/api/embed"
    environment = "OLLAMA_API_KEY"

    async def open(
        self, address: str, *, model: str = "tiny:1b", key: str | None = KEY, timeout: float = 10.0
    ) -> Embedder:
        return await OllamaEmbedder.open(model, host=address, key=key, timeout=timeout)

    def good(self, vectors: object) -> dict[str, object]:
        return {"model": "tiny:1b", "embeddings": vectors, "total_duration": 14143917, "prompt_eval_count": 8}

    def texts(self, received: Received) -> list[str]:
        return cast("list[str]", received.json["input"])


class TestOpenAI(WireContract):
    provider = "openai"
    ways_to_obtain = "/models lists what there is"
    path = "/embeddings"
    environment = "OPENAI_API_KEY"

    async def open(
        self, address: str, *, model: str = "tiny:1b", key: str | None = KEY, timeout: float = 10.0
    ) -> Embedder:
        return await OpenAIEmbedder.open(model, base_url=address, key=key, timeout=timeout)

    def good(self, vectors: object) -> dict[str, object]:
        rows = cast("list[object]", vectors) if isinstance(vectors, list) else [vectors]
        data = [{"object": "embedding", "index": place, "embedding": row} for place, row in enumerate(rows)]
        return {"object": "list", "model": "tiny:1b", "data": data, "usage": {"prompt_tokens": 8, "total_tokens": 8}}

    def texts(self, received: Received) -> list[str]:
        assert received.json["encoding_format"] == "float"
        return cast("list[str]", received.json["input"])

    async def test_rows_are_put_in_order_by_their_index(self, server: EmbeddingServer, embedder: Embedder) -> None:
        rows = [{"index": 1, "embedding": [0.0, 3.0] + [0.0] * 14}, {"index": 0, "embedding": [2.0] + [0.0] * 15}]
        server.script(json_answer({"data": rows}))
        first, second = await embedder.embed(["kite", "ball"])
        await embedder.aclose()
        assert (first[0], second[1]) == (1.0, 1.0)

    async def test_an_empty_account_is_refused_and_not_waited_for(self, server: EmbeddingServer) -> None:
        broke = {"error": {"message": "You exceeded your quota", "code": "insufficient_quota"}}
        error = await self.failure(server, json_answer(broke, status=429, headers={"Retry-After": "7"}))
        assert "quota" in str(error)
        assert "wait" not in str(error)


async def test_openais_own_address_needs_a_key_and_says_where_it_goes() -> None:
    for key in (None, "", "  "):
        with pytest.raises(MissingKey, match="OPENAI_API_KEY"):
            await OpenAIEmbedder.open("text-embedding-3-small", key=key)


async def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "ollama", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[ollama\]"'):
        await OllamaEmbedder.open("nomic-embed-text")
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[openai\]"'):
        await OpenAIEmbedder.open("text-embedding-3-small", key=KEY)


def test_no_exception_of_ollamas_library_is_forgotten() -> None:
    errors = vendor_errors(httpx.HTTPError) | vendor_errors(ollama.RequestError) | vendor_errors(ollama.ResponseError)
    forgotten = {error.__name__ for error in errors if not issubclass(error, tuple(our_ollama.fault_table()))}
    assert forgotten == {
        "HTTPError",  # roots
        "RequestError",
        "HTTPStatusError",  # statuses are looked at before the library does
    }


def test_no_exception_of_openais_library_is_forgotten() -> None:
    statuses = vendor_errors(openai.APIStatusError)  # their number decides
    known = set(our_openai.fault_table()) | statuses
    forgotten = {error.__name__ for error in vendor_errors(openai.OpenAIError) if error not in known}
    assert forgotten <= {
        "OpenAIError",  # the root
        "LengthFinishReasonError",  # of chat
        "ContentFilterFinishReasonError",
        "SubjectTokenProviderError",  # workload identities, websockets and Azure are never used here
        "WebSocketConnectionClosedError",
        "WebSocketQueueFullError",
        "MutuallyExclusiveAuthError",
        "StreamAlreadyConsumed",  # the rest can only be faults of ours, which are raised as they are
        "APIRemovedInV1",
        "_AmbiguousModuleClientUsageError",
    }
    assert all(issubclass(error, tuple(our_openai.fault_table())) for error in statuses)


@pytest.mark.parametrize(
    ("value", "seconds"), [("7", 7.0), (" 30 ", 30.0), ("", None), ("soon", None), ("-1", None), ("²", None)]
)
def test_seconds_to_wait(value: str, seconds: float | None) -> None:
    assert retry_after({"retry-after": value}) == seconds
    assert retry_after({}) is None


@pytest.mark.parametrize(
    ("model", "query", "document"),
    [
        ("text-embedding-3-small", "Where?", "Where?"),
        ("text-embedding-nomic-embed-text-v1.5", "search_query: Where?", "search_document: Where?"),
        ("intfloat/multilingual-E5-small", "query: Where?", "passage: Where?"),
        ("snowflake-arctic-embed2", "query: Where?", "Where?"),
        ("mxbai-embed-large", "Represent this sentence for searching relevant passages: Where?", "Where?"),
    ],
)
def test_prefixes_are_those_that_the_model_was_trained_with(model: str, query: str, document: str) -> None:
    assert prefixed(["Where?"], model=model, kind="query") == [query]
    assert prefixed(["Where?"], model=model, kind="document") == [document]
