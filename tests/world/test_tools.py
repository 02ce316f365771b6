from __future__ import annotations

from collections.abc import Mapping

import pytest

from simuverse.agents.turn import Outcome, ToolCall
from simuverse.errors import UnknownAgent
from simuverse.world import scenario
from simuverse.world.state import Position, World
from simuverse.world.tools import TOOLS, Code, apply, offered, place
from tests.world.acting import do, refused, standing, with_ball


@pytest.fixture
def grid() -> World:
    return scenario.load("grid").world


@pytest.mark.parametrize("tool", ["fly", "", "移动", "x" * 100_000, "move_to; wait", "\x00"])
def test_an_unknown_tool_is_answered_with_those_that_exist(grid: World, tool: str) -> None:
    applied = do(grid, "James", tool)
    refused(applied, grid, "James", Code.UNKNOWN_TOOL, "Tools: move_to, look, say, use, pick_up, put_down, give, think")
    assert len(applied.outcome.sentence) < 250


def test_tools_and_parameters_may_differ_in_case_and_gaps(grid: World) -> None:
    assert apply(grid, "James", ToolCall(tool="Move To", arguments={"Target": "Jade"}), turn="t").outcome.ok


def test_an_unknown_parameter_is_answered_with_those_that_exist(grid: World) -> None:
    refused(
        do(grid, "James", "move_to", target="Jade", speed="fast"),
        grid,
        "James",
        Code.UNKNOWN_PARAMETER,
        "move_to takes target, x, y, not speed.",
    )
    refused(do(grid, "James", "wait", seconds="5"), grid, "James", Code.UNKNOWN_PARAMETER, "takes no parameters")
    assert do(grid, "James", "move_to", target="Jade", speed=" ").outcome.ok, "a blank one says nothing"


def test_a_missing_parameter_is_named(grid: World) -> None:
    refused(do(grid, "James", "use", item="info_kiosk"), grid, "James", Code.MISSING_PARAMETER, "use needs verb")
    refused(do(grid, "James", "say", text="  "), grid, "James", Code.MISSING_PARAMETER, "say needs text")


def test_every_tool_does_something_and_has_a_description(grid: World) -> None:
    for tool in TOOLS:
        assert tool.description
        assert do(grid, "James", tool.name).outcome.code != Code.UNKNOWN_TOOL


def test_the_same_call_refused_three_times_narrows_the_choice(grid: World) -> None:
    world = grid
    for times in (1, 2, 3):
        assert offered(world, "James") == TOOLS
        world = do(world, "James", "move_to", target="south_bench").world
        assert world.refusals["James"].times == times
    assert world.refusals["James"].call == "move_to(target=south_bench)"
    wait, look, move = offered(world, "James")
    assert (wait.name, look.name, move.name) == ("wait", "look", "move_to")
    assert move.parameters[0].options == ("center_fountain", "north_bench", "west_cafe")
    assert offered(world, "Jade") == TOOLS


@pytest.mark.parametrize(
    ("tool", "arguments", "suggestion"),
    [
        ("say", {"text": "Hello?"}, "move_to"),
        ("say", {"text": "a" * 401}, "say"),
        ("put_down", {}, "think"),
        ("fly", {}, "think"),
    ],
)
def test_the_suggestion_fits_the_refusal(grid: World, tool: str, arguments: Mapping[str, str], suggestion: str) -> None:
    world = grid
    for _ in range(3):
        world = do(world, "James", tool, **arguments).world
    assert [t.name for t in offered(world, "James")] == ["wait", "look", suggestion]


def test_patience_returns_with_another_call(grid: World) -> None:
    world = grid
    for _ in range(3):
        world = do(world, "James", "move_to", target="south_bench").world
    other = do(world, "James", "move_to", target="east_bench").world
    assert other.refusals["James"].times == 1
    assert offered(other, "James") == TOOLS
    done = do(world, "James", "wait").world
    assert "James" not in done.refusals
    assert offered(done, "James") == TOOLS


def test_an_actor_that_does_not_exist_is_the_callers_fault(grid: World) -> None:
    with pytest.raises(UnknownAgent, match="Jade, Jamal, James, Jesse"):
        do(grid, "Nobody", "wait")
    with pytest.raises(UnknownAgent):
        offered(grid, "Nobody")


# The operator's hand


def test_an_agent_can_be_placed_with_what_it_holds(grid: World) -> None:
    world = do(with_ball(grid, "James"), "James", "move_to", target="north_bench").world
    applied = place(world, "james", 200, 210.5)
    assert applied.outcome == Outcome(ok=True, code=Code.PLACED, sentence="James is at (200, 210) now.")
    body = applied.world.bodies["James"]
    assert (body.position, body.heading, body.carrying) == (Position(200, 210.5), None, "red_ball")
    assert applied.world.items["red_ball"].position == Position(200, 210.5)
    assert applied.world.answers == world.answers, "nobody was asked"


def test_an_agent_that_is_placed_gets_up(grid: World) -> None:
    world = do(standing(grid, Jesse=(120, 350)), "Jesse", "use", item="cafe_chair", verb="sit").world
    assert place(world, "Jesse", 300, 300).world.items["cafe_chair"].state == "free"


def test_a_loose_thing_can_be_placed(grid: World) -> None:
    assert place(grid, "red_ball", 60, 60).world.items["red_ball"].position == Position(60, 60)


@pytest.mark.parametrize(
    ("name", "x", "y", "code"),
    [
        ("James", 49.0, 100.0, Code.OUT_OF_GRID),
        ("James", 100.0, 551.0, Code.OUT_OF_GRID),
        ("James", float("nan"), 100.0, Code.OUT_OF_GRID),
        ("red_ball", float("inf"), 100.0, Code.OUT_OF_GRID),
        ("lab_door", 100.0, 100.0, Code.NOT_POSSIBLE),
        ("north_bench", 100.0, 100.0, Code.NOT_POSSIBLE),
        ("ghost", 100.0, 100.0, Code.UNKNOWN_NAME),
    ],
)
def test_a_drop_that_makes_no_sense_is_refused(grid: World, name: str, x: float, y: float, code: Code) -> None:
    applied = place(grid, name, x, y)
    assert (applied.outcome.ok, applied.outcome.code) == (False, code)
    assert applied.outcome.sentence
    assert applied.world == grid


def test_what_someone_holds_is_moved_with_them_only(grid: World) -> None:
    world = with_ball(grid, "James")
    applied = place(world, "red_ball", 100, 100)
    assert applied.outcome.code == Code.HELD_BY_ANOTHER
    assert applied.world == world
