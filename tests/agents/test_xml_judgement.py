"""Which of what was shown a model says belongs, read from whatever it replies."""

from __future__ import annotations

import pytest

from simuverse.agents.xml import parse_judgement, render_judgement
from simuverse.errors import MalformedReply


def test_what_is_named_belongs() -> None:
    parsed = parse_judgement("<judgement><belongs>3</belongs><belongs>1</belongs></judgement>", shown=4)
    assert (parsed.numbers, parsed.notes) == (frozenset({1, 3}), ())


def test_none_of_these_is_an_answer() -> None:
    parsed = parse_judgement("<none_of_these/>", shown=4)
    assert (parsed.numbers, parsed.notes) == (frozenset(), ())


@pytest.mark.parametrize("numbers", [(), (1,), (2, 5, 10)])
def test_what_is_written_is_read_back(numbers: tuple[int, ...]) -> None:
    assert parse_judgement(render_judgement(numbers), shown=10).numbers == set(numbers)


@pytest.mark.parametrize(
    "reply",
    [
        "Let me see. Only the second helps.\n```xml\n<judgement>\n  <belongs> #2. </belongs>\n</judgement>\n```",
        "<think>1 is about the barge.</think><judgement><belongs>2</belongs><belongs>2</belongs></judgement> Done.",
        "<judgement><reason>It says when.</reason><belongs>2</belongs></judgement>",
    ],
)
def test_what_stands_around_it_is_no_matter(reply: str) -> None:
    assert parse_judgement(reply, shown=4).numbers == {2}


def test_a_number_that_was_not_shown_is_noted_beside_one_that_was() -> None:
    parsed = parse_judgement("<judgement>\n<belongs>1</belongs>\n<belongs>5</belongs>\n</judgement>", shown=4)
    assert parsed.numbers == {1}
    assert parsed.notes == ("line 3: '5' is no number from 1 to 4: left out",)


def test_none_of_these_beside_a_judgement_is_noted() -> None:
    parsed = parse_judgement("<judgement><belongs>1</belongs></judgement><none_of_these/>", shown=4)
    assert parsed.numbers == {1}
    assert parsed.notes == ("<none_of_these/> stands beside a judgement and is left out",)


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        ("<judgement><belongs>5</belongs></judgement>", "'5' is no number from 1 to 4"),
        ("<judgement><belongs>0</belongs></judgement>", "'0' is no number from 1 to 4"),
        ("<judgement><belongs>-1</belongs></judgement>", "'-1' is no number from 1 to 4"),
        ("<judgement><belongs>the second</belongs></judgement>", "'the second' is no number from 1 to 4"),
        ("<judgement><belongs></belongs></judgement>", "'' is no number from 1 to 4"),
        ("<judgement></judgement>", "<judgement> names nothing"),
        ("None of them, I think.", "<judgement>"),
        ("", "<judgement>"),
    ],
)
def test_what_names_nothing_is_no_judgement_and_the_error_says_why(reply: str, problem: str) -> None:
    with pytest.raises(MalformedReply) as caught:
        parse_judgement(reply, shown=4)
    assert str(caught.value).startswith("line 1")
    assert problem in str(caught.value)
