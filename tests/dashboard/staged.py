"""The real world with agents whose minds are staged: what they recall, do and write down is made here, by no model."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass, field, replace
from datetime import timedelta

from simuverse.agents.agent import Agent, Phase, Thought
from simuverse.agents.chat import ChatRequest, Completion, Message, Purpose
from simuverse.agents.conscious import ConsciousAgent
from simuverse.agents.trace import Decision, ModelCall, Recollection, Remembered, Timings, TurnTrace
from simuverse.agents.turn import Observation, Outcome, Persona, Reflection, Tool, ToolCall, Turn
from simuverse.memory.clock import ManualClock
from simuverse.memory.records import (
    NO_RELEVANCE,
    Candidate,
    Category,
    Cut,
    Factor,
    Flashback,
    FoundBy,
    Memory,
    MemoryFilter,
    MemoryQuery,
    Provenance,
    Score,
    Source,
    memory_id,
)
from simuverse.world.scenario import load
from simuverse.world.simulation import Parts, Simulation

PARTS = Parts(store="sqlite in memory", embedder="hashing, 64 dimensions", model="rehearsal", subconscious="reflex")
Play = Callable[[str, int], ToolCall]
"""What someone does at a tick."""


def wander(name: str, tick: int) -> ToolCall:
    """Everyone talks at every third tick and walks otherwise, each to and fro between two points."""
    if tick % 3 == 0:
        return ToolCall(tool="say", arguments={"text": f"This is {name} at {tick}: has anyone seen a ball?"})
    x, y = {"James": (120, 250), "Jade": (330, 260), "Jesse": (140, 420), "Jamal": (350, 380)}[name]
    return ToolCall(tool="move_to", arguments={"x": str(x + 80 * (tick % 2)), "y": str(y)})


def score(relevance: float, importance: float, recency: float) -> Score:
    return Score(
        preset="balanced",
        relevance=Factor(raw=relevance, scaled=relevance, weight=1.0),
        importance=Factor(raw=importance * 10, scaled=importance, weight=0.2),
        recency=Factor(raw=recency, scaled=recency, weight=0.1),
    )


def memory(owner: str, number: int, summary: str, observation: Observation, *, speaker: str | None = None) -> Memory:
    source = Source.SEED if speaker is None else Source.SAID_BY
    made = observation.time - timedelta(minutes=7 * number)
    return Memory(
        id=memory_id(owner, "staged", number),
        owner=owner,
        summary=summary,
        category=Category.CONVERSATION if speaker else Category.KNOWLEDGE,
        importance=6,
        created_at=made,
        last_accessed_at=made,
        provenance=Provenance(source=source, speaker=speaker, turn="staged/1"),
        critical_information="red_ball" if "red_ball" in summary else "",
    )


def recollection(name: str, observation: Observation) -> Recollection:
    """Two flashbacks, and one that just missed; nothing at all for Jamal."""
    queries = (
        MemoryQuery(text="where could the red ball be"),
        MemoryQuery(text=f"what {name} is up to", keywords=("ball",), filter=MemoryFilter(min_importance=3)),
    )
    found = (FoundBy(query=0, cosine=0.71, bm25=3.25, semantic_rank=1, keyword_rank=2),)
    told = memory(name, 1, "Jade: I saw red_ball lying in the south-east, by the corner.", observation, speaker="Jade")
    old = memory(name, 2, f"{name} has lived by the fountain for a year.", observation)
    far = memory(name, 3, f"{name} once had tea at the cafe.", observation)
    missed = Candidate(
        memory=far, score=score(0.2, 0.4, 0.1), found_by=found, matched=0.1, cut=Cut.GATE, missed_by=0.07
    )
    if name == "Jamal":
        return Recollection(mode="reflex", queries=queries, candidates=(missed,), considered=9)
    kept = [
        Candidate(memory=told, score=score(0.9, 0.6, 0.8), found_by=found, matched=0.5),
        Candidate(
            memory=old,
            score=score(0.6, 0.6, 0.3),
            found_by=found,
            matched=0.4,
            relevance=replace(NO_RELEVANCE, words=0.4),
        ),
    ]
    return Recollection(
        mode="reflex",
        queries=queries,
        flashbacks=tuple(
            Flashback(memory=one.memory, score=one.score, rank=rank, found_by=one.found_by)
            for rank, one in enumerate(kept, start=1)
        ),
        candidates=(*kept, missed),
        considered=12,
    )


def called(purpose: Purpose, text: str, *, reply: str | None = "<turn/>", problem: str | None = None) -> ModelCall:
    return ModelCall(
        purpose=purpose,
        model="rehearsal",
        attempt=1,
        temperature=0.37,
        messages=(Message(role="system", text="You are <someone>."), Message(role="user", text=text)),
        reply=reply,
        problem=problem,
        input_tokens=120,
        output_tokens=14,
        seconds=0.004,
    )


class NoModel:
    """Stands in where a model is asked for; staged agents never call it."""

    name = "rehearsal"

    async def complete(self, request: ChatRequest) -> Completion:
        raise AssertionError("a staged agent calls no model")

    async def aclose(self) -> None: ...


@dataclass(kw_only=True)
class Stage:
    """What happens in a staged run, and what became of it.

    Args:
        before_turn: awaited by every agent before it decides, to fail or to wait.
        unanswered: ticks in which no model call has a reply.
    """

    play: Play = wander
    before_turn: Callable[[str, int], Awaitable[None]] | None = None
    unanswered: Callable[[int], bool] = field(default=lambda tick: False)
    opened: int = 0
    closed: int = 0
    simulation: Simulation | None = None

    @asynccontextmanager
    async def open(self) -> AsyncGenerator[Simulation]:
        self.opened += 1
        scenario = load("grid")
        self.simulation = Simulation(
            scenario=scenario,
            agents={persona.name: StagedAgent(persona, self) for persona in scenario.personas},
            clock=ManualClock(scenario.start),
            parts=PARTS,
            run="staged",
            seed=7,
        )
        try:
            yield self.simulation
        finally:
            self.closed += 1


class StagedAgent(Agent):
    def __init__(self, persona: Persona, stage: Stage) -> None:
        super().__init__(ConsciousAgent(persona, NoModel()), None)
        self._stage = stage

    async def think(self, observation: Observation, tools: Sequence[Tool]) -> Thought:
        tick = observation.position
        self._enter(Phase.DECIDING)
        if self._stage.before_turn is not None:
            await self._stage.before_turn(self.name, tick)
        self._enter(Phase.IDLE)
        recalled = recollection(self.name, observation)
        text = f"It is {observation.time:%H:%M}.\n{recalled.as_xml()}\nWhat do you do?"
        unanswered = self._stage.unanswered(tick)
        call = called(Purpose.TURN, text)
        if unanswered:
            call = called(Purpose.TURN, text, reply=None, problem="the model gives no answer")
        turn = Turn(reflection=Reflection(current_task="finding the ball"), call=self._stage.play(self.name, tick))
        decision = Decision(
            turn=turn,
            calls=(call,),
            problems=(f"{self.name} waits: the model gives no answer",) if unanswered else (),
            failed=unanswered,
        )
        return Thought(
            observation=observation,
            recollection=recalled,
            decision=decision,
            timings=Timings(recollect=0.002, decide=0.004),
        )

    async def reflect(self, thought: Thought, outcome: Outcome, *, tick: int = 0) -> TurnTrace:
        written = memory(self.name, 40 + tick, f"{self.name} noted tick {tick}.", thought.observation, speaker="Jesse")
        return TurnTrace(
            agent=self.name,
            tick=tick,
            observation=thought.observation,
            recollection=thought.recollection,
            decision=thought.decision,
            outcome=outcome,
            remembered=Remembered(mode="reflex", written=(written,), refused=("restates a flashback: the ball",)),
            timings=replace(thought.timings, remember=0.001),
        )
