"""What the world answers with: codes for programs, sentences for people, and the words of a call made safe to quote."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable
from enum import StrEnum

_UNWRITABLE = re.compile("[\x00-\x1f\x7f-\x9f\ud800-\udfff\ufffe\uffff]+")
"""What neither JSON nor XML can carry, and line breaks, which would break a sentence."""
_GAP = re.compile(r"[\s_\-]+")


class Code(StrEnum):
    """What became of a call. The first group is done, the second refused."""

    ON_THE_WAY = "on_the_way"
    ARRIVED = "arrived"
    LOOKED = "looked"
    SAID = "said"
    USED = "used"
    PICKED_UP = "picked_up"
    PUT_DOWN = "put_down"
    GIVEN = "given"
    THOUGHT = "thought"
    WAITED = "waited"
    PLACED = "placed"
    """By the operator."""

    UNKNOWN_TOOL = "unknown_tool"
    UNKNOWN_PARAMETER = "unknown_parameter"
    MISSING_PARAMETER = "missing_parameter"
    BAD_VALUE = "bad_value"
    UNKNOWN_NAME = "unknown_name"
    AMBIGUOUS_NAME = "ambiguous_name"
    YOURSELF = "yourself"
    OUT_OF_GRID = "out_of_grid"
    OUT_OF_SIGHT = "out_of_sight"
    OUT_OF_EARSHOT = "out_of_earshot"
    OUT_OF_REACH = "out_of_reach"
    TOO_LONG = "too_long"
    NOT_POSSIBLE = "not_possible"
    """This thing can't be used or moved that way."""
    ALREADY = "already"
    """Done before: nothing changes."""
    HANDS_FULL = "hands_full"
    NOT_HELD = "not_held"
    HELD_BY_ANOTHER = "held_by_another"
    SEAT_TAKEN = "seat_taken"
    NEEDS_HANDS = "needs_hands"
    """It takes more people."""


class Refused(Exception):
    """A rule says no; ``tools`` turns it into an outcome. The sentence names the rule and the options."""

    def __init__(self, code: Code, sentence: str) -> None:
        super().__init__(sentence)
        self.code = code
        self.sentence = sentence


def clean(text: str) -> str:
    """``text`` on one line, without characters that can't be written down, single-spaced."""
    return " ".join(_UNWRITABLE.sub(" ", text).split())


def short(text: str, limit: int = 60) -> str:
    """``text`` cleaned, to quote in a sentence: at most ``limit`` characters."""
    whole = clean(text)
    return whole if len(whole) <= limit else f"{whole[: limit - 1]}…"


def listing(names: Iterable[str]) -> str:
    return ", ".join(names) or "none"


def fold(name: str) -> str:
    """``name`` with case, width and the kind of gap between its words levelled: ``The-Door`` is ``the_door``."""
    return _GAP.sub("_", unicodedata.normalize("NFKC", clean(name)).casefold()).strip("_")


def find(name: str, names: Iterable[str]) -> str | None:
    """The one of ``names`` that is meant; an exact match first, then one that is alike when folded.

    Raises:
        Refused: several are alike.
    """
    known = tuple(names)
    wanted = clean(name)
    if wanted in known:
        return wanted
    alike = [n for n in known if fold(n) == fold(wanted)]
    if len(alike) > 1:
        raise Refused(Code.AMBIGUOUS_NAME, f"{short(name)} could be any of: {listing(alike)}. Write it exactly.")
    return alike[0] if alike else None
