"""Expressions of time and the windows they are read as; mostly on a Wednesday noon, 18 March 2026."""

from __future__ import annotations

from datetime import UTC, date, datetime, time, timedelta, tzinfo
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.when import TimeSpoken, times_spoken
from simuverse.memory.when_calendar import Window
from simuverse.memory.when_words import LEXICONS

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
BERLIN, HAVANA, SAMOA = ZoneInfo("Europe/Berlin"), ZoneInfo("America/Havana"), ZoneInfo("Pacific/Apia")
ZONES = (UTC, BERLIN, HAVANA, ZoneInfo("America/New_York"), ZoneInfo("Australia/Lord_Howe"), ZoneInfo("Asia/Kathmandu"))

zones = st.sampled_from(ZONES)
moments = st.integers(365 * 24 * 60, 130 * 365 * 24 * 60).map(
    lambda minutes: datetime(1970, 1, 1, tzinfo=UTC) + timedelta(minutes=minutes)
)
languages = st.sampled_from([*LEXICONS, "finnish"])
FIGURES = [
    "18",
    "3rd",
    "31",
    "0",
    "29",
    "2026",
    "2026-02-30",
    "14:30",
    "25:99",
    "3pm",
    "18.3.2026",
    "13/13/2026",
    ",",
    "-",
]
words = st.sampled_from([*sorted({" ".join(words) for lexicon in LEXICONS.values() for words in lexicon}), *FIGURES])


def read(
    text: str, *, now: datetime = NOW, zone: tzinfo = UTC, language: str = "english", forward: bool = False
) -> Window:
    [spoken] = times_spoken(text, now=now, zone=zone, language=language, forward=forward)
    return spoken.window


def days(first: str, after: str, zone: tzinfo = UTC) -> Window:
    since, until = (datetime.fromisoformat(day).replace(tzinfo=zone).astimezone(UTC) for day in (first, after))
    return Window(since=since, until=until)


DAYS = [
    ("yesterday", "2026-03-17", "2026-03-18"),
    ("the day before yesterday", "2026-03-16", "2026-03-17"),
    ("today", "2026-03-18", "2026-03-19"),
    ("tomorrow", "2026-03-19", "2026-03-20"),
    ("on 14 March", "2026-03-14", "2026-03-15"),
    ("on the 14th of March", "2026-03-14", "2026-03-15"),
    ("on March 14th, 2025", "2025-03-14", "2025-03-15"),
    ("on 20 March", "2025-03-20", "2025-03-21"),
    ("on 20 March of last year", "2025-03-20", "2025-03-21"),
    ("on 2025-12-01", "2025-12-01", "2025-12-02"),
    ("on 3/4/2025", "2025-04-03", "2025-04-04"),
    ("on 3/14/2025", "2025-03-14", "2025-03-15"),
    ("on 29 February", "2024-02-29", "2024-03-01"),
    ("on the 20th", "2026-02-20", "2026-02-21"),
    ("on the 3rd of last month", "2026-02-03", "2026-02-04"),
    ("last Tuesday", "2026-03-17", "2026-03-18"),
    ("on Wednesday", "2026-03-11", "2026-03-12"),
    ("on Monday, 16 March", "2026-03-16", "2026-03-17"),
    ("on Tuesday last week", "2026-03-10", "2026-03-11"),
    ("last week on Friday", "2026-03-13", "2026-03-14"),
    ("this week", "2026-03-16", "2026-03-23"),
    ("last week", "2026-03-09", "2026-03-16"),
    ("the week before last", "2026-03-02", "2026-03-09"),
    ("last weekend", "2026-03-14", "2026-03-16"),
    ("over the weekend", "2026-03-14", "2026-03-16"),
    ("three days ago", "2026-03-15", "2026-03-16"),
    ("two weeks ago", "2026-03-01", "2026-03-08"),
    ("two weeks ago on Friday", "2026-03-06", "2026-03-07"),
    ("a month ago", "2026-02-03", "2026-03-06"),
    ("last month", "2026-02-01", "2026-03-01"),
    ("in May", "2025-05-01", "2025-06-01"),
    ("last March", "2025-03-01", "2025-04-01"),
    ("in March of last year", "2025-03-01", "2025-04-01"),
    ("last year in March", "2025-03-01", "2025-04-01"),
    ("in early March", "2026-03-01", "2026-03-11"),
    ("at the end of last month", "2026-02-19", "2026-03-01"),
    ("the first week of March", "2026-03-01", "2026-03-08"),
    ("in the spring of last year", "2025-03-01", "2025-06-01"),
    ("last summer", "2025-06-01", "2025-09-01"),
    ("in the winter of 2024", "2024-12-01", "2025-03-01"),
    ("in 2024", "2024-01-01", "2025-01-01"),
    ("last year", "2025-01-01", "2026-01-01"),
    ("at Christmas", "2025-12-25", "2025-12-27"),
    ("between Monday and Wednesday", "2026-03-09", "2026-03-12"),
    ("from Friday to Monday", "2026-03-13", "2026-03-17"),
    ("between 18 and 20 February", "2026-02-18", "2026-02-21"),
    ("18-20 February 2026", "2026-02-18", "2026-02-21"),
    ("from November to February", "2025-11-01", "2026-03-01"),
    ("between November 2024 and January", "2024-11-01", "2025-02-01"),
    ("the week before 9 March", "2026-03-02", "2026-03-09"),
    ("two days after Christmas", "2025-12-27", "2025-12-29"),
    ("the weekend of 12 March", "2026-03-14", "2026-03-16"),
]


@pytest.mark.parametrize(("text", "first", "after"), DAYS, ids=[text for text, _, _ in DAYS])
@pytest.mark.parametrize("zone", [UTC, BERLIN], ids=str)
def test_whole_days(text: str, first: str, after: str, zone: tzinfo) -> None:
    assert read(f"What happened {text}?", zone=zone) == days(first, after, zone)


HOURS = [
    ("this morning", "2026-03-18T04:00", "2026-03-18T12:00"),
    ("last night", "2026-03-17T18:00", "2026-03-18T06:00"),
    ("yesterday afternoon", "2026-03-17T12:00", "2026-03-17T18:00"),
    ("on the evening of 3 March", "2026-03-03T17:00", "2026-03-04T00:00"),
    ("yesterday at 3 pm", "2026-03-17T14:30", "2026-03-17T15:30"),
    ("at 14:20 yesterday", "2026-03-17T14:05", "2026-03-17T14:35"),
    ("on Monday evening at 8", "2026-03-16T19:30", "2026-03-16T20:30"),
    ("at three o'clock", "2026-03-17T14:30", "2026-03-17T15:30"),
    ("at 9 am", "2026-03-18T08:30", "2026-03-18T09:30"),
    ("between 2 and 4 pm yesterday", "2026-03-17T14:00", "2026-03-17T16:00"),
    ("two hours ago", "2026-03-18T09:30", "2026-03-18T10:30"),
    ("an hour and a half ago", "2026-03-18T10:00", "2026-03-18T11:00"),
    ("half an hour ago", "2026-03-18T11:22:30", "2026-03-18T11:37:30"),
    ("20 minutes ago", "2026-03-18T11:35", "2026-03-18T11:45"),
    ("yesterday at 3", "2026-03-17T00:00", "2026-03-18T00:00"),
]


@pytest.mark.parametrize(("text", "since", "until"), HOURS, ids=[text for text, _, _ in HOURS])
def test_parts_of_days(text: str, since: str, until: str) -> None:
    assert read(f"Who called {text}?") == days(since, until)


OPEN = [
    ("since March", "2026-03-01", None),
    ("since Wednesday", "2026-03-11", None),
    ("since two weeks", "2026-03-04", None),
    ("after Christmas", "2025-12-27", None),
    ("in the last three days", "2026-03-15", None),
    ("over the past week", "2026-03-11", None),
    ("before last Friday", None, "2026-03-13"),
    ("until yesterday", None, "2026-03-18"),
]


@pytest.mark.parametrize(("text", "since", "until"), OPEN, ids=[text for text, _, _ in OPEN])
def test_ranges_open_at_one_end(text: str, since: str | None, until: str | None) -> None:
    ends = [None if day is None else datetime.fromisoformat(day).replace(tzinfo=UTC) for day in (since, until)]
    assert read(f"What happened {text}?") == Window(since=ends[0], until=ends[1])


OTHERS = [
    ("german", "gestern Abend", "2026-03-17T17:00", "2026-03-18T00:00"),
    ("german", "heute Morgen", "2026-03-18T04:00", "2026-03-18T12:00"),
    ("german", "letzten Montag", "2026-03-16", "2026-03-17"),
    ("german", "vor einer halben Stunde", "2026-03-18T11:22:30", "2026-03-18T11:37:30"),
    ("german", "vorletzte Woche", "2026-03-02", "2026-03-09"),
    ("german", "vor zwei Wochen", "2026-03-01", "2026-03-08"),
    ("german", "vom 3. bis 5. März", "2026-03-03", "2026-03-06"),
    ("german", "am 3. März 2025 um 15 Uhr", "2025-03-03T14:30", "2025-03-03T15:30"),
    ("german", "im Frühling letzten Jahres", "2025-03-01", "2025-06-01"),
    ("french", "hier soir", "2026-03-17T17:00", "2026-03-18T00:00"),
    ("french", "avant-hier", "2026-03-16", "2026-03-17"),
    ("french", "la semaine dernière", "2026-03-09", "2026-03-16"),
    ("french", "il y a deux semaines", "2026-03-01", "2026-03-08"),
    ("french", "du 3 au 5 mars", "2026-03-03", "2026-03-06"),
    ("french", "entre lundi et mercredi", "2026-03-09", "2026-03-12"),
    ("spanish", "ayer por la mañana", "2026-03-17T04:00", "2026-03-17T12:00"),
    ("spanish", "el lunes pasado", "2026-03-16", "2026-03-17"),
    ("spanish", "hace dos semanas", "2026-03-01", "2026-03-08"),
    ("spanish", "el 3 de marzo de 2025", "2025-03-03", "2025-03-04"),
    ("spanish", "en la primavera del año pasado", "2025-03-01", "2025-06-01"),
]


@pytest.mark.parametrize(("language", "text", "since", "until"), OTHERS, ids=[text for _, text, _, _ in OTHERS])
def test_other_languages(language: str, text: str, since: str, until: str) -> None:
    assert read(text, language=language) == days(since, until)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "I may march to the mill on second thought.",
        "June and April are sisters.",
        "It is on the 3rd floor.",
        "The train takes two hours.",
        "Come in five minutes.",
        "Good morning!",
        "When did you last see her?",
        "on 31 April",
        "on 31 April 2025",
        "on 2026-02-30",
        "in 1000 steps",
        "99999999999999999999 years ago",
    ],
)
def test_what_tells_no_time(text: str) -> None:
    assert times_spoken(text, now=NOW) == []


def test_a_sentence_about_what_is_to_come_names_the_next_such_day() -> None:
    assert read("I will come on Friday", forward=True) == days("2026-03-20", "2026-03-21")
    assert read("I will come on 14 March", forward=True) == days("2027-03-14", "2027-03-15")
    assert read("since Friday", forward=True).since == datetime(2026, 3, 13, tzinfo=UTC)


def test_what_something_is_for_is_told_apart() -> None:
    [spoken] = times_spoken("the plan for Monday", now=NOW)
    assert spoken == TimeSpoken(start=13, end=19, window=days("2026-03-16", "2026-03-17"), purpose=True)


def test_the_zone_says_which_day_it_is() -> None:
    late = datetime(2026, 3, 18, 23, 30, tzinfo=UTC)
    assert read("yesterday", now=late) == days("2026-03-17", "2026-03-18")
    assert read("yesterday", now=late, zone=BERLIN) == days("2026-03-18", "2026-03-19", BERLIN)


def test_days_on_which_the_clocks_change_have_23_and_25_hours() -> None:
    spring, autumn = (
        read("yesterday", now=now, zone=BERLIN)
        for now in (datetime(2026, 3, 30, 9, tzinfo=UTC), datetime(2026, 10, 26, 9, tzinfo=UTC))
    )
    assert (spring.length, autumn.length) == (timedelta(hours=23), timedelta(hours=25))


def test_an_hour_that_comes_twice_is_meant_both_times() -> None:
    window = read("yesterday at 2:30", now=datetime(2026, 10, 26, 9, tzinfo=UTC), zone=BERLIN)
    assert datetime(2026, 10, 25, 0, 30, tzinfo=UTC) in window
    assert datetime(2026, 10, 25, 1, 30, tzinfo=UTC) in window


def test_a_day_that_a_zone_left_out_is_no_time() -> None:
    assert times_spoken("on 30 December 2011", now=NOW, zone=SAMOA) == []


def test_a_month_before_the_31st_is_the_last_of_its_month() -> None:
    assert read("since one month", now=datetime(2026, 3, 31, 12, tzinfo=UTC)).since == datetime(2026, 2, 28, tzinfo=UTC)


@given(st.lists(words, max_size=8).map(" ".join), moments, zones, languages, st.booleans())
def test_no_words_of_time_break_it(text: str, now: datetime, zone: tzinfo, language: str, forward: bool) -> None:
    end = 0
    for spoken in times_spoken(text, now=now, zone=zone, language=language, forward=forward):
        assert end <= spoken.start < spoken.end <= len(text)
        end = spoken.end
        window = spoken.window
        assert window.since is not None or window.until is not None
        if window.since is not None and window.until is not None:
            assert window.since < window.until


@given(st.text(max_size=60), moments)
def test_no_text_breaks_it(text: str, now: datetime) -> None:
    for spoken in times_spoken(text, now=now):
        assert text[spoken.start : spoken.end].strip()


@given(moments, zones, st.integers(0, 6))
def test_yesterday_holds_every_moment_of_the_day_before_and_no_other(now: datetime, zone: tzinfo, back: int) -> None:
    moment = now - timedelta(days=back / 2)
    wanted = now.astimezone(zone).date() - timedelta(days=1)
    assert (moment in read("yesterday", now=now, zone=zone)) == (moment.astimezone(zone).date() == wanted)


@given(moments, zones, st.dates(date(1971, 1, 2), date(2099, 12, 31)))
def test_a_date_is_the_day_that_a_calendar_of_the_zone_shows(now: datetime, zone: tzinfo, day: date) -> None:
    window = read(f"on {day.isoformat()}", now=now, zone=zone)
    assert window == read(f"on {day.day} {day:%B} {day.year}", now=now, zone=zone)
    noon = datetime.combine(day, time(12), tzinfo=zone)
    assert noon in window
    for other in (noon - timedelta(days=1), noon + timedelta(days=1)):
        assert other not in window


@given(moments, zones)
def test_weeks_months_and_years_follow_each_other_without_a_gap(now: datetime, zone: tzinfo) -> None:
    for unit in ("week", "month", "year"):
        last, this, following = (read(f"{which} {unit}", now=now, zone=zone) for which in ("last", "this", "next"))
        assert now in this
        assert (last.until, this.until) == (this.since, following.since)


@given(moments, zones, st.sampled_from(["Monday", "Thursday", "Sunday"]))
def test_a_weekday_is_one_of_the_seven_days_before_today(now: datetime, zone: tzinfo, name: str) -> None:
    window = read(f"on {name}", now=now, zone=zone)
    assert window == read(f"last {name}", now=now, zone=zone)
    assert window.since is not None
    first = window.since.astimezone(zone)
    assert f"{first:%A}" == name
    assert 1 <= (now.astimezone(zone).date() - first.date()).days <= 7


@given(moments, zones, st.integers(1, 28), st.sampled_from(["January", "February", "June", "December"]))
def test_a_date_without_its_year_is_the_latest_up_to_today(now: datetime, zone: tzinfo, day: int, month: str) -> None:
    since = read(f"on {day} {month}", now=now, zone=zone).since
    assert since is not None
    assert 0 <= (now.astimezone(zone).date() - since.astimezone(zone).date()).days <= 366
