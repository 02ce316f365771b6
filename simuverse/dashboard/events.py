"""What the page's log tells: one line an event, bounded, in order."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Literal

import msgspec

from simuverse.agents.trace import TurnTrace
from simuverse.dashboard.turn_card import acted_on, now_of, sentence_of
from simuverse.dashboard.wording import when
from simuverse.memory.records import Memory, Source

KEPT = 300
"""Events that a page opened late still gets; the journal has them all."""


class Kind(StrEnum):
    SAID = "said"
    RECALLED = "recalled"
    """Someone acted on what another had told."""
    REFUSED = "refused"
    PROBLEM = "problem"
    DELIVERED = "delivered"
    """Memories went out that had waited for the store."""
    OPERATOR = "operator"
    FAULT = "fault"


@dataclass(frozen=True, kw_only=True, slots=True)
class Note:
    """Something to log, before it has a place in the log."""

    kind: Kind
    text: str
    agent: str | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Event:
    """A line of the log.

    Args:
        seq: of the snapshot that it came with.
        clock: simulated time of day.
        body: itself as JSON.
    """

    seq: int
    kind: Kind
    text: str
    agent: str | None
    body: bytes

    @classmethod
    def of(cls, note: Note, *, seq: int, tick: int, time: datetime) -> Event:
        """Args: time: by the clock that is shown."""
        shown = {
            "seq": seq,
            "tick": tick,
            "clock": when(time, time),
            "kind": note.kind,
            "agent": note.agent,
            "text": note.text,
        }
        return cls(seq=seq, kind=note.kind, text=note.text, agent=note.agent, body=msgspec.json.encode(shown))


@dataclass(frozen=True, kw_only=True, slots=True)
class Banner:
    """What stands above the page until it no longer holds."""

    kind: Literal["fault", "outage", "problem"]
    text: str


def notes_of(trace: TurnTrace, *, before: TurnTrace | None = None) -> Iterable[Note]:
    """What a turn adds to the log.

    Args:
        before: the same agent's turn before; that a deed goes on is no news.
    """
    outcome, call = trace.outcome, trace.decision.call
    told = next((f.memory for f in trace.recollection if _was_told(f.memory) and acted_on(f.memory, call)), None)
    if told is not None and (before is None or before.decision.call != call):
        learnt = f"{told.provenance.describe()} at {when(told.created_at, now_of(trace))}"
        text = f"remembered what was {learnt} and acted on it: {sentence_of(call)}"
        yield Note(kind=Kind.RECALLED, agent=trace.agent, text=text)
    if outcome.said is not None:
        to = f" to {outcome.said.to}" if outcome.said.to else ""
        yield Note(kind=Kind.SAID, agent=trace.agent, text=f"said{to}: {outcome.said.text}")
    if not outcome.ok:
        yield Note(kind=Kind.REFUSED, agent=trace.agent, text=outcome.sentence)
    for problem in trace.problems:
        yield Note(kind=Kind.PROBLEM, agent=trace.agent, text=problem)


def _was_told(memory: Memory) -> bool:
    return memory.provenance.source in (Source.SAID_BY, Source.TOLD)


def troubles_of(trace: TurnTrace) -> tuple[str, ...]:
    """What stands above the page of a turn that lost a half. That memories wait is told there for all together."""
    if not lost_half(trace):
        return ()
    remembered = trace.remembered
    of_its_own = remembered.problems[:-1] if remembered.waiting else remembered.problems
    return (*trace.recollection.problems, *trace.decision.problems, *of_its_own)


def lost_half(trace: TurnTrace) -> bool:
    """Whether something outside, a model or a store, cost the agent a half of its turn."""
    unanswered = any(call.reply is None for call in trace.calls)
    recalled_nothing = bool(trace.recollection.problems) and trace.recollection.considered == 0
    return unanswered or trace.decision.failed or bool(trace.remembered.raw) or recalled_nothing
