"""Time that is given, never read behind anyone's back."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone, tzinfo

import pytest

from simuverse.errors import SettingsError
from simuverse.memory.clock import ManualClock, SystemClock, require_aware, time_zone

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


@pytest.mark.parametrize("name", ["Nowhere/Nothing", "../secret", "", "/etc/hosts"])
def test_what_is_no_zone_is_refused_with_the_cure(name: str) -> None:
    with pytest.raises(SettingsError, match="pip install tzdata"):
        time_zone(name)
