"""One person: two minds. First think, then, when the world has answered, reflect."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, tzinfo
from enum import StrEnum

from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.subconscious import Exchange, SubconsciousAgent
from simuverse.agents.trace import Decision, Recollection, Remembered, Timings, TurnTrace
from simuverse.agents.turn import Observation, Outcome, Tool
from simuverse.memory.clock import zone_name


class Phase(StrEnum):
    IDLE = "idle"
    RETRIEVING = "retrieving"
    DECIDING = "deciding"
    REMEMBERING = "remembering"


@dataclass(frozen=True, kw_only=True, slots=True)
class Thought:
    """A turn half done: decided, not yet carried out."""

    observation: Observation
    recollection: Recollection
    decision: Decision
    timings: Timings


class Agent:
    """A character with its subconscious.

    Args:
        subconscious: None switches memory off, and nothing else.
        zone: by whose clocks times are shown where memory is off; a subconscious has its own.
    """

    def __init__(
        self, conscious: ConsciousAgent, subconscious: SubconsciousAgent | None, *, zone: tzinfo = UTC
    ) -> None:
        self.conscious = conscious
        self.subconscious = subconscious
        self.phase = Phase.IDLE
        self.phase_since = time.monotonic()
        self.intentions = conscious.persona.wishes
        self._nothing = Recollection(mode="off", zone=zone_name(zone))

    @property
    def name(self) -> str:
        return self.conscious.persona.name

    async def think(self, observation: Observation, tools: Sequence[Tool]) -> Thought:
        """Recollect, then decide."""
        started = time.perf_counter()
        recollection = self._nothing
        if self.subconscious is not None:
            self._enter(Phase.RETRIEVING)
            recollection = await self.subconscious.recollect(observation)
        recalled = time.perf_counter()
        self._enter(Phase.DECIDING)
        decision = await self.conscious.decide(observation, recollection, tools)
        self._enter(Phase.IDLE)
        if not decision.failed:
            reflection = decision.turn.reflection
            self.intentions = tuple(filter(None, (reflection.current_task, reflection.next_steps, reflection.goal)))
        return Thought(
            observation=observation,
            recollection=recollection,
            decision=decision,
            timings=Timings(recollect=recalled - started, decide=time.perf_counter() - recalled),
        )

    async def reflect(self, thought: Thought, outcome: Outcome, *, tick: int = 0) -> TurnTrace:
        """Remember; the turn is over, and what happened in it is the value returned."""
        started = time.perf_counter()
        remembered = Remembered(mode="off")
        if self.subconscious is not None:
            self._enter(Phase.REMEMBERING)
            remembered = await self.subconscious.remember(
                Exchange(
                    observation=thought.observation,
                    call=thought.decision.call,
                    outcome=outcome,
                    recollection=thought.recollection,
                )
            )
        self._enter(Phase.IDLE)
        return TurnTrace(
            agent=self.name,
            tick=tick,
            observation=thought.observation,
            recollection=thought.recollection,
            decision=thought.decision,
            outcome=outcome,
            remembered=remembered,
            timings=replace(thought.timings, remember=time.perf_counter() - started),
        )

    def _enter(self, phase: Phase) -> None:
        self.phase, self.phase_since = phase, time.monotonic()
