"""Words that mean the same, in whatever form."""

from __future__ import annotations

import pytest

from simuverse.memory.analysis import tokens
from simuverse.memory.synonyms import mean_the_same, tells_little


@pytest.mark.parametrize(
    ("word", "other"),
    [("mend", "repairs"), ("bought", "buy"), ("belongs", "own"), ("ship", "boats"), ("forbidden", "forbade")],
)
def test_two_of_one_group_mean_the_same_both_ways(word: str, other: str) -> None:
    assert mean_the_same(word, tokens(word), other, tokens(other))
    assert mean_the_same(other, tokens(other), word, tokens(word))


@pytest.mark.parametrize(
    ("word", "other"), [("lend", "borrow"), ("sold", "bought"), ("pear", "plum"), ("forget", "remember"), ("x", "y")]
)
def test_what_turns_the_parts_round_or_is_another_thing_does_not(word: str, other: str) -> None:
    assert not mean_the_same(word, tokens(word), other, tokens(other))


def test_to_be_and_to_have_tell_little() -> None:
    assert tells_little("keeps")
    assert not tells_little("keeps", in_place_of_another=True)
    assert tells_little("stays", in_place_of_another=True)
    assert not tells_little("sells")
