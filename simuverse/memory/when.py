"""Expressions of time to windows on the run's clock: "yesterday", "on 18 March", "between Monday and Wednesday". PURE.

A grammar of our own, as what the libraries make of a sentence was not good enough when this was written, and slow. They
answer with one moment, where a question needs from when until when; most look forward ("14 March" is next year's); and
they find times where there are none: dateparser 1.5 takes "we" for Wednesday and "the day before yesterday" for
yesterday, and needs a second to import and 2 to 20 ms a question; parsedatetime 2.6, timefhuman 0.1.5 and ctparse 0.3.6
miss "last weekend" and the seasons.

How it reads what people leave open:

- What is named without its year, month or week is the latest such that has begun; in a sentence about the future
  (``forward``) the next one. "Last Tuesday", like "on Tuesday", is the latest before today.
- A week begins on Monday, a weekend is Saturday and Sunday. Spring begins in March, as in the north; a winter is named
  by the year it begins in. 3/4/2026 is 3 April, unless only the other order makes a date.
- "Two weeks ago" is half a week to both sides of that day, "two months ago" half a month; "two hours ago" half an hour,
  or a quarter of the distance where that is more. "Three days ago" is that day.
- A part of the day is what :data:`simuverse.memory.when_words.PARTS` says. "At 3 pm" is half an hour to both sides, "at
  14:35" a quarter; "three o'clock" is in the afternoon.

Days are those of the zone, so one of them may have 23 or 25 hours. A date that doesn't exist tells no time.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, time, timedelta, tzinfo

from simuverse.memory.analysis import language_of
from simuverse.memory.when_calendar import (
    HALF_AN_HOUR,
    ONE_DAY,
    QUARTER,
    Days,
    Hours,
    NoSuchTime,
    Window,
    around,
    days_around,
    in_order,
    one_day,
    shifted,
    third,
    week_of,
)
from simuverse.memory.when_days import DayReader, Read, Time
from simuverse.memory.when_idioms import Idioms
from simuverse.memory.when_items import Items, may_tell
from simuverse.memory.when_words import Kind

_PURPOSE = frozenset(("for", "fur", "pour", "para"))
_ONWARD = frozenset(("onward", "onwards"))
_BOUNDING = frozenset((Kind.SINCE, Kind.UNTIL, Kind.BEFORE, Kind.AFTER, Kind.AGO_OR_BEFORE))


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeSpoken:
    """Args:
    start, end: where in the text its words stand.
    purpose: it is what something is for, as in "the plan for Monday".
    """

    start: int
    end: int
    window: Window
    purpose: bool = False


def times_spoken(
    text: str, *, now: datetime, zone: tzinfo = UTC, forward: bool = False, language: str | None = None
) -> list[TimeSpoken]:
    """Every time that a text speaks of, in the order of the text. Any text will do.

    Args:
        now: aware.
        zone: whose days and hours are meant.
        forward: the text speaks of what is to come.
        language: english, german, french or spanish; in another one figures alone are read. None: told by its words.
    """
    if not may_tell(text):
        return []
    language = language or language_of(text)
    items = Items(text, language)
    return list(_Reader(items, now.astimezone(zone), zone, idioms=Idioms(items, language), forward=forward).all())


class _Reader(DayReader):
    def __init__(self, items: Items, now: datetime, zone: tzinfo, *, idioms: Idioms, forward: bool) -> None:
        super().__init__(items, now, zone, forward=forward)
        self.idioms = idioms

    def all(self) -> Iterator[TimeSpoken]:
        at = 0
        while at < len(self.items):
            read = self._tried(self._range, at) or self._tried(self._one, at)
            if read is None:
                at = self._after_a_date(at)
                continue
            window, after = read
            after += self.items.possessive(after)
            first = self._first_word(at)
            yield TimeSpoken(
                start=self.items[first].start,
                end=self.items[after - 1].end,
                window=window,
                purpose=self.items.joined(at) and self.items[at - 1].word in _PURPOSE,
            )
            at = after

    def _after_a_date(self, at: int) -> int:
        """What follows a word that began no time; of a date that doesn't exist, such as 31 April, all is left out."""
        if self.items.kind(at) in (Kind.NUMBER, Kind.ORDINAL):
            month = self.items.skipped(at + 1, Kind.OF)
            if self.items.kind(month) in (Kind.MONTH, Kind.SHORT_MONTH) and self.items.joined(at + 1, dot=True):
                return month + 1
        return at + 1

    def _first_word(self, at: int) -> int:
        """Without the ends of what was said before: "what about Monday", "what is going on today"."""
        while True:
            kind, following = self.items.kind(at), self.items.kind(at + 1)
            figure = following in (Kind.NUMBER, Kind.CLOCK)
            if (kind is Kind.ABOUT and not figure) or (kind is Kind.AT and following in (Kind.DAY, Kind.PART_TODAY)):
                at += 1
            else:
                return at

    def _tried(self, read: Callable[[int], tuple[Window, int] | None], at: int) -> tuple[Window, int] | None:
        """What the calendar has no room for is no time."""
        try:
            return read(at)
        except (NoSuchTime, OverflowError, ValueError):
            return None

    # --- ranges -----------------------------------------------------------------------------------------------------

    def _range(self, at: int) -> tuple[Window, int] | None:
        at = self.items.skipped(at, Kind.AT, Kind.THE)
        if self.idioms.at(at):
            return None
        if not self.items.spaced(at + 1) and self.items.kind(at) in _BOUNDING:
            return None
        match self.items.kind(at):
            case Kind.BETWEEN:
                return self._from_to(at + 1, Kind.AND)
            case Kind.SINCE:
                return self._since(at + 1)
            case Kind.UNTIL | Kind.BEFORE | Kind.AFTER | Kind.AGO_OR_BEFORE:
                return self._half_open(at)
            case Kind.FROM:
                return self._from_to(at + 1, Kind.TO, Kind.UNTIL) or self._from_on(at + 1)
            case _:
                return self._beside(at) or self._from_to(at, Kind.TO, Kind.UNTIL)

    def _from_to(self, at: int, *joining: Kind) -> tuple[Window, int] | None:
        number = self._bare_number(at, joining)
        first = None if number is not None else self._point(at, prepared=True)
        after = number[1] if number is not None else -1 if first is None else first[1]
        dashed = Kind.TO in joining and self.items.dashed(after)
        joined = self._joins(after, joining) and self.items.joined(after, dot=number is not None)
        if after < 0 or not (dashed or joined):
            return None
        second = self._point(after if dashed else after + 1, prepared=True)
        if second is None:
            return None
        end, after = second
        start = self._like(number[0], end) if number is not None else first[0] if first is not None else end
        if isinstance(start, Days) and isinstance(end, Days):
            start, end = in_order(start, end)
        low, high = self._edge(start), self._edge(end, after=True)
        return None if low is None or high is None else (Window(since=low, until=high), after)

    def _bare_number(self, at: int, joining: tuple[Kind, ...]) -> tuple[int, int] | None:
        """``18`` of "between 18 and 20 March", ``2`` of "between 2 and 4 pm"."""
        at = self.items.skipped(at, Kind.THE)
        item = self.items[at]
        if item.kind not in (Kind.NUMBER, Kind.ORDINAL):
            return None
        return (item.number, at + 1) if self._joins(at + 1, joining) or self.items.dashed(at + 1) else None

    def _joins(self, at: int, joining: tuple[Kind, ...]) -> bool:
        item = self.items[at]
        return item.kind in joining or (Kind.TO in joining and item.kind is Kind.AT and item.name == "to")

    def _like(self, number: int, end: Time) -> Time:
        """The number as the same kind of time that ``end`` is."""
        if isinstance(end, Days) and end.one:
            return one_day(end.first.replace(day=number))
        if isinstance(end, Hours) and end.moment is not None:
            hour = number + 12 if number + 12 <= end.moment.hour else number
            return around(end.moment.replace(hour=hour, minute=0), HALF_AN_HOUR)
        raise NoSuchTime

    def _from_on(self, at: int) -> tuple[Window, int] | None:
        """From Monday on, from March onwards; "on" may also begin what follows: "the card from Monday on the mat"."""
        read = self._point(at, prepared=True)
        if read is None or not self.items.spaced(read[1]):
            return None
        onward = self.items[read[1]].word
        edge = self._edge(read[0])
        if edge is None or not (onward in _ONWARD or (onward == "on" and not self.items.spaced(read[1] + 1))):
            return None
        return Window(since=edge), read[1] + 1

    def _since(self, at: int) -> tuple[Window, int] | None:
        amount = self.amount(at)
        if amount is not None and self.items.kind(amount[2]) is not Kind.AGO:
            return Window(since=self.back(amount[0], amount[1])), amount[2]
        back = _Reader(self.items, self.now, self.zone, idioms=self.idioms, forward=False)
        read = back._point(at, prepared=True)
        edge = None if read is None else self._edge(read[0])
        if read is None or edge is None or self.idioms.says_that(at - 1, read[1]):
            return None
        return Window(since=edge), read[1]

    def _half_open(self, at: int) -> tuple[Window, int] | None:
        kind = self.items.kind(at)
        if kind is Kind.AGO_OR_BEFORE and self.amount(at + 1) is not None:
            return None
        read = self._point(at + 1, prepared=True)
        edge = None if read is None else self._edge(read[0], after=kind in (Kind.AFTER, Kind.UNTIL))
        if read is None or edge is None or self.idioms.says_that(at, read[1]):
            return None
        return (Window(since=edge) if kind is Kind.AFTER else Window(until=edge)), read[1]

    def _beside(self, at: int) -> tuple[Window, int] | None:
        """The week before 9 June, two days after Christmas, the week of 23 August, the first week of March."""
        if self.items.kind(at) is Kind.ORDINAL and self.items[at + 1].name == "week":
            return self._numbered_week(at)
        amount = self.amount(at)
        if amount is None and self.items.kind(at) is Kind.UNIT:
            amount = (1, self.items[at].name, at + 1)
        if amount is None:
            return None
        number, unit, after = amount
        kind = self.items.kind(after)
        read = self._point(after + 1, prepared=True) if kind in (Kind.BEFORE, Kind.AFTER, Kind.OF) else None
        days = None if read is None else read[0]
        if read is None or not isinstance(days, Days):
            return None
        after = read[1]
        if kind is Kind.OF:
            if not days.one or unit not in ("week", "weekend"):
                return None
            return self._window(week_of(days.first, weekend=unit == "weekend")), after
        if unit == "weekend":
            return None
        if kind is Kind.BEFORE:
            return self._window(Days(first=shifted(days.first, -number, unit), after=days.first)), after
        return self._window(Days(first=days.after, after=shifted(days.after, number, unit))), after

    def _numbered_week(self, at: int) -> tuple[Window, int] | None:
        read = self._point(at + 3, prepared=True) if self.items.kind(at + 2) is Kind.OF else None
        if read is None or not isinstance(read[0], Days):
            return None
        first = read[0].first + timedelta(days=7 * (self.items[at].number - 1))
        return self._window(Days(first=first, after=min(first + timedelta(days=7), read[0].after))), read[1]

    # --- one time ---------------------------------------------------------------------------------------------------

    def _one(self, at: int) -> tuple[Window, int] | None:
        read = self._point(at, prepared=False)
        return None if read is None else (self._window(read[0]), read[1])

    def _point(self, at: int, *, prepared: bool) -> Read | None:
        """Args: prepared: a word before says that a time follows."""
        skipped = self.items.skipped(at, Kind.AT, Kind.THE, Kind.ABOUT)
        before = [self.items[place] for place in range(at, skipped)]
        prepared = prepared or any(item.kind is Kind.AT for item in before)
        if self.items.kind(skipped) is Kind.THIRD:
            read = self.days(self.items.skipped(skipped + 1, Kind.AT, Kind.THE, Kind.OF), prepared=True)
            if read is None or not isinstance(read[0], Days):
                return None
            return third(read[0], self.items[skipped].number), read[1]
        return (
            self._part_of_day(skipped)
            or self._clock(skipped, prepared=prepared)
            or self._ago(skipped)
            or self._closer(self.days(skipped, prepared=prepared, the=any(item.word == "the" for item in before)))
        )

    def _part_of_day(self, at: int) -> Read | None:
        """Tonight; this morning; the evening of 18 March."""
        item = self.items[at]
        if item.kind is Kind.PART_TODAY:
            return self.part(self.today, item.name), at + 1
        if item.kind is Kind.PART_YESTERDAY:
            return self.part(self.today - ONE_DAY, item.name), at + 1
        if item.kind is Kind.THIS:
            part = self._part_word(at + 1)
            return None if part is None else (self.part(self.today, part), at + 2)
        part = self._part_word(at) if item.kind is Kind.PART else None
        if part is None:
            return None
        skipped = self.items.skipped(at + 1, Kind.OF, Kind.AT, Kind.THE)
        read = self.days(skipped, prepared=False, the=self.items[skipped - 1].kind is Kind.THE)
        if read is None or not isinstance(read[0], Days) or not read[0].one:
            return None
        return self.part(read[0].first, part), read[1]

    def _part_word(self, at: int) -> str | None:
        item = self.items[at]
        if item.kind is Kind.MORNING_OR_TOMORROW:
            return "morning"
        return item.name if item.kind is Kind.PART else None

    def _clock(self, at: int, *, prepared: bool) -> Read | None:
        """At 14:30 yesterday; at 3 pm, which without a day is the latest such."""
        read = self._time_of_day(at) if prepared else None
        if read is None:
            return None
        clock, width, after = read
        days = self.days(self.items.skipped(after, Kind.AT, Kind.THE, Kind.OF), prepared=False)
        if days is not None and isinstance(days[0], Days) and days[0].one and self.items.joined(after):
            return around(datetime.combine(days[0].first, clock), width), days[1]
        still_to_come = clock > self.now.time() and not self.forward
        return around(datetime.combine(self.today - ONE_DAY * still_to_come, clock), width), after

    def _time_of_day(self, at: int) -> tuple[time, timedelta, int] | None:
        at = self.items.skipped(at, Kind.ABOUT)
        item, half = self.items[at], self.items[at + 1]
        if item.kind is Kind.CLOCK:
            hour, minute = item.numbers
            return time(hour % 24, minute), QUARTER if minute else HALF_AN_HOUR, at + 1 + (half.kind is Kind.HALF_DAY)
        if item.kind is not Kind.NUMBER or half.kind is not Kind.HALF_DAY or not self.items.joined(at + 1):
            return None
        hour = item.number
        if half.value in (0, 12):
            hour = hour % 12 + half.number
        elif half.value is None and 1 <= hour <= 6:
            hour += 12
        return (time(hour % 24), HALF_AN_HOUR, at + 2) if hour <= 24 else None

    def _ago(self, at: int) -> Read | None:
        before = self.items.kind(at) is Kind.AGO_OR_BEFORE
        amount = self.amount(at + before)
        if amount is None:
            return None
        number, unit, after = amount
        if not before:
            if self.items.kind(after) is not Kind.AGO or not self.items.joined(after):
                return None
            after += 1
        match unit:
            case "minute" | "hour":
                minutes = number if unit == "minute" else 60 * number
                half = timedelta(minutes=max(minutes / 4, 30 if minutes >= 60 else 0.5))
                middle = self.back(number, unit)
                return Window(since=middle - half, until=middle + half), after
            case "day":
                return self._closer((one_day(self.today - timedelta(days=number)), after))
            case "week" | "weekend":
                day = self.today - timedelta(days=7 * number)
                if unit == "weekend":
                    return week_of(day, weekend=True), after
                return self._closer(self.weekday_of(after, week_of(day))) or (days_around(day, 3), after)
            case _:
                return days_around(shifted(self.today, -number, unit), 15 if unit == "month" else 182), after

    def _closer(self, read: Read | None) -> Read | None:
        """A day with the part of it, or the time of day, that follows."""
        if read is None or not isinstance(read[0], Days) or not read[0].one or not self.items.joined(read[1]):
            return read
        day, after = read[0].first, read[1]
        at = self.items.skipped(after, Kind.AT, Kind.THE, Kind.OF)
        part = self._part_word(at)
        found: Time = read[0]
        if part is not None:
            found, after = self.part(day, part), at + 1
            at = self.items.skipped(after, Kind.AT)
        clock = self._time_of_day(at) if self.items.joined(after) else None
        if clock is None:
            bare = self._bare_hour(after)
            if bare is None:
                return found, after
            hour, after = bare
            if part is None and hour <= 12:
                return found, after
            clock = (time(hour), HALF_AN_HOUR, after)
        moment, width, after = clock
        if part in ("afternoon", "evening", "night") and moment.hour < 12:
            moment = moment.replace(hour=moment.hour + 12)
        return around(datetime.combine(day, moment), width), after

    def _bare_hour(self, at: int) -> tuple[int, int] | None:
        """``at 8`` after a day, of which only a part of the day or a figure above 12 tells which eight it is."""
        skipped = self.items.skipped(at, Kind.AT, Kind.ABOUT)
        item = self.items[skipped]
        if skipped == at or item.kind is not Kind.NUMBER or not self.items.joined(at):
            return None
        return None if item.number > 23 or self.items.spaced(skipped + 1) else (item.number, skipped + 1)

    # --- to windows -------------------------------------------------------------------------------------------------

    def _edge(self, found: Time, *, after: bool = False) -> datetime | None:
        """Where a range begins that begins with it, or, ``after``, ends that ends with it; None: it is open there."""
        if isinstance(found, Hours) and found.moment is not None:
            return (max if after else min)(self._both(found.moment))
        window = self._window(found)
        return window.until if after else window.since

    def _window(self, found: Time) -> Window:
        """An hour that comes twice is meant both times; one that is left out stands for those beside it."""
        match found:
            case Window():
                return found
            case Hours():
                return Window(since=min(self._both(found.since)), until=max(self._both(found.until)))
            case Days():
                first, after = (self.utc(datetime.combine(day, time())) for day in (found.first, found.after))
                return Window(since=first, until=after)

    def _both(self, local: datetime) -> tuple[datetime, datetime]:
        return self.utc(local.replace(fold=0)), self.utc(local.replace(fold=1))
