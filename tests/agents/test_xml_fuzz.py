"""Whatever a model writes, each parser gives a value or an error that says where: no crash, no hang.

A sample runs every time, always the same. ``pytest -m long tests/agents/test_xml_fuzz.py`` tries 100,000 new replies.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import Literal

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from simuverse.agents.xml import (
    MAX_MEMORIES,
    MAX_QUERIES,
    parse_judgement,
    parse_memories,
    parse_queries,
    parse_turn,
    render_judgement,
    render_memory,
    render_queries,
    render_turn,
)
from simuverse.errors import MalformedReply

VALID = (
    "<memory>\n  <summary>Ulla sold her boat to Jens.</summary>\n  <category>action</category>\n"
    "  <keywords>boat, Ulla, Jens</keywords>\n  <critical_information>for 300</critical_information>\n"
    "  <importance>6</importance>\n</memory>",
    "<nothing_to_remember/>",
    "<judgement>\n  <belongs>2</belongs>\n  <belongs>7</belongs>\n</judgement>",
    "<none_of_these/>",
    "<memory_queries>\n  <query>\n    <search_type>hybrid</search_type>\n    <keywords>boat</keywords>\n"
    "    <query_text>Who has the boat?</query_text>\n    <filters>\n      <category>action</category>\n"
    "      <min_importance>2</min_importance>\n      <since>2026-04-01T00:00Z</since>\n      <about>Jens</about>\n"
    "    </filters>\n  </query>\n  <query>\n    <search_type>keyword</search_type>\n    <keywords>Jens</keywords>\n"
    "    <query_text></query_text>\n  </query>\n</memory_queries>",
    "<turn>\n  <reflection>\n    <current_task>Fishing.</current_task>\n    <description>No bite.</description>\n"
    "    <next_steps>Row on.</next_steps>\n    <goal>Supper.</goal>\n    <other_info></other_info>\n  </reflection>\n"
    '  <tool_use>\n    <tool_name>say</tool_name>\n    <parameter name="text">Jens, the oars!</parameter>\n'
    "  </tool_use>\n</turn>",
)
NAMES = sorted({"think", "mood", "keyword", *(name for text in VALID for name in re.findall(r"<(\w+)", text))})
SNIPPETS = (
    *("```xml\n", "\n```", "Sure! ", "\n", "\r\n", " ", "<think>", "</think>", "<thinking>", "</thinking>"),
    *(
        "&",
        "&amp;",
        "&nbsp;",
        "&#0;",
        "&#x1F41F;",
        "&#xD800;",
        "&bogus;",
        "&lt;/memory&gt;",
        "<",
        ">",
        "</",
        "/>",
        "<3",
    ),
    *(
        "<![CDATA[",
        "]]>",
        "<!--",
        "-->",
        "<?xml version='1.0'?>",
        "<?",
        "?>",
        '<!DOCTYPE a [<!ENTITY b "c">]>',
        "<!DOCTYPE",
    ),
    *(
        "\0",
        "\x1b",
        "\x7f",
        "\x85",
        "\ud800",
        "\udfff",
        "\ufeff",
        "\ufffe",
        "\U0010ffff",
        "\u202e",
        "é",
        "火",
        "🐟",
        "مرحبا",
    ),
    *(
        "hybrid",
        "action",
        "gossip",
        "6",
        "11",
        "-2",
        "8/10",
        "2026-04-01",
        "9999-12-31T23:59-14:00",
        "0001-01-01",
        " name='x'",
    ),
    *("x" * 300, "<a>" * 50, "\n" * 40, "(" * 100),
)
WHERE = re.compile(r"\bline \d+")

TAGS = st.sampled_from(
    [tag for name in NAMES for tag in (f"<{name}>", f"</{name}>", f"<{name}/>", f'<{name} name="to">')]
)
WORDS = st.text(st.characters(exclude_categories=[]), max_size=8)
SOUP = st.lists(TAGS | st.sampled_from(SNIPPETS) | WORDS, max_size=40).map("".join)
EDITS = st.lists(
    st.tuples(
        st.sampled_from(["cut", "delete", "double", "insert", "swap", "wrap"]),
        st.floats(0, 1),
        st.integers(0, 60),
        TAGS | st.sampled_from(SNIPPETS) | WORDS,
    ),
    max_size=5,
)

Edit = tuple[str, float, int, str]


@st.composite
def mutated(draw: st.DrawFn) -> str:
    text = draw(st.sampled_from(VALID))
    for edit in draw(EDITS):
        text = edited(text, edit)
    return text


def edited(text: str, edit: Edit) -> str:
    kind, place, length, piece = edit
    start = int(place * len(text))
    before, span, after = text[:start], text[start : start + length], text[start + length :]
    match kind:
        case "cut":
            return before
        case "delete":
            return before + after
        case "double":
            return before + span + span + after
        case "insert":
            return before + piece + span + after
        case "swap":
            return span + before + after
        case _:
            return piece + text + piece


REPLIES = mutated() | SOUP | st.text(st.characters(exclude_categories=[]), max_size=200)


def check(reply: str) -> Literal["value", "error"]:
    """All parsers on one reply. A value also comes back from what is written of it, so nothing illegal got into it."""
    outcomes = {
        parsed(reply) for parsed in (outcome_of_queries, outcome_of_judgement, outcome_of_memories, outcome_of_turn)
    }
    return "value" if "value" in outcomes else "error"


def outcome_of_queries(reply: str) -> Literal["value", "error"]:
    try:
        queries = parse_queries(reply).queries
    except MalformedReply as problem:
        return said_where(problem)
    assert 1 <= len(queries) <= MAX_QUERIES
    assert parse_queries(render_queries(queries)).queries == queries
    return "value"


def outcome_of_judgement(reply: str) -> Literal["value", "error"]:
    try:
        numbers = parse_judgement(reply, shown=8).numbers
    except MalformedReply as problem:
        return said_where(problem)
    assert numbers <= set(range(1, 9))
    assert parse_judgement(render_judgement(sorted(numbers)), shown=8).numbers == numbers
    return "value"


def outcome_of_memories(reply: str) -> Literal["value", "error"]:
    outcome: Literal["value", "error"] = "value"
    for last_attempt in (False, True):
        try:
            drafts = parse_memories(reply, last_attempt=last_attempt).drafts
        except MalformedReply as problem:
            outcome = said_where(problem)
            continue
        assert len(drafts) <= MAX_MEMORIES
        for draft in drafts:
            assert parse_memories(render_memory(draft)).drafts == (replace(draft, flags=()),)
    return outcome


def outcome_of_turn(reply: str) -> Literal["value", "error"]:
    try:
        turn = parse_turn(reply)
    except MalformedReply as problem:
        return said_where(problem)
    assert turn.call.tool.strip()
    assert parse_turn(render_turn(turn)) == turn
    return "value"


def said_where(problem: MalformedReply) -> Literal["error"]:
    assert WHERE.search(str(problem))
    assert len(str(problem)) < 2000
    return "error"


@settings(max_examples=1500, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(REPLIES)
def test_every_reply_is_a_value_or_an_error_that_says_where(reply: str) -> None:
    check(reply)


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_a_hundred_thousand_replies_are_values_or_errors_that_say_where(request: pytest.FixtureRequest) -> None:
    if "long" not in str(request.config.getoption("markexpr")):
        pytest.skip("takes minutes; run with -m long")
    seen = {"value": 0, "error": 0}

    @settings(max_examples=100_000, deadline=None, database=None, suppress_health_check=[HealthCheck.too_slow])
    @given(REPLIES)
    def try_all(reply: str) -> None:
        seen[check(reply)] += 1

    try_all()
    assert sum(seen.values()) >= 100_000
    assert min(seen.values()) > 10_000


@pytest.mark.parametrize("valid", VALID)
def test_what_is_mutated_is_valid(valid: str) -> None:
    assert check(valid) == "value"
