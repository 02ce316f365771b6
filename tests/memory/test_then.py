"""What asks how things were, and how they are."""

from __future__ import annotations

import pytest

from simuverse.memory.then import asks_about_then


@pytest.mark.parametrize(
    "text",
    [
        "Where did she live before?",
        "Where did Mira live before she moved?",
        "What was the number of my locker on 3 March 2031?",
        "Where was the key at that time?",
        "What was her previous job?",
        "Where did you use to live?",
        "Wo hat sie früher gewohnt, wo war das?",
        "Où habitait-elle avant?",
    ],
)
def test_a_question_about_the_past_is_told(text: str) -> None:
    assert asks_about_then(text)


@pytest.mark.parametrize(
    "text",
    [
        "Where does she live?",
        "Where does she live now?",
        "What did Mira tell you about the key?",
        "Did you see the red ball?",
        "Will you come on 3 March?",
        "I was at the mill.",
    ],
)
def test_another_isnt(text: str) -> None:
    assert not asks_about_then(text)
