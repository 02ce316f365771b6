"""Up to three attempts, each told what was wrong with the last, and all of them on record."""

from __future__ import annotations

import pytest

from simuverse.agents.asking import Asked, ask
from simuverse.agents.backends.scripted import Reply, Scripted
from simuverse.agents.chat import Completion, Message, Purpose, conversation
from simuverse.errors import MalformedReply, ModelRateLimited, ModelUnavailable

START = conversation("You write one number.", "Which is it?")


def number(text: str, attempt: int) -> int:
    if not text.isdigit():
        raise MalformedReply(f"line 1: {text!r} is no number; this was attempt {attempt}.")
    return int(text)


async def asked(*replies: Reply) -> tuple[Asked[int], Scripted]:
    model = Scripted(replies, name="odd")
    result = await ask(
        model, number, purpose=Purpose.TURN, messages=START, temperature=0.3, seed=40, agent="Mira", max_tokens=99
    )
    model.assert_used_up()
    return result, model


async def test_a_good_reply_is_one_call() -> None:
    result, model = await asked("7")

    assert (result.value, result.problem) == (7, None)
    [request] = model.requests
    assert request.messages == START
    assert (request.purpose, request.temperature, request.seed) == (Purpose.TURN, 0.3, 40)
    assert (request.agent, request.max_tokens) == ("Mira", 99)
    [call] = result.calls
    assert (call.attempt, call.reply, call.problem, call.model) == (1, "7", None, "odd")


async def test_a_bad_reply_comes_back_to_the_model_with_what_is_wrong() -> None:
    result, model = await asked("seven", "eight", "9")

    assert (result.value, result.problem) == (9, None)
    assert [call.attempt for call in result.calls] == [1, 2, 3]
    assert [call.reply for call in result.calls] == ["seven", "eight", "9"]
    assert [call.messages for call in result.calls] == [request.messages for request in model.requests]
    last = model.requests[-1].messages
    assert last[: len(START)] == START
    assert [m.role for m in last] == ["system", "user", "assistant", "user", "assistant", "user"]
    assert (last[2], last[4]) == (Message(role="assistant", text="seven"), Message(role="assistant", text="eight"))
    assert "'seven' is no number; this was attempt 1." in last[3].text
    assert "'eight' is no number; this was attempt 2." in last[5].text
    assert [call.problem for call in result.calls][2] is None
    assert result.calls[0].problem is not None
    assert result.calls[0].problem in last[3].text


async def test_no_two_attempts_share_a_seed() -> None:
    _, model = await asked("a", "b", "3")

    assert len({request.seed for request in model.requests}) == 3
    assert {request.temperature for request in model.requests} == {0.3}


async def test_after_three_bad_replies_there_is_no_value_and_the_last_problem() -> None:
    result, _ = await asked("a", "b", "c")

    assert result.value is None
    assert result.problem == "line 1: 'c' is no number; this was attempt 3."
    assert len(result.calls) == 3
    assert all(call.problem for call in result.calls)


async def test_a_fault_of_the_model_is_not_asked_again_and_not_raised() -> None:
    fault = ModelRateLimited("too many calls", retry_after=3)
    fault.attempts = 4

    result, _ = await asked(fault)

    assert result.value is None
    assert result.problem == "too many calls"
    [call] = result.calls
    assert (call.reply, call.problem, call.calls, call.messages) == (None, "too many calls", 4, START)


async def test_a_fault_after_a_bad_reply_leaves_both_on_record() -> None:
    result, _ = await asked("a", ModelUnavailable("gone"))

    assert result.value is None
    assert [(call.attempt, call.reply) for call in result.calls] == [(1, "a"), (2, None)]
    assert result.problem == "gone"


async def test_what_the_provider_counted_is_on_record() -> None:
    result, _ = await asked(
        Completion(text="5", model="odd-1", input_tokens=11, output_tokens=2, seconds=1.5, attempts=2)
    )

    [call] = result.calls
    assert (call.input_tokens, call.output_tokens, call.seconds, call.calls) == (11, 2, 1.5, 2)


async def test_half_a_character_in_a_reply_can_be_put_on_record() -> None:
    result, _ = await asked("\ud800", "5")

    assert [call.reply for call in result.calls] == ["?", "5"]


async def test_a_fault_of_ours_is_raised() -> None:
    with pytest.raises(ZeroDivisionError):
        await asked(ZeroDivisionError())
