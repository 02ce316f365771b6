"""How sure a query is, and which texts ask for nothing."""

from __future__ import annotations

import pytest

from simuverse.memory.gate import FIRST, MANY, Signs, least_sureness
from simuverse.memory.small_talk import asks_nothing


def test_sureness_adds_up_what_speaks_for_it_and_the_meaning_of_those_ranked_first() -> None:
    assert Signs(0.25, 0.5, [0.5, 0.4, 0.3, *[-1.0] * FIRST], 0.75).sureness == pytest.approx(1.9)
    assert Signs(0.25, 0.5, [0.5], 0.0).sureness == pytest.approx(1.25)
    assert Signs(0.25, 0.5, [], 0.0).sureness == 0.75


def test_cosines_are_added_up_exactly() -> None:
    assert 0.1 + 0.2 + 0.3 != 0.6
    assert Signs(0, 0, [0.1, 0.2, 0.3], 0).sureness == 0.6 / 3


def test_less_is_asked_where_little_was_found_and_never_more_than_was_set() -> None:
    assert least_sureness(0.4, MANY // 2) == pytest.approx(0.2)
    assert least_sureness(0.4, MANY) == least_sureness(0.4, 10 * MANY) == 0.4
    assert least_sureness(-1, 0) == least_sureness(-1, 10 * MANY) == -1


@pytest.mark.parametrize(
    "text",
    [
        "Hello there!",
        "Thank you very much.",
        "You\u2019re welcome",
        "Well, that's that.",
        "GOOD NIGHT, see you tomorrow!",
        "Vielen Dank und auf Wiedersehen",
        "Bonjour, comment ça va ?",
        "¡Muchas gracias!",
        "Obrigada, até amanhã",
    ],
)
def test_courtesies_ask_for_nothing(text: str) -> None:
    assert asks_nothing(text)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "?",
        "What was that?",
        "Good morning, Greta!",
        "Thanks for the key.",
        "kite",
        "Is the tea fine?",
        "谢谢",
        "Hello world",
    ],
)
def test_whatever_else_a_text_holds_is_asked_for(text: str) -> None:
    assert not asks_nothing(text)
