"""A turn as one frozen value: everything that happened, for the journal, the page, the command line and the tests.

There is no second telemetry. Wall-clock figures are in :class:`Timings` and :attr:`ModelCall.seconds` alone, so that a
journal can keep them apart: what is left repeats exactly in a scripted run.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal
from uuid import UUID

from simuverse.agents.chat import Message, Purpose
from simuverse.agents.turn import Observation, Outcome, ToolCall, Turn
from simuverse.agents.xml import render_flashbacks
from simuverse.memory.clock import time_zone
from simuverse.memory.ledger import Became
from simuverse.memory.records import Candidate, Flashback, Memory, MemoryQuery

Mode = Literal["deliberate", "reflex", "off"]
"""How a subconscious works: a model writes its XML, rules do, or it is switched off."""


@dataclass(frozen=True, kw_only=True, slots=True)
class ModelCall:
    """One call of a model and what became of it.

    Args:
        attempt: 1 to 3, the place among the tries for the same purpose; a retry after bad XML is a new attempt.
        messages: exactly what was sent.
        reply: exactly what came back; None where the call failed.
        problem: what was wrong with the reply, or why there is none; None if it was used.
        calls: calls made to the provider, retries after faults included.
        seconds: wall time.
    """

    purpose: Purpose
    model: str
    attempt: int
    temperature: float
    messages: tuple[Message, ...]
    reply: str | None
    problem: str | None = None
    input_tokens: int | None = None
    output_tokens: int | None = None
    calls: int = 1
    seconds: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class Recollection:
    """What came back before a turn, and why. Iterates over its flashbacks.

    Args:
        queries: as they were run.
        flashbacks: best first.
        candidates: what was weighed, best first: the flashbacks and the best of the rest, which carry what cut them.
        considered: how many memories were weighed in all.
        zone: by whose clocks times are shown, as :func:`simuverse.memory.clock.time_zone` reads it.
        problems: what went wrong, in sentences; the turn went on all the same.
    """

    mode: Mode
    queries: tuple[MemoryQuery, ...] = ()
    flashbacks: tuple[Flashback, ...] = ()
    candidates: tuple[Candidate, ...] = ()
    considered: int = 0
    zone: str = "UTC"
    calls: tuple[ModelCall, ...] = ()
    problems: tuple[str, ...] = ()

    def __iter__(self) -> Iterator[Flashback]:
        return iter(self.flashbacks)

    def __len__(self) -> int:
        return len(self.flashbacks)

    @property
    def runners_up(self) -> tuple[Candidate, ...]:
        return tuple(c for c in self.candidates if c.cut is not None)

    def as_xml(self) -> str:
        """The block that goes into a prompt: quoted data with source and time, everything escaped."""
        return render_flashbacks(self.flashbacks, time_zone(self.zone))


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """What the character made of it.

    Args:
        failed: no usable reply came, and ``call`` is ``wait``.
    """

    turn: Turn
    calls: tuple[ModelCall, ...] = ()
    problems: tuple[str, ...] = ()
    failed: bool = False

    @property
    def call(self) -> ToolCall:
        return self.turn.call


@dataclass(frozen=True, kw_only=True, slots=True)
class Remembered:
    """What was written down after a turn.

    Args:
        written: new memories, as stored, or as they wait for the store.
        refused: why a draft was not stored (``restates a flashback``); empty if none was.
        merged: memories that took in a draft that tells the same, as they are since.
        past: memories whose fact one of ``written`` has changed, as they are since.
        failed: the turn isn't written down, and the exchange is kept so that it can be tried again.
        raw: what was to be remembered, where writing it failed; empty otherwise.
        waiting: how many of the owner's memories the store hasn't taken yet; they go out when it can.
        delivered: how many had waited and went out since the turn before.
        became: what became of the turn's flashbacks, and of each in all turns so far.
        evicted: memories that had to go, as there were more than the agent may keep.
    """

    mode: Mode
    written: tuple[Memory, ...] = ()
    refused: tuple[str, ...] = ()
    merged: tuple[Memory, ...] = ()
    past: tuple[Memory, ...] = ()
    failed: bool = False
    raw: str = ""
    waiting: int = 0
    delivered: int = 0
    became: tuple[Became, ...] = ()
    evicted: tuple[Memory, ...] = ()
    calls: tuple[ModelCall, ...] = ()
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Timings:
    """Wall seconds of each part of a turn."""

    recollect: float = 0.0
    decide: float = 0.0
    act: float = 0.0
    remember: float = 0.0


@dataclass(frozen=True, kw_only=True, slots=True)
class TurnTrace:
    """One turn of one agent.

    Args:
        tick: of the world; 0 outside one.
    """

    agent: str
    tick: int
    observation: Observation
    recollection: Recollection
    decision: Decision
    outcome: Outcome
    remembered: Remembered
    timings: Timings = Timings()

    @property
    def calls(self) -> tuple[ModelCall, ...]:
        return (*self.recollection.calls, *self.decision.calls, *self.remembered.calls)

    @property
    def problems(self) -> tuple[str, ...]:
        return (*self.recollection.problems, *self.decision.problems, *self.remembered.problems)

    @property
    def flashback_ids(self) -> tuple[UUID, ...]:
        return tuple(f.memory.id for f in self.recollection.flashbacks)
