"""Stretches of a calendar: days, hours and windows of time, and how one follows from another. PURE."""

from __future__ import annotations

from calendar import monthrange
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import date, datetime, timedelta

ONE_DAY = timedelta(days=1)
HALF_AN_HOUR, QUARTER = timedelta(minutes=30), timedelta(minutes=15)


class NoSuchTime(Exception):
    """The words name no time after all. Never leaves :mod:`simuverse.memory.when`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """From ``since`` on and before ``until``, both aware; None: open. At least one is set, and ``since < until``."""

    since: datetime | None = None
    until: datetime | None = None

    def __post_init__(self) -> None:
        if self.since is None and self.until is None:
            raise ValueError("a window open at both ends is none")
        if self.since is not None and self.until is not None and self.since >= self.until:
            raise ValueError(f"a window can't begin at {self.since} and end at {self.until}")

    def __contains__(self, moment: datetime) -> bool:
        return (self.since is None or self.since <= moment) and (self.until is None or moment < self.until)

    @property
    def length(self) -> timedelta | None:
        """None where it is open."""
        return None if self.since is None or self.until is None else self.until - self.since

    def within(self, other: Window) -> bool:
        """Whether all of it lies in ``other``."""
        begins = other.since is None or (self.since is not None and other.since <= self.since)
        return begins and (other.until is None or (self.until is not None and self.until <= other.until))

    def common(self, other: Window) -> Window | None:
        """What lies in both; None if nothing does."""
        since = max((one.since for one in (self, other) if one.since is not None), default=None)
        until = min((one.until for one in (self, other) if one.until is not None), default=None)
        if since is not None and until is not None and since >= until:
            return None
        return Window(since=since, until=until)

    def hull(self, other: Window) -> Window | None:
        """The shortest that holds both; None if that is all of time."""
        since = None if self.since is None or other.since is None else min(self.since, other.since)
        until = None if self.until is None or other.until is None else max(self.until, other.until)
        return None if since is None and until is None else Window(since=since, until=until)


@dataclass(frozen=True, kw_only=True, slots=True)
class Days:
    """Whole days of a zone.

    Args:
        first, after: the first of them, and the first that no longer is.
        earlier: the same named thing one round before: last week's Monday, last year's March; None where the words
            leave no choice.
    """

    first: date
    after: date
    earlier: Callable[[Days], Days | None] | None = None

    @property
    def one(self) -> bool:
        return self.after - self.first == ONE_DAY


@dataclass(frozen=True, kw_only=True, slots=True)
class Hours:
    """Times of a clock, local and naive; ``until`` may lie on the next day.

    Args:
        moment: the one that was named, if one was.
    """

    since: datetime
    until: datetime
    moment: datetime | None = None


def one_day(day: date, *, earlier: Callable[[Days], Days | None] | None = None) -> Days:
    return Days(first=day, after=day + ONE_DAY, earlier=earlier)


def months(year: int, month: int, number: int = 1) -> Days:
    first = date(year, month, 1)
    return Days(first=first, after=shifted(first, number, "month"))


def season(year: int, month: int) -> Days:
    """The three months from ``month`` on."""
    return months(year, month, 3)


def whole_year(year: int) -> Days:
    return Days(first=date(year, 1, 1), after=date(year + 1, 1, 1))


def week_of(day: date, *, weekend: bool = False) -> Days:
    """Monday to Sunday; ``weekend``: the last two days of it."""
    monday = day - timedelta(days=day.weekday())
    return Days(first=monday + timedelta(days=5 * weekend), after=monday + timedelta(days=7))


def days_around(day: date, days: int) -> Days:
    """``days`` to both sides."""
    return Days(first=day - timedelta(days=days), after=day + timedelta(days=days + 1))


def around(moment: datetime, width: timedelta) -> Hours:
    return Hours(since=moment - width, until=moment + width, moment=moment)


def third(days: Days, part: int) -> Days:
    """The beginning (0), middle (1) or end (2) of a stretch of days."""
    length = (days.after - days.first).days
    cuts = [days.first + timedelta(days=length * cut // 3) for cut in range(4)]
    return Days(first=cuts[part], after=cuts[part + 1])


def shifted(day: date, steps: int, unit: str) -> date:
    """So many units on; a day that the month hasn't is its last.

    Raises:
        NoSuchTime: a unit shorter than a day.
    """
    match unit:
        case "day":
            return day + timedelta(days=steps)
        case "week" | "weekend":
            return day + timedelta(days=7 * steps)
        case "month" | "year":
            count = day.year * 12 + day.month - 1 + steps * (12 if unit == "year" else 1)
            year, month = divmod(count, 12)
            return date(year, month + 1, min(day.day, monthrange(year, month + 1)[1]))
        case _:
            raise NoSuchTime


def a_week_earlier(days: Days) -> Days:
    return replace(days, first=days.first - 7 * ONE_DAY, after=days.after - 7 * ONE_DAY)


def a_year_earlier(days: Days) -> Days | None:
    """None for a leap day."""
    if (days.first.month, days.first.day) == (2, 29):
        return None
    first = shifted(days.first, -1, "year")
    return replace(days, first=first, after=first + ONE_DAY if days.one else shifted(days.after, -1, "year"))


def in_order(start: Days, end: Days) -> tuple[Days, Days]:
    """Both so that ``start`` comes first: each that is named without its round may be an earlier one.

    Raises:
        NoSuchTime: they can't be.
    """
    if start.earlier is None and (earlier := end.earlier) is not None:
        while (back := earlier(end)) is not None and back.first >= start.first:
            end = back
    while start.first > end.first:
        back = None if start.earlier is None else start.earlier(start)
        if back is None:
            raise NoSuchTime
        start = back
    return start, end
