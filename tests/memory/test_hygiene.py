"""How alike texts are by their words."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.memory.analysis import tokens
from simuverse.memory.hygiene import containment, differing_figures, likeness

KNOWN = tokens(
    "Jade: I saw the red ball south-east of the fountain, behind the cafe, when the lab door was open at 9:30."
)

words = st.lists(st.sampled_from(["ball", "mill", "rain", "9", "oven", "key"]), max_size=8)


@settings(deadline=None)
@given(words, words)
def test_the_measures_are_shares_and_likeness_has_no_direction(one: list[str], other: list[str]) -> None:
    assert 0 <= containment(one, other) <= 1
    assert 0 <= likeness(one, other) <= 1
    assert likeness(one, other) == likeness(other, one)
    assert likeness(one, other) <= containment(one, other)


@settings(deadline=None)
@given(words.filter(bool))
def test_a_text_holds_itself_and_is_like_itself_in_any_order(text: list[str]) -> None:
    assert containment(text, text[::-1]) == 1
    assert likeness(text, text[::-1] * 2) == 1
    assert not differing_figures(text, text[::-1])


def test_of_nothing_there_is_no_share() -> None:
    assert containment([], ["ball"]) == 0
    assert likeness([], ["ball"]) == 0
    assert likeness(["ball"], []) == 0


def test_a_number_left_out_is_not_a_number_changed() -> None:
    assert not differing_figures(tokens("the lab door was open"), KNOWN)
    assert differing_figures(tokens("the lab door was open at 9:45"), KNOWN)
