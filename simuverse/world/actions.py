"""What each tool does: one pure function each, from an :class:`Act` to a :class:`Done`, or a rule that refuses.

A function returns the whole new world or raises :class:`Refused` before it has made one, so no act is half done.
``tools`` checks names and parameters before and files the answer after.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace

from simuverse.agents.turn import Utterance
from simuverse.world.answers import Code, Refused, clean, find, listing, short
from simuverse.world.observe import bearing, seen
from simuverse.world.state import (
    ARM,
    CLOSED,
    EARSHOT,
    FREE,
    OPEN,
    REACH,
    SIGHT,
    STEP,
    TAKEN,
    Body,
    Item,
    Position,
    Spoken,
    World,
    distance,
)

SPEECH = 400
"""Characters that can be said at once."""

CLOSE = 0.5
"""How near a goal counts as there; what is left of a walk below it is walked with the last step."""

_ALL = ("everyone", "all")
"""What one may write for "nobody in particular" when speaking."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Act:
    """Someone about to do something.

    Args:
        arguments: by the tool's own parameter names; required ones are there and none is blank.
        turn: id that what is said gets its own id from.
    """

    world: World
    body: Body
    arguments: Mapping[str, str]
    turn: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Done:
    """The world after it, and the answer."""

    world: World
    code: Code
    sentence: str
    said: Utterance | None = None


@dataclass(frozen=True, kw_only=True, slots=True)
class _Goal:
    """Where a walk leads. ``stop``: how far from it the walk ends."""

    label: str
    position: Position
    stop: float
    heading: str | Position


def move_to(act: Act) -> Done:
    goal = _goal(act)
    left = distance(act.body.position, goal.position) - goal.stop
    if left <= CLOSE:
        raise Refused(Code.ALREADY, f"You are already at {goal.label}.")
    world, body = got_up(act.world, act.body)
    up = "You got up. " if act.body.seat else ""
    rest = left - STEP
    arrived = rest <= CLOSE
    if arrived and not goal.stop:
        there = goal.position
    else:
        there = _towards(body.position, goal.position, left if arrived else STEP)
    if arrived:
        world = world.updated(replace(body, position=there, doing=f"standing at {goal.label}", heading=None))
        return Done(world=world, code=Code.ARRIVED, sentence=f"{up}You are at {goal.label}.")
    world = world.updated(replace(body, position=there, doing=f"walking to {goal.label}", heading=goal.heading))
    ticks = math.ceil((rest - CLOSE) / STEP)
    more = f"{ticks} more tick{'' if ticks == 1 else 's'}"
    return Done(world=world, code=Code.ON_THE_WAY, sentence=f"{up}On the way to {goal.label}, {more}.")


def look(act: Act) -> Done:
    sentences = seen(act.world, act.body)
    found = " ".join(sentences) or f"Nothing is within {SIGHT:.0f}."
    return _settled(act, "looking around", Code.LOOKED, f"You look around. {found}")


def say(act: Act) -> Done:
    text = clean(act.arguments["text"])
    if not text:
        raise Refused(Code.MISSING_PARAMETER, "There was nothing in it that can be said. say needs text.")
    if len(text) > SPEECH:
        raise Refused(Code.TOO_LONG, f"That is {len(text)} characters; you can say at most {SPEECH} at once.")
    to = _addressee(act)
    hearers = tuple(b.name for b in act.world.near(act.body.position, EARSHOT, leave_out=(act.body.name,)))
    if to is not None and to not in hearers:
        where = bearing(act.body.position, act.world.bodies[to].position)
        raise Refused(
            Code.OUT_OF_EARSHOT,
            f"{to} can't hear you: {where}, and speech carries {EARSHOT:.0f}. In earshot: {listing(hearers)}.",
        )
    if not hearers:
        raise Refused(Code.OUT_OF_EARSHOT, f"Nobody is within {EARSHOT:.0f} to hear you.{_nearest_person(act)}")
    utterance = Utterance(id=f"{act.turn}/said", speaker=act.body.name, text=text, to=to)
    spoken = Spoken(utterance=utterance, position=act.body.position, tick=act.world.tick, hearers=hearers)
    done = _settled(act, f"talking to {to}" if to else "talking", Code.SAID, f"{listing(hearers)} heard you.")
    return replace(done, world=replace(done.world, spoken=(*done.world.spoken, spoken)), said=utterance)


def use(act: Act) -> Done:
    item = _item(act)
    _free_of_others(act, item)
    verb = find(act.arguments["verb"], item.verbs)
    if verb is None:
        raise Refused(
            Code.NOT_POSSIBLE, f"You can't {short(act.arguments['verb'])} {item.name}; {_possible(item, act.body)}"
        )
    _within_reach(act, item)
    return VERBS[verb](act, item)


def pick_up(act: Act) -> Done:
    item = _item(act)
    if item.held_by == act.body.name:
        raise Refused(Code.ALREADY, f"You already hold {item.name}.")
    _free_of_others(act, item)
    if not item.portable:
        raise Refused(Code.NOT_POSSIBLE, f"You can't pick up {item.name}; {_possible(item, act.body)}")
    if act.body.carrying is not None:
        raise Refused(Code.HANDS_FULL, f"Your hands are full ({act.body.carrying}). Put it down or give it away first.")
    _within_reach(act, item)
    body = replace(act.body, carrying=item.name, doing=f"picking up {item.name}", heading=None)
    world = act.world.updated(body, replace(item, held_by=body.name))
    return Done(world=world, code=Code.PICKED_UP, sentence=f"You hold {item.name} now.")


def put_down(act: Act) -> Done:
    if act.body.carrying is None:
        raise Refused(Code.NOT_HELD, "Your hands are empty: there is nothing to put down.")
    item = act.world.items[act.body.carrying]
    body = replace(act.body, carrying=None, doing=f"putting down {item.name}", heading=None)
    world = act.world.updated(body, replace(item, held_by=None))
    return Done(world=world, code=Code.PUT_DOWN, sentence=f"You put down {item.name} at {body.position}.")


def give(act: Act) -> Done:
    item = _item(act)
    other = _agent(act, act.arguments["agent"])
    if other.name == act.body.name:
        raise Refused(Code.YOURSELF, f"You can't give something to yourself. Others: {_others(act)}.")
    if item.held_by != act.body.name:
        raise Refused(Code.NOT_HELD, f"You don't hold {item.name}. In your hands: {act.body.carrying or 'nothing'}.")
    if distance(act.body.position, other.position) > REACH:
        where = bearing(act.body.position, other.position)
        raise Refused(Code.OUT_OF_REACH, f"{other.name} is {where}; you reach {REACH:.0f}. Move closer.")
    if other.carrying is not None:
        raise Refused(Code.HANDS_FULL, f"{other.name}'s hands are full ({other.carrying}).")
    body = replace(act.body, carrying=None, doing=f"giving {item.name} to {other.name}", heading=None)
    world = act.world.updated(body, replace(other, carrying=item.name), replace(item, held_by=other.name))
    return Done(world=world, code=Code.GIVEN, sentence=f"{other.name} has {item.name} now.")


def think(act: Act) -> Done:
    topic = short(act.arguments.get("topic", ""))
    return _settled(act, "thinking", Code.THOUGHT, f"You thought about {topic}." if topic else "You thought a while.")


def wait(act: Act) -> Done:
    return _settled(act, "waiting", Code.WAITED, "You waited.")


def got_up(world: World, body: Body) -> tuple[World, Body]:
    """The world with ``body`` off its seat, and the body in it."""
    if body.seat is None:
        return world, body
    up = replace(body, seat=None)
    return world.updated(up, replace(world.items[body.seat], state=FREE)), up


def _read(act: Act, item: Item) -> Done:
    return _settled(act, f"reading {item.name}", Code.USED, f"{item.name} says: {item.text}")


def _open(act: Act, item: Item) -> Done:
    if item.state == OPEN:
        raise Refused(Code.ALREADY, f"{item.name} is already open.")
    people = len(act.world.near(item.position, REACH))
    if people < item.hands:
        missing = item.hands - people
        raise Refused(
            Code.NEEDS_HANDS,
            f"It takes {item.hands} people to open {item.name}: {missing} more within {REACH:.0f} of it. Bring help.",
        )
    return _turned(act, item, OPEN, f"opening {item.name}")


def _close(act: Act, item: Item) -> Done:
    if item.state == CLOSED:
        raise Refused(Code.ALREADY, f"{item.name} is already closed.")
    return _turned(act, item, CLOSED, f"closing {item.name}")


def _sit(act: Act, item: Item) -> Done:
    if act.body.seat == item.name:
        raise Refused(Code.ALREADY, f"You already sit on {item.name}.")
    if item.state == TAKEN:
        raise Refused(Code.SEAT_TAKEN, f"{item.name} is taken by {act.world.sitter(item.name)}.")
    world, body = got_up(act.world, act.body)
    body = replace(body, seat=item.name, position=item.position, doing=f"sitting on {item.name}", heading=None)
    return Done(
        world=world.updated(body, replace(item, state=TAKEN)), code=Code.USED, sentence=f"You sit on {item.name} now."
    )


def _stand(act: Act, item: Item) -> Done:
    if act.body.seat != item.name:
        raise Refused(Code.ALREADY, f"You don't sit on {item.name}.")
    world, body = got_up(act.world, act.body)
    world = world.updated(replace(body, doing=f"standing by {item.name}", heading=None))
    return Done(world=world, code=Code.USED, sentence=f"You got up from {item.name}.")


VERBS = {"read": _read, "open": _open, "close": _close, "sit": _sit, "stand": _stand}
"""What things can be used for; an item lists those that it allows."""


def _settled(act: Act, doing: str, code: Code, sentence: str) -> Done:
    """Done on the spot; someone who sits stays so, in others' eyes too."""
    seated = f"{doing} on {act.body.seat}" if act.body.seat else doing
    return Done(world=act.world.updated(replace(act.body, doing=seated, heading=None)), code=code, sentence=sentence)


def _turned(act: Act, item: Item, state: str, doing: str) -> Done:
    done = _settled(act, doing, Code.USED, f"{item.name} is {state} now.")
    return replace(done, world=done.world.updated(replace(item, state=state)))


def _goal(act: Act) -> _Goal:
    target, x, y = (act.arguments.get(name) for name in ("target", "x", "y"))
    if target is None and x is not None and y is not None:
        point = point_in(act.world, _number("x", x), _number("y", y))
        return _Goal(label=str(point), position=point, stop=0.0, heading=point)
    if target is None or x is not None or y is not None:
        raise Refused(Code.BAD_VALUE, f"move_to takes a target, or x and y, not both. {_targets(act)}")
    name = find(target, (*act.world.bodies, *act.world.landmarks, *act.world.items))
    if name is None:
        raise Refused(Code.UNKNOWN_NAME, f"There is no {short(target)}. {_targets(act)}")
    if name in act.world.landmarks:
        return _Goal(label=name, position=act.world.landmarks[name].position, stop=0.0, heading=name)
    if name in act.world.bodies:
        return _person(act, name)
    item = act.world.items[name]
    if item.held_by == act.body.name:
        raise Refused(Code.ALREADY, f"You hold {name}. {_targets(act)}")
    if item.portable and distance(act.body.position, item.position) > SIGHT:
        raise Refused(
            Code.OUT_OF_SIGHT,
            f"You can't see {name} from here: you see {SIGHT:.0f} far. Go where it may be, by x and y. {_targets(act)}",
        )
    if item.held_by is not None:
        return _person(act, item.held_by)
    return _Goal(label=name, position=item.position, stop=0.0, heading=name)


def _person(act: Act, name: str) -> _Goal:
    if name == act.body.name:
        raise Refused(Code.YOURSELF, f"You can't walk to yourself. {_targets(act)}")
    return _Goal(label=name, position=act.world.bodies[name].position, stop=ARM, heading=name)


def point_in(world: World, x: float, y: float) -> Position:
    """The point, if it lies in the grid.

    Raises:
        Refused: outside, or not a number.
    """
    if not (world.low <= x <= world.high and world.low <= y <= world.high):
        raise Refused(
            Code.OUT_OF_GRID, f"({x:.6g}, {y:.6g}) is outside: x and y run from {world.low:g} to {world.high:g}."
        )
    return Position(x, y)


def _number(name: str, text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise Refused(Code.BAD_VALUE, f"{name} must be a number, such as 300; {short(text)} isn't.") from None


def _towards(a: Position, b: Position, length: float) -> Position:
    share = length / distance(a, b)
    # Two decimals keep prompts and journals short; each coordinate stays between those of a and b.
    return Position(round(a.x + (b.x - a.x) * share, 2), round(a.y + (b.y - a.y) * share, 2))


def _item(act: Act) -> Item:
    """The item meant, whether in reach or not."""
    text = act.arguments["item"]
    name = find(text, act.world.items)
    if name is None or distance(act.body.position, act.world.items[name].position) > SIGHT:
        near = [i.name for i in act.world.items.values() if distance(act.body.position, i.position) <= SIGHT]
        options = f"Things in sight: {listing(near)}."
        if name is None:
            raise Refused(Code.UNKNOWN_NAME, f"There is no {short(text)}. {options}")
        raise Refused(Code.OUT_OF_SIGHT, f"{name} is not in sight: you see {SIGHT:.0f} far. {options}")
    return act.world.items[name]


def _agent(act: Act, text: str) -> Body:
    name = find(text, act.world.bodies)
    if name is None:
        raise Refused(Code.UNKNOWN_NAME, f"There is nobody called {short(text)}. Others: {_others(act)}.")
    return act.world.bodies[name]


def _addressee(act: Act) -> str | None:
    text = act.arguments.get("to")
    if text is None or (text.strip().casefold() in _ALL and find(text, act.world.bodies) is None):
        return None
    other = _agent(act, text)
    if other.name == act.body.name:
        raise Refused(Code.YOURSELF, f"To speak to yourself, think. Others: {_others(act)}.")
    return other.name


def _free_of_others(act: Act, item: Item) -> None:
    if item.held_by not in (None, act.body.name):
        raise Refused(Code.HELD_BY_ANOTHER, f"{item.held_by} holds {item.name}. Ask for it.")


def _within_reach(act: Act, item: Item) -> None:
    if distance(act.body.position, item.position) > REACH:
        where = bearing(act.body.position, item.position)
        raise Refused(Code.OUT_OF_REACH, f"{item.name} is {where}; you reach {REACH:.0f}. Move closer.")


def _possible(item: Item, body: Body) -> str:
    held = ("put_down", "give") if item.held_by == body.name else ("pick_up",) if item.portable else ()
    return f"you can: {listing((*item.verbs, *held))}."


def _others(act: Act) -> str:
    return listing(name for name in act.world.bodies if name != act.body.name)


def _targets(act: Act) -> str:
    """What one can walk to by name: everyone knows what never moves, and finds a person; a loose thing one must see."""
    loose = [
        i.name
        for i in act.world.items.values()
        if i.portable and i.held_by is None and distance(act.body.position, i.position) <= SIGHT
    ]
    places = sorted([*act.world.landmarks, *(i.name for i in act.world.items.values() if not i.portable)])
    return f"Places: {listing(places)}. People: {_others(act)}. Loose things in sight: {listing(loose)}."


def _nearest_person(act: Act) -> str:
    others = [b for name, b in act.world.bodies.items() if name != act.body.name]
    if not others:
        return ""
    nearest = min(others, key=lambda b: (distance(act.body.position, b.position), b.name))
    return f" Nearest: {nearest.name}, {bearing(act.body.position, nearest.position)}."
