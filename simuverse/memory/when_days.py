"""Reads what names whole days: a date, a weekday, a month, a season, last week, the last three days. PURE.

How what is left open is read stands in :mod:`simuverse.memory.when`.
"""

from __future__ import annotations

from calendar import monthrange
from dataclasses import replace
from datetime import UTC, date, datetime, time, timedelta, tzinfo

from simuverse.memory.when_calendar import (
    ONE_DAY,
    Days,
    Hours,
    NoSuchTime,
    Window,
    a_week_earlier,
    a_year_earlier,
    months,
    one_day,
    season,
    shifted,
    week_of,
    whole_year,
)
from simuverse.memory.when_items import Items
from simuverse.memory.when_words import PARTS, Kind

Time = Days | Hours | Window
Read = tuple[Time, int]
"""What was read, and the place of the item that follows it."""

_YEARS = range(1500, 2300)
"""Numbers that are read as years."""

_MOST = 1000
"""The longest way back that is read, in any unit."""

_STEPS = {Kind.LAST: -1, Kind.PAST: -1, Kind.THIS: 0, Kind.NEXT: 1}


class DayReader:
    """Args: now: in ``zone``. forward: the text speaks of what is to come."""

    def __init__(self, items: Items, now: datetime, zone: tzinfo, *, forward: bool) -> None:
        self.items = items
        self.now, self.zone, self.forward = now, zone, forward
        self.today = now.date()

    def days(self, at: int, *, prepared: bool, the: bool = False) -> Read | None:
        """Args:
        prepared: a word before says that a time follows, so that a bare month or year is one.
        the: it is "the", which "18th" needs.
        """
        item = self.items[at]
        match item.kind:
            case Kind.DATE:
                year, month, day = item.numbers
                return one_day(date(year, month, day)), at + 1
            case Kind.DAY:
                return one_day(self.today + timedelta(days=item.number)), at + 1
            case Kind.MORNING_OR_TOMORROW:
                return one_day(self.today + ONE_DAY), at + 1
            case Kind.WEEKDAY:
                return self._weekday(at)
            case Kind.MONTH | Kind.SHORT_MONTH:
                return self._month_first(at, prepared=prepared)
            case Kind.NUMBER | Kind.ORDINAL:
                return self._number_first(at, prepared=prepared, the=the)
            case Kind.SEASON:
                return self._season(at, prepared=prepared)
            case Kind.FEAST:
                return self._feast(at)
            case Kind.UNIT:
                return self._unit_first(at, prepared=prepared)
            case Kind.LAST | Kind.PAST | Kind.THIS | Kind.NEXT:
                return self._relative(at, the=the)
            case _:
                return None

    def amount(self, at: int) -> tuple[int, str, int] | None:
        """``two weeks``, ``half an hour``, and the place after it."""
        if self.items.kind(at) is Kind.SPAN:
            return self.items[at].number, "minute", at + 1
        number, unit = self.items[at], self.items[at + 1]
        if number.kind is not Kind.NUMBER or unit.kind is not Kind.UNIT or not self.items.joined(at + 1):
            return None
        return (number.number, unit.name, at + 2) if 1 <= number.number <= _MOST else None

    def back(self, number: int, unit: str) -> datetime:
        """So long before now; of days and more, from the beginning of that day."""
        if unit in ("minute", "hour"):
            return self.now.astimezone(UTC) - number * timedelta(minutes=1 if unit == "minute" else 60)
        return self.utc(datetime.combine(shifted(self.today, -number, unit), time()))

    def part(self, day: date, part: str) -> Hours:
        start, end = PARTS[part]
        midnight = datetime.combine(day, time())
        return Hours(since=midnight + timedelta(hours=start), until=midnight + timedelta(hours=end))

    def weekday_of(self, at: int, week: Days) -> Read | None:
        """``on Tuesday`` after "last week", "two weeks ago"."""
        skipped = self.items.skipped(at, Kind.AT, Kind.OF, Kind.THE)
        item = self.items[skipped]
        if item.kind is not Kind.WEEKDAY or not self.items.joined(at):
            return None
        return one_day(week.first + timedelta(days=item.number)), skipped + 1

    def utc(self, local: datetime) -> datetime:
        return local.replace(tzinfo=self.zone).astimezone(UTC)

    # --- weekdays and dates -----------------------------------------------------------------------------------------

    def _weekday(self, at: int) -> Read | None:
        """Monday; Monday, 16 March; Monday of last week; lundi dernier."""
        number = self.items[at].number
        skipped = self.items.skipped(at + 1, Kind.THE)
        if self.items.joined(at + 1) and self.items.kind(skipped) in (Kind.NUMBER, Kind.ORDINAL, Kind.MONTH):
            dated = self.days(skipped, prepared=False)
            if dated is not None and isinstance(dated[0], Days) and dated[0].one:
                return dated
        skipped = self.items.skipped(at + 1, Kind.OF, Kind.THE)
        step = _STEPS.get(self.items.kind(skipped))
        if step is not None and self.items[skipped + 1].name == "week":
            return one_day(self._week(step).first + timedelta(days=number)), skipped + 2
        following = self.items.kind(at + 1) if self.items.joined(at + 1) else None
        if following is Kind.LAST:
            return self._last_weekday(number), at + 2
        if following is Kind.NEXT:
            return self._next_weekday(number), at + 2
        return (self._next_weekday(number) if self.forward else self._last_weekday(number)), at + 1

    def _last_weekday(self, number: int) -> Days:
        back = (self.today.weekday() - number) % 7 or 7
        return one_day(self.today - timedelta(days=back), earlier=a_week_earlier)

    def _next_weekday(self, number: int) -> Days:
        return one_day(self.today + timedelta(days=(number - self.today.weekday()) % 7 or 7), earlier=a_week_earlier)

    def _month_first(self, at: int, *, prepared: bool) -> Read | None:
        """March 18th, 2026; March 2025; March of last year; in March."""
        month = self.items[at]
        skipped = self.items.skipped(at + 1, Kind.THE)
        if self.items.joined(at + 1) and self._is_day(skipped):
            year, after = self._year(skipped + 1)
            return self._date(year, month.number, self.items[skipped].number), after
        if month.kind is Kind.SHORT_MONTH:
            return None
        year, after = self._year(at + 1)
        if year is not None:
            return months(year, month.number), after
        last = self.items.kind(at + 1) is Kind.LAST and self.items.joined(at + 1)
        if last and self._relative(at + 1, the=False) is None:
            return self._month(month.number, before=self.today.replace(day=1)), at + 2
        return (self._month(month.number), at + 1) if prepared else None

    def _is_day(self, at: int) -> bool:
        """Whether a figure there can be that of a day in its month."""
        item = self.items[at]
        return item.kind in (Kind.NUMBER, Kind.ORDINAL) and not item.word and 1 <= item.number <= 31

    def _month(self, month: int, *, before: date | None = None) -> Days:
        """The latest that has begun, or begun before ``before``; forward, the next that hasn't ended."""
        year = self.today.year
        if self.forward and before is None:
            year += months(year, month).after <= self.today
        else:
            year -= months(year, month).first >= (before or self.today + ONE_DAY)
        return replace(months(year, month), earlier=a_year_earlier)

    def _date(self, year: int | None, month: int, day: int) -> Days:
        """Without a year the latest up to today; forward, the next from today on."""
        if year is not None:
            return one_day(date(year, month, day))
        step = 1 if self.forward else -1
        for tried in range(self.today.year, self.today.year + 9 * step, step):
            if day <= monthrange(tried, month)[1]:
                found = date(tried, month, day)
                if found >= self.today if self.forward else found <= self.today:
                    return one_day(found, earlier=a_year_earlier)
        raise NoSuchTime

    def _year(self, at: int) -> tuple[int | None, int]:
        """The year that follows a month, a date or a season, if one does: 2025, of 2025, of last year."""
        if not self.items.joined(at):
            return None, at
        skipped = self.items.skipped(at, Kind.OF, Kind.AT, Kind.THE)
        item, following = self.items[skipped], self.items[skipped + 1]
        if item.kind is Kind.NUMBER and item.number in _YEARS:
            return item.number, skipped + 1
        if item.kind in _STEPS and following.name == "year":
            return self.today.year + _STEPS[item.kind], skipped + 2
        if item.name == "year" and following.kind is Kind.LAST:
            return self.today.year - 1, skipped + 2
        return None, at

    def _number_first(self, at: int, *, prepared: bool, the: bool) -> Read | None:
        """18 March; the 18th of March, 2025; the 18th; 2025."""
        item = self.items[at]
        skipped = self.items.skipped(at + 1, Kind.OF)
        month = self.items[skipped]
        dated = month.kind in (Kind.MONTH, Kind.SHORT_MONTH) and self.items.joined(at + 1, dot=True)
        if dated and 1 <= item.number <= 31:
            year, after = self._year(skipped + 1)
            return self._date(year, month.number, item.number), after
        if not prepared or item.word:
            return None
        if item.kind is Kind.NUMBER:
            return (whole_year(item.number), at + 1) if item.number in _YEARS else None
        return self._day_of_month(at) if the and self._is_day(at) else None

    def _day_of_month(self, at: int) -> Read | None:
        """The 18th, of this month unless that is still to come; never the 18th of something else."""
        number, following = self.items[at].number, self.items.kind(at + 1)
        skipped = self.items.skipped(at + 1, Kind.OF, Kind.THE)
        step = _STEPS.get(self.items.kind(skipped))
        first = self.today.replace(day=1)
        if step is not None and self.items[skipped + 1].name == "month":
            return one_day(shifted(first, step, "month").replace(day=number)), skipped + 2
        if self.items.spaced(at + 1) and following in (Kind.WORD, Kind.OF, Kind.UNIT):
            return None
        for _ in range(3):
            if number <= monthrange(first.year, first.month)[1]:
                found = first.replace(day=number)
                if found >= self.today if self.forward else found <= self.today:
                    return one_day(found), at + 1
            first = shifted(first, 1 if self.forward else -1, "month")
        return None

    def _season(self, at: int, *, prepared: bool) -> Read | None:
        """In spring; the spring of last year; summer 2024."""
        month = self.items[at].number
        year, after = self._year(at + 1)
        if year is not None:
            return season(year, month), after
        if self.items.kind(at + 1) is Kind.LAST and self.items.joined(at + 1):
            return self._latest_season(month, ended=True), at + 2
        return (self._latest_season(month, ended=False), at + 1) if prepared else None

    def _latest_season(self, month: int, *, ended: bool) -> Days:
        """That has begun, or ended."""
        year = self.today.year + 1
        while True:
            found = season(year, month)
            if found.after <= self.today if ended else found.first <= self.today:
                return replace(found, earlier=a_year_earlier)
            year -= 1

    def _feast(self, at: int) -> Read | None:
        month, day, length = self.items[at].numbers
        year, after = self._year(at + 1)
        days = self._date(year, month, day)
        return replace(days, after=days.first + timedelta(days=length)), after

    # --- last, this, next -------------------------------------------------------------------------------------------

    def _unit_first(self, at: int, *, prepared: bool) -> Read | None:
        """The weekend; the week before last; la semana pasada; the year 2024."""
        unit, following = self.items[at].name, self.items.kind(at + 1)
        if following is Kind.LAST and self.items.joined(at + 1):
            return self._unit(unit, -1), at + 2
        if following is Kind.BEFORE and self.items.kind(at + 2) is Kind.LAST:
            return self._unit(unit, -2), at + 3
        if unit == "weekend" and prepared:
            return self._weekend(0), at + 1
        if unit == "year" and following is Kind.NUMBER and self.items[at + 1].number in _YEARS:
            return whole_year(self.items[at + 1].number), at + 2
        return None

    def _relative(self, at: int, *, the: bool) -> Read | None:
        """Last Tuesday, week, spring, March; the last three days; this week; next year."""
        kind, item, after = self.items.kind(at), self.items[at + 1], at + 2
        if not self.items.joined(at + 1):
            return None
        said = self.items[at].value
        step = said if isinstance(said, int) else _STEPS[kind]
        back = kind in (Kind.LAST, Kind.PAST)
        amount = self.amount(at + 1)
        if amount is not None and back:
            return Window(since=self.back(amount[0], amount[1])), amount[2]
        match item.kind:
            case Kind.UNIT:
                if kind is Kind.PAST or (back and the and item.name in ("week", "month", "year")):
                    return Window(since=self.back(1, item.name)), after
                closer: Read | None = None
                if item.name == "week":
                    closer = self.weekday_of(after, self._week(step))
                elif item.name == "year":
                    closer = self._in_year(after, self.today.year + step)
                return closer or (self._unit(item.name, step), after)
            case Kind.WEEKDAY if kind is Kind.THIS:
                return one_day(self._week(0).first + timedelta(days=item.number)), after
            case Kind.WEEKDAY:
                return (self._last_weekday if back else self._next_weekday)(item.number), after
            case Kind.MONTH if back:
                return self._month(item.number, before=self.today.replace(day=1)), after
            case Kind.MONTH:
                return months(self.today.year + (step > 0 and item.number <= self.today.month), item.number), after
            case Kind.SEASON if back:
                return self._latest_season(item.number, ended=True), after
            case Kind.SEASON:
                latest = self._latest_season(item.number, ended=False)
                lasts = kind is Kind.THIS and latest.after > self.today
                return latest if lasts else season(self.today.year + step, item.number), after
            case Kind.PART:
                return self.part(self.today + timedelta(days=step), item.name), after
            case Kind.FEAST if back:
                return self._feast(at + 1)
            case _:
                return None

    def _in_year(self, at: int, year: int) -> Read | None:
        """``in March``, ``on 18 March``, ``in spring`` after "last year"."""
        skipped = self.items.skipped(at, Kind.AT, Kind.THE)
        item, month = self.items[skipped], self.items[skipped + 1]
        if skipped == at or not self.items.joined(at):
            return None
        if item.kind is Kind.MONTH:
            return months(year, item.number), skipped + 1
        if item.kind is Kind.SEASON:
            return season(year, item.number), skipped + 1
        if self._is_day(skipped) and month.kind is Kind.MONTH:
            return one_day(date(year, month.number, item.number)), skipped + 2
        return None

    def _week(self, step: int) -> Days:
        return week_of(self.today + timedelta(days=7 * step))

    def _weekend(self, step: int) -> Days:
        """0: the latest that has begun, forward the next that hasn't ended; -1: the latest that has ended."""
        current = week_of(self.today, weekend=True)
        if (step == 0 and not self.forward and current.first > self.today) or (step < 0 and current.after > self.today):
            current = a_week_earlier(current)
        return week_of(current.first + timedelta(days=7 * (step + (step < 0))), weekend=True)

    def _unit(self, unit: str, step: int) -> Days:
        match unit:
            case "week":
                return self._week(step)
            case "weekend":
                return self._weekend(step)
            case "month":
                first = shifted(self.today.replace(day=1), step, "month")
                return months(first.year, first.month)
            case "year":
                return whole_year(self.today.year + step)
            case "day" if step == 0:
                return one_day(self.today)
            case _:
                raise NoSuchTime
