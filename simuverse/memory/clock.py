"""Time as an argument: whoever needs the time is given a clock."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, timezone, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simuverse.errors import SettingsError

_OFFSET = re.compile(r"UTC([+-])(\d{2}):(\d{2})")


class Clock(Protocol):
    def now(self) -> datetime:
        """The time, aware, in UTC."""
        ...


class SystemClock:
    """The machine's time, for chats and scripts. A run of the world uses simulated time instead."""

    def now(self) -> datetime:
        return datetime.now(UTC)


@dataclass(slots=True)
class ManualClock:
    """A clock that stands still until it is set."""

    time: datetime

    def __post_init__(self) -> None:
        self.set(self.time)

    def now(self) -> datetime:
        return self.time

    def set(self, time: datetime) -> None:
        self.time = require_aware(time, "the clock's time")


def time_zone(name: str | None) -> tzinfo:
    """Args:
        name: of the IANA database, or an offset such as ``UTC+02:00``; None: UTC.

    Raises:
        SettingsError: there is none of that name, or no database.
    """
    if name is None or name == "UTC":
        return UTC
    offset = _OFFSET.fullmatch(name)
    try:
        if offset is not None:
            length = timedelta(hours=int(offset[2]), minutes=int(offset[3]))
            return timezone(-length if offset[1] == "-" else length)
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"zone {name!r} isn't a time zone that this machine knows. Names are such as Europe/Berlin; where it knows "
            "none, pip install tzdata"
        ) from error


def zone_name(zone: tzinfo) -> str:
    """The name by which :func:`time_zone` gives the same zone.

    Raises:
        SettingsError: it has none.
    """
    name = str(zone)
    time_zone(name)
    return name


def local(time: datetime, zone: tzinfo) -> datetime:
    """The same moment by the clocks of ``zone``; in UTC at the ends of the calendar, where they have no time."""
    try:
        return time.astimezone(zone)
    except OverflowError:
        return time.astimezone(UTC)


def shown_time(time: datetime, zone: tzinfo) -> str:
    """For people, to the minute: ``2026-03-01 09:30``, with the zone's name where that isn't UTC."""
    there = local(time, zone)
    return f"{there:%Y-%m-%d %H:%M}" + ("" if str(there.tzinfo) == "UTC" else f" {there.tzinfo}")


def require_aware(time: datetime, what: str) -> datetime:
    """The same moment in UTC.

    Raises:
        ValueError: for a naive datetime, whose moment depends on who reads it.
    """
    if time.utcoffset() is None:
        raise ValueError(
            f"{what} has no time zone: {time.isoformat()}. Use an aware datetime, such as datetime.now(UTC)"
        )
    return time.astimezone(UTC)
