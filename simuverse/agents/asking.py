"""Asks a model for XML until it is well-formed: up to three attempts, what is wrong quoted back.

A server's error text in the place of a reply is no attempt of the model: it is asked again as if nothing had come.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

from simuverse import prompts
from simuverse.agents.chat import ChatModel, ChatRequest, Message, Purpose
from simuverse.agents.error_texts import is_error_text
from simuverse.agents.trace import ModelCall
from simuverse.agents.turn import Tool, encodable
from simuverse.errors import MalformedReply, ModelError

MAX_ATTEMPTS = 3

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked(Generic[Value]):
    """What came of it.

    Args:
        value: parsed; None if no attempt gave one.
        problem: why there is none, or None.
    """

    value: Value | None
    calls: tuple[ModelCall, ...]
    problem: str | None = None


async def ask(
    model: ChatModel,
    parse: Callable[[str, int], Value],
    *,
    purpose: Purpose,
    messages: tuple[Message, ...],
    temperature: float,
    seed: int,
    agent: str,
    max_tokens: int = 1024,
    tools: tuple[Tool, ...] = (),
) -> Asked[Value]:
    """Calls ``model`` until ``parse`` takes its reply.

    Args:
        parse: takes the text and the number of the attempt, from 1; raises MalformedReply.

    Whatever goes wrong outside is in the result, not raised: it costs the agent this half of its turn.
    """
    calls: list[ModelCall] = []
    problem: str | None = None
    for attempt in range(1, MAX_ATTEMPTS + 1):
        request = ChatRequest(
            messages=messages,
            purpose=purpose,
            temperature=temperature,
            max_tokens=max_tokens,
            seed=seed + attempt - 1,
            agent=agent,
            tools=tools,
        )
        call = partial(
            ModelCall, purpose=purpose, model=model.name, attempt=attempt, temperature=temperature, messages=messages
        )
        started = time.perf_counter()
        try:
            completion = await model.complete(request)
        except ModelError as error:
            problem, seconds = str(error), time.perf_counter() - started
            calls.append(call(reply=None, problem=problem, calls=error.attempts, seconds=seconds))
            break
        reply = encodable(completion.text)
        value: Value | None = None
        try:
            value, problem = parse(reply, attempt), None
        except MalformedReply as error:
            problem = str(error)
        calls.append(
            call(
                reply=reply,
                problem=problem,
                input_tokens=completion.input_tokens,
                output_tokens=completion.output_tokens,
                calls=completion.attempts,
                seconds=completion.seconds,
            )
        )
        if problem is None:
            return Asked(value=value, calls=tuple(calls))
        if not is_error_text(reply):
            messages = _quoting(messages, reply, problem)
    return Asked(value=None, calls=tuple(calls), problem=problem)


def _quoting(messages: tuple[Message, ...], reply: str, problem: str) -> tuple[Message, ...]:
    return (
        *messages,
        Message(role="assistant", text=reply),
        Message(role="user", text=prompts.fill("repair", error=problem)),
    )
