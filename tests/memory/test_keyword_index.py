from __future__ import annotations

from collections import Counter
from functools import reduce
from itertools import chain, permutations
from math import fsum, log
from operator import add

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.keyword_index import KeywordIndex, Terms, grown

Documents = dict[int, list[str]]


def indexed(documents: Documents) -> KeywordIndex:
    index = KeywordIndex()
    index.put(list(documents), list(documents.values()))
    return index


def naive_scores(documents: Documents, query: list[str], *, size: int) -> list[float]:
    lengths = [len(tokens) for tokens in documents.values() if tokens]
    scores = [0.0] * size
    for row, tokens in documents.items():
        for term, times in Counter(query).items():
            holders = sum(term in other for other in documents.values())
            frequency = tokens.count(term)
            if frequency:
                idf = log(1 + (len(documents) - holders + 0.5) / (holders + 0.5)) * times
                average = sum(lengths) / len(lengths)
                scores[row] += idf * frequency / (frequency + 1.2 * (0.25 + 0.75 * len(tokens) / average))
    return scores


def test_score_of_one_term_is_the_formula_worked_out_by_hand() -> None:
    # N 2, n 1: idf = ln(1 + 1.5/1.5) = ln 2. Lengths 2 and 4, average 3: 1.2 * (0.25 + 0.75 * 2/3) = 0.9.
    index = indexed({0: ["red", "ball"], 1: ["jad", "sing", "a", "song"]})
    assert index.scores(["ball"], size=2).tolist() == [pytest.approx(log(2) / 1.9), 0]


def test_repeats_in_a_document_raise_frequency_and_length() -> None:
    # Lengths 3 and 1, average 2: 1.2 * (0.25 + 0.75 * 3/2) = 1.65; frequency 2.
    index = indexed({0: ["ball", "ball", "red"], 1: ["song"]})
    assert index.scores(["ball"], size=2)[0] == pytest.approx(log(2) * 2 / (2 + 1.65))


def test_a_term_twice_in_the_query_counts_twice() -> None:
    index = indexed({0: ["red", "ball"], 1: ["song"]})
    once, twice = index.scores(["ball"], size=2), index.scores(["ball", "ball"], size=2)
    assert twice.tolist() == pytest.approx((2 * once).tolist())


def test_a_term_in_every_document_still_scores_above_zero() -> None:
    # N 3, n 3: idf = ln(1 + 0.5/3.5) = 0.13353; all of average length: 1 / (1 + 1.2).
    index = indexed({0: ["ball"], 1: ["ball"], 2: ["ball"]})
    assert index.scores(["ball"], size=3).tolist() == pytest.approx([0.1335314 / 2.2] * 3)


@pytest.mark.parametrize(
    ("lanterns", "length", "score"),
    [
        pytest.param(3, 3, 0.5253056, id="three of three words"),
        pytest.param(2, 2, 0.50612706, id="two of two"),
        pytest.param(1, 3, 0.35391074, id="one of three"),
        pytest.param(1, 4, 0.31824225, id="one of four"),
        pytest.param(1, 5, 0.28910512, id="one of five"),
    ],
)
def test_scores_are_those_that_a_weaviate_server_gives(lanterns: int, length: int, score: float) -> None:
    # Its own tests assert them, of ten documents of 41 words, five of which hold the word, so long and so often.
    holders = [(1, 5), (1, 4), (3, 3), (2, 2), (1, 3)]
    documents = [["lantern"] * times + ["harbour"] * (size - times) for times, size in holders]
    documents += [["harbour"] * size for size in (7, 7, 7, 1, 2)]
    scores = indexed(dict(enumerate(documents))).scores(["lantern"], size=10)
    assert scores[holders.index((lanterns, length))] == pytest.approx(score, abs=1e-7)
    assert not scores[len(holders) :].any()


def test_the_reach_of_a_query_is_exact_in_every_order_of_its_words() -> None:
    words = ["ball", "red", "kite", "rain", "song"]
    index = indexed({row: words[:length] for row, length in enumerate((1, 2, 3, 4, 5, 2, 1))})
    orders = [[index.reach([word]) for word in order] for order in permutations(words)]
    assert len({reduce(add, order) for order in orders}) > 1
    assert {index.reach(order) for order in permutations(words)} == {fsum(order) for order in orders}


def test_documents_without_tokens_count_in_n_but_not_in_the_average() -> None:
    # N 3, n 1: ln(1 + 2.5/1.5); average 2 of the two documents that have tokens.
    index = indexed({0: ["red", "ball"], 1: ["a", "song"], 2: []})
    assert len(index) == 3
    assert index.scores(["ball"], size=3)[0] == pytest.approx(log(1 + 2.5 / 1.5) / (1 + 1.2))


def test_an_empty_index_and_an_empty_query_score_nothing() -> None:
    assert KeywordIndex().scores(["ball"], size=0).tolist() == []
    assert indexed({0: []}).scores(["ball"], size=1).tolist() == [0]
    assert indexed({0: ["ball"]}).scores([], size=1).tolist() == [0]


def test_holding_asks_for_every_term_and_for_at_least_one() -> None:
    index = indexed({0: ["red", "ball"], 1: ["ball"], 2: ["red", "red"]})
    assert index.holding(["red", "ball"], size=3).tolist() == [True, False, False]
    assert index.holding(["red", "red"], size=3).tolist() == [True, False, True]
    assert index.holding(["ball", "unheard"], size=3).tolist() == [False, False, False]
    assert index.holding([], size=3).tolist() == [False, False, False]


def test_replacing_a_document_takes_its_old_words_away() -> None:
    index = indexed({0: ["red", "ball"], 1: ["song"]})
    index.put([0], [["blue", "kite"]])
    assert index.scores(["ball"], size=2).tolist() == [0, 0]
    assert index.scores(["kite"], size=2)[0] == pytest.approx(log(2) / (1 + 1.2 * (0.25 + 0.75 * 2 / 1.5)))


WORDS = st.sampled_from(["ball", "red", "kite", "jad", "song", "rain"])
CHANGES = st.lists(st.tuples(st.integers(0, 7), st.none() | st.lists(WORDS, max_size=6)), max_size=25)


@given(changes=CHANGES, query=st.lists(WORDS | st.just("unheard"), max_size=5))
def test_scores_equal_a_naive_count_after_any_changes(
    changes: list[tuple[int, list[str] | None]], query: list[str]
) -> None:
    index, documents = KeywordIndex(), Documents()
    for row, tokens in changes:
        if tokens is None:
            documents.pop(row, None)
            index.remove([row])
        else:
            documents[row] = tokens
            index.put([row], [tokens])
    assert len(index) == len(documents)
    assert index.scores(query, size=8).tolist() == pytest.approx(naive_scores(documents, query, size=8))


@given(batches=st.lists(st.dictionaries(st.integers(0, 40), st.lists(WORDS, max_size=6)), max_size=4))
def test_batches_give_the_same_index_as_one_at_a_time(batches: list[Documents]) -> None:
    together, singly = KeywordIndex(), KeywordIndex()
    for batch in batches:
        together.put(list(batch), list(batch.values()))
        for row, tokens in batch.items():
            singly.put([row], [tokens])
        together.remove(row for row in batch if row % 5 == 0)
        singly.remove(row for row in batch if row % 5 == 0)
    query = ["ball", "red", "song"]
    assert together.scores(query, size=41).tolist() == pytest.approx(singly.scores(query, size=41).tolist())


def test_growing_keeps_what_is_there_and_copies_rarely() -> None:
    array, copies = np.arange(10), 0
    for size in range(1, 10_000):
        larger = grown(array, size)
        copies += larger is not array
        array = larger
    assert copies < 25
    assert array[:10].tolist() == list(range(10))
    assert not array[10:].any()


def test_documents_put_again_and_again_keep_their_scores_and_leave_no_gaps_behind() -> None:
    documents = {row: [f"word{row % 3}", "ball", *["red"] * (row % 2)] for row in range(10)}
    index = indexed(documents)
    for again in range(50):
        documents[again % 10] = ["ball", f"word{again % 4}"]
        index.put([again % 10], [documents[again % 10]])
    for query in (["ball"], ["word3", "red"]):
        assert index.scores(query, size=10).tolist() == pytest.approx(naive_scores(documents, query, size=10))
    assert index._used <= 2 * index._tokens + 2


def test_indexes_that_share_terms_score_as_if_they_did_not() -> None:
    terms = Terms()
    alone, together = KeywordIndex(terms), KeywordIndex(terms)
    texts = [["red", "ball"], ["jad", "sings"], []]
    distinct = terms.numbered(chain.from_iterable(texts), [len(text) for text in texts])
    alone.put_numbered([0, 1, 2], distinct)
    together.put_numbered([0, 1, 2], distinct.joined(np.array([0, 1, 0, 2, 1, 1]), np.array([1, 2, 3])))
    documents = {0: ["red", "ball"], 1: ["jad", "sings", "red", "ball"], 2: ["jad", "sings", "jad", "sings"]}
    for query in (["ball"], ["jad", "red"], ["absent"]):
        assert alone.scores(query, size=3).tolist() == indexed(dict(enumerate(texts))).scores(query, size=3).tolist()
        assert together.scores(query, size=3).tolist() == indexed(documents).scores(query, size=3).tolist()
    alone.put([3], [["later"]])
    assert together.scores(["later"], size=4).tolist() == [0] * 4
