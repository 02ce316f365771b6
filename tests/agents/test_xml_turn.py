"""A character's turn, from a model's XML."""

from __future__ import annotations

import pytest

from simuverse.agents.turn import Reflection, ToolCall, Turn
from simuverse.agents.xml import parse_turn
from simuverse.errors import MalformedReply

PARTS = (
    "<current_task>Baking.</current_task><description>The oven is hot.</description>"
    "<next_steps>Ask Ravi for flour.</next_steps><goal>Bread by noon.</goal><other_info>None.</other_info>"
)
REFLECTION = f"<reflection>{PARTS}</reflection>"
USE = (
    "<tool_use><tool_name>say</tool_name>"
    '<parameter name="text">Have you any flour?</parameter><parameter name="to">Ravi</parameter></tool_use>'
)
CALL = ToolCall(tool="say", arguments={"text": "Have you any flour?", "to": "Ravi"})
TURN = Turn(
    reflection=Reflection(
        current_task="Baking.",
        description="The oven is hot.",
        next_steps="Ask Ravi for flour.",
        goal="Bread by noon.",
        other_info="None.",
    ),
    call=CALL,
)


def problem_of(reply: str) -> str:
    with pytest.raises(MalformedReply) as caught:
        parse_turn(reply)
    return str(caught.value)


@pytest.mark.parametrize(
    "reply",
    [
        f"<turn>{REFLECTION}{USE}</turn>",
        f"{REFLECTION}{USE}",
        f"{PARTS}{USE}",
        f"I'll ask him.\n```xml\n{PARTS}\n{USE}\n```",
        f"<turn>{PARTS}{USE}</turn>",
        f"{PARTS}{USE}</turn>",
        f"<response>{PARTS}{USE}</response>",
        f"<turn>{USE}{REFLECTION}</turn>",
        f"<turn>{REFLECTION}{USE}</turn><turn>{USE.replace('say', 'wait')}</turn>",
        f"<turn>{REFLECTION}{USE}{USE.replace('say', 'wait')}</turn>",
        f"<turn>{REFLECTION}<tool_use></tool_use>{USE}</turn>",
        f"<turn>{REFLECTION}</turn><turn>{REFLECTION}{USE}</turn>",
        f"<turn>{REFLECTION}{USE.replace(chr(34), chr(39))}</turn>",
        f"<turn>{REFLECTION}{USE.replace(chr(34), '')}</turn>",
        f"<turn>{REFLECTION}{USE.replace('name=', 'type = 1 name = ')}</turn>",
        f"<turn>{REFLECTION}{USE.replace('<tool_use>', '').replace('</tool_use>', '')}</turn>",
        f"<turn>{REFLECTION}{USE.replace('</tool_name>', '</tool_name><parameters>')}</turn>",
        f"<turn>{REFLECTION}<tool_use><tool_name> say\n</tool_name>\n<text>Have you any flour?</text>"
        "<to>Ravi</to></tool_use></turn>",
    ],
)
def test_a_turn_is_read_in_all_the_ways_models_write_it(reply: str) -> None:
    assert parse_turn(reply) == TURN


@pytest.mark.parametrize("reply", [f"<turn>{USE}</turn>", USE, f"<turn><reflection/>{USE}</turn>"])
def test_missing_parts_of_the_reflection_are_blank(reply: str) -> None:
    assert parse_turn(reply) == Turn(reflection=Reflection(), call=CALL)


def test_the_first_of_two_parameters_of_one_name_is_used() -> None:
    reply = USE.replace("</tool_use>", '<parameter name="to">Everyone</parameter></tool_use>')
    assert parse_turn(reply).call == CALL


def test_a_tool_without_parameters_has_no_arguments() -> None:
    assert parse_turn("<tool_use><tool_name>wait</tool_name></tool_use>").call == ToolCall(tool="wait")


def test_speech_may_hold_any_characters() -> None:
    said = 'Tom & Jerry <3 "cheese" </b> &lt;tool_use&gt; 火'
    reply = USE.replace("Have you any flour?", said)
    assert parse_turn(reply).call.arguments["text"] == 'Tom & Jerry <3 "cheese" </b> <tool_use> 火'


@pytest.mark.parametrize(
    ("reply", "problem"),
    [
        (f"<turn>{REFLECTION}</turn>", "line 1: <turn> lacks <tool_use>."),
        (
            f"<turn>\n{REFLECTION}\n<tool_use/></turn>",
            "line 3: <tool_use> names no tool. Put its name into <tool_name>.",
        ),
        ("<turn><tool_use><tool_name> </tool_name></tool_use></turn>", "line 1: <tool_use> names no tool."),
        (USE.replace(' name="to"', ""), 'line 1: <parameter> lacks its name: write <parameter name="...">.'),
        (USE.replace('name="to"', 'name=""'), 'line 1: <parameter> lacks its name: write <parameter name="...">.'),
        ("Good morning!", "line 1: there is no <turn> in the reply; it begins 'Good morning!'."),
        (
            f"<turn>{REFLECTION}\n{USE.replace('</tool_use>', '')}</turn>",
            f"line 2, column {len(USE) - 10}: </turn> stands inside <tool_use>, opened at line 2, column 1 and not",
        ),
        (
            f"<turn>{REFLECTION}{USE}",
            f"line 1, column {len(REFLECTION + USE) + 7}: the reply is cut off inside <turn>, opened at line 1,",
        ),
    ],
)
def test_a_turn_that_says_nothing_to_do_goes_back(reply: str, problem: str) -> None:
    assert problem_of(reply).startswith(problem)
