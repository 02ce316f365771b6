"""What is made of a collection's counts, without a server."""

from __future__ import annotations

import pytest

from simuverse.memory.keyword_index import KeywordIndex
from simuverse.memory.stores.weaviate_statistics import Words, WordStatistics

WORDS = ("ball", "red", "kite", "rain", "song")
DOCUMENTS = [WORDS[:length] * (1 + length % 2) for length in (1, 2, 3, 4, 5, 2, 1, 0)]


@pytest.mark.parametrize("query", [WORDS, ("red", "song", "kite"), ("kite", "kite", "ball"), ("unheard", "red")])
def test_counted_words_score_and_reach_what_an_index_of_them_does(query: tuple[str, ...]) -> None:
    index = KeywordIndex()
    index.put(range(len(DOCUMENTS)), DOCUMENTS)
    lengths = [len(document) for document in DOCUMENTS if document]
    counted = WordStatistics(
        size=len(DOCUMENTS),
        average=sum(lengths) / len(lengths),
        containing={word: sum(word in document for document in DOCUMENTS) for word in query},
    )
    assert counted.reach(query) == index.reach(query)
    expected = index.scores(query, size=len(DOCUMENTS)).tolist()
    assert [*map(counted.scorer(query), map(Words.of, DOCUMENTS))] == pytest.approx(expected)
