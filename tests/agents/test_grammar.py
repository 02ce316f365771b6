from __future__ import annotations

import re
from collections.abc import Callable, Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse import prompts
from simuverse.agents.backends import local
from simuverse.agents.backends.grammar import (
    LONGEST_TEXT,
    SHORTEST_TEXT,
    Grammar,
    Kind,
    UnsupportedSchema,
    compile_schema,
)
from simuverse.agents.backends.local import grammar_within
from simuverse.agents.backends.tool_schema import offering
from simuverse.agents.chat import Purpose
from simuverse.agents.turn import Parameter, Tool
from simuverse.agents.xml import parse_judgement, parse_memories, parse_queries, parse_turn

READERS: Mapping[Purpose, Callable[[str], object]] = {
    Purpose.QUERIES: parse_queries,
    Purpose.JUDGEMENT: lambda text: parse_judgement(text, shown=10),
    Purpose.MEMORY: parse_memories,
    Purpose.TURN: parse_turn,
}

TOKEN = re.compile(r'"((?:[^"\\]|\\.)*)"|(\[(?:[^\]\\]|\\.)*\]|[{][0-9,]+[}]|[()|?])|([a-z]+)|\s+')


def as_regex(gbnf: str) -> re.Pattern[str]:
    """A grammar without recursion is a regular expression, once the rules are put in the place of their names."""
    rules = dict(line.split(" ::= ", 1) for line in gbnf.splitlines())

    def expand(expression: str) -> str:
        out: list[str] = []
        position = 0
        while position < len(expression):
            match = TOKEN.match(expression, position)
            assert match, expression[position:]
            literal, as_it_is, rule = match.groups()
            if literal is not None:
                out.append(re.escape(literal.replace('\\"', '"')))
            elif rule:
                out.append(f"(?:{expand(rules[rule])})")
            else:
                out.append(as_it_is or "")
            position = match.end()
        return "".join(out)

    return re.compile(expand(rules["root"]))


def schema(pattern: str) -> str:
    return f'<grammar xmlns="http://relaxng.org/ns/structure/1.0"><start>{pattern}</start></grammar>'


def compiled(pattern: str, *, kinds: Mapping[str, Kind] | None = None, repeats: int = 2) -> Grammar:
    return compile_schema(schema(pattern), kinds=kinds or {}, without=frozenset(), repeats=repeats)


def accepts(grammar: Grammar, text: str) -> bool:
    return as_regex(grammar.within(1000)).fullmatch(text) is not None


@pytest.mark.parametrize("characters", [100, 2048])
@pytest.mark.parametrize("purpose", Purpose)
@given(data=st.data())
def test_every_sentence_of_a_grammar_passes_its_reader(data: st.DataObject, purpose: Purpose, characters: int) -> None:
    sentence = data.draw(st.from_regex(as_regex(grammar_within(purpose, characters)), fullmatch=True))
    READERS[purpose](sentence)
    assert len(sentence) <= max(characters, 600)


@pytest.mark.parametrize(
    ("purpose", "reply"),
    [
        (
            Purpose.MEMORY,
            "<memory><summary>Bo lent me the blue kite.</summary><category>relationship</category>"
            "<keywords>Bo, kite</keywords><critical_information></critical_information>"
            "<importance>6</importance></memory>",
        ),
        (Purpose.MEMORY, "<nothing_to_remember/>"),
        (Purpose.JUDGEMENT, "<judgement><belongs>2</belongs><belongs>10</belongs></judgement>"),
        (Purpose.JUDGEMENT, "<none_of_these/>"),
        (
            Purpose.QUERIES,
            "<memory_queries><query><search_type>hybrid</search_type><keywords>凧, Bo</keywords>"
            "<query_text>Où est le cerf-volant ?</query_text><filters><category>plan</category>"
            "<min_importance>10</min_importance><since>2026-03-01T09:30:00Z</since><about>Bo</about></filters>"
            "</query></memory_queries>",
        ),
        (
            Purpose.TURN,
            "<turn><reflection><current_task>Find it.</current_task><description></description>"
            "<next_steps></next_steps><goal></goal><other_info></other_info></reflection><tool_use><tool_name>say</tool_name>"
            '<parameter name="to">Bo</parameter><parameter name="text">Where\'s the "kite"?</parameter>'
            "</tool_use></turn>",
        ),
    ],
)
def test_replies_as_they_are_wanted_are_sentences(purpose: Purpose, reply: str) -> None:
    READERS[purpose](reply)
    assert as_regex(grammar_within(purpose, 1400)).fullmatch(reply)


@pytest.mark.parametrize("text", ["a < b", "a & b", "a > b", "two\nlines", "nul\0", "\x1b[1m", "\ufffe"])
def test_texts_hold_nothing_that_ends_or_breaks_xml(text: str) -> None:
    grammar = compiled('<element name="a"><text/></element>')
    assert accepts(grammar, "<a>plain</a>")
    assert not accepts(grammar, f"<a>{text}</a>")


@pytest.mark.parametrize("characters", [0, 100, 150, 1000, 100_000])
def test_no_sentence_is_longer_than_allowed(characters: int) -> None:
    grammar = compiled(
        '<element name="a"><element name="b"><text/></element><element name="c"><text/></element></element>'
    )
    limit = int(re.findall(r"text ::= char\{0,(\d+)\}", grammar.within(characters))[0])
    longest = len("<a><b></b><c></c></a>") + 2 * limit
    assert SHORTEST_TEXT <= limit <= LONGEST_TEXT
    assert longest <= characters or limit == SHORTEST_TEXT
    assert longest >= characters - 1 or limit == LONGEST_TEXT


OFFERED = (
    Tool(
        name="say",
        description="Say it.",
        parameters=(
            Parameter(name="text", description="the words"),
            Parameter(name="to", description="to whom", required=False),
        ),
    ),
    Tool(
        name="turn_dial",
        description="Turn it.",
        parameters=(Parameter(name="way", description="which way", options=("up", "down & out")),),
    ),
    Tool(name="rest", description="Rest."),
)


@given(data=st.data())
def test_a_turn_is_a_call_of_a_tool_on_offer_with_what_it_needs(data: st.DataObject) -> None:
    grammar = as_regex(grammar_within(Purpose.TURN, 1400, tools=OFFERED))
    call = parse_turn(data.draw(st.from_regex(grammar, fullmatch=True))).call
    match call.tool:
        case "say":
            assert {"text"} <= set(call.arguments) <= {"text", "to"}
            assert all(call.arguments.values())
        case "turn_dial":
            assert call.arguments in ({"way": "up"}, {"way": "down & out"})
        case other:
            assert (other, call.arguments) == ("rest", {})


@pytest.mark.parametrize(
    ("call", "allowed"),
    [
        ("<tool_name>rest</tool_name>", True),
        ('<tool_name>say</tool_name><parameter name="text">Hello.</parameter>', True),
        ('<tool_name>say</tool_name><parameter name="text">Hi.</parameter><parameter name="to">Bo</parameter>', True),
        ('<tool_name>say</tool_name><parameter name="to">Bo</parameter>', False),
        ('<tool_name>turn_dial</tool_name><parameter name="way">left</parameter>', False),
        ("<tool_name>Bo</tool_name>", False),
    ],
)
def test_calls_beside_what_is_on_offer_are_no_sentences(call: str, allowed: bool) -> None:
    reply = (
        "<turn><reflection><current_task></current_task><description></description><next_steps></next_steps>"
        f"<goal></goal><other_info></other_info></reflection><tool_use>{call}</tool_use></turn>"
    )
    assert (as_regex(grammar_within(Purpose.TURN, 1400, tools=OFFERED)).fullmatch(reply) is not None) is allowed


def test_a_schema_of_something_else_has_no_place_for_tools() -> None:
    with pytest.raises(ValueError, match="no element tool_use"):
        offering(prompts.text("memory.rng"), OFFERED)


def test_fewer_queries_rather_than_texts_that_say_nothing() -> None:
    assert [
        re.findall(r"\{1,(\d)\}", grammar_within(Purpose.QUERIES, characters)) for characters in (300, 1000, 2000)
    ] == [["1"], ["2"], ["3"]]


def test_the_longest_sentence_is_counted_right() -> None:
    grammar = compiled(
        '<element name="a"><oneOrMore><element name="b"><choice><text/><value>long value</value></choice></element>'
        "</oneOrMore><optional><element name='c'><empty/></element></optional></element>",
        repeats=3,
    )
    longest = "<a>" + "<b>long value</b>" * 3 + "<c/></a>"
    assert grammar.markup == len(longest)
    assert grammar.texts == 3


@pytest.mark.parametrize(
    ("pattern", "yes", "no"),
    [
        ('<element name="a"><empty/></element>', ["<a/>"], ["<a></a>", "<a>x</a>"]),
        (
            '<element name="a"><choice><value>up</value><value>down</value></choice></element>',
            ["<a>up</a>", "<a>down</a>"],
            ["<a></a>", "<a>updown</a>"],
        ),
        (
            '<element name="a"><optional><element name="b"><empty/></element></optional></element>',
            ["<a></a>", "<a><b/></a>"],
            ["<a><b/><b/></a>"],
        ),
        (
            '<element name="a"><zeroOrMore><element name="b"><empty/></element></zeroOrMore></element>',
            ["<a></a>", "<a><b/><b/></a>"],
            ["<a><b/><b/><b/></a>"],
        ),
        (
            '<element name="a"><oneOrMore><group><element name="b"><empty/></element>'
            '<element name="c"><empty/></element></group></oneOrMore></element>',
            ["<a><b/><c/></a>"],
            ["<a></a>", "<a><b/></a>"],
        ),
        (
            '<element name="a"><attribute name="n"><value>x"&amp;y</value></attribute><text/></element>',
            ['<a n="x&quot;&amp;y">t</a>'],
            ["<a>t</a>", '<a n="x"&y">t</a>'],
        ),
    ],
)
def test_each_pattern_means_what_relax_ng_says(pattern: str, yes: list[str], no: list[str]) -> None:
    grammar = compiled(pattern)
    assert [text for text in yes if not accepts(grammar, text)] == []
    assert [text for text in no if accepts(grammar, text)] == []


@pytest.mark.parametrize(
    ("kind", "yes", "no"),
    [
        ("text", ["", " ", "Où ?"], []),
        ("line", ["Où ?", "凧", "7 pm", "-40"], ["", "-", "- ", "--", " x", "...", "\u3000", ", ,"]),
        ("name", ["say", "pick_up", "Tool2"], ["", "pick up", "_x", "2x"]),
        ("time", ["2026-03-01T09:30:00Z"], ["", "today", "2026-03-01", "2026-13-01T09:30:00Z"]),
    ],
)
def test_each_kind_of_text(kind: Kind, yes: list[str], no: list[str]) -> None:
    grammar = compiled('<element name="a"><text/></element>', kinds={"a": kind})
    assert [text for text in yes if not accepts(grammar, f"<a>{text}</a>")] == []
    assert [text for text in no if accepts(grammar, f"<a>{text}</a>")] == []


def test_what_is_left_out_is_not_written() -> None:
    pattern = '<element name="a"><optional><element name="b"><text/></element></optional></element>'
    grammar = compile_schema(schema(pattern), kinds={}, without=frozenset({"b"}), repeats=2)
    assert accepts(grammar, "<a></a>")
    assert not accepts(grammar, "<a><b></b></a>")


@pytest.mark.parametrize(
    ("pattern", "named"),
    [
        ('<element name="a"><data type="integer"/></element>', "data"),
        ('<element name="a"><interleave><text/></interleave></element>', "interleave"),
        ('<ref name="b"/>', "ref"),
        ('<element name="a"><optional><attribute name="n"/></optional></element>', "attribute"),
        ('<element name="a"><attribute name="n"/><text/></element>', "a/@n"),
    ],
)
def test_what_has_no_grammar_is_refused_by_name(pattern: str, named: str) -> None:
    with pytest.raises(UnsupportedSchema, match=named):
        compiled(pattern)


def test_a_schema_without_a_start_is_refused() -> None:
    alone = '<element xmlns="http://relaxng.org/ns/structure/1.0" name="a"><text/></element>'
    with pytest.raises(UnsupportedSchema, match="start"):
        compile_schema(alone, kinds={}, without=frozenset(), repeats=2)


def test_every_name_given_a_kind_is_in_a_schema() -> None:
    schemas = "".join(prompts.text(f"{purpose}.rng") for purpose in Purpose)
    names = {name.rpartition("@")[2] for name in local._KINDS} | local._WITHOUT
    assert [name for name in names if f'name="{name}"' not in schemas] == []
