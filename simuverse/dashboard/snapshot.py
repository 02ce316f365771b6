"""A moment of a run, frozen and written as JSON once, for however many pages look at it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec

from simuverse.agents.agent import Agent
from simuverse.agents.conscious import temperature
from simuverse.agents.trace import TurnTrace
from simuverse.dashboard.events import Banner, Event
from simuverse.dashboard.graph import elements
from simuverse.dashboard.wording import MONTHS, title
from simuverse.memory.clock import local
from simuverse.world.simulation import Simulation
from simuverse.world.state import World, links


@dataclass(frozen=True, kw_only=True, slots=True)
class Snapshot:
    """What the page shows between two sequence numbers.

    Args:
        body: the state as a JSON object, without events.
        turns: the last turn of each agent that has had one.
        events: the latest, oldest first.
    """

    seq: int = 0
    tick: int = 0
    body: bytes = b"{}"
    turns: Mapping[str, TurnTrace] = field(default_factory=dict[str, TurnTrace])
    events: tuple[Event, ...] = ()

    def as_json(self, *, since: int = -1) -> bytes:
        """The state and the events after ``since``. A number from another run, which is too high, gets them all."""
        fresh = [e.body for e in self.events if since > self.seq or e.seq > since]
        return b'{"events":[' + b",".join(fresh) + b"]," + self.body[1:]


@dataclass(frozen=True, kw_only=True, slots=True)
class Transport:
    """How the run is being driven.

    Args:
        running: ticks follow each other.
        stepping: a tick is being lived right now.
        speed: times the normal pace.
    """

    running: bool
    stepping: bool
    speed: float


def write(
    simulation: Simulation,
    *,
    seq: int,
    now: float,
    transport: Transport,
    banners: Sequence[Banner],
    events: tuple[Event, ...],
    turns: Mapping[str, TurnTrace],
) -> Snapshot:
    """The simulation as it stands; call it on the simulation's own loop.

    Args:
        now: of the monotonic clock that phases are timed by.
    """
    world, time = simulation.world, local(simulation.time, simulation.zone)
    state: dict[str, Any] = {
        "seq": seq,
        "tick": world.tick,
        "clock": f"{time:%H:%M}",
        "date": f"{time.day} {MONTHS[time.month - 1]} {time.year}",
        "zone": "" if str(time.tzinfo) == "UTC" else str(time.tzinfo),
        "running": transport.running,
        "stepping": transport.stepping,
        "speed": transport.speed,
        "banners": banners,
        "bounds": [world.low, world.high],
        "elements": _with_phases(world, simulation.agents),
        "agents": [_agent(world, agent, turns.get(name), now) for name, agent in simulation.agents.items()],
        "things": _things(world),
    }
    return Snapshot(seq=seq, tick=world.tick, body=msgspec.json.encode(state), turns=turns, events=events)


def _with_phases(world: World, agents: Mapping[str, Agent]) -> list[dict[str, Any]]:
    shown = elements(world)
    busy = {f"agent:{name}" for name, agent in agents.items() if agent.phase != "idle"}
    for element in shown:
        if element["data"]["id"] in busy:
            element["classes"] += " busy"
    return shown


def _agent(world: World, agent: Agent, last: TurnTrace | None, now: float) -> dict[str, Any]:
    body, strength = world.bodies[agent.name], agent.conscious.persona.strength
    shown: dict[str, Any] = {
        "name": agent.name,
        "x": body.position.x,
        "y": body.position.y,
        "doing": body.doing,
        "carrying": None if body.carrying is None else title(body.carrying),
        "phase": agent.phase,
        "phase_seconds": round(now - agent.phase_since, 1),
        "strength": strength,
        "temperature": temperature(strength),
        "turn": None,
        "flashbacks": 0,
        "said": None,
        "refused": None,
    }
    if last is not None:
        outcome = last.outcome
        shown["turn"] = last.observation.turn
        shown["flashbacks"] = len(last.recollection)
        shown["said"] = None if outcome.said is None else outcome.said.text
        shown["refused"] = None if outcome.ok else outcome.sentence
    return shown


def _things(world: World) -> list[dict[str, Any]]:
    """Rows of the table view: everyone and everything, with what the map says by lines and places."""
    nearest = {link.agent: link for link in links(world)}
    rows: list[dict[str, Any]] = []
    for name, body in world.bodies.items():
        link = nearest.get(name)
        near = "" if link is None else f"nearest: {link.nearest}, {link.distance:.0f} away"
        talk = "" if link is None else ", can talk" if link.in_range else ", too far to talk"
        carrying = "" if body.carrying is None else f", carrying {title(body.carrying)}"
        rows.append(_row(name, "person", body.position.x, body.position.y, f"{body.doing}{carrying}; {near}{talk}"))
    for name, item in world.items.items():
        held = "" if item.held_by is None else f"held by {item.held_by}"
        state = ", ".join(filter(None, (item.state, held, "can be carried" if item.portable else "fixed")))
        rows.append(_row(title(name), item.kind, item.position.x, item.position.y, state))
    for name, place in world.landmarks.items():
        rows.append(_row(title(name), "place", place.position.x, place.position.y, ""))
    return rows


def _row(name: str, kind: str, x: float, y: float, state: str) -> dict[str, Any]:
    return {"name": name, "kind": kind, "x": round(x), "y": round(y), "state": state}
