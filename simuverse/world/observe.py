"""What one person perceives: what is in sight, what was said in earshot, where it is itself, what it was answered.

Pure. Sentences are made to one pattern, so that rules can read them as well as models::

    Jade is 141 to the east, walking to north_bench, carrying red_ball.
    red_ball lies 57 to the south-east, at (450, 450).
    lab_door is 112 to the north, at (500, 200), closed; you can: open, close.
    north_bench is 100 to the north, at (300, 100).

Whoever is meant comes first; where a distance would round to 0, ``57 to the south-east`` is ``here``.
"""

from __future__ import annotations

from datetime import datetime

from simuverse.agents.turn import Observation
from simuverse.errors import UnknownAgent
from simuverse.world.state import SIGHT, TAKEN, Body, Item, Landmark, Position, World, direction, distance

NEARBY = 100.0
"""How far a fixed thing may be to name a place after it."""


def observe(
    world: World,
    actor: str,
    *,
    turn: str,
    time: datetime,
    intentions: tuple[str, ...],
    episode: str,
    position: int,
    seed: int,
) -> Observation:
    """What ``actor`` perceives now; the keywords are handed on as they are.

    Raises:
        UnknownAgent: there is no such agent.
    """
    body = body_of(world, actor)
    answer = world.answers.get(actor)
    return Observation(
        turn=turn,
        time=time,
        location=location(world, body),
        seen=seen(world, body),
        noticed=noticed(world, body),
        heard=tuple(s.utterance for s in world.spoken if actor in s.hearers),
        carrying=() if body.carrying is None else (body.carrying,),
        answer="" if answer is None else answer.sentence,
        intentions=intentions,
        episode=episode,
        position=position,
        seed=seed,
    )


def body_of(world: World, agent: str) -> Body:
    """The body of that name.

    Raises:
        UnknownAgent: there is none.
    """
    try:
        return world.bodies[agent]
    except KeyError:
        raise UnknownAgent(f"There is no agent {agent}. Agents: {', '.join(world.bodies)}") from None


def seen(world: World, body: Body) -> tuple[str, ...]:
    """A sentence for each thing and person within sight, nearest first, then by name; not for what someone carries."""
    things: list[Body | Landmark | Item] = [
        *(b for b in world.bodies.values() if b.name != body.name),
        *world.landmarks.values(),
        *(i for i in world.items.values() if i.held_by is None),
    ]
    found = sorted((distance(body.position, t.position), t.name, i) for i, t in enumerate(things))
    return tuple(_sentence(world, body.position, things[i]) for length, _, i in found if length <= SIGHT)


def noticed(world: World, body: Body) -> tuple[str, ...]:
    """A sentence for each thing within sight that no one carries, nearest first, without reference to who sees it."""
    things = [item for item in world.items.values() if item.held_by is None]
    found = sorted((distance(body.position, item.position), item.name) for item in things)
    return tuple(_noticed(world, world.items[name]) for length, name in found if length <= SIGHT)


def location(world: World, body: Body) -> str:
    """Where ``body`` is, in words: ``at (100, 200) in a square from 50 to 550, near info_kiosk``."""
    fixed: list[Landmark | Item] = [*world.landmarks.values(), *(i for i in world.items.values() if not i.portable)]
    length, nearest = min(((distance(body.position, f.position), f.name) for f in fixed), default=(SIGHT, ""))
    place = f"at {body.position} in a square from {world.low:g} to {world.high:g}"
    return f"{place}, near {nearest}" if length <= NEARBY else place


def bearing(a: Position, b: Position) -> str:
    """From ``a`` to ``b`` in words: ``57 to the south-east``, or ``here``."""
    length = round(distance(a, b))
    return f"{length} to the {direction(a, b)}" if length else "here"


def _sentence(world: World, eye: Position, thing: Body | Landmark | Item) -> str:
    where = bearing(eye, thing.position)
    match thing:
        case Body():
            carrying = f", carrying {thing.carrying}" if thing.carrying else ""
            return f"{thing.name} is {where}, {thing.doing}{carrying}."
        case Landmark():
            return f"{thing.name} is {where}, at {thing.position}."
        case Item():
            return f"{_title(thing)} {where}, at {thing.position}{_condition(world, thing)}."


def _noticed(world: World, item: Item) -> str:
    return f"{_title(item)} at {item.position}{_condition(world, item, verbs=False)}."


def _title(item: Item) -> str:
    """Name and verb; the kind too where the name doesn't say it."""
    verb = "lies" if item.portable else "is"
    if item.kind.casefold() in item.name.casefold():
        return f"{item.name} {verb}"
    article = "an" if item.kind[:1].casefold() in "aeiou" else "a"
    return f"{item.name}, {article} {item.kind}, {verb}"


def _condition(world: World, item: Item, *, verbs: bool = True) -> str:
    state = f"taken by {world.sitter(item.name)}" if item.state == TAKEN and "sit" in item.verbs else item.state
    return (f", {state}" if state else "") + (f"; you can: {', '.join(item.verbs)}" if item.verbs and verbs else "")
