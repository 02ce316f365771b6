"""A parsed element brought into the shape of its form before the schema judges it: order, words, numbers, lists."""

from __future__ import annotations

import re
from collections.abc import Iterable

from lxml import etree

from simuverse.agents.xml_schema import Schema, shortened
from simuverse.memory.records import IMPORTANCE_MAX, IMPORTANCE_MIN, MAX_KEYWORDS

_MAY_BE_BLANK = frozenset(
    {"keywords", "critical_information", "query_text", "reflection"}
    | {"current_task", "description", "next_steps", "goal", "other_info"}
)
"""Required by the schema, so that a grammar makes models write them; put in blank where a reply lacks them."""

_BETWEEN_KEYWORDS = re.compile(r"[,;\n\r\t、，；،]")
_SCALE = re.compile(r"/\s*+10\b|\b(?:out )?of 10\b|\b1\s*+(?:-|–|to)\s*+10\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w.])([-+]?\d++)(?:\.(\d++))?(?!\w)")
_LONGEST_GRADE = 100
"""Characters of text in which a number is looked for: a grade, and some words around it."""


def tidied(element: etree._Element, form: Schema, notes: list[str]) -> etree._Element:
    """The element with its children in the schema's order: the first of each, none foreign, blank ones put in."""
    rule = form.rules[element.tag]
    line = f"line {element.sourceline}: <{element.tag}>"
    kept: dict[str, list[etree._Element]] = {}
    foreign: dict[str, None] = {}
    twice: dict[str, None] = {}
    for child in element:
        if child.tag not in rule.children:
            foreign[child.tag] = None
        elif child.tag in kept and child.tag not in rule.repeated:
            twice[child.tag] = None
        else:
            kept.setdefault(child.tag, []).append(child)
    for name in rule.required & _MAY_BE_BLANK - set(kept):
        kept[name] = [_blank(name, element)]
    element[:] = [child for name in rule.children for child in kept.get(name, ())]
    if foreign:
        notes.append(f"{line} doesn't hold {_tags(foreign)}: left out")
    if twice:
        notes.append(f"{line} holds {_tags(twice)} more than once: the first is used")
    for child in element:
        if form.rules[child.tag].children:
            tidied(child, form, notes)
    return element


def put_text(element: etree._Element, form: Schema, name: str, text: str) -> None:
    """Sets the text of a child, made in its place if it isn't there."""
    found = element.find(name)
    if found is None:
        found = _blank(name, element)
        before = form.rules[element.tag].children.index(name)
        element.insert(sum(child.tag in form.rules[element.tag].children[:before] for child in element), found)
    found.text = text


def _blank(name: str, parent: etree._Element) -> etree._Element:
    element = etree.Element(name)
    element.sourceline = parent.sourceline
    return element


def read_grade(element: etree._Element, flags: list[str]) -> bool:
    """Leaves a whole number from 1 to 10 in the element, if there is one in its text; says whether there is."""
    said = own_text(element)
    numbers = _NUMBER.findall(_SCALE.sub(" ", said)) if len(said) <= _LONGEST_GRADE else []
    if len(numbers) != 1 or int(numbers[0][1] or "0") != 0:
        return False
    number = int(numbers[0][0])
    grade = min(max(number, IMPORTANCE_MIN), IMPORTANCE_MAX)
    if grade != number:
        flags.append(f"{element.tag}_clamped:{shortened(said)}")
    element.text = str(grade)
    return True


def read_keywords(text: str, line: str, notes: list[str]) -> tuple[str, ...]:
    """Parted at commas, semicolons and line ends, whatever the script; each once whatever its case; the first eight."""
    keywords: dict[str, str] = {}
    for part in _BETWEEN_KEYWORDS.split(text):
        keyword = part.strip().lstrip("-*• ").strip()
        if keyword:
            keywords.setdefault(keyword.casefold(), keyword)
    rest = len(keywords) - MAX_KEYWORDS
    if rest > 0:
        notes.append(f"{line}: {rest} more keywords are left out; {MAX_KEYWORDS} are kept")
    return tuple(keywords.values())[:MAX_KEYWORDS]


def word(text: str) -> str:
    """A word of a fixed list as it stands there, when it is written with capitals, quotes or a full stop."""
    return text.strip(" \t\r\n.,:;'\"`*").lower()


def own_text(element: etree._Element) -> str:
    """Without the blanks at its ends, which are layout."""
    return (element.text or "").strip()


def text_of(element: etree._Element, path: str) -> str:
    """Of the element at ``path``; empty where there is none."""
    found = element.find(path)
    return "" if found is None else own_text(found)


def _tags(names: Iterable[str]) -> str:
    return shortened(", ".join(f"<{name}>" for name in names), limit=120)
