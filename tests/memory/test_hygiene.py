"""What says nothing new, and what only looks so."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.memory.analysis import tokens
from simuverse.memory.hygiene import containment, differing_figures, likeness, restates

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
    assert restates(text, [[], text[::-1]])


def test_of_nothing_there_is_no_share() -> None:
    assert containment([], ["ball"]) == 0
    assert likeness([], ["ball"]) == 0
    assert likeness(["ball"], []) == 0
    assert not restates([], [[], ["ball"]])
    assert not restates(["ball"], [])


@pytest.mark.parametrize(
    "text",
    [
        "I saw the red ball south-east of the fountain, behind the cafe.",
        "The red ball: Jade saw it behind the cafe, south-east of the fountain!",
        "Behind the cafe, when the lab door was open, I saw the red ball.",
    ],
)
def test_the_same_in_other_words_of_its_own_is_a_restatement(text: str) -> None:
    assert restates(tokens(text), [tokens("Greta bakes bread."), KNOWN])


@pytest.mark.parametrize(
    "text",
    [
        "Jade: I saw the red ball south-east of the fountain, behind the cafe, when the lab door was open at 9:45.",
        "Jade saw 2 red balls behind the cafe.",
        "The red ball rolled into the harbour and sank.",
        "James wants his ball back.",
    ],
)
def test_a_number_or_a_thing_that_is_new_makes_it_new(text: str) -> None:
    assert not restates(tokens(text), [KNOWN])


def test_a_number_left_out_is_not_a_number_changed() -> None:
    assert not differing_figures(tokens("the lab door was open"), KNOWN)
    assert differing_figures(tokens("the lab door was open at 9:45"), KNOWN)


def test_a_name_that_is_new_makes_it_new_however_long_the_rest() -> None:
    changed = tokens(
        "Jesse: I saw the red ball south-east of the fountain, behind the cafe, when the lab door was open at 9:30."
    )

    assert not restates(changed, [KNOWN], vital=tokens("Jesse, 9:30"))
    assert restates(KNOWN, [KNOWN], vital=tokens("Jade, 9:30"))
    assert restates(KNOWN, [KNOWN], vital=tokens("none worth naming")), "vital is what the text itself holds"


def test_several_known_texts_do_not_add_up_to_one() -> None:
    pieces = [tokens("Jade saw the ball."), tokens("The door is open."), tokens("The cafe is south-east.")]

    assert not restates(tokens("Jade saw the ball and the open door south-east of the cafe."), pieces)


@pytest.mark.parametrize("text", ["我把红球放在喷泉旁边", "Я оставил красный мяч у фонтана", "تركت الكرة قرب النافورة"])
def test_it_is_the_same_in_any_script(text: str) -> None:
    assert restates(tokens(text), [tokens(text)])
    assert not restates(tokens(text), [tokens("Greta bakes bread.")])
