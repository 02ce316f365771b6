"""Words that bound a time elsewhere, used otherwise. It is Wednesday, 18 March 2026, noon; Jade is asked."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.time_asked import TimeAsked, TimeUse
from simuverse.memory.when_asked import time_asked


def asked(text: str) -> TimeAsked | None:
    return time_asked(text, now=datetime(2026, 3, 18, 12, tzinfo=UTC), zone=UTC, owner="Jade Ito")


def ends(time: TimeAsked) -> tuple[str, str]:
    since, until = (f"{end:%m-%d %H}" if end else "" for end in (time.since, time.until))
    return since, until


TODAY, YESTERDAY, MONDAY = ("03-18 00", "03-19 00"), ("03-17 00", "03-18 00"), ("03-16 00", "03-17 00")
MORNING, LAST_WEEK, LAST_WEEKEND = ("03-18 04", "03-18 12"), ("03-09 00", "03-16 00"), ("03-14 00", "03-16 00")


@pytest.mark.parametrize(
    ("text", "phrase", "window"),
    [
        ("I want to hear what everyone is up to this morning.", "this morning", MORNING),
        ("What is everyone up to this morning?", "this morning", MORNING),
        ("What are you up to today?", "today", TODAY),
        ("What's Mira really up to today?", "today", TODAY),
        ("What were James and Jade up to yesterday?", "yesterday", YESTERDAY),
        ("What was the baker's boy up to on Monday?", "on Monday", MONDAY),
        ("What did you get up to last weekend?", "last weekend", LAST_WEEKEND),
        ("Who felt up to yesterday's climb?", "yesterday's", YESTERDAY),
        ("Who owned up to yesterday's prank?", "yesterday's", YESTERDAY),
        ("Did the soup live up to last week's?", "last week's", LAST_WEEK),
        ("Is Mira up to last week's tricks again?", "last week's", LAST_WEEK),
        ("It is up to James this morning.", "this morning", MORNING),
        ("Who looked after April yesterday?", "yesterday", YESTERDAY),
        ("Since today is a holiday, where is the baker?", "today", TODAY),
        ("Since Monday was so cold, what did you wear?", "Monday", MONDAY),
        ("Before yesterday was over, had Mira sung?", "yesterday", YESTERDAY),
        ("I stood there before, yesterday for instance.", "yesterday", YESTERDAY),
        ("Between you and me, who cheated yesterday?", "yesterday", YESTERDAY),
        ("What did the letter from June on the table say yesterday?", "yesterday", YESTERDAY),
        ("Hattest du Angst vor Montag?", "Montag", MONDAY),
    ],
)
def test_it_bounds_no_time(text: str, phrase: str, window: tuple[str, str]) -> None:
    time = asked(text)
    assert time is not None
    assert (time.phrase, ends(time)) == (phrase, window)


@pytest.mark.parametrize(
    ("text", "phrase", "window"),
    [
        ("What happened up to yesterday?", "up to yesterday", ("", "03-18 00")),
        ("Was the ferry running up to Monday?", "up to Monday", ("", "03-17 00")),
        ("Was Mira ill up to yesterday?", "up to yesterday", ("", "03-18 00")),
        ("What is known of the flood up to last week?", "up to last week", ("", "03-16 00")),
        ("What have you been up to since Monday?", "since Monday", ("03-16 00", "")),
        ("Who has been ill since Monday?", "since Monday", ("03-16 00", "")),
        ("What did you see before Monday?", "before Monday", ("", "03-16 00")),
        ("What did Mira look for after Monday?", "after Monday", ("03-17 00", "")),
        ("What did you do until yesterday?", "until yesterday", ("", "03-18 00")),
        ("Who has been here from Monday on?", "from Monday on", ("03-16 00", "")),
        ("What was sold from Monday onwards in the market?", "from Monday onwards", ("03-16 00", "")),
        ("Who wrote from Monday on the pier?", "Monday", MONDAY),
    ],
)
def test_where_it_is_of_time_it_does(text: str, phrase: str, window: tuple[str, str]) -> None:
    time = asked(text)
    assert time is not None
    assert (time.phrase, ends(time)) == (phrase, window)


@pytest.mark.parametrize(
    "text",
    ["Do the little ones look up to June?", "Who is named after April?", "Who knelt before May?"],
)
def test_what_a_word_of_time_is_the_name_of_is_no_time(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize("text", ["Until Monday!", "Till tomorrow then.", "See you until Friday.", "¡Hasta el lunes!"])
def test_a_good_bye_asks_for_nothing(text: str) -> None:
    assert asked(text) is None


@pytest.mark.parametrize(
    "text",
    [
        "In the last two weeks, what did Mira sing?",
        "Hello Jade, over the last two weeks, what did Mira sing?",
    ],
)
def test_a_time_of_many_words_before_a_question_belongs_to_it(text: str) -> None:
    time = asked(text)
    assert time is not None
    assert (time.use, ends(time)) == (TimeUse.WINDOW, ("03-04 00", ""))
    assert time.text.endswith("what did Mira sing?")


@pytest.mark.parametrize(
    ("text", "use"),
    [
        ("I want to hear what everyone is up to this morning.", TimeUse.BOOST),
        ("I'd like to know what Mira is up to today.", TimeUse.BOOST),
        ("I want to hear what everyone was up to this morning.", TimeUse.LIST),
        ("I'd like to know what is new since Monday.", TimeUse.LIST),
        ("What is everyone up to this morning?", TimeUse.LIST),
    ],
)
def test_a_wish_to_hear_what_goes_on_asks_for_no_list(text: str, use: TimeUse) -> None:
    time = asked(text)
    assert time is not None
    assert time.use is use


def test_what_was_told_before_a_question_is_none_of_it() -> None:
    time = asked("Mira sang on Monday, where is the ball?")
    assert time is not None
    assert (time.use, time.text) == (TimeUse.BOOST, "Mira sang")


@given(
    st.lists(
        st.sampled_from(
            [
                "What",
                "is",
                "the",
                "boy",
                "up to",
                "since",
                "before",
                "after",
                "from",
                "on",
                "look",
                "today",
                "Mira's",
                ",",
            ]
        ),
        max_size=9,
    ).map(" ".join)
)
def test_no_text_breaks_it(text: str) -> None:
    time = asked(text)
    assert time is None or all(phrase in text for phrase in time.phrase.split(", "))
