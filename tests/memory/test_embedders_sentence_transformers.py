"""The Sentence Transformers embedder: always against a stand-in for the library, and against itself where installed."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from numpy.typing import NDArray

from simuverse.errors import EmbedderRefused, EmbedderUnavailable, MissingExtra
from simuverse.memory.embedders.sentence_transformers import BATCH, SentenceTransformersEmbedder
from simuverse.memory.embedding import Embedder
from tests.contracts.embedder import TEXTS, EmbedderContract

INSTALLED = find_spec("sentence_transformers") is not None


class StandIn:
    """The part of ``sentence_transformers.SentenceTransformer`` that is used, counting characters."""

    calls: list[tuple[str, int]]

    def __init__(self, name: str, *, local_files_only: bool) -> None:
        assert local_files_only
        if name != "tiny":
            raise OSError(f"{name} is not a local folder")
        self.calls = []
        self.memory_full = False

    def encode_query(self, texts: Sequence[str], *, batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]:
        return self._encode("query", texts, batch_size, show_progress_bar)

    def encode_document(self, texts: Sequence[str], *, batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]:
        return self._encode("document", texts, batch_size, show_progress_bar)

    def _encode(self, kind: str, texts: Sequence[str], batch_size: int, show_progress_bar: bool) -> NDArray[np.float32]:
        assert not show_progress_bar
        self.calls.append((kind, batch_size))
        if self.memory_full:
            raise RuntimeError("CUDA out of memory")
        return np.array(
            [np.bincount(np.array([ord(char) for char in text]) % 16, minlength=16) for text in texts], dtype=np.float32
        )


@pytest.fixture
def _stand_in(monkeypatch: pytest.MonkeyPatch) -> None:
    library = ModuleType("sentence_transformers")
    monkeypatch.setattr(library, "SentenceTransformer", StandIn, raising=False)
    monkeypatch.setitem(sys.modules, "sentence_transformers", library)


@pytest.mark.usefixtures("_stand_in")
class TestStandIn(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return await SentenceTransformersEmbedder.open("tiny")

    async def test_the_models_own_ways_for_queries_and_documents_are_used(self) -> None:
        model = StandIn("tiny", local_files_only=True)
        embedder = SentenceTransformersEmbedder("tiny", model, 16)
        await embedder.embed(TEXTS, kind="query")
        await embedder.embed(TEXTS)
        assert model.calls == [("query", BATCH), ("document", BATCH)]

    async def test_what_fails_while_it_computes_names_the_embedder(self) -> None:
        model = StandIn("tiny", local_files_only=True)
        model.memory_full = True
        with pytest.raises(EmbedderUnavailable, match=r"sentence-transformers:tiny .*out of memory"):
            await SentenceTransformersEmbedder("tiny", model, 16).embed(TEXTS)

    async def test_a_model_that_is_not_here_is_refused_with_the_line_that_gets_it(self) -> None:
        with pytest.raises(EmbedderRefused, match=r"SentenceTransformer\('huge'\)"):
            await SentenceTransformersEmbedder.open("huge")


async def test_a_missing_library_is_named_with_the_line_that_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(MissingExtra, match=r'pip install "simu-verse\[sentence-transformers\]"'):
        await SentenceTransformersEmbedder.open("all-MiniLM-L6-v2")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A model of one table, made here of WordLlama's, so that none need be downloaded."""
    wordllama = import_module("wordllama")
    tokenizers = import_module("tokenizers")
    library = import_module("sentence_transformers")
    modules = import_module("sentence_transformers.sentence_transformer.modules")
    package = Path(str(wordllama.__file__)).parent
    table = wordllama.WordLlama.load(cache_dir=package, disable_download=True).embedding
    tokenizer = tokenizers.Tokenizer.from_file(str(package / "tokenizers" / "l2_supercat_tokenizer_config.json"))
    folder = tmp_path_factory.mktemp("model")
    static = modules.StaticEmbedding(tokenizer, embedding_weights=table)
    library.SentenceTransformer(modules=[static], device="cpu").save(str(folder))
    return folder


@pytest.mark.skipif(not INSTALLED, reason="sentence-transformers isn't installed")
class TestSentenceTransformers(EmbedderContract):
    @pytest.fixture
    async def embedder(self, folder: Path) -> Embedder:
        return await SentenceTransformersEmbedder.open(str(folder))

    async def test_a_model_that_is_not_here_is_refused_and_not_downloaded(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def refuse(*_: object, **__: object) -> None:
            raise AssertionError("it goes to the network")

        monkeypatch.setattr("socket.getaddrinfo", refuse)
        with pytest.raises(EmbedderRefused, match="no-such-maker/no-such-model"):
            await SentenceTransformersEmbedder.open("no-such-maker/no-such-model")
