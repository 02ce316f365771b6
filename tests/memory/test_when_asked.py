"""What a text has to do with the times it speaks of. It is Wednesday, 18 March 2026, noon; Jade is asked."""

from __future__ import annotations

from datetime import UTC, datetime
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.records import MemoryFilter, MemoryQuery
from simuverse.memory.time_asked import TimeAsked, TimeUse
from simuverse.memory.when_asked import in_time, time_asked

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
MONDAY, TUESDAY, WEDNESDAY = (datetime(2026, 3, day, tzinfo=UTC) for day in (16, 17, 18))


def asked(text: str) -> TimeAsked | None:
    return time_asked(text, now=NOW, zone=UTC, owner="Jade Ito")


def use(text: str) -> TimeUse | None:
    time = asked(text)
    return None if time is None else time.use


@pytest.mark.parametrize(
    "text",
    [
        "What happened yesterday?",
        "what happened last night",
        "Jade, what did you do yesterday?",
        "Hello Jade, nice to see you. What happened yesterday?",
        "Can you tell me what happened on 14 March?",
        "What do you remember from last Tuesday?",
        "Tell me about last weekend.",
        "Summarise last week, please",
        "What about Monday?",
        "And yesterday?",
        "Yesterday.",
        "What is new since Monday?",
        "Anything new today?",
        "What's going on today?",
        "Where have you been for the last two days?",
        "Was ist gestern passiert?",
        "Que s'est-il passé hier ?",
        "¿Qué pasó ayer?",
    ],
)
def test_with_nothing_else_asked_a_time_is_listed(text: str) -> None:
    assert use(text) is TimeUse.LIST


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ("What did Mira say yesterday about the ferry?", "What did Mira say about the ferry?"),
        ("Do you remember the dog we saw last Tuesday?", "Do you remember the dog we saw?"),
        ("On Monday evening, what did Mira sing?", ", what did Mira sing?"),
        ("How was work yesterday?", "How was work?"),
        ("Who won a prize in May of last year?", "Who won a prize?"),
        ("Have you seen my ball today?", "Have you seen my ball?"),
        ("Is it true that you met Mira yesterday?", "Is it true that you met Mira?"),
        ("Was hat Mira gestern über die Fähre gesagt?", "Was hat Mira über die Fähre gesagt?"),
    ],
)
def test_a_question_about_a_time_has_it_as_its_window(text: str, rest: str) -> None:
    time = asked(text)
    assert time is not None
    assert (time.use, time.text) == (TimeUse.WINDOW, rest)


@pytest.mark.parametrize(
    "text",
    [
        "I saw her yesterday.",
        "What a day yesterday!",
        "Where is the ball that you found yesterday?",
        "Yesterday I was at the market, do you know where James is?",
        "How are you today?",
        "What should I wear today?",
        "Did Mira say she would come on Friday?",
        "The bench by the ferry last Tuesday",
    ],
)
def test_a_time_that_is_only_mentioned_lifts(text: str) -> None:
    assert use(text) is TimeUse.BOOST


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Where is the ferry?",
        "What will happen tomorrow?",
        "What are we doing on Friday?",
        "I will be there on Monday.",
        "What did you plan for Monday?",
        "Do you have time this afternoon?",
        "Wer kommt am Montag?",
        "Good morning!",
    ],
)
def test_no_time_and_a_time_to_come_do_nothing(text: str) -> None:
    assert asked(text) is None


def test_several_times_are_what_they_share_or_all_from_the_first_to_the_last() -> None:
    shared = asked("What did you hear yesterday at the pier at 3 pm?")
    assert shared is not None
    assert shared.since == datetime(2026, 3, 17, 14, 30, tzinfo=UTC)
    both = asked("What did we talk about on Monday and on Tuesday?")
    assert both is not None
    assert (both.since, both.until, both.phrase) == (MONDAY, WEDNESDAY, "on Monday, on Tuesday")


def test_a_query_gets_the_window_as_its_filter_and_what_was_superseded_since() -> None:
    query = MemoryQuery(
        text="What did Mira say yesterday?", keywords=("Mira", "yesterday"), filter=MemoryFilter(about="Mira")
    )
    timed = in_time(query, now=NOW, zone=UTC, owner="Jade")
    assert timed.filter == MemoryFilter(about="Mira", since=TUESDAY, until=WEDNESDAY, include_superseded=True)
    assert timed.keywords == ("Mira",)
    assert timed.semantic_text == "What did Mira say?"
    assert timed.text == query.text


def test_of_a_time_that_lasts_only_what_holds_counts() -> None:
    timed = in_time(MemoryQuery(text="What did Mira say today?"), now=NOW, zone=UTC, owner="Jade")
    assert timed.filter.since == WEDNESDAY
    assert not timed.filter.include_superseded


def test_a_query_keeps_a_window_of_its_own() -> None:
    query = MemoryQuery(text="What happened yesterday?", filter=MemoryFilter(since=MONDAY))
    assert in_time(query, now=NOW, zone=UTC, owner="Jade") is query


def test_the_window_is_that_of_the_zone() -> None:
    late = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    tokyo = ZoneInfo("Asia/Tokyo")
    timed = in_time(MemoryQuery(text="What happened yesterday?"), now=late, zone=tokyo, owner="Jade")
    assert timed.filter.since == datetime(2026, 3, 17, 15, tzinfo=UTC)


@given(
    st.text(max_size=80)
    | st.lists(
        st.sampled_from(["What", "did", "you", ".", "?", ",", "say", "yesterday", "last", "on", "Monday", "3"])
    ).map(" ".join)
)
def test_no_text_breaks_it(text: str) -> None:
    time = asked(text)
    assert time is None or time.phrase
