"""Figures and names in words, for people. Pure."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from simuverse.memory.clock import local
from simuverse.memory.records import Candidate, Cut

MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
"""Not the locale's: the page is in English on every machine."""


def title(name: str) -> str:
    """A name of the world as people write it: ``red ball``."""
    return name.replace("_", " ")


def when(time: datetime, now: datetime) -> str:
    """The time of day by the clock of ``now``, with the date where it isn't today's."""
    time = local(time, now.tzinfo or UTC)
    clock = f"{time:%H:%M}"
    return clock if time.date() == now.date() else f"{time.day} {MONTHS[time.month - 1]}, {clock}"


def age(time: datetime, now: datetime) -> str:
    """How long ago, in the largest unit that fits."""
    gone = now - time
    for unit, length in (("day", timedelta(days=1)), ("hour", timedelta(hours=1)), ("minute", timedelta(minutes=1))):
        count = gone // length
        if count >= 1:
            return f"{count} {unit}{'' if count == 1 else 's'} ago"
    return "just now"


def why_cut(candidate: Candidate) -> str:
    """What kept a candidate out, and by how much."""
    by = candidate.missed_by
    match candidate.cut:
        case None:
            return ""
        case Cut.UNSURE:
            return f"what is asked for seems to be unknown{_lacking(by, 'short of sure')}"
        case Cut.GATE:
            return f"too little to do with what is going on{_lacking(by, 'short of the gate')}"
        case Cut.NEAR_DUPLICATE:
            return f"nearly the same as a flashback above it{_lacking(by, 'over the likeness allowed')}"
        case Cut.COOL_DOWN:
            return "shown in one of the last turns"
        case Cut.JUDGED:
            return "the model judged that it doesn't belong here"
        case Cut.COUNT:
            return f"no room left{_lacking(by, 'behind the last that came back')}"
        case Cut.TOKENS:
            return "too long for what is left of the budget" + (f": {by:.0f} tokens over" if by is not None else "")


def _lacking(by: float | None, what: str) -> str:
    return "" if by is None else f": {by:.2f} {what}"
