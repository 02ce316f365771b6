"""The tools on offer, and the only ways in which a world changes: :func:`begin_tick`, :func:`apply` and :func:`place`.

Pure. :func:`apply` is total: whatever a model wrote, the answer is an outcome with a code and a sentence, and a refused
call changes nothing but that. Rules live here and in ``actions``, not in prompts.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from simuverse.agents.turn import Outcome, Parameter, Tool, ToolCall
from simuverse.world import actions
from simuverse.world.answers import Code, Refused, find, listing, short
from simuverse.world.observe import body_of
from simuverse.world.state import EARSHOT, REACH, SIGHT, Refusals, World

__all__ = ["TOOLS", "Applied", "Code", "apply", "begin_tick", "offered", "place"]

PATIENCE = 3
"""Identical calls refused in a row before the choice is narrowed."""

_ITEM = Parameter(name="item", description="name of a thing")

TOOLS: tuple[Tool, ...] = (
    Tool(
        name="move_to",
        description="Walk towards a place, a person, a loose thing in sight or a point. Long walks take several turns.",
        parameters=(
            Parameter(name="target", description="name of where to go; or give x and y instead", required=False),
            Parameter(name="x", description="number, growing to the east", required=False),
            Parameter(name="y", description="number, growing to the south", required=False),
        ),
    ),
    Tool(name="look", description=f"Look around: everything within {SIGHT:.0f} and what it is doing."),
    Tool(
        name="say",
        description=f"Say something aloud. Everyone within {EARSHOT:.0f} hears it.",
        parameters=(
            Parameter(name="text", description=f"the words, at most {actions.SPEECH} characters"),
            Parameter(name="to", description="name of the person it is meant for, if it is one", required=False),
        ),
    ),
    Tool(
        name="use",
        description=f"Use a thing within {REACH:.0f}.",
        parameters=(
            _ITEM,
            Parameter(name="verb", description="what to do with it", options=tuple(actions.VERBS)),
        ),
    ),
    Tool(
        name="pick_up",
        description=f"Pick up a thing that lies within {REACH:.0f}. You can hold one.",
        parameters=(_ITEM,),
    ),
    Tool(name="put_down", description="Put down what you hold."),
    Tool(
        name="give",
        description=f"Give what you hold to a person within {REACH:.0f} whose hands are empty.",
        parameters=(_ITEM, Parameter(name="agent", description="name of the person")),
    ),
    Tool(
        name="think",
        description="Think something over.",
        parameters=(Parameter(name="topic", description="what about", required=False),),
    ),
    Tool(name="wait", description="Do nothing for now."),
)

_BY_NAME = {tool.name: tool for tool in TOOLS}

_ACTIONS: Mapping[str, Callable[[actions.Act], actions.Done]] = {
    "move_to": actions.move_to,
    "look": actions.look,
    "say": actions.say,
    "use": actions.use,
    "pick_up": actions.pick_up,
    "put_down": actions.put_down,
    "give": actions.give,
    "think": actions.think,
    "wait": actions.wait,
}

_NOTABLE = frozenset(("use", "pick_up", "put_down", "give"))
"""Tools that change things; walking, looking and talking leave other traces."""

_WAY_OUT: Mapping[str, str] = {
    Code.UNKNOWN_NAME: "move_to",
    Code.OUT_OF_GRID: "move_to",
    Code.OUT_OF_SIGHT: "move_to",
    Code.OUT_OF_EARSHOT: "move_to",
    Code.OUT_OF_REACH: "move_to",
    Code.HANDS_FULL: "put_down",
    Code.NEEDS_HANDS: "say",
    Code.HELD_BY_ANOTHER: "say",
    Code.SEAT_TAKEN: "say",
    Code.TOO_LONG: "say",
}
"""What helps after a refusal; after any other, thinking."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Applied:
    """The world after a call, and the answer to it."""

    world: World
    outcome: Outcome


def begin_tick(world: World) -> World:
    """The world that everyone perceives in the next tick, with what was said in the last one and nothing older."""
    return replace(world, tick=world.tick + 1, spoken=tuple(s for s in world.spoken if s.tick >= world.tick))


def apply(world: World, actor: str, call: ToolCall, *, turn: str) -> Applied:
    """What ``call`` makes of ``world``.

    Args:
        turn: id of the turn, unique in a run: the id of what is said is made of it.

    Raises:
        UnknownAgent: there is no ``actor``; nothing that a model wrote raises.
    """
    body = body_of(world, actor)
    try:
        tool = _tool(call.tool)
        arguments = _arguments(tool, call.arguments)
        done = _ACTIONS[tool.name](actions.Act(world=world, body=body, arguments=arguments, turn=turn))
    except Refused as refused:
        return _refused(world, actor, call, refused)
    notable = tool.name in _NOTABLE
    outcome = Outcome(ok=True, code=done.code, sentence=done.sentence, said=done.said, notable=notable)
    refusals = {name: r for name, r in done.world.refusals.items() if name != actor}
    answers = {**done.world.answers, actor: outcome}
    return Applied(world=replace(done.world, answers=answers, refusals=refusals), outcome=outcome)


def offered(world: World, actor: str) -> tuple[Tool, ...]:
    """The tools to offer ``actor``: all of them, unless the same call was refused three times in a row. Then ``wait``,
    ``look`` and the one that the last answer suggests, a walk to the places that everyone knows.

    Raises:
        UnknownAgent: there is no ``actor``.
    """
    body_of(world, actor)
    refusals = world.refusals.get(actor)
    if refusals is None or refusals.times < PATIENCE:
        return TOOLS
    name = _WAY_OUT.get(world.answers[actor].code, "think")
    suggestion = _BY_NAME[name]
    if name == "move_to":
        target = replace(suggestion.parameters[0], required=True, options=tuple(world.landmarks))
        suggestion = replace(suggestion, parameters=(target,))
    return (_BY_NAME["wait"], _BY_NAME["look"], suggestion)


def place(world: World, name: str, x: float, y: float) -> Applied:
    """The operator puts an agent, or a thing that lies about, somewhere else.

    An agent gets up first, stops walking and keeps what it holds. What is refused is the drop, in a sentence; agents'
    own answers stay as they are.
    """
    try:
        moved = _placed(world, name, x, y)
    except Refused as refused:
        return Applied(world=world, outcome=Outcome(ok=False, code=refused.code, sentence=refused.sentence))
    return moved


def _placed(world: World, name: str, x: float, y: float) -> Applied:
    known = find(name, (*world.bodies, *world.items, *world.landmarks))
    if known is None:
        movable = (*world.bodies, *(i.name for i in world.items.values() if i.portable))
        raise Refused(Code.UNKNOWN_NAME, f"There is no {short(name)}. What can be moved: {listing(movable)}.")
    item = world.items.get(known)
    if known in world.landmarks or (item is not None and not item.portable):
        raise Refused(Code.NOT_POSSIBLE, f"{known} is fixed.")
    if item is not None and item.held_by is not None:
        raise Refused(Code.HELD_BY_ANOTHER, f"{item.held_by} holds {known}. Move {item.held_by} instead.")
    point = actions.point_in(world, x, y)
    if item is not None:
        world = world.updated(replace(item, position=point))
    else:
        world, body = actions.got_up(world, world.bodies[known])
        world = world.updated(replace(body, position=point, doing="standing about", heading=None))
    outcome = Outcome(ok=True, code=Code.PLACED, sentence=f"{known} is at {point} now.")
    return Applied(world=world, outcome=outcome)


def _tool(name: str) -> Tool:
    known = find(name, _BY_NAME)
    if known is None:
        raise Refused(Code.UNKNOWN_TOOL, f"There is no {short(name) or 'nameless tool'}. Tools: {listing(_BY_NAME)}.")
    return _BY_NAME[known]


def _arguments(tool: Tool, given: Mapping[str, str]) -> dict[str, str]:
    """What was given by the tool's own parameter names, blanks left out."""
    names = [p.name for p in tool.parameters]
    arguments: dict[str, str] = {}
    for key, value in given.items():
        if not value.strip():
            continue
        name = find(key, names)
        if name is None:
            takes = f"takes {listing(names)}" if names else "takes no parameters"
            raise Refused(Code.UNKNOWN_PARAMETER, f"{tool.name} {takes}, not {short(key) or 'a nameless one'}.")
        arguments[name] = value
    for parameter in tool.parameters:
        if parameter.required and parameter.name not in arguments:
            raise Refused(Code.MISSING_PARAMETER, f"{tool.name} needs {parameter.name}: {parameter.description}.")
    return arguments


def _refused(world: World, actor: str, call: ToolCall, refused: Refused) -> Applied:
    outcome = Outcome(ok=False, code=refused.code, sentence=refused.sentence)
    line = _line(call)
    before = world.refusals.get(actor)
    times = before.times + 1 if before is not None and before.call == line else 1
    refusals = {**world.refusals, actor: Refusals(call=line, times=times)}
    return Applied(world=replace(world, answers={**world.answers, actor: outcome}, refusals=refusals), outcome=outcome)


def _line(call: ToolCall) -> str:
    """A call in one line, to compare and to show: ``use(item=lab_door, verb=open)``."""
    arguments = ", ".join(f"{key}={value}" for key, value in sorted(call.arguments.items()))
    return short(f"{call.tool}({arguments})", limit=200)
