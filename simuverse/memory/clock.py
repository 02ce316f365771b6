"""Time as an argument: whoever needs the time is given a clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from typing import Protocol
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError

from simuverse.errors import SettingsError


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
        name: of the IANA database; None: UTC.

    Raises:
        SettingsError: there is none of that name, or no database.
    """
    if name is None:
        return UTC
    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise SettingsError(
            f"zone {name!r} isn't a time zone that this machine knows. Names are such as Europe/Berlin; where it knows "
            "none, pip install tzdata"
        ) from error


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
