"""The XML between the two minds and the models: replies read, prompts written.

Replies are repaired (:mod:`simuverse.agents.xml_repair`), parsed by lxml, brought into shape and checked against their
RELAX NG schema (:mod:`simuverse.agents.xml_schema`). What comes out is a value, or a :class:`MalformedReply` that says
where and can be quoted back to the model; nothing else is raised, whatever the text. What goes into prompts is written
by :mod:`simuverse.agents.xml_render`, whose names stand here too.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from types import MappingProxyType

from lxml import etree

from simuverse.agents.turn import Reflection, ToolCall, Turn
from simuverse.agents.xml_render import (
    render_exchange,
    render_flashbacks,
    render_judgement,
    render_memory,
    render_persona,
    render_queries,
    render_situation,
    render_tools,
    render_turn,
)
from simuverse.agents.xml_repair import repair
from simuverse.agents.xml_schema import Schema, parse, schema, shortened
from simuverse.agents.xml_shape import own_text, put_text, read_grade, read_keywords, text_of, tidied, word
from simuverse.errors import MalformedReply
from simuverse.memory.records import (
    IMPORTANCE_MIN,
    Category,
    MemoryDraft,
    MemoryFilter,
    MemoryQuery,
    SearchType,
)

__all__ = [
    "MAX_MEMORIES",
    "MAX_QUERIES",
    "Node",
    "ParsedJudgement",
    "ParsedMemories",
    "ParsedQueries",
    "parse_judgement",
    "parse_memories",
    "parse_queries",
    "parse_turn",
    "read",
    "render_exchange",
    "render_flashbacks",
    "render_judgement",
    "render_memory",
    "render_persona",
    "render_queries",
    "render_situation",
    "render_tools",
    "render_turn",
]

MAX_QUERIES = 3
MAX_MEMORIES = 3
"""Kept from one reply; one is asked for."""

_MAX_READ = 8
"""Queries looked at in one reply, good or bad."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedQueries:
    """One to three queries. ``notes``: what was repaired or left out, a sentence each."""

    queries: tuple[MemoryQuery, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedMemories:
    """Up to three drafts; none where nothing was worth remembering. ``notes`` as in :class:`ParsedQueries`."""

    drafts: tuple[MemoryDraft, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class ParsedJudgement:
    """Numbers of what belongs; none where nothing does. ``notes`` as in :class:`ParsedQueries`."""

    numbers: frozenset[int]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Node:
    """An element of a text of ours, read back. ``text``: its own, as it was; blank where it holds other elements."""

    tag: str
    attributes: Mapping[str, str]
    text: str
    children: tuple[Node, ...]

    def all(self, tag: str) -> tuple[Node, ...]:
        """Those called ``tag`` anywhere inside, in the order of the text."""
        found: list[Node] = []
        for child in self.children:
            if child.tag == tag:
                found.append(child)
            found.extend(child.all(tag))
        return tuple(found)

    def find(self, tag: str) -> Node | None:
        """The first called ``tag`` anywhere inside."""
        return next(iter(self.all(tag)), None)

    def text_of(self, tag: str) -> str:
        """The text of the first called ``tag``; empty where there is none."""
        found = self.find(tag)
        return "" if found is None else found.text


def parse_queries(text: str) -> ParsedQueries:
    """A ``<memory_queries>``: the first three valid queries; the others are noted, each with its reason.

    Raises:
        MalformedReply: not one is valid.
    """
    form = schema("memory_queries")
    repaired = repair(text, form)
    notes = list(repaired.notes)
    found = [query for document in repaired.documents for query in parse(document).iterfind("query")]
    queries: list[MemoryQuery] = []
    reasons: list[str] = []
    for element in found[:_MAX_READ]:
        if len(queries) == MAX_QUERIES:
            break
        try:
            queries.append(_query(element, form, notes))
        except MalformedReply as problem:
            reasons.append(str(problem))
    if not queries:
        raise MalformedReply(" ".join(reasons) or "line 1: <memory_queries> holds no <query>.")
    notes.extend(f"a query is left out: {reason}" for reason in reasons)
    rest = len(found) - len(queries) - len(reasons)
    if rest:
        notes.append(f"line {found[-rest].sourceline}: {rest} more queries are left out; {MAX_QUERIES} are run")
    return ParsedQueries(queries=tuple(queries), notes=tuple(notes))


def parse_judgement(text: str, *, shown: int) -> ParsedJudgement:
    """A ``<judgement>`` or ``<none_of_these/>``; a number that wasn't shown is noted if another was.

    Args:
        shown: how many there were to judge, numbered from 1.

    Raises:
        MalformedReply: it names none of them, and doesn't say that none belongs.
    """
    form = schema("judgement")
    name, none = form.roots
    repaired = repair(text, form)
    notes = list(repaired.notes)
    elements = [parse(document) for document in repaired.documents]
    found = [element for element in elements if element.tag == name]
    named = [child for element in found for child in tidied(element, form, notes)]
    numbers = {child: own_text(child).strip("#. ") for child in named}
    shown_ones = frozenset(map(str, range(1, shown + 1)))
    foreign = [
        f"line {child.sourceline}: {shortened(number)!r} is no number from 1 to {shown}"
        for child, number in numbers.items()
        if number not in shown_ones
    ]
    if found and len(foreign) == len(named):
        problem = foreign[0] if foreign else f"line {found[0].sourceline}: <{name}> names nothing"
        raise MalformedReply(f"{problem}. Where none belongs, say <{none}/>.")
    notes.extend(f"{problem}: left out" for problem in foreign)
    if found and len(found) < len(elements):
        notes.append(f"<{none}/> stands beside a judgement and is left out")
    return ParsedJudgement(numbers=frozenset(map(int, shown_ones.intersection(numbers.values()))), notes=tuple(notes))


def parse_memories(text: str, *, last_attempt: bool = False) -> ParsedMemories:
    """A ``<memory>``, several, or ``<nothing_to_remember/>``.

    Args:
        last_attempt: nobody will be asked again: an unknown category becomes ``observation``, an unreadable importance
            the lowest, each with a flag in the draft; a memory that can't be used is noted if another can.

    Raises:
        MalformedReply: there is no usable memory, and it doesn't say that there is none.
    """
    form = schema("memory")
    repaired = repair(text, form)
    notes = list(repaired.notes)
    elements = [parse(document) for document in repaired.documents]
    found = [element for element in elements if element.tag == "memory"]
    drafts: list[MemoryDraft] = []
    problems: list[MalformedReply] = []
    for element in found[:MAX_MEMORIES]:
        try:
            drafts.append(_draft(element, form, notes, last_attempt=last_attempt))
        except MalformedReply as problem:
            if not last_attempt:
                raise
            problems.append(problem)
    if problems and not drafts:
        raise problems[0]
    notes.extend(f"a memory is left out: {problem}" for problem in problems)
    rest = found[MAX_MEMORIES:]
    if rest:
        notes.append(f"line {rest[0].sourceline}: {len(rest)} more memories are left out; {MAX_MEMORIES} are kept")
    if found and len(found) < len(elements):
        notes.append("<nothing_to_remember/> stands beside a memory and is left out")
    return ParsedMemories(drafts=tuple(drafts), notes=tuple(notes))


def parse_turn(text: str) -> Turn:
    """A ``<turn>``; of several, and of several ``<tool_use>`` in it, the first that says what to do.

    Raises:
        MalformedReply: nothing says what to do.
    """
    form = schema("turn")
    problem: MalformedReply | None = None
    for document in repair(text, form).documents:
        try:
            return _turn(parse(document), form)
        except MalformedReply as error:
            problem = problem or error
    raise problem or MalformedReply("line 1: there is no <turn> in the reply.")


def read(text: str, root: str) -> Node:
    """The last element ``root`` in a text of ours, such as a prompt. It may not hold another of its name.

    Raises:
        MalformedReply: there is none, or it isn't well-formed.
    """
    tag = re.escape(root)
    end = max((m.end() for m in re.finditer(rf"</{tag}>|<{tag}(?:\s[^<>]*+)?/>", text)), default=-1)
    start = max((m.start() for m in re.finditer(rf"<{tag}(?=[\s/>])", text[: max(end, 0)])), default=-1)
    if start < 0:
        raise MalformedReply(f"line 1: there is no <{root}> in the text.")
    return _node(parse("\n" * text.count("\n", 0, start) + text[start:end]))


def _node(element: etree._Element) -> Node:
    children = tuple(_node(child) for child in element)
    return Node(
        tag=element.tag,
        attributes=MappingProxyType({str(name): str(value) for name, value in element.attrib.items()}),
        text="" if children else element.text or "",
        children=children,
    )


def _query(element: etree._Element, form: Schema, notes: list[str]) -> MemoryQuery:
    line = f"line {element.sourceline}"
    filters = element.find("filters")
    if filters is not None:
        foreign = [child.tag for child in filters if child.tag not in form.rules["filters"].children]
        if foreign:
            allowed = ", ".join(form.rules["filters"].children)
            raise MalformedReply(f"{line}: there is no filter <{foreign[0]}>. Filters: {allowed}.")
        for child in list(filters):
            if not own_text(child):
                filters.remove(child)
    tidied(element, form, notes)
    flags: list[str] = []
    kind = element.find("search_type")
    if kind is None or not own_text(kind):
        put_text(element, form, "search_type", SearchType.HYBRID)
        notes.append(f"{line}: a query without a search type is run as hybrid")
    else:
        kind.text = word(own_text(kind))
    for child in filters if filters is not None else ():
        if child.tag == "category":
            child.text = word(own_text(child))
        elif child.tag in ("min_importance", "max_importance"):
            read_grade(child, flags)
    notes.extend(f"{line}: {flag}" for flag in flags)
    alone = etree.Element(form.roots[0])
    alone.append(element)
    form.check(alone)
    try:
        return MemoryQuery(
            search_type=SearchType(text_of(element, "search_type")),
            text=text_of(element, "query_text"),
            keywords=read_keywords(text_of(element, "keywords"), line, notes),
            filter=MemoryFilter.from_mapping({} if filters is None else _filters(filters, line, notes)),
        )
    except ValueError as error:
        raise MalformedReply(f"{line}: {error}.") from error


def _filters(element: etree._Element, line: str, notes: list[str]) -> dict[str, object]:
    values: dict[str, object] = {}
    for child in element:
        name, text = child.tag, own_text(child)
        match name:
            case "category":
                values[name] = Category(text)
            case "since" | "until":
                values[name] = _time(text, f"{line}: <{name}>", notes)
            case "about":
                values[name] = text
            case _:
                values[name] = int(text)
    return values


def _time(text: str, what: str, notes: list[str]) -> datetime:
    try:
        time = datetime.fromisoformat(text)
        if time.tzinfo is None:
            notes.append(f"{what} has no time zone and is read as UTC")
            time = time.replace(tzinfo=UTC)
        return time.astimezone(UTC)
    except (ValueError, OverflowError) as error:
        raise MalformedReply(
            f"{what} says {shortened(text)!r}; write a time such as 2026-03-01T09:30Z, or leave it out."
        ) from error


def _draft(element: etree._Element, form: Schema, notes: list[str], *, last_attempt: bool) -> MemoryDraft:
    line = f"line {element.sourceline}"
    tidied(element, form, notes)
    flags: list[str] = []
    category = element.find("category")
    if category is not None:
        category.text = word(own_text(category))
    said = text_of(element, "category")
    if last_attempt and said not in form.rules["category"].values:
        put_text(element, form, "category", Category.OBSERVATION)
        flags.append(f"category_unknown:{shortened(said)}")
    importance = element.find("importance")
    readable = importance is not None and read_grade(importance, flags)
    if last_attempt and not readable:
        flags.append(f"importance_unreadable:{shortened(text_of(element, 'importance'))}")
        put_text(element, form, "importance", str(IMPORTANCE_MIN))
    form.check(element)
    if not text_of(element, "summary"):
        raise MalformedReply(f"{line}: <summary> is blank. Say in one or two sentences what is to be remembered.")
    notes.extend(f"{line}: {flag}" for flag in flags)
    return MemoryDraft(
        summary=text_of(element, "summary"),
        category=Category(text_of(element, "category")),
        keywords=read_keywords(text_of(element, "keywords"), line, notes),
        critical_information=text_of(element, "critical_information"),
        importance=int(text_of(element, "importance")),
        flags=tuple(flags),
    )


def _turn(element: etree._Element, form: Schema) -> Turn:
    uses = element.findall("tool_use")
    chosen = next((use for use in uses if text_of(use, "tool_name")), None)
    for use in uses:
        if chosen is not None and use is not chosen:
            element.remove(use)
    if chosen is None and uses:
        raise MalformedReply(f"line {uses[0].sourceline}: <tool_use> names no tool. Put its name into <tool_name>.")
    for child in chosen if chosen is not None else ():
        if child.tag not in form.rules["tool_use"].children:
            child.set("name", child.tag)
            child.tag = "parameter"
    tidied(element, form, [])
    form.check(element)
    arguments: dict[str, str] = {}
    for parameter in element.iterfind("tool_use/parameter"):
        arguments.setdefault(parameter.get("name", ""), own_text(parameter))
    reflection = {name: text_of(element, f"reflection/{name}") for name in form.rules["reflection"].children}
    call = ToolCall(tool=text_of(element, "tool_use/tool_name"), arguments=arguments)
    return Turn(reflection=Reflection(**reflection), call=call)
