"""A model's reply, as it comes, to the well-formed documents in it.

Models put fences and prose around their XML, think aloud first, leave out the root, write ``&`` and ``<`` as they are.
What can be understood in one way only is repaired here; what can't is an error that says where. One pass, no
backtracking: the time is linear in the reply.

The rule that keeps quoted speech from becoming markup: inside an element that holds text, only its own end tag is
markup. Another tag of the same form there (``</memory>`` copied from what somebody said, or an end tag forgotten) is
refused; any other ``<`` is text.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from html.entities import html5
from typing import Literal

from simuverse.agents.xml_schema import Schema, shortened
from simuverse.errors import MalformedReply

MAX_CHARACTERS = 64 * 1024
"""Of a reply. The longest useful one is some thousand characters; past this something has run away."""

MAX_DOCUMENTS = 8
"""Roots read from one reply, far more than anyone asks for."""

ILLEGAL = r"[^\t\n\r\x20-\uD7FF\uE000-\uFFFD\U00010000-\U0010FFFF]"
"""What XML 1.0 can't hold (production 2, Char): NUL, control characters, lone surrogates."""

_THINKING = frozenset({"think", "thinking"})
_SEPARATED = "keywords"
"""The one text element whose unknown tags part its items: ``<keyword>ball</keyword><keyword>park</keyword>``."""

_TAG = re.compile(r"<(\s*+/)?\s*+([A-Za-z_][A-Za-z0-9_.\-]*+)((?:[\s/][^<>]*+)?)>")
_NAME = re.compile(r"""(?<![\w.\-])name\s*+=\s*+(?:"([^"]*+)"|'([^']*+)'|([^\s"'/]++))""")
_SPECIAL = re.compile(r"&(?:#([0-9]{1,7}+)|#[xX]([0-9A-Fa-f]{1,6}+)|([A-Za-z][A-Za-z0-9]{1,31}+));|\r\n?|[&<>\"]")
_ILLEGAL = re.compile(ILLEGAL)
_BEGINS_AS_MARKUP = re.compile(r"\s*+(?:```\w*+\s*+)?+<")
_AS_REFERENCE = {"&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&quot;", "\t": "&#9;", "\n": "&#10;", "\r": "&#13;"}
_Kind = Literal["open", "close", "single", "comment", "cdata", "declaration"]
_SPANS: tuple[tuple[_Kind, str, str], ...] = (
    ("comment", "<!--", "-->"),
    ("cdata", "<![CDATA[", "]]>"),
    ("declaration", "<?xml", "?>"),
    ("declaration", "<!DOCTYPE", ">"),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Repaired:
    """Documents in the order they came, each on the lines it had in the reply; and what was left out."""

    documents: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class _Mark:
    """Something that may be markup, from ``start`` up to ``end``. ``name``, in lower case, and ``rest`` are a tag's."""

    kind: _Kind
    start: int
    end: int
    name: str = ""
    rest: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Open:
    """An element whose end hasn't come. ``implied``: the reply left out its start tag."""

    name: str
    start: int
    implied: bool


def repair(text: str, form: Schema) -> Repaired:
    """Finds and mends what is of ``form`` in ``text``; one document or more.

    Raises:
        MalformedReply: there is none, it is cut off, ambiguous or too long; the message says where.
    """
    if len(text) > MAX_CHARACTERS:
        raise MalformedReply(
            f"{where(text, MAX_CHARACTERS)}: the reply goes on past {MAX_CHARACTERS} characters, "
            f"the most that is read. Write a short <{form.roots[0]}> alone."
        )
    return _Walk(_ILLEGAL.sub("", text), form).run()


def where(text: str, position: int) -> str:
    """Line and column of ``position``, both from 1."""
    line = text.count("\n", 0, position) + 1
    return f"line {line}, column {position - text.rfind(chr(10), 0, position)}"


@dataclass(slots=True)
class _Walk:
    """Goes through the marks of a reply once, keeping the elements that are open and what is written so far."""

    text: str
    form: Schema
    open: list[_Open] = field(default_factory=list[_Open])
    written: list[str] = field(default_factory=list[str])
    documents: list[str] = field(default_factory=list[str])
    notes: list[str] = field(default_factory=list[str])
    copied: int = 0
    """How far the lines of the reply have been carried over into what is written, so that a line number in a document
    is one in the reply."""
    lines: int = 0
    """Line ends up to there."""
    leading: int = 0
    """Line ends before the document that is being written."""
    endless: _Open | None = None
    """The first root that another began inside of."""
    last_end: dict[str, int] = field(default_factory=dict[str, int])
    """Where each name's last end tag is, among the marks."""
    last_own: int = -1
    """Where the last tag of the form is, among the marks."""

    def run(self) -> Repaired:
        marks = list(_marks(self.text))
        for place, mark in enumerate(marks):
            if mark.kind == "close":
                self.last_end[mark.name] = place
            if mark.name in self.form.rules:
                self.last_own = place
        try:
            at = self._unopened_thinking(marks)
            while at < len(marks) and len(self.documents) < MAX_DOCUMENTS:
                at = self._step(marks, at)
            if at < len(marks):
                self.notes.append(f"{where(self.text, marks[at].start)}: what follows is left out")
            self._finish()
            if self.endless is not None:
                started = where(self.text, self.endless.start)
                self.notes.append(f"{started}: this <{self.endless.name}> has no end and is left out")
        except MalformedReply as problem:
            if not self.documents:
                raise
            self.notes.append(f"what follows is left out: {problem}")
        return Repaired(documents=tuple(self.documents), notes=tuple(self.notes))

    def _unopened_thinking(self, marks: list[_Mark]) -> int:
        """Past an end of thinking whose start was in the prompt; 0 without one.

        Such a reply begins as prose and closes nothing before. Anything else is left to the walk, so that an end of
        thinking that is quoted in a text doesn't make markup of what follows it.
        """
        if not _BEGINS_AS_MARKUP.match(self.text):
            for place, mark in enumerate(marks):
                if mark.name in _THINKING:
                    return place + 1 if mark.kind == "close" and self.last_own > place else 0
                if mark.kind == "close" and mark.name in self.form.rules:
                    break
        return 0

    def _step(self, marks: list[_Mark], at: int) -> int:
        """Takes the mark ``at`` outside of any text; returns the next to take."""
        mark = marks[at]
        if mark.name in _THINKING:
            return self._think(marks, at)
        rule = self.form.rules.get(mark.name)
        if rule is None:
            return self._foreign(marks, at)
        if mark.kind == "close":
            self._close(mark)
            return at + 1
        self._make_room(mark)
        if rule.empty or mark.kind == "single":
            self._write(mark, "/>")
            self._end_document()
            return at + 1
        if rule.holds_text:
            return self._text(marks, at)
        self._write(mark, ">")
        self.open.append(_Open(name=mark.name, start=mark.start, implied=False))
        return at + 1

    def _think(self, marks: list[_Mark], at: int) -> int:
        """Thinking is skipped. An end without a start means that all before it was thinking."""
        kind, name = marks[at].kind, marks[at].name
        if kind == "open" and self.last_end.get(name, -1) > at:
            while marks[at].kind != "close" or marks[at].name != name:
                at += 1
        elif kind == "close" and self.last_own > at:
            self.open.clear()
            self.written.clear()
            self.documents.clear()
        return at + 1

    def _foreign(self, marks: list[_Mark], at: int) -> int:
        """A tag that isn't of the form. With plain text inside it is kept for the parser to judge; else it is prose."""
        mark = marks[at]
        if not self.open or mark.kind not in ("open", "single"):
            return at + 1
        if mark.kind == "single":
            self._write(mark, "/>")
            return at + 1
        following = marks[at + 1] if at + 1 < len(marks) else None
        if following is None or following.kind != "close" or following.name != mark.name:
            return at + 1
        return self._text(marks, at)

    def _make_room(self, mark: _Mark) -> None:
        """Opens what the reply left out and closes what it left out, so that the element can start here."""
        if mark.name in self.form.roots and self.open:
            if not all(element.implied for element in self.open):
                self.endless = self.endless or self.open[0]
                self.open.clear()
                self.written.clear()
            while self.open:
                self._pop()
        while self.open and not self.form.path(self.open[-1].name, mark.name):
            if not self.open[-1].implied:
                raise MalformedReply(self._still_open(f"<{mark.name}>", mark, self.open[-1]))
            self._pop()
        for name in self.form.path(self.open[-1].name if self.open else None, mark.name)[:-1]:
            self._write(_Mark(kind="open", start=mark.start, end=mark.start, name=name), ">")
            self.open.append(_Open(name=name, start=mark.start, implied=True))

    def _close(self, mark: _Mark) -> None:
        if all(element.name != mark.name for element in self.open):
            return
        while self.open[-1].name != mark.name:
            if not self.open[-1].implied:
                raise MalformedReply(self._still_open(f"</{mark.name}>", mark, self.open[-1]))
            self._pop()
        self._carry_lines(mark.start)
        self._pop()

    def _pop(self) -> None:
        self.written.append(f"</{self.open.pop().name}>")
        self._end_document()

    def _text(self, marks: list[_Mark], at: int) -> int:
        """An element that holds text, up to its own end tag."""
        start, name = marks[at], marks[at].name
        pieces: list[str] = []
        position = start.end
        for place in range(at + 1, len(marks)):
            mark = marks[place]
            if mark.kind == "close" and mark.name == name:
                pieces.append(_encode(self.text[position : mark.start]))
                self._write(start, ">")
                self._write_text("".join(pieces), name, mark.end)
                return place + 1
            if mark.name in self.form.rules:
                tag = f"</{mark.name}>" if mark.kind == "close" else f"<{mark.name}>"
                raise MalformedReply(
                    self._still_open(tag, mark, _Open(name=name, start=start.start, implied=False))
                    + f" If {tag} is meant as text, write it as &lt;{tag[1:-1]}&gt;."
                )
            if mark.kind in ("comment", "cdata") or (mark.name and name == _SEPARATED):
                pieces.append(_encode(self.text[position : mark.start]))
                if mark.kind == "cdata":
                    pieces.append(_encode(self.text[mark.start + 9 : mark.end - 3], literal=True))
                elif mark.name:
                    pieces.append("&#10;")
                position = mark.end
        raise MalformedReply(self._cut_off(name, start.start))

    def _write(self, mark: _Mark, end: str) -> None:
        self._carry_lines(mark.start)
        if not self.open:
            self.leading = self.lines
        rule = self.form.rules.get(mark.name)
        found = _NAME.search(mark.rest) if rule is not None and rule.attributes else None
        name = next((group for group in found.groups() if group is not None), "").strip() if found else ""
        attribute = f' name="{_encode(name, attribute=True)}"' if name else ""
        self.written.append(f"<{mark.name}{attribute}{end}")

    def _write_text(self, encoded: str, name: str, end: int) -> None:
        self.written.append(f"{encoded}</{name}>")
        self._carry_lines(end, already=encoded.count("\n"))

    def _carry_lines(self, position: int, *, already: int = 0) -> None:
        lines = self.text.count("\n", self.copied, position)
        self.lines += lines
        self.copied = position
        if self.open:
            self.written.append("\n" * (lines - already))

    def _end_document(self) -> None:
        if not self.open:
            self.documents.append("\n" * self.leading + "".join(self.written))
            self.written.clear()

    def _finish(self) -> None:
        for element in reversed(self.open):
            if not element.implied:
                raise MalformedReply(self._cut_off(element.name, element.start))
        while self.open:
            self._pop()
        if not self.documents:
            begins = f"it begins {shortened(self.text)!r}" if self.text.strip() else "it is empty"
            form = " or ".join(f"<{root}>" for root in self.form.roots)
            raise MalformedReply(f"line 1: there is no {form} in the reply; {begins}.")

    def _still_open(self, tag: str, mark: _Mark, element: _Open) -> str:
        return (
            f"{where(self.text, mark.start)}: {tag} stands inside <{element.name}>, "
            f"opened at {where(self.text, element.start)} and not closed. Write </{element.name}> before it."
        )

    def _cut_off(self, name: str, start: int) -> str:
        return (
            f"{where(self.text, len(self.text))}: the reply is cut off inside <{name}>, "
            f"opened at {where(self.text, start)}. Write the whole reply again."
        )


def _marks(text: str) -> Iterator[_Mark]:
    """All that may be markup, in order. An opening without its end is text, looked for once."""
    endless: set[str] = set()
    position = text.find("<")
    while position >= 0:
        mark = _mark(text, position, endless)
        if mark is not None:
            yield mark
        position = text.find("<", mark.end if mark is not None else position + 1)


def _mark(text: str, position: int, endless: set[str]) -> _Mark | None:
    tag = _TAG.match(text, position)
    if tag is not None:
        closing, name, rest = tag.groups()
        kind: _Kind = "close" if closing else "single" if rest.rstrip().endswith("/") else "open"
        return _Mark(kind=kind, start=position, end=tag.end(), name=name.lower().replace("-", "_"), rest=rest)
    for span, opening, ending in _SPANS:
        if text.startswith(opening, position) and opening not in endless:
            end = text.find(ending, position)
            if opening == "<!DOCTYPE" and "[" in text[position:end]:
                end = text.find("]>", position) + 1
            if end > 0:
                return _Mark(kind=span, start=position, end=end + len(ending))
            endless.add(opening)
    return None


def _encode(raw: str, *, literal: bool = False, attribute: bool = False) -> str:
    """Text of a reply as XML: references decoded unless ``literal``, all else that could be markup escaped."""

    def one(found: re.Match[str]) -> str:
        whole = found[0]
        if whole[0] == "\r":
            return "\n" if whole == "\r\n" else "&#10;"
        if whole[0] == "&" and len(whole) > 1:
            if literal:
                return f"&amp;{whole[1:]}"
            decimal, hexadecimal, name = found.groups()
            if name is not None:
                whole = html5.get(f"{name};", whole)
            else:
                code = int(decimal) if decimal is not None else int(hexadecimal, 16)
                whole = chr(code) if code <= 0x10FFFF else ""
            return "".join(_AS_REFERENCE.get(c, c) for c in _ILLEGAL.sub("", whole))
        return _AS_REFERENCE[whole]

    encoded = _SPECIAL.sub(one, raw)
    if attribute:
        encoded = encoded.replace("\n", "&#10;").replace("\t", "&#9;")
    return encoded
