"""Time as an argument: whoever needs the time is given a clock."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Protocol


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
