"""How much room a memory takes in a prompt, and how it is cut to less. PURE.

Tokens are estimated, rather too many than too few: each model counts in its own way, and a budget is a bound, not a
bill.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from math import ceil

from simuverse.memory.records import Memory

CHARACTERS_PER_TOKEN = 4
"""A common rule of thumb for Latin letters."""

_LAST_LATIN = "\u024f"
"""Characters beyond it count as a token each."""

_ELEMENTS = 50
"""Tokens of what stands around a flashback's texts in a prompt: its elements, its time and its source."""

_VITAL = 0.5
"""Share of the room for texts that critical information may take: it must survive, and may be as stuffed as any."""

SHORT = 150
"""Tokens that any memory may take: some 400 characters are never cut."""

_CUT = " …"


def estimated_tokens(memory: Memory) -> int:
    """Of a memory as a flashback in a prompt."""
    return _ELEMENTS + _tokens(memory.summary + memory.critical_information)


def fitted(memory: Memory, tokens: int) -> Memory:
    """The memory with its texts cut so that it takes so many tokens at most, or its elements alone."""
    if estimated_tokens(memory) <= tokens:
        return memory
    room = max(tokens - _ELEMENTS, 1)
    vital = _cut(memory.critical_information, int(room * _VITAL))
    return replace(memory, critical_information=vital, summary=_cut(memory.summary, room - _tokens(vital)) or _CUT)


def _tokens(text: str) -> int:
    latin = len(text) if text.isascii() else sum(char <= _LAST_LATIN for char in text)
    return len(text) - latin + ceil(latin / CHARACTERS_PER_TOKEN)


def _cut(text: str, tokens: int) -> str:
    """As many whole words of it as fit; of a single long one, its beginning."""
    if _tokens(text) <= tokens:
        return text
    end = next((place for place, spent in enumerate(_spent(text)) if spent > tokens - _tokens(_CUT)), len(text))
    begun = text[:end].rstrip()
    whole = begun[: begun.rfind(" ")] if " " in begun else begun
    return whole + _CUT if whole else ""


def _spent(text: str) -> Iterator[float]:
    """Tokens up to and with each character."""
    spent = 0.0
    for char in text:
        spent += 1 / CHARACTERS_PER_TOKEN if char <= _LAST_LATIN else 1
        yield spent
