"""The embedders that run in this process."""

from __future__ import annotations

import asyncio
import importlib
import subprocess
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedders.with_words import WithWords
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.embedding import Embedder
from simuverse.memory.word_vectors import WordVectors
from tests.contracts.embedder import TEXTS, EmbedderContract, check
from tests.memory.others import others


class TestHashing(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return await HashingEmbedder.open()


class TestWordLlama(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return await WordLlamaEmbedder.open()

    async def test_what_means_the_same_in_other_words_is_nearer(self, embedder: Embedder) -> None:
        dog, puppy, tax = await embedder.embed(["The dog is hungry.", "A puppy wants food.", "We paid our taxes."])
        assert dog @ puppy > dog @ tax + 0.1

    async def test_a_common_word_weighs_less_than_a_rare_one(self, embedder: Embedder) -> None:
        assert isinstance(embedder, WordVectors)
        took, world, walnut = embedder.weights(["took", "world", "walnut"])
        assert 0 < took < 0.5 < world < 0.8 < walnut


class TestWithWords(EmbedderContract):
    @pytest.fixture
    async def embedder(self) -> Embedder:
        return WithWords(await HashingEmbedder.open(), await WordLlamaEmbedder.open())

    async def test_it_is_the_sentences_embedder_in_all_but_single_words(self, embedder: Embedder) -> None:
        sentences, words = await HashingEmbedder.open(), await WordLlamaEmbedder.open()
        assert (embedder.name, embedder.dimension) == (sentences.name, sentences.dimension)
        assert (await embedder.embed(TEXTS) == await sentences.embed(TEXTS)).all()
        assert isinstance(embedder, WordVectors)
        assert (embedder.word_vectors(["kite", "ball"]) == words.word_vectors(["kite", "ball"])).all()
        assert embedder.weights(["kite", "took"]) == words.weights(["kite", "took"])


@pytest.mark.parametrize("opening", [HashingEmbedder.open, WordLlamaEmbedder.open])
def test_any_text_that_is_not_blank_has_a_vector(opening: Callable[[], Awaitable[Embedder]]) -> None:
    async def vectors(texts: list[str]) -> None:
        embedder = await opening()
        check(await embedder.embed(texts), len(texts), embedder)

    @settings(deadline=None)
    @given(st.lists(st.text(st.characters(), min_size=1).filter(str.strip), max_size=3))
    def holds(texts: list[str]) -> None:
        asyncio.run(vectors(texts))

    holds()


def in_another_process(script: str, *, folder: Path | None = None, hash_seed: str = "0") -> str:
    result = subprocess.run(
        [sys.executable, "-W", "error", "-c", script],
        cwd=folder,
        env={"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[2]), "HOME": str(folder or "")},
        capture_output=True,
        text=True,
        check=True,
    )
    assert result.stderr == ""
    return result.stdout


EMBED = """
import asyncio, hashlib, sys
from simuverse.memory.embedders.{module} import {name}
async def main():
    embedder = await {name}.open()
    sys.stdout.write(hashlib.sha256((await embedder.embed({texts})).tobytes()).hexdigest())
asyncio.run(main())
"""


@pytest.mark.parametrize(("module", "name"), [("hashing", "HashingEmbedder"), ("wordllama", "WordLlamaEmbedder")])
def test_vectors_are_the_same_in_another_process(module: str, name: str) -> None:
    script = EMBED.format(module=module, name=name, texts=TEXTS)
    assert in_another_process(script, hash_seed="1") == in_another_process(script, hash_seed="2")


def test_wordllama_is_not_fooled_by_weights_in_the_working_folder(tmp_path: Path) -> None:
    for folder, file in (
        ("weights", "l2_supercat_256.safetensors"),
        ("tokenizers", "l2_supercat_tokenizer_config.json"),
    ):
        for place in (tmp_path, tmp_path / ".cache" / "wordllama"):
            (place / folder).mkdir(parents=True)
            (place / folder / file).write_bytes(b"junk")
    script = EMBED.format(module="wordllama", name="WordLlamaEmbedder", texts=TEXTS)
    assert in_another_process(script, folder=tmp_path) == in_another_process(script)


def test_the_library_is_not_imported_for_its_weights_and_the_log_is_left_alone() -> None:
    script = """
import asyncio, logging, sys
from simuverse.memory.embedders.with_words import WithWords
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
asyncio.run(WordLlamaEmbedder.open())
assert not {"wordllama", "requests", "huggingface_hub"} & set(sys.modules)
assert logging.getLogger().handlers == []
sys.stdout.write(logging.getLevelName(logging.getLogger().level))
"""
    assert in_another_process(script) == "WARNING"


def test_missing_weights_are_never_downloaded_and_the_cure_is_named(tmp_path: Path) -> None:
    script = """
import asyncio, socket, sys
from simuverse.memory.embedders import wordllama
wordllama.WEIGHTS = "gone.safetensors"
def refuse(*args, **kwargs): raise AssertionError("it goes to the network")
socket.socket.connect = refuse
socket.getaddrinfo = refuse
from simuverse.errors import EmbedderUnavailable
try:
    asyncio.run(wordllama.WordLlamaEmbedder.open())
except EmbedderUnavailable as error:
    sys.stdout.write(str(error))
"""
    message = in_another_process(script, folder=tmp_path)
    assert "gone.safetensors" in message
    assert "pip install --force-reinstall wordllama" in message


async def test_long_and_short_texts_together_are_as_each_alone() -> None:
    embedder = await WordLlamaEmbedder.open()
    texts = ["kite", "ball " * 30_000, "Jade", *(f"coin {number}" for number in range(100)), "tree " * 20_000]
    together = await embedder.embed(texts)
    alone = np.concatenate([await embedder.embed([text]) for text in texts])
    assert together.tolist() == alone.tolist()


async def test_wordllama_loads_and_embeds_beside_the_loop() -> None:
    async with others() as turns:
        embedder = await WordLlamaEmbedder.open()
        before = turns.count
        await embedder.embed([f"Jamal counts coin {number}." for number in range(2000)])
    assert turns.count > before + 1


async def test_wordllama_gives_what_its_library_gives_for_a_whole_text() -> None:
    """However it cuts a text into stretches to keep."""
    embedder = await WordLlamaEmbedder.open()
    library = importlib.import_module("wordllama")
    model = library.WordLlama.load(cache_dir=Path(str(library.__file__)).parent, disable_download=True)
    texts = [
        "jade hid the kite behind the north bench.",
        " two  spaces, and one at the end ",
        "a <s> mark </s>, <em>another</em> and a < b",
        f"a word of {'very ' * 3}{'long' * 40} letters",
        "ein käse für 3,50 € – \u2581 日本語 の 本 😀 🇩🇪",
        "line\nafter\tline \u200b.",
    ]
    for again in range(2):
        assert await embedder.embed(texts) == pytest.approx(model.embed(texts, norm=True), abs=1e-6), again
