"""What was erased is in no cache of the process either."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pytest

from simuverse.memory.analysis import content_words
from simuverse.memory.caches import let_go
from simuverse.memory.embedding import Vectors
from simuverse.memory.stores.sqlite import SQLiteStore
from simuverse.memory.stores.sqlite_database import DecodedRecords
from simuverse.memory.word_vectors import WordVectors
from tests.contracts.memory_reference import DIMENSION, entry
from tests.contracts.memory_store import EMBEDDER
from tests.memory.others import others


class Table(WordVectors):
    def __init__(self) -> None:
        super().__init__()
        self.looked_up: list[str] = []

    def look_up(self, words: Sequence[str]) -> Vectors:
        self.looked_up += words
        return np.ones((len(words), 1), dtype=np.float32)

    def weights(self, words: Sequence[str]) -> list[float]:
        return [1.0] * len(words)


def test_a_table_of_words_looks_up_again_what_it_let_go_of() -> None:
    table = Table()
    table.content(["the kite"])
    table.content(["the kite"])
    assert table.looked_up == ["kite"]
    let_go()
    table.content(["the kite"])
    assert table.looked_up == ["kite", "kite"]


async def test_what_is_noted_ahead_is_not_looked_up_when_it_is_compared() -> None:
    table = Table()
    await table.note(["the kite", "the ball"])
    assert table.looked_up == ["kite", "ball"]
    table.content(["the ball", "the kite"])
    assert table.looked_up == ["kite", "ball"]


async def test_noting_ahead_gives_way_and_ends_where_the_room_does(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simuverse.memory.word_vectors.NOTED_TEXTS", 100)
    table = Table()
    async with others() as turns:
        await table.note([f"kite{number}x" for number in range(300)])
    assert turns.count > 0
    assert len(table.looked_up) == 128


def test_of_decoded_memories_the_oldest_go_where_the_room_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("simuverse.memory.stores.sqlite_database.CACHED_MEMORIES", 2)
    decoded, kite, ball = DecodedRecords(), entry("The kite is red.").memory, entry("The ball is red.", 1).memory
    touched = [replace(kite, importance=n) for n in range(1, 5)]
    for memory in touched:
        decoded.keep(1, memory, 1)
    assert decoded.known([1], 1) == {1: touched[-1]}
    for key in (2, 3):
        decoded.keep(key, ball, 1)
    assert decoded.known([1, 2, 3], 1) == {2: ball, 3: ball}
    let_go()
    assert len(decoded) == 0


def test_a_memory_is_read_again_once_it_was_changed_here_or_the_file_elsewhere() -> None:
    decoded, kite = DecodedRecords(), entry("The kite is red.").memory
    theirs = replace(kite, owner="Jamal")
    decoded.keep(1, kite, 1)
    decoded.keep(2, theirs, 1)
    assert decoded.known([1, 2, 3], 1) == {1: kite, 2: theirs}
    assert decoded.known([1, 2, 3], 2) == {}
    decoded.changed([kite])
    assert decoded.known([1, 2], 1) == {2: theirs}, "another's memory may have the same id"


@pytest.mark.parametrize("whole", [False, True])
async def test_erasing_a_memory_or_all_of_an_agent_empties_them(whole: bool) -> None:
    store = await SQLiteStore.open(None, embedder_name=EMBEDDER, dimension=DIMENSION)
    collection, one = await store.collection("Jade"), entry("The safe opens with 4711.")
    await collection.add([one])
    content_words(one.memory.summary)
    assert content_words.cache_info().currsize > 0
    await (store.erase("Jade") if whole else collection.erase([one.memory.id]))
    assert content_words.cache_info().currsize == 0
    await store.aclose()
