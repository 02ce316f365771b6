"""What relevance is made of: each signal's part, and how far words are trusted."""

from __future__ import annotations

from dataclasses import fields, replace
from typing import Any

import numpy as np
import pytest

from simuverse.memory.records import Relevance
from simuverse.memory.relevance import DEFAULT_WEIGHTS, Evidence, RelevanceWeights, relevance

TALK = (
    Evidence(bm25=2.0, context_bm25=2.0, cosine=0.5, episode="talk", position=1),
    Evidence(context_bm25=1.5, cosine=0.1, speaker_named=True, episode="talk", position=2),
    Evidence(bm25=0.5, context_bm25=0.5, cosine=0.3, episode="walk", position=1),
    Evidence(cosine=0.2),
)
NEAR = np.array([[1.0, 0.2], [0.1, 0.3], [0.4, 0.9], [0.0, 0.1]])
TIMELY = (False, True, False, True)
SIGNALS = [field.name for field in fields(Relevance) if field.name != "contiguity"]


@pytest.mark.parametrize("name", SIGNALS)
def test_a_signal_of_weight_0_is_no_part_of_it_and_any_other_is(name: str) -> None:
    weights = replace(DEFAULT_WEIGHTS, **{name: 0.0})
    without = relevance(TALK, reach=4.0, near=NEAR, timely=TIMELY, weights=weights)
    assert {getattr(one, name) for one in without} == {0.0}
    assert max(getattr(one, name) for one in relevance(TALK, reach=4.0, near=NEAR, timely=TIMELY)) > 0


def test_a_time_that_is_mentioned_adds_a_tenth_and_never_more_than_fits() -> None:
    plain, lifted = (relevance(TALK, reach=4.0, near=NEAR, timely=timely) for timely in ((), TIMELY))
    assert [after - before for before, after in zip(plain.totals, lifted.totals, strict=True)] == pytest.approx(
        [0, 0.1, 0, 0.1]
    )
    [whole] = relevance(
        [Evidence(bm25=3.0, context_bm25=3.0, cosine=0.9, speaker_named=True)], reach=4.0, timely=[True]
    )
    assert whole.total <= 1


def test_the_most_there_is_is_one_and_the_least_nothing() -> None:
    best = Evidence(bm25=3.0, context_bm25=3.0, cosine=0.9, speaker_named=True)
    found, other = relevance([best, Evidence(cosine=-0.2)], reach=4.0, near=np.array([[1.0], [0.0]]))
    assert found.total == pytest.approx(1)
    assert other.total == pytest.approx(0)


def test_where_someone_is_named_others_words_count_less_and_else_all_the_same() -> None:
    hers, his = (Evidence(bm25=1.0, context_bm25=1.0, cosine=0.3, speaker_named=named) for named in (True, False))
    beside = Evidence(cosine=-0.2)
    found, less, _ = relevance([hers, his, beside], reach=4.0)
    assert less.total == pytest.approx((1 - DEFAULT_WEIGHTS.speaker) * found.total)
    assert found.speaker == pytest.approx(DEFAULT_WEIGHTS.speaker * (found.total - found.contiguity))
    same, _ = relevance([his, beside], reach=4.0)
    assert same.total == pytest.approx(found.total)


def test_whoever_is_named_gains_nothing_by_it_alone() -> None:
    nothing = Evidence(cosine=-0.2, speaker_named=True)
    assert relevance([nothing, Evidence(bm25=1.0, context_bm25=1.0, cosine=0.3)], reach=4.0)[0].total == 0


def test_what_follows_lends_and_what_came_before_does_not() -> None:
    found = Evidence(bm25=3.0, context_bm25=3.0, cosine=0.9, episode="talk", position=2)
    first, last = (Evidence(cosine=-0.2, episode="talk", position=position) for position in (1, 3))
    weights = replace(DEFAULT_WEIGHTS, best_in_episode=0.0)
    before, _, after = relevance([first, found, last], reach=4.0, weights=weights)
    assert before.contiguity > 0 == after.contiguity


def test_nothing_found_is_nothing_weighed() -> None:
    assert list(relevance([], reach=0.0)) == []


@pytest.mark.parametrize(("share", "trusted"), [(0.10, 0.0), (0.15, 0.5), (0.20, 1.0), (0.9, 1.0)])
def test_words_as_written_count_by_how_well_they_were_found(share: float, trusted: float) -> None:
    full, found = (
        relevance(TALK, reach=2.0 / share, weights=weights)
        for weights in (replace(DEFAULT_WEIGHTS, ramp_least=1.0), DEFAULT_WEIGHTS)
    )
    for whole, part in zip(full, found, strict=True):
        assert part.context == pytest.approx(trusted * whole.context)
        assert part.words == pytest.approx(trusted * whole.words)
        assert part.meaning == pytest.approx(whole.meaning)


def test_what_was_said_before_an_answer_is_read_with_it_and_what_comes_later_or_elsewhere_is_not() -> None:
    near = np.array([[1.0], [0.0], [0.0], [0.0], [0.0], [0.0]])
    at = (("talk", 5), ("talk", 6), ("talk", 7), ("talk", 8), ("talk", 4), ("walk", 6))
    found = relevance([Evidence(cosine=0.1, episode=e, position=p) for e, p in at], reach=0.0, near=near)
    assert [one.words_around > 0 for one in found] == [True, True, True, False, False, False]


def test_a_memory_of_no_episode_is_not_held_back_by_standing_alone() -> None:
    alone, last = relevance([Evidence(bm25=2.0, context_bm25=2.0, cosine=0.5), TALK[0]._replace(position=9)], reach=4.0)
    assert alone.total > last.total


@pytest.mark.parametrize(
    "nonsense",
    [
        {"meaning": -1.0},
        {"speaker": float("nan")},
        {"followed_by": float("inf")},
        {"speaker": 1.5},
        dict.fromkeys(SIGNALS, 0.0),
        {"ramp_from": 0.3},
        {"ramp_least": 1.5},
    ],
)
def test_weights_that_make_no_sense_are_refused(nonsense: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match=r"isn't a number|isn't a share|switched off|ramp"):
        RelevanceWeights(**nonsense)
