"""The world as one frozen value: who and what is where, what was said, and what each action was answered.

A change is a new :class:`World`, and only ``tools`` makes one. Everything is plain data: ``msgspec`` writes a world as
JSON and reads it back, and :func:`state_hash` is the same in every process. Lengths are in the units of the grid; x
grows to the east, y to the south.
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from typing import Self

import msgspec

from simuverse.agents.turn import Outcome, Utterance

SIGHT = 200.0
"""How far a person sees, inclusive."""
EARSHOT = 80.0
"""How far speech carries, inclusive."""
REACH = 40.0
"""How far a person reaches to use, take or hand over, inclusive."""
STEP = 60.0
"""How far a person walks in a tick."""
ARM = 20.0
"""How far from another person one stops."""

FREE, TAKEN, OPEN, CLOSED = "free", "taken", "open", "closed"
"""States that verbs set: of what can be sat on, and of what can be opened."""

_SLOPE = math.tan(math.radians(22.5))
"""Half a compass sector: flatter than this against an axis counts as along it."""


@dataclass(frozen=True, slots=True)
class Position:
    x: float
    y: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.x) and math.isfinite(self.y)):
            raise ValueError(f"({self.x}, {self.y}) is no position")
        object.__setattr__(self, "x", float(self.x))
        object.__setattr__(self, "y", float(self.y))

    def __str__(self) -> str:
        return f"({self.x:.0f}, {self.y:.0f})"


def distance(a: Position, b: Position) -> float:
    # Products and a square root are rounded alike on every machine; hypot need not be.
    return math.sqrt((b.x - a.x) * (b.x - a.x) + (b.y - a.y) * (b.y - a.y))


def direction(a: Position, b: Position) -> str:
    """From ``a`` to ``b``: one of eight compass points (``north``, ``north-east``...), or ``here`` if equal."""
    dx, dy = b.x - a.x, b.y - a.y
    vertical = "" if abs(dy) <= _SLOPE * abs(dx) else "north" if dy < 0 else "south"
    horizontal = "" if abs(dx) <= _SLOPE * abs(dy) else "east" if dx > 0 else "west"
    return "-".join(part for part in (vertical, horizontal) if part) or "here"


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """An agent as the world has it.

    Args:
        carrying: name of the item in its hands.
        seat: name of the item it sits on.
        doing: what others see it do, in a few words that follow its name: ``walking to north_bench``.
        heading: where it is on its way to, a name or a point; None unless its last act was a walk still going on.
    """

    name: str
    position: Position
    carrying: str | None = None
    seat: str | None = None
    doing: str = "standing about"
    heading: str | Position | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class Landmark:
    name: str
    position: Position


@dataclass(frozen=True, kw_only=True, slots=True)
class Item:
    """A thing.

    Args:
        kind: a common noun: ``ball``, ``door``.
        portable: it can be picked up, with one hand.
        state: ``open`` or ``closed`` of what can be opened, ``free`` or ``taken`` of a seat, else any word or none.
        verbs: what it can be used for.
        held_by: name of the agent that carries it; its position is then that agent's.
        text: what one reads on it.
        hands: how many people it takes to open it, 1 or more.
    """

    name: str
    position: Position
    kind: str
    portable: bool = False
    state: str = ""
    verbs: tuple[str, ...] = ()
    held_by: str | None = None
    text: str = ""
    hands: int = 1

    def __post_init__(self) -> None:
        if self.portable and "sit" in self.verbs:
            raise ValueError(f"{self.name} can't be both carried and sat on")
        if self.held_by is not None and not self.portable:
            raise ValueError(f"{self.name} isn't portable and can't be held by {self.held_by}")
        if self.hands < 1:
            raise ValueError(f"{self.name} takes {self.hands} people; at least 1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spoken:
    """Something said that hasn't been perceived yet.

    Args:
        position: of the speaker when it was said.
        hearers: who was in earshot then, by name; never the speaker.
    """

    utterance: Utterance
    position: Position
    tick: int
    hearers: tuple[str, ...]


@dataclass(frozen=True, kw_only=True, slots=True)
class Refusals:
    """The same call refused again and again.

    Args:
        call: in one line, shortened.
        times: in a row, 1 or more.
    """

    call: str
    times: int


@dataclass(frozen=True, kw_only=True, slots=True)
class World:
    """Everything there is, by name in sorted order.

    Args:
        tick: 0 before the first.
        spoken: what was said and isn't perceived yet, oldest first.
        answers: the last outcome of each agent that has acted.
        refusals: of the agents whose last call was refused.
        low, high: bounds of x and of y, inclusive.
    """

    tick: int = 0
    bodies: Mapping[str, Body]
    landmarks: Mapping[str, Landmark] = field(default_factory=dict[str, Landmark])
    items: Mapping[str, Item] = field(default_factory=dict[str, Item])
    spoken: tuple[Spoken, ...] = ()
    answers: Mapping[str, Outcome] = field(default_factory=dict[str, Outcome])
    refusals: Mapping[str, Refusals] = field(default_factory=dict[str, Refusals])
    low: float = 50.0
    high: float = 550.0

    def __post_init__(self) -> None:
        for name in ("bodies", "landmarks", "items", "answers", "refusals"):
            object.__setattr__(self, name, dict(sorted(getattr(self, name).items())))
        for name in ("low", "high"):
            object.__setattr__(self, name, float(getattr(self, name)))
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low < self.high):
            raise ValueError(f"bounds {self.low} to {self.high} hold nothing")
        _check_places(self)
        _check_hands(self)
        _check_seats(self)

    def contains(self, position: Position) -> bool:
        return self.low <= position.x <= self.high and self.low <= position.y <= self.high

    def updated(self, *changed: Body | Item) -> Self:
        """A world in which these stand for those of the same name; what a body carries comes along."""
        bodies = {**self.bodies, **{c.name: c for c in changed if isinstance(c, Body)}}
        items = {**self.items, **{c.name: c for c in changed if isinstance(c, Item)}}
        for name, item in items.items():
            if item.held_by is not None:
                items[name] = replace(item, position=bodies[item.held_by].position)
        return replace(self, bodies=bodies, items=items)

    def near(self, position: Position, radius: float, *, leave_out: Collection[str] = ()) -> tuple[Body, ...]:
        """Bodies within ``radius`` (inclusive), sorted by name."""
        return tuple(
            body
            for name, body in self.bodies.items()
            if name not in leave_out and distance(position, body.position) <= radius
        )

    def sitter(self, item: str) -> str | None:
        """Who sits on ``item``."""
        return next((name for name, body in self.bodies.items() if body.seat == item), None)


@dataclass(frozen=True, kw_only=True, slots=True)
class Link:
    """An agent and its nearest neighbour: a picture, not a permission.

    Args:
        in_range: they can talk.
    """

    agent: str
    nearest: str
    distance: float
    in_range: bool


def links(world: World) -> tuple[Link, ...]:
    """One link an agent, sorted by name; of neighbours equally near the first by name. A lone agent has none."""
    found: list[Link] = []
    for body in world.bodies.values():
        others = [(distance(body.position, b.position), b.name) for b in world.bodies.values() if b is not body]
        if others:
            length, nearest = min(others)
            found.append(Link(agent=body.name, nearest=nearest, distance=length, in_range=length <= EARSHOT))
    return tuple(found)


def state_hash(world: World) -> str:
    """SHA-256, in hex, of the world's canonical JSON."""
    return hashlib.sha256(msgspec.json.encode(world, order="deterministic")).hexdigest()


def _check_places(world: World) -> None:
    seen: dict[str, str] = {}
    for things in (world.bodies, world.landmarks, world.items):
        for name, thing in things.items():
            if name != thing.name:
                raise ValueError(f"{thing.name} is filed under {name}")
            if name.casefold() in seen:
                raise ValueError(f"{name} is there twice, or differs from {seen[name.casefold()]} in case alone")
            seen[name.casefold()] = name
            if not world.contains(thing.position):
                raise ValueError(
                    f"{name} at {thing.position} is outside the grid: x and y run from {world.low:g} to {world.high:g}"
                )


def _check_hands(world: World) -> None:
    held = {name: item.held_by for name, item in world.items.items() if item.held_by is not None}
    carried = {body.carrying: name for name, body in world.bodies.items() if body.carrying is not None}
    if held != carried:
        raise ValueError(f"hands and things disagree: {carried} carried, {held} held")
    for name, holder in held.items():
        if world.items[name].position != world.bodies[holder].position:
            raise ValueError(f"{name} isn't where {holder} is, who carries it")


def _check_seats(world: World) -> None:
    sat_on = sorted(body.seat for body in world.bodies.values() if body.seat is not None)
    taken = [name for name, item in world.items.items() if "sit" in item.verbs and item.state == TAKEN]
    if sat_on != taken:
        raise ValueError(f"seats and sitters disagree: {', '.join(sat_on) or 'none'} sat on, {taken} taken")
