"""Time that is given, never read behind anyone's back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from simuverse.errors import SettingsError
from simuverse.memory.clock import ManualClock, SystemClock, local, require_aware, shown_time, time_zone, zone_name

SEOUL = timezone(timedelta(hours=9))
NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)


def test_the_machines_time_is_aware_and_in_utc_and_does_not_run_backwards() -> None:
    first, second = SystemClock().now(), SystemClock().now()

    assert first.tzinfo is UTC
    assert first <= second


def test_a_manual_clock_stands_still_until_it_is_set() -> None:
    clock = ManualClock(datetime(2026, 3, 1, 9, tzinfo=UTC))
    assert clock.now() == clock.now() == datetime(2026, 3, 1, 9, tzinfo=UTC)

    clock.set(datetime(2026, 3, 1, 18, tzinfo=SEOUL))

    assert clock.now() == datetime(2026, 3, 1, 9, tzinfo=UTC)
    assert clock.now().tzinfo is UTC


def test_a_manual_clock_takes_no_time_without_a_zone() -> None:
    with pytest.raises(ValueError, match="no time zone"):
        ManualClock(NOON.replace(tzinfo=None))
    clock = ManualClock(NOON)
    with pytest.raises(ValueError, match="no time zone"):
        clock.set(NOON.replace(tzinfo=None))
    assert clock.now() == NOON


def test_the_same_moment_comes_back_in_utc() -> None:
    assert require_aware(datetime(2026, 3, 1, 1, tzinfo=SEOUL), "x").isoformat() == "2026-02-28T16:00:00+00:00"


def test_a_zone_that_does_not_know_its_offset_is_no_zone() -> None:
    class Lost(tzinfo):
        def utcoffset(self, dt: datetime | None) -> None:
            return None

        def dst(self, dt: datetime | None) -> None:
            return None

        def tzname(self, dt: datetime | None) -> str:
            return "somewhere"

    with pytest.raises(ValueError, match="the arrival has no time zone"):
        require_aware(datetime(2026, 3, 1, tzinfo=Lost()), "the arrival")


def test_a_zone_is_named_and_without_a_name_it_is_utc() -> None:
    assert time_zone(None) is UTC
    assert NOON.astimezone(time_zone("Asia/Seoul")).hour == 21


@pytest.mark.parametrize("name", ["UTC", "UTC+09:00", "UTC-03:30", "Europe/Berlin"])
def test_a_zone_has_the_name_that_it_is_had_by(name: str) -> None:
    assert zone_name(time_zone(name)) == name


def test_a_zone_without_such_a_name_is_refused() -> None:
    with pytest.raises(SettingsError, match="the quay"):
        zone_name(timezone(timedelta(hours=1), "the quay"))


def test_a_time_is_shown_by_the_clocks_of_a_zone_which_is_named_unless_it_is_utc() -> None:
    assert shown_time(NOON, UTC) == "2026-03-01 12:00"
    assert shown_time(NOON, time_zone("Asia/Kathmandu")) == "2026-03-01 17:45 Asia/Kathmandu"
    assert shown_time(NOON, SEOUL) == "2026-03-01 21:00 UTC+09:00"


def test_at_the_ends_of_the_calendar_a_time_is_shown_in_utc() -> None:
    last = datetime(9999, 12, 31, 23, tzinfo=UTC)
    assert local(last, SEOUL) == last
    assert shown_time(last, SEOUL) == "9999-12-31 23:00"


@pytest.mark.parametrize("name", ["Nowhere/Nothing", "../secret", "", "/etc/hosts", "UTC+99:00"])
def test_what_is_no_zone_is_refused_with_the_cure(name: str) -> None:
    with pytest.raises(SettingsError, match="pip install tzdata"):
        time_zone(name)
