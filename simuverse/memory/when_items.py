"""A text as the words and figures that times are told by, each with its place. PURE."""

from __future__ import annotations

import re
import unicodedata
from typing import NamedTuple

from simuverse.memory.when_words import TELLING, Kind, Value, meanings

_TOKEN = re.compile(
    r"(?P<iso>\d{4}-\d{1,2}-\d{1,2})(?!\d)|(?P<numeric>\d{1,2}[./]\d{1,2}[./]\d{4})(?!\d)"
    r"|(?P<clock>\d{1,2}[:h]\d{2})(?!\d)|(?P<hour>\d{1,2})\s?(?P<half>[ap])\.?m\b|(?P<ordinal>\d{1,2})(?:st|nd|rd|th)\b"
    r"|(?P<number>\d{1,5})(?![\d%])|(?P<word>[^\W\d_]+)",
    re.IGNORECASE,
)
_WORD = re.compile(r"[^\W_]+")
_LOOSE = re.compile(r"[\s,'’-]*")
_LOOSE_OR_DOT = re.compile(r"[\s,'’.-]*")


def may_tell(text: str) -> bool:
    """Whether it holds anything that a time could be told by: quick, for most texts don't."""
    words = _WORD.findall(text.lower() if text.isascii() else _folded(text))
    return not TELLING.isdisjoint(words) or any(word[0].isdecimal() for word in words)


class Item(NamedTuple):
    """A word, several that mean one thing, or a figure.

    Args:
        start, end: its place in the text.
        word: the first of its words, in lower case; empty for a figure.
    """

    kind: Kind
    value: Value
    start: int
    end: int
    word: str

    @property
    def number(self) -> int:
        """-1 where it has none."""
        return self.value if isinstance(self.value, int) else -1

    @property
    def name(self) -> str:
        return self.value if isinstance(self.value, str) else ""

    @property
    def numbers(self) -> tuple[int, ...]:
        return self.value if isinstance(self.value, tuple) else ()


NO_ITEM = Item(Kind.WORD, None, 0, 0, "")


class Items:
    """Items are asked for by their place; where there is none, :data:`NO_ITEM` stands."""

    def __init__(self, text: str, language: str) -> None:
        self._text = text
        self._items = _items(text, language)

    def __len__(self) -> int:
        return len(self._items)

    def __getitem__(self, at: int) -> Item:
        return self._items[at] if 0 <= at < len(self._items) else NO_ITEM

    def kind(self, at: int) -> Kind:
        return self[at].kind

    def skipped(self, at: int, *kinds: Kind) -> int:
        """The first place from ``at`` on that holds none of ``kinds``."""
        while at < len(self._items) and self._items[at].kind in kinds:
            at += 1
        return at

    def joined(self, at: int, *, dot: bool = False) -> bool:
        """Whether there is an item, and nothing but spaces, commas, hyphens (and a ``dot``) before it."""
        if not 0 <= at < len(self._items):
            return False
        return at == 0 or bool((_LOOSE_OR_DOT if dot else _LOOSE).fullmatch(self._text, *self._between(at)))

    def spaced(self, at: int) -> bool:
        """Whether there is an item, and nothing but spaces before it."""
        return 0 < at < len(self._items) and not self._text[slice(*self._between(at))].strip()

    def capital(self, at: int) -> bool:
        """Whether there is an item, and it begins with a capital."""
        return 0 <= at < len(self._items) and self._text[self._items[at].start].isupper()

    def possessive(self, at: int) -> bool:
        """Whether the item is the end of the one before it: the "s" of "Monday's"."""
        return (
            0 < at < len(self._items)
            and self._items[at].word == "s"
            and self._text[slice(*self._between(at))] in ("'", "’")
        )

    def dashed(self, at: int) -> bool:
        """Whether there is an item, and a dash before it."""
        return 0 < at < len(self._items) and self._text[slice(*self._between(at))].strip() in ("-", "–")

    def _between(self, at: int) -> tuple[int, int]:
        return self._items[at - 1].end, self._items[at].start


def _items(text: str, language: str) -> list[Item]:
    found: list[Item] = []
    words: list[re.Match[str]] = []

    def flush() -> None:
        folded = [_folded(word.group()) for word in words]
        at = 0
        for kind, value, taken in meanings(folded, language):
            found.append(Item(kind, value, words[at].start(), words[at + taken - 1].end(), folded[at]))
            at += taken
        words.clear()

    for match in _TOKEN.finditer(text):
        if match.lastgroup != "word":
            flush()
            found.append(_figure(match))
            continue
        if words and not _LOOSE.fullmatch(text, words[-1].end(), match.start()):
            flush()
        words.append(match)
    flush()
    return found


def _folded(word: str) -> str:
    """In lower case and without accents."""
    word = word.casefold()
    if word.isascii():
        return word
    return "".join(char for char in unicodedata.normalize("NFKD", word) if not unicodedata.combining(char))


def _figure(match: re.Match[str]) -> Item:
    text = match.group()
    kind, value = _value(match, text)
    return Item(kind, value, match.start(), match.end(), "")


def _value(match: re.Match[str], text: str) -> tuple[Kind, Value]:
    if match["iso"]:
        return Kind.DATE, tuple(int(part) for part in text.split("-"))
    if match["numeric"]:
        day, month, year = (int(part) for part in re.split("[./]", text))
        return Kind.DATE, (year, day, month) if month > 12 and "/" in text else (year, month, day)
    if match["clock"]:
        return Kind.CLOCK, tuple(int(part) for part in re.split("[:hH]", text))
    if match["hour"]:
        hour = int(match["hour"])
        return Kind.CLOCK, (hour % 12 + 12 * (match["half"] in "pP") if hour <= 12 else hour, 0)
    if match["ordinal"]:
        return Kind.ORDINAL, int(match["ordinal"])
    return Kind.NUMBER, int(text)
