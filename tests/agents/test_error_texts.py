"""The error text of a server in the place of a reply: it becomes no memory, no speech, no plan and no prompt."""

from __future__ import annotations

import pytest

from simuverse.agents.agent import Agent
from simuverse.agents.backends.scripted import Scripted
from simuverse.agents.chat import ChatRequest, Purpose
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.error_texts import is_error_text
from simuverse.agents.trace import TurnTrace
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import (
    MIRA,
    SAID_NOTHING,
    TOOLS,
    Minds,
    judgement_xml,
    memory_xml,
    moment,
    queries_xml,
    said,
    turn_xml,
)

MARK = "zq-7781"
"""Stands in every one of them, and nowhere else."""

ERRORS = (
    f"Error: rate limit reached for requests ({MARK})",
    f"ERROR 429 - Too Many Requests [{MARK}]",
    f"429 too many requests, retry after 20 s. {MARK}",
    f"HTTP 503 Service Unavailable {MARK}",
    f"HTTP/1.1 502 Bad Gateway\n\n{MARK}",
    f"TOKEN LIMIT EXCEEDED {MARK}",
    f"Context length exceeded: 8193 of 8192 tokens. {MARK}",
    f"This model's maximum context is 4096 tokens. {MARK}",
    f"Your prompt exceeds the limit of 4096 tokens. {MARK}",
    f"The model is overloaded, please try again later. {MARK}",
    f"The service is temporarily unavailable ({MARK}).",
    f"Request timed out after 60 seconds. {MARK}",
    f"upstream request failed: connection reset by peer {MARK}",
    f"Connection refused {MARK}",
    f"Internal Server Error\nincident {MARK}",
    f"504 Gateway Time-out {MARK}",
    f"You have used up your quota for this month. {MARK}",
    f"Invalid API key provided: {MARK}",
    f"401 Unauthorized: {MARK}",
    f"403 Forbidden {MARK}",
    f"Insufficient credits. Add some under billing. {MARK}",
    f"model mill-7b not found, pull it first ({MARK})",
    f"The model mill-7b is loading, 31 s left {MARK}",
    f"CUDA error: out of memory {MARK}",
    f'Traceback (most recent call last):\n  File "serve.py", line 7, in run\nKeyError: {MARK!r}',
    f"ReadTimeoutError(pool {MARK})",
    f'{{"error": {{"message": "slow down", "type": "throttling", "id": "{MARK}"}}}}',
    f'{{"errors": ["{MARK}"]}}',
    f'{{"status": 500, "detail": "{MARK}"}}',
    f"<html><head><title>502 Bad Gateway</title></head><body><h1>{MARK}</h1></body></html>",
    f"<Error><Code>SlowDown</Code><Message>Error: {MARK}</Message></Error>",
    f"event: error\ndata: worker {MARK} disconnected",
)

GOOD = {
    Purpose.QUERIES: queries_xml("When does the sluice open?"),
    Purpose.JUDGEMENT: judgement_xml(1),
    Purpose.TURN: turn_xml("say", task="Answer Tomas.", text="At seven."),
    Purpose.MEMORY: memory_xml("Tomas said that the sluice opens at seven."),
}


async def everything(collection: MemoryCollection) -> list[Memory]:
    return [entry.memory async for entry in collection.scan()]


async def two_turns(open_mind: Minds, model: Scripted) -> list[TurnTrace]:
    mind = open_mind(model=model, judge=True)
    agent = Agent(ConsciousAgent(MIRA, model), mind)
    traces: list[TurnTrace] = []
    for number in (1, 2):
        observation = moment(("Tomas", "The sluice opens at seven."), number=number, intentions=agent.intentions)
        thought = await agent.think(observation, TOOLS)
        text = thought.decision.call.arguments.get("text")
        traces.append(await agent.reflect(thought, SAID_NOTHING if text is None else said(text), tick=number))
    return traces


def shown(model: Scripted) -> str:
    return "".join(message.text for request in model.requests for message in request.messages)


def lived(trace: TurnTrace) -> str:
    """What of a turn goes on into the world, the next turn, or the memory."""
    return f"{trace.observation}{trace.decision.turn}{trace.outcome}{trace.remembered.written}{trace.remembered.raw}"


@pytest.mark.parametrize("error", ERRORS)
async def test_among_replies_it_is_asked_again_and_leaves_no_trace_but_in_the_record(
    open_mind: Minds, collection: MemoryCollection, error: str
) -> None:
    def first_the_error(request: ChatRequest) -> str:
        calls[request.purpose] = calls.get(request.purpose, 0) + 1
        return error if calls[request.purpose] % 2 else GOOD[request.purpose]

    calls: dict[Purpose, int] = {}
    model = Scripted(first_the_error)
    traces = await two_turns(open_mind, model)

    assert all(trace.decision.call.tool == "say" and not trace.remembered.failed for trace in traces)
    assert traces[0].remembered.written
    assert MARK not in shown(model)
    assert MARK not in "".join(map(lived, traces))
    assert MARK not in f"{await everything(collection)}"
    assert all(MARK in f"{trace.calls}" for trace in traces)


@pytest.mark.parametrize("error", ERRORS)
async def test_in_place_of_every_reply_the_turn_is_a_wait_and_nothing_is_remembered(
    open_mind: Minds, collection: MemoryCollection, error: str
) -> None:
    model = Scripted(lambda _: error)
    traces = await two_turns(open_mind, model)

    assert all(trace.decision.failed and trace.remembered.failed for trace in traces)
    assert MARK not in shown(model)
    assert MARK not in "".join(map(lived, traces))
    assert await everything(collection) == []


@pytest.mark.parametrize(
    "reply",
    [
        *GOOD.values(),
        *(reply[: len(reply) // 2] for reply in GOOD.values()),
        "Tomas said that the sluice opens at seven.",
        "I made an error yesterday and will wait for Greta at four.",
        "<memory><summary>Error: the router gave 503</summary>",
        "",
    ],
)
def test_what_a_model_wrote_is_none(reply: str) -> None:
    assert not is_error_text(reply)


def test_a_long_reply_that_speaks_of_errors_is_none() -> None:
    assert is_error_text("Error: x")
    assert not is_error_text("Error: x" + " and so on" * 500)
