"""The time that a query speaks of, as it was understood. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime, tzinfo
from enum import StrEnum

from simuverse.memory.clock import local


class TimeUse(StrEnum):
    """What a time that a query speaks of does."""

    WINDOW = "window"
    """It is asked about: nothing of another time comes back."""
    LIST = "list"
    """Nothing else is asked: what is of that time comes back, by importance."""
    BOOST = "boost"
    """It is only mentioned: what is of that time ranks a little higher."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TimeAsked:
    """The time that a query speaks of.

    Args:
        phrase: its words, as they were said.
        since, until: the window understood, as in :class:`simuverse.memory.records.MemoryFilter`.
        text: what else the query asks.
    """

    phrase: str
    since: datetime | None
    until: datetime | None
    use: TimeUse
    text: str = ""

    def describe(self, zone: tzinfo = UTC) -> str:
        """For people: ``asks about "yesterday": from 2026-03-17 00:00 until 2026-03-18 00:00 UTC``."""
        does = {
            TimeUse.WINDOW: "asks about",
            TimeUse.LIST: "asks for all of",
            TimeUse.BOOST: "mentions",
        }[self.use]
        bounds = [(word, local(end, zone)) for word, end in (("from", self.since), ("until", self.until)) if end]
        ends = [f"{word} {end:%Y-%m-%d %H:%M}" for word, end in bounds]
        return f'{does} "{self.phrase}": {" ".join(ends)} {bounds[-1][1].tzinfo}'
