"""Words found by likeness: how near, what each counts for, and what leads where sentences share no word."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

from simuverse.bench.invented_texts import InventedTexts
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.embedding import Vectors, unit_vectors
from simuverse.memory.nearness import nearness, rarity
from simuverse.memory.records import MemoryQuery, SearchType
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.word_vectors import WordVectors
from tests.memory.recalling import Pool, summaries

TABLE = {"boat": (1, 0, 0), "vessel": (0.8, 0.6, 0), "bread": (0, 0, 1), "anchor": (0, 1, 0), "loaf": (-0.6, 0, 0.8)}


class Table(WordVectors):
    def look_up(self, words: Sequence[str]) -> Vectors:
        return unit_vectors([TABLE[word] for word in words], count=len(words), dimension=3, embedder="table")

    def weights(self, words: Sequence[str]) -> list[float]:
        return [1.0] * len(words)


def test_each_word_counts_by_the_nearest_of_the_text() -> None:
    near = nearness("The boat and the bread?", ["a vessel", "Bread, bread and a boat", "an anchor"], Table())
    assert near is not None
    assert near.tolist() == [pytest.approx(row, abs=1e-6) for row in ([0.8, 0], [1, 1], [0, 0])]


def test_nearness_is_never_below_zero_and_a_text_without_words_is_near_nothing() -> None:
    near = nearness("boat", ["a loaf", "...", "and so it was"], Table())
    assert near is not None
    assert near.tolist() == [[0], [0], [0]]


@pytest.mark.parametrize(("query", "texts"), [("and so?", ["a boat"]), ("boat", ["...", "and so"]), ("boat", [])])
def test_without_words_there_is_nothing_to_tell(query: str, texts: list[str]) -> None:
    assert nearness(query, texts, Table()) is None


def test_a_word_that_few_memories_hold_counts_more() -> None:
    near = nearness("boat bread", ["boat", "boat", "boat and bread", "anchor"], Table())
    assert near is not None
    boat, bread = rarity(near)
    assert bread > boat > 0


@pytest.fixture
async def wordllama() -> WordLlamaEmbedder:
    return await WordLlamaEmbedder.open()


async def test_wordllama_has_a_table_of_words_that_pays_no_heed_to_capitals(wordllama: WordLlamaEmbedder) -> None:
    assert isinstance(wordllama, WordVectors)
    captain, shouted, skipper, bread = wordllama.word_vectors(["captain", "CAPTAIN", "skipper", "bread"])
    assert captain @ shouted == pytest.approx(1)
    assert captain @ skipper > captain @ bread
    [sentence], [loud] = await wordllama.embed(["the tide is out"]), await wordllama.embed(["The Tide Is OUT"])
    assert (sentence == loud).all()


async def test_words_looked_up_again_are_the_same_however_many_were_looked_up(
    wordllama: WordLlamaEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    [tide] = wordllama.word_vectors(["tide"])
    monkeypatch.setattr("simuverse.memory.word_vectors.CACHED_WORDS", 3)
    many = wordllama.word_vectors(["ebb", "flood", "tide", "quay", "tide"])
    assert many.shape == (5, wordllama.dimension)
    assert many[2] @ tide == pytest.approx(1)
    assert many[4] @ tide == pytest.approx(1)


@pytest.mark.parametrize("words", [1, 2, 3, 5, 8])
async def test_nearness_is_the_same_to_the_last_bit_whatever_was_looked_up_before(
    wordllama: WordLlamaEmbedder, words: int
) -> None:
    texts = InventedTexts(5).draw(81)
    query = " ".join(texts.pop().split()[:words])
    near = nearness(query, texts, wordllama)
    for seed in range(5):
        wordllama.let_go()
        await wordllama.note(InventedTexts(seed).draw(40) + texts[::-1])
        again = nearness(query, texts, wordllama)
        assert near is not None
        assert again is not None
        assert (near == again).all()


async def test_an_answer_that_shares_no_word_with_the_question_is_found(wordllama: WordLlamaEmbedder) -> None:
    store = await SQLiteStore.open(None, embedder_name=wordllama.name, dimension=wordllama.dimension)
    try:
        pool = Pool(await store.collection("Ada"), wordllama)
        await pool.keep("Master retired early, a rotten molar again.")
        for text in (
            "Rain fell on the pier.",
            "The baker sold out by ten.",
            "Two swans went by.",
            "It was a long week.",
        ):
            await pool.keep(text)

        recalled = await pool.recall("Which captain has an aching tooth?")
        as_written = await pool.recall(
            MemoryQuery(search_type=SearchType.KEYWORD, text="Which captain has an aching tooth?")
        )

        assert summaries(recalled)[0].startswith("Master")
        assert recalled.candidates[0].relevance.words > 0
        assert as_written.candidates == ()
    finally:
        await store.aclose()
