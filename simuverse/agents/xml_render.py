"""What models are shown, and the forms they answer in, written as XML.

One element a line, in a fixed order; what is blank is left out. lxml escapes everything, so no text can close its
element or open another; characters that XML can't hold, or that nobody could see, are dropped, and names are shown so
that none passes for another. Times are those of a zone's clocks, to the minute, with their offset from UTC.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import UTC, datetime, tzinfo

from lxml import etree

from simuverse.agents.turn import Observation, Outcome, Persona, Tool, ToolCall, Turn, Utterance
from simuverse.agents.xml_repair import ILLEGAL
from simuverse.memory.clock import local
from simuverse.memory.naming import in_one_line, shown, visible
from simuverse.memory.records import IMPORTANCE_MAX, Flashback, MemoryDraft, MemoryQuery, Provenance
from simuverse.memory.room import fitted

_ILLEGAL = re.compile(ILLEGAL)


def render_flashbacks(flashbacks: Sequence[Flashback], zone: tzinfo = UTC, *, numbered: bool = False) -> str:
    """What comes to mind: recollections quoted with time and source, what is past with the end of it; never an id.

    Args:
        numbered: each with its rank, for a reply that names some of them.
    """
    root = etree.Element("flashbacks")
    if not flashbacks:
        root.text = "Nothing comes to mind."
    for flashback in flashbacks:
        memory = flashback.memory if flashback.room is None else fitted(flashback.memory, flashback.room)
        element = etree.SubElement(root, "flashback")
        if numbered:
            element.set("number", str(flashback.rank))
        _add(element, "summary", in_one_line(_legal(memory.summary)), keep=True)
        _add(element, "category", memory.category)
        _add(element, "time", _minutes(memory.created_at, zone))
        _add(element, "held_until", "" if memory.superseded_at is None else _minutes(memory.superseded_at, zone))
        _add(element, "source", _source(memory.provenance))
        vital = memory.critical_information
        _add(element, "critical_information", in_one_line(_legal(vital)), keep=vital != "")
        _add(element, "importance", f"{memory.importance}/{IMPORTANCE_MAX}")
    return _prompt(root)


def render_situation(observation: Observation, zone: tzinfo = UTC) -> str:
    """What a character perceives, seen apart from heard; then what it holds, the world's answer and its intention."""
    root = etree.Element("situation")
    _add_surroundings(root, observation, zone)
    _add_all(root, "carrying", "item", observation.carrying)
    _add(root, "answer", observation.answer)
    _add_all(root, "intentions", "intention", observation.intentions)
    return _prompt(root)


def render_exchange(
    observation: Observation, call: ToolCall | None, outcome: Outcome | None, owner: str, zone: tzinfo = UTC
) -> str:
    """What happened in a turn of ``owner``, for writing it down: seen, heard, done, said, and what came of it.

    A parameter whose text was said aloud is shown once, as said.
    """
    root = etree.Element("exchange")
    _add_surroundings(root, observation, zone)
    said = outcome.said if outcome is not None else None
    if call is not None:
        did = etree.SubElement(root, "did", by=_legal(owner), tool=_legal(call.tool))
        _add_parameters(did, ((n, v) for n, v in call.arguments.items() if said is None or v != said.text))
    if said is not None:
        _add_said(root, said)
    if outcome is not None:
        _add(root, "outcome", outcome.sentence)
    return _prompt(root)


def render_tools(tools: Sequence[Tool]) -> str:
    """What can be done, with what each parameter means, whether it is required, and what it may be."""
    root = etree.Element("tools")
    for tool in tools:
        element = etree.SubElement(root, "tool", name=_legal(tool.name))
        _add(element, "description", tool.description)
        for parameter in tool.parameters:
            part = etree.SubElement(element, "parameter", name=_legal(parameter.name))
            part.set("required", "yes" if parameter.required else "no")
            if parameter.options:
                part.set("options", _legal(", ".join(parameter.options)))
            part.text = _legal(parameter.description)
    return _prompt(root)


def render_persona(persona: Persona) -> str:
    """Who someone is, in five parts. The strength of the personality is a temperature, not a text, and isn't shown."""
    root = etree.Element("persona")
    _add(root, "name", persona.name)
    _add(root, "description", persona.description)
    _add(root, "speech", persona.speech)
    _add_all(root, "facts", "fact", persona.facts)
    _add_all(root, "wishes", "wish", persona.wishes)
    return _prompt(root)


def render_queries(queries: Sequence[MemoryQuery]) -> str:
    """The form that :func:`simuverse.agents.xml.parse_queries` reads. It has no room for the filters of operators
    (sources, past and hidden memories), and keywords must be free of commas."""
    root = etree.Element("memory_queries")
    for query in queries:
        element = etree.SubElement(root, "query")
        _add(element, "search_type", query.search_type)
        _add(element, "keywords", ", ".join(query.keywords), keep=True)
        _add(element, "query_text", query.text, keep=True)
        wanted = query.filter
        filters = etree.Element("filters")
        _add(filters, "category", wanted.category or "")
        _add(filters, "min_importance", "" if wanted.min_importance is None else str(wanted.min_importance))
        _add(filters, "max_importance", "" if wanted.max_importance is None else str(wanted.max_importance))
        _add(filters, "since", "" if wanted.since is None else _iso(wanted.since))
        _add(filters, "until", "" if wanted.until is None else _iso(wanted.until))
        _add(filters, "about", wanted.about or "")
        if len(filters):
            element.append(filters)
    return _text(root)


def render_judgement(numbers: Iterable[int]) -> str:
    """The form that :func:`simuverse.agents.xml.parse_judgement` reads; without numbers: none of these."""
    root = etree.Element("judgement")
    for number in numbers:
        _add(root, "belongs", str(number))
    return _text(root if len(root) else etree.Element("none_of_these"))


def render_memory(draft: MemoryDraft | None) -> str:
    """The form that :func:`simuverse.agents.xml.parse_memories` reads; None: nothing to remember."""
    if draft is None:
        return _text(etree.Element("nothing_to_remember"))
    root = etree.Element("memory")
    _add(root, "summary", draft.summary)
    _add(root, "category", draft.category)
    _add(root, "keywords", ", ".join(draft.keywords), keep=True)
    _add(root, "critical_information", draft.critical_information, keep=True)
    _add(root, "importance", str(draft.importance))
    return _text(root)


def render_turn(turn: Turn) -> str:
    """The form that :func:`simuverse.agents.xml.parse_turn` reads."""
    root = etree.Element("turn")
    reflection = etree.SubElement(root, "reflection")
    for name in ("current_task", "description", "next_steps", "goal", "other_info"):
        _add(reflection, name, getattr(turn.reflection, name), keep=True)
    use = etree.SubElement(root, "tool_use")
    _add(use, "tool_name", turn.call.tool)
    _add_parameters(use, turn.call.arguments.items())
    return _text(root)


def _add_surroundings(root: etree._Element, observation: Observation, zone: tzinfo) -> None:
    _add(root, "time", _minutes(observation.time, zone))
    _add(root, "place", observation.location)
    _add_all(root, "seen", "item", observation.seen)
    for name, utterances in (("earlier", observation.earlier), ("heard", observation.heard)):
        if utterances:
            parent = etree.SubElement(root, name)
            for utterance in utterances:
                _add_said(parent, utterance)


def _add_said(parent: etree._Element, utterance: Utterance) -> None:
    """Without ``to`` it was said to everyone in earshot."""
    said = etree.SubElement(parent, "said", by=_legal(shown(utterance.speaker)))
    if utterance.to is not None:
        said.set("to", _legal(shown(utterance.to)))
    said.text = _legal(utterance.text)


def _add_parameters(parent: etree._Element, arguments: Iterable[tuple[str, str]]) -> None:
    for name, value in arguments:
        etree.SubElement(parent, "parameter", name=_legal(name)).text = _legal(value)


def _add_all(root: etree._Element, name: str, item: str, texts: Sequence[str]) -> None:
    if texts:
        parent = etree.SubElement(root, name)
        for text in texts:
            etree.SubElement(parent, item).text = _legal(text)


def _add(parent: etree._Element, name: str, text: str, *, keep: bool = False) -> None:
    """``keep``: also where it is blank."""
    if keep or text:
        etree.SubElement(parent, name).text = _legal(text)


def _source(provenance: Provenance) -> str:
    speaker = provenance.speaker and shown(provenance.speaker)
    listener = provenance.listener and shown(provenance.listener)
    return replace(provenance, speaker=speaker, listener=listener).describe()


def _legal(text: str) -> str:
    return _ILLEGAL.sub("", text)


def _minutes(time: datetime, zone: tzinfo) -> str:
    there = local(time, zone)
    text = there.isoformat(timespec="minutes")
    return text.replace("+00:00", "Z") if str(there.tzinfo) == "UTC" else text


def _iso(time: datetime) -> str:
    return time.isoformat().replace("+00:00", "Z")


def _prompt(root: etree._Element) -> str:
    return visible(_text(root))


def _text(root: etree._Element) -> str:
    etree.indent(root)
    return etree.tostring(root, encoding="unicode")
