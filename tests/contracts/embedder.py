"""What every Embedder does. An embedder's test subclasses one of these and gives it one.

:class:`EmbedderContract` is for any of them, real ones included; :class:`WireContract` for those that speak HTTP,
against a server that misbehaves.
"""

from __future__ import annotations

import asyncio
import json
import socket
import traceback
from abc import ABC, abstractmethod
from collections.abc import AsyncIterator

import numpy as np
import pytest

from simuverse.errors import BadVector, EmbedderError, EmbedderRefused, EmbedderUnavailable, SettingsError
from simuverse.memory.embedders.remote import BATCH
from simuverse.memory.embedding import Embedder, Vectors
from tests.fakes.http_server import Answer, FakeServer, Received, json_answer, running

KEY = "sk-secret-5f1e"

TEXTS = [
    "James left the red ball by the fountain.",
    "The red ball lies by the fountain, where James left it.",
    "Rain is forecast for Saturday evening.",
]


def check(vectors: Vectors, count: int, embedder: Embedder) -> None:
    assert vectors.shape == (count, embedder.dimension)
    assert vectors.dtype == np.float32
    assert np.linalg.norm(vectors, axis=1) == pytest.approx(np.ones(count), abs=1e-5)


class EmbedderContract(ABC):
    @pytest.fixture
    @abstractmethod
    def embedder(self) -> Embedder:
        """An open one; the suite closes it."""

    async def test_it_states_its_name_and_a_dimension(self, embedder: Embedder) -> None:
        assert embedder.name == embedder.name.strip() != ""
        assert embedder.dimension >= 1
        await embedder.aclose()

    async def test_each_text_becomes_one_vector_of_length_one(self, embedder: Embedder) -> None:
        check(await embedder.embed(TEXTS), 3, embedder)
        check(await embedder.embed(TEXTS[:1], kind="query"), 1, embedder)
        await embedder.aclose()

    async def test_no_texts_give_no_vectors(self, embedder: Embedder) -> None:
        check(await embedder.embed([]), 0, embedder)
        await embedder.aclose()

    async def test_vectors_come_in_the_order_of_the_texts_through_all_batches(self, embedder: Embedder) -> None:
        texts = [f"{'Jade sees kite ' * (1 + number % 5)}number {number}" for number in range(BATCH * 2 + 3)]
        together = await embedder.embed(texts)
        check(together, len(texts), embedder)
        for place in (0, 7, BATCH - 1, BATCH, len(texts) - 1):
            alone = await embedder.embed([texts[place]])
            assert together[place] == pytest.approx(alone[0], abs=1e-5)
        await embedder.aclose()

    async def test_the_same_text_gives_the_same_vector(self, embedder: Embedder) -> None:
        first, second = await embedder.embed([TEXTS[0], TEXTS[0]])
        assert first.tolist() == second.tolist()
        assert (await embedder.embed([TEXTS[0]]))[0] == pytest.approx(first, abs=1e-5)
        await embedder.aclose()

    async def test_calls_at_once_do_not_mix(self, embedder: Embedder) -> None:
        one_by_one = [await embedder.embed([text]) for text in TEXTS]
        at_once = await asyncio.gather(*(embedder.embed([text]) for text in TEXTS))
        for alone, beside in zip(one_by_one, at_once, strict=True):
            assert beside == pytest.approx(alone, abs=1e-5)
        await embedder.aclose()

    async def test_texts_about_the_same_are_nearer_than_others(self, embedder: Embedder) -> None:
        ball, same_ball, rain = await embedder.embed(TEXTS)
        assert ball @ same_ball > ball @ rain
        await embedder.aclose()

    @pytest.mark.parametrize(
        "text",
        ["!", "the", "\u200b", "\x00", "🙂", "\ud800", "猫", "น้ำ", "مرحبا", "e\u0301", "ab" * 20_000],
        ids=["mark", "stop", "zwsp", "nul", "emoji", "half", "han", "thai", "arabic", "accent", "long"],
    )
    async def test_any_text_that_is_not_blank_has_a_vector(self, embedder: Embedder, text: str) -> None:
        check(await embedder.embed([text]), 1, embedder)
        check(await embedder.embed([text], kind="query"), 1, embedder)
        await embedder.aclose()

    @pytest.mark.parametrize("blank", ["", " ", "\n\t\u3000"])
    async def test_blank_text_is_refused(self, embedder: Embedder, blank: str) -> None:
        with pytest.raises(ValueError, match="text 1 of 2 is blank"):
            await embedder.embed(["James waves.", blank])
        await embedder.aclose()

    async def test_closing_twice_is_allowed(self, embedder: Embedder) -> None:
        await embedder.aclose()
        await embedder.aclose()


class EmbeddingServer(FakeServer):
    """Answers every call well: a text's vector counts its characters, by their code modulo 16. Until it is scripted."""

    dimension = 16

    def __init__(self, contract: WireContract) -> None:
        super().__init__()
        self._contract = contract

    def answer_to(self, received: Received) -> Answer:
        if self.answers:
            return super().answer_to(received)
        return json_answer(self._contract.good([self._vector(text) for text in self._contract.texts(received)]))

    def _vector(self, text: str) -> list[float]:
        codes = np.array([ord(char) for char in text]) % self.dimension
        return [float(count) for count in np.bincount(codes, minlength=self.dimension)]


class WireContract(EmbedderContract):
    """For backends over HTTP.

    Args:
        provider: the first part of the embedder's name.
        ways_to_obtain: words of the message about a model that isn't there.
        path: that is asked.
        environment: name of the variable in which the library would look for a key.
    """

    provider: str
    ways_to_obtain: str
    path: str
    environment: str

    @abstractmethod
    async def open(
        self, address: str, *, model: str = "tiny:1b", key: str | None = KEY, timeout: float = 10.0
    ) -> Embedder: ...

    @abstractmethod
    def good(self, vectors: object) -> dict[str, object]:
        """The JSON of an answer."""

    @abstractmethod
    def texts(self, received: Received) -> list[str]:
        """What was to be embedded."""

    @pytest.fixture
    async def server(self) -> AsyncIterator[EmbeddingServer]:
        server = EmbeddingServer(self)
        async with running(server):
            yield server

    @pytest.fixture
    async def embedder(self, server: EmbeddingServer) -> Embedder:
        return await self.open(server.address)

    async def test_the_name_is_what_a_user_types(self, embedder: Embedder) -> None:
        assert embedder.name == f"{self.provider}:tiny:1b"
        await embedder.aclose()

    async def test_opening_asks_once_to_learn_the_dimension(self, server: EmbeddingServer, embedder: Embedder) -> None:
        (received,) = server.received
        await embedder.aclose()
        assert (received.method, received.path) == ("POST", self.path)
        assert received.headers["authorization"] == f"Bearer {KEY}"
        assert received.json["model"] == "tiny:1b"
        assert len(self.texts(received)) == 1
        assert embedder.dimension == server.dimension

    async def test_a_call_holds_at_most_a_batch(self, server: EmbeddingServer, embedder: Embedder) -> None:
        await embedder.embed([f"coin {number}" for number in range(BATCH * 2 + 1)])
        await embedder.aclose()
        assert [len(self.texts(received)) for received in server.received[1:]] == [BATCH, BATCH, 1]

    async def test_a_model_that_tells_queries_from_documents_is_told(self, server: EmbeddingServer) -> None:
        embedder = await self.open(server.address, model="nomic-embed-text:v1.5")
        await embedder.embed(["Where is the kite?"], kind="query")
        await embedder.embed(["The kite is in the tree."])
        await embedder.aclose()
        assert [self.texts(received) for received in server.received[1:]] == [
            ["search_query: Where is the kite?"],
            ["search_document: The kite is in the tree."],
        ]

    @pytest.mark.parametrize("status", [401, 403])
    async def test_a_key_that_is_refused(self, server: EmbeddingServer, status: int) -> None:
        error = await self.failure(server, json_answer({"error": {"message": "no such key"}}, status=status))
        assert type(error) is EmbedderRefused
        assert "key" in str(error)
        assert server.address in str(error)

    async def test_a_model_that_is_not_there_says_how_to_get_it(self, server: EmbeddingServer) -> None:
        error = await self.failure(server, json_answer({"error": {"message": "no tiny:1b"}}, status=404))
        assert type(error) is EmbedderRefused
        assert self.ways_to_obtain in str(error)

    async def test_a_request_that_is_turned_down_is_told_in_the_servers_words(self, server: EmbeddingServer) -> None:
        error = await self.failure(server, json_answer({"error": {"message": "input is too long"}}, status=400))
        assert type(error) is EmbedderRefused
        assert "input is too long" in str(error)

    async def test_too_many_calls_say_how_long_to_wait(self, server: EmbeddingServer) -> None:
        slow_down = json_answer({"error": {"message": "slow down"}}, status=429, headers={"Retry-After": "7"})
        error = await self.failure(server, slow_down)
        assert type(error) is EmbedderUnavailable
        assert "wait 7 s" in str(error)

    @pytest.mark.parametrize("status", [429, 500, 502, 503])
    async def test_a_server_in_trouble(self, server: EmbeddingServer, status: int) -> None:
        error = await self.failure(server, Answer(status=status, body=b"<html>out of order</html>"))
        assert type(error) is EmbedderUnavailable
        assert server.address in str(error)

    async def test_a_slow_server_is_given_up_at_the_deadline(self, server: EmbeddingServer) -> None:
        server.script(Answer(silent=True))
        with pytest.raises(EmbedderUnavailable, match=r"within 0\.1 s"):
            await self.open(server.address, timeout=0.1)

    async def test_the_callers_own_deadline_passes_through(self, server: EmbeddingServer, embedder: Embedder) -> None:
        server.script(Answer(silent=True))
        with pytest.raises(TimeoutError):
            async with asyncio.timeout(0.1):
                await embedder.embed(TEXTS)
        await embedder.aclose()

    async def test_an_answer_cut_in_the_middle(self, server: EmbeddingServer) -> None:
        whole = json_answer(self.good([[1.0, 2.0]]))
        error = await self.failure(server, Answer(body=whole.body, headers=whole.headers, cut=True))
        assert type(error) is EmbedderUnavailable

    async def test_a_closed_port_names_the_address(self) -> None:
        with socket.socket() as taken:
            taken.bind(("127.0.0.1", 0))
            address = f"http://127.0.0.1:{taken.getsockname()[1]}"
            with pytest.raises(EmbedderUnavailable, match="Start the server") as caught:
                await self.open(address)
        assert address in str(caught.value)

    @pytest.mark.parametrize(
        "body",
        [b"", b"I am not JSON", b"\xff\xfe", b'{"data": [', b"[]", b"null", b'{"weather": "fine"}', b"<html></html>"],
    )
    async def test_an_answer_that_is_not_the_protocol(self, server: EmbeddingServer, body: bytes) -> None:
        error = await self.failure(server, Answer(body=body, headers={"Content-Type": "application/json"}))
        assert type(error) is BadVector

    @pytest.mark.parametrize(
        "vectors",
        [
            [[float("nan"), 1.0, 2.0]],
            [[float("inf"), 1.0, 2.0]],
            [[0.0, 0.0, 0.0]],
            [[]],
            [],
            [[1.0, 2.0, 3.0], [1.0, 2.0, 3.0]],
            [["one", "two", "three"]],
            [None],
            "none today",
        ],
        ids=["nan", "infinity", "zeros", "empty", "none", "too_many", "words", "null", "text"],
    )
    async def test_what_is_no_vector_is_refused(self, server: EmbeddingServer, vectors: object) -> None:
        error = await self.failure(server, json_answer(self.good(vectors)))
        assert type(error) is BadVector
        assert self.provider in str(error)

    async def test_a_vector_of_another_length_than_at_opening_is_refused(self, server: EmbeddingServer) -> None:
        embedder = await self.open(server.address)
        server.script(json_answer(self.good([[1.0] * (server.dimension - 1)])))
        with pytest.raises(BadVector, match="shape"):
            await embedder.embed(TEXTS[:1])
        await embedder.aclose()

    async def test_an_error_leaves_the_embedder_usable(self, server: EmbeddingServer, embedder: Embedder) -> None:
        server.script(Answer(status=500))
        with pytest.raises(EmbedderUnavailable):
            await embedder.embed(TEXTS)
        server.script()
        check(await embedder.embed(TEXTS), 3, embedder)
        await embedder.aclose()

    async def test_a_key_stays_secret_even_if_the_server_repeats_it(self, server: EmbeddingServer) -> None:
        embedder = await self.open(server.address)
        server.script(json_answer({"error": {"message": f"bad key {KEY}"}}, status=401))
        with pytest.raises(EmbedderRefused, match=r"\*\*\*") as caught:
            await embedder.embed(TEXTS)
        await embedder.aclose()
        assert KEY not in "".join(traceback.format_exception(caught.value))
        assert KEY not in repr(embedder)
        assert KEY not in repr(vars(embedder))

    @pytest.mark.parametrize("foreign", ["sk-of-someone-else", "sk-schlüssel", "sk-a\nsk-b"])
    async def test_without_a_key_none_is_sent(
        self, server: EmbeddingServer, foreign: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv(self.environment, foreign)
        embedder = await self.open(server.address, key=None)
        await embedder.aclose()
        (received,) = server.received
        assert "authorization" not in received.headers
        assert "sk-" not in json.dumps(dict(received.headers))

    @pytest.mark.parametrize("address", ["ftp://host", "http://", "localhost", "http://me:secret@host", "http://a:b"])
    async def test_an_address_that_is_none_is_refused_unquoted(self, address: str) -> None:
        with pytest.raises(SettingsError, match="address") as caught:
            await self.open(address)
        assert "secret" not in str(caught.value)

    @pytest.mark.parametrize("key", ["two words", "line\nbreak", "schlüssel"])
    async def test_a_key_that_cannot_be_sent_is_refused_unquoted(self, key: str) -> None:
        with pytest.raises(SettingsError) as caught:
            await self.open("http://127.0.0.1:1", key=key)
        assert key not in str(caught.value)

    async def test_a_time_out_without_time_is_refused(self) -> None:
        with pytest.raises(SettingsError, match="time-out"):
            await self.open("http://127.0.0.1:1", timeout=0)

    async def failure(self, server: EmbeddingServer, answer: Answer) -> EmbedderError:
        """What comes of ``answer``: the same at opening as of an open one, after one call each."""
        embedder = await self.open(server.address)
        server.script(answer)
        server.received.clear()
        with pytest.raises(EmbedderError) as later:
            await embedder.embed(TEXTS[:1])
        await embedder.aclose()
        with pytest.raises(EmbedderError) as at_opening:
            await self.open(server.address)
        assert type(at_opening.value) is type(later.value)
        assert len(server.received) == 2, "the library retried by itself"
        assert len(str(later.value)) < 700
        return later.value


def vendor_errors(root: type[BaseException]) -> set[type[BaseException]]:
    """``root`` and everything below it that is loaded."""
    return {root}.union(*(vendor_errors(child) for child in root.__subclasses__()))
