"""A run of the world: all think on the same frozen world at once, act one after another, then remember at once."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Iterable, Mapping
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime, timedelta, tzinfo
from hashlib import sha256
from typing import Any, TypeVar

from simuverse.agents.agent import Agent, Thought
from simuverse.agents.trace import TurnTrace
from simuverse.agents.turn import Outcome
from simuverse.errors import UnknownAgent
from simuverse.memory.clock import ManualClock
from simuverse.memory.outbox import Outbox
from simuverse.memory.records import Memory, Provenance, Source, memory_id
from simuverse.memory.store import Entry
from simuverse.world.chance import draw
from simuverse.world.journal import Journal
from simuverse.world.observe import observe
from simuverse.world.scenario import Scenario
from simuverse.world.state import World, state_hash
from simuverse.world.tools import apply, begin_tick, offered, place

OUTAGE = 5
"""Model calls in a row without a reply after which going on would only repeat them."""

Value = TypeVar("Value")


@dataclass(frozen=True, kw_only=True, slots=True)
class Parts:
    """What a run really runs on, in words, for people."""

    store: str
    embedder: str
    model: str
    subconscious: str


class Simulation:
    """One world and its agents, on one loop.

    Args:
        agents: by name, one for each persona of the scenario.
        clock: the agents' own, moved on by every step.
        run: id of the run, part of every turn's id.
        concurrency: how many agents think at once, 1 or more. Never changes what happens.
        journal: None keeps no record.
        outbox: of the agents' memories; None where a change that the store doesn't take fails.
        zone: by whose clocks the run's times are shown.

    Attributes:
        unanswered: the latest model calls in a row that had no reply; at :data:`OUTAGE` it is time to stop.
    """

    def __init__(
        self,
        *,
        scenario: Scenario,
        agents: Mapping[str, Agent],
        clock: ManualClock,
        parts: Parts,
        run: str,
        seed: int,
        concurrency: int = 8,
        journal: Journal | None = None,
        outbox: Outbox | None = None,
        zone: tzinfo = UTC,
    ) -> None:
        self.scenario = scenario
        self.agents = dict(sorted(agents.items()))
        self.clock = clock
        self.parts = parts
        self.run = run
        self.seed = seed
        self.outbox = outbox
        self.zone = zone
        self.world: World = scenario.world
        self.last: dict[str, TurnTrace] = {}
        self.unanswered = 0
        self._journal = journal
        self._slots = asyncio.Semaphore(concurrency)
        clock.set(scenario.start)

    @property
    def tick(self) -> int:
        return self.world.tick

    @property
    def time(self) -> datetime:
        return self.clock.now()

    @property
    def journal_sha256(self) -> str | None:
        """Of the journal so far; None where no record is kept."""
        return None if self._journal is None else self._journal.sha256

    async def begin(self) -> None:
        """Gives every agent the memories it starts with; those that are there already are left as they are."""
        for agent in self.agents.values():
            if agent.subconscious is not None:
                await self._seed(agent)
        if self._journal is not None:
            self._journal.append("start", tick=0, body={"run": self.run, "state": state_hash(self.world)})
            self._journal.commit()

    async def step(self) -> tuple[TurnTrace, ...]:
        """One tick: everyone takes one turn. Returns the turns in the order in which they acted."""
        self.world = begin_tick(self.world)
        self.clock.set(self.scenario.start + timedelta(seconds=self.tick * self.scenario.seconds_per_tick))
        frozen = self.world
        thoughts = await self._together(self._think(agent, frozen) for agent in self.agents.values())
        by_name = dict(zip(self.agents, thoughts, strict=True))
        outcomes: list[tuple[Agent, Thought, Outcome, float]] = []
        for name in self._order():
            started = time.perf_counter()
            thought = by_name[name]
            applied = apply(self.world, name, thought.decision.call, turn=thought.observation.turn)
            self.world = applied.world
            outcomes.append((self.agents[name], thought, applied.outcome, time.perf_counter() - started))
        traces = await self._together(self._reflect(*outcome) for outcome in outcomes)
        for trace in traces:
            self.last[trace.agent] = trace
            for call in trace.calls:
                self.unanswered = self.unanswered + 1 if call.reply is None else 0
        self._record(traces)
        return tuple(traces)

    def place(self, name: str, x: float, y: float) -> Outcome:
        """The operator's hand: moves a person or a loose thing, or says why not."""
        applied = place(self.world, name, x, y)
        self.world = applied.world
        if self._journal is not None:
            body = {"do": "place", "name": name, "x": x, "y": y, "answer": asdict(applied.outcome)}
            self._journal.append("operator", tick=self.tick, agent=name, body=body)
        return applied.outcome

    def set_strength(self, name: str, strength: float) -> None:
        """Of a personality, 0 to 1.

        Raises:
            UnknownAgent, ValueError: no such agent; outside 0 to 1.
        """
        conscious = self.agent(name).conscious
        conscious.persona = replace(conscious.persona, strength=strength)
        if self._journal is not None:
            body = {"do": "set_strength", "strength": strength}
            self._journal.append("operator", tick=self.tick, agent=name, body=body)

    def agent(self, name: str) -> Agent:
        try:
            return self.agents[name]
        except KeyError:
            raise UnknownAgent(f"there is no agent {name}. Agents: {', '.join(self.agents)}") from None

    async def _think(self, agent: Agent, world: World) -> Thought:
        observation = observe(
            world,
            agent.name,
            turn=f"{self.run}/{self.tick}/{agent.name}",
            time=self.time,
            intentions=agent.intentions,
            episode=f"{self.run}/{agent.name}",
            position=self.tick,
            seed=draw(self.seed, self.tick, agent.name, "turn"),
        )
        async with self._slots:
            return await agent.think(observation, offered(world, agent.name))

    async def _reflect(self, agent: Agent, thought: Thought, outcome: Outcome, acted: float) -> TurnTrace:
        async with self._slots:
            trace = await agent.reflect(thought, outcome, tick=self.tick)
        return replace(trace, timings=replace(trace.timings, act=acted))

    def _order(self) -> list[str]:
        return sorted(self.agents, key=lambda name: (draw(self.seed, self.tick, name, "order"), name))

    async def _together(self, work: Iterable[Coroutine[Any, Any, Value]]) -> list[Value]:
        """All at once, results in order; the first fault of ours ends the others and is raised."""
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one) for one in work]
        return [task.result() for task in tasks]

    def _record(self, traces: Iterable[TurnTrace]) -> None:
        if self._journal is not None:
            for trace in traces:
                self._journal.append_turn(trace)
            self._journal.append("tick", tick=self.tick, body={"state": state_hash(self.world)})
            self._journal.commit()

    async def _seed(self, agent: Agent) -> None:
        mind = agent.subconscious
        assert mind is not None
        drafts = self.scenario.seeds.get(agent.name, ())
        turn = f"seed/{self.scenario.name}"
        memories = [
            Memory.from_draft(
                draft,
                id=memory_id(agent.name, turn, ordinal),
                owner=agent.name,
                at=self.scenario.start - timedelta(days=1),
                provenance=Provenance(source=Source.SEED, turn=turn),
            )
            for ordinal, draft in enumerate(drafts)
        ]
        there = {memory.id for memory in await mind.collection.get([memory.id for memory in memories])}
        missing = [memory for memory in memories if memory.id not in there]
        vectors = await mind.embedder.embed([memory.summary for memory in missing])
        await mind.collection.add(
            [Entry(memory=memory, vector=vector) for memory, vector in zip(missing, vectors, strict=True)]
        )


def run_id(scenario: Scenario, seed: int, memories: int, *, beside: int = 0) -> str:
    """The same for the same scenario, seed and number of memories at the start, in every process.

    A second run on the same store starts with more memories, so its turns, and the ids of what they write, are its own.

    Args:
        beside: how many runs that would have the same id are under way on the same store.
    """
    parts = (scenario.name, seed, memories, *([beside] if beside else []))
    return sha256("\x1f".join(map(str, parts)).encode()).hexdigest()[:12]
