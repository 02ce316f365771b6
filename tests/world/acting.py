"""What the tests of the world do in it."""

from __future__ import annotations

from dataclasses import replace

from simuverse.agents.turn import ToolCall
from simuverse.world.state import World
from simuverse.world.tools import Applied, Code, apply, place


def do(world: World, actor: str, tool: str, **arguments: str) -> Applied:
    return apply(world, actor, ToolCall(tool=tool, arguments=arguments), turn=f"run/{world.tick}/{actor}")


def standing(world: World, **positions: tuple[float, float]) -> World:
    for name, (x, y) in positions.items():
        world = place(world, name, x, y).world
    return world


def with_ball(world: World, actor: str) -> World:
    ball = world.items["red_ball"].position
    done = do(standing(world, **{actor: (ball.x, ball.y)}), actor, "pick_up", item="red_ball")
    assert done.outcome.ok, done.outcome
    return done.world


def refused(applied: Applied, world: World, actor: str, code: Code, *words: str) -> None:
    """Refused for that reason in those words, and nothing else has changed."""
    assert not applied.outcome.ok
    assert applied.outcome.code == code, applied.outcome
    for word in words:
        assert word in applied.outcome.sentence
    assert applied.outcome.said is None
    assert applied.world.answers[actor] == applied.outcome
    assert replace(applied.world, answers=world.answers, refusals=world.refusals) == world
