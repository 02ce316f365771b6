from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from simuverse.dashboard.wording import age, title, when

NOON = datetime(2026, 6, 1, 12, 0, tzinfo=UTC)


@pytest.mark.parametrize(
    ("gone", "words"),
    [
        (timedelta(seconds=20), "just now"),
        (timedelta(minutes=1), "1 minute ago"),
        (timedelta(minutes=59), "59 minutes ago"),
        (timedelta(hours=2, minutes=59), "2 hours ago"),
        (timedelta(days=1), "1 day ago"),
        (timedelta(days=40), "40 days ago"),
    ],
)
def test_age_is_in_the_largest_unit_that_fits(gone: timedelta, words: str) -> None:
    assert age(NOON - gone, NOON) == words


def test_a_time_of_another_day_carries_its_date() -> None:
    assert when(NOON - timedelta(hours=3), NOON) == "09:00"
    assert when(NOON - timedelta(days=2), NOON) == "30 May, 12:00"


def test_names_lose_their_underscores() -> None:
    assert title("center_fountain") == "center fountain"
