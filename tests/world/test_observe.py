from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from simuverse.agents.turn import Observation, ToolCall
from simuverse.errors import UnknownAgent
from simuverse.world import scenario
from simuverse.world.observe import observe
from simuverse.world.state import Body, Item, Landmark, Position, World
from simuverse.world.tools import apply, begin_tick, place

NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)


@pytest.fixture
def grid() -> World:
    return scenario.load("grid").world


def perceive(world: World, actor: str) -> Observation:
    return observe(
        world,
        actor,
        turn=f"run/{world.tick}/{actor}",
        time=NOON,
        intentions=("see the fountain",),
        episode="morning",
        position=4,
        seed=11,
    )


def do(world: World, actor: str, tool: str, **arguments: str) -> World:
    applied = apply(world, actor, ToolCall(tool=tool, arguments=arguments), turn=f"run/{world.tick}/{actor}")
    assert applied.outcome.ok, applied.outcome
    return applied.world


def move(world: World, name: str, x: float, y: float) -> World:
    applied = place(world, name, x, y)
    assert applied.outcome.ok, applied.outcome
    return applied.world


def test_at_the_start_each_sees_what_is_within_two_hundred_nearest_first_then_by_name(grid: World) -> None:
    assert perceive(grid, "Jamal").seen == (
        "center_fountain is 100 to the north, at (300, 300).",
        "red_ball lies 158 to the east, at (450, 450).",
        "cafe_chair is 197 to the north-west, at (120, 320), free; you can: sit, stand.",
        "Jade is 200 to the north, standing about.",
        "Jesse is 200 to the west, standing about.",
    )


def test_what_is_noticed_is_said_without_reference_to_who_sees_it(grid: World) -> None:
    noticed = ("red_ball lies at (450, 450).", "cafe_chair is at (120, 320), free.")
    assert perceive(grid, "Jamal").noticed == noticed
    assert "red_ball lies at (450, 450)." in perceive(move(grid, "Jamal", 460, 540), "Jamal").noticed
    assert perceive(move(grid, "Jesse", 100, 540), "Jesse").noticed == (), "220 away"
    world = do(move(grid, "Jade", 450, 440), "Jade", "pick_up", item="red_ball")
    assert perceive(world, "Jamal").noticed == noticed[1:], "it is in her hands"


def test_sight_ends_at_two_hundred(grid: World) -> None:
    def sees_james(x: float) -> bool:
        return any(s.startswith("James is") for s in perceive(move(grid, "James", x, 200), "Jade").seen)

    assert sees_james(100)
    assert not sees_james(99.9)


def test_a_person_is_seen_with_what_it_does_and_carries(grid: World) -> None:
    world = do(move(grid, "Jade", 450, 440), "Jade", "pick_up", item="red_ball")
    world = do(world, "Jade", "move_to", target="north_bench")
    (sentence,) = (s for s in perceive(move(world, "Jamal", 400, 400), "Jamal").seen if "Jade" in s)
    assert sentence == "Jade is 30 to the north-east, walking to north_bench, carrying red_ball."
    assert not any(s.startswith("red_ball") for s in perceive(world, "Jamal").seen), "it is in her hands"


def test_a_seat_is_seen_with_who_sits_on_it(grid: World) -> None:
    world = do(move(grid, "Jesse", 120, 340), "Jesse", "use", item="cafe_chair", verb="sit")
    seen = perceive(move(world, "James", 120, 280), "James").seen
    assert "cafe_chair is 40 to the south, at (120, 320), taken by Jesse; you can: sit, stand." in seen
    assert "Jesse is 40 to the south, sitting on cafe_chair." in seen


def test_what_is_in_the_same_spot_is_here(grid: World) -> None:
    seen = perceive(move(move(grid, "James", 300, 300), "Jade", 300.2, 300), "Jade").seen
    assert "James is here, standing about." in seen
    assert "center_fountain is here, at (300, 300)." in seen


def test_a_kind_is_named_where_the_name_does_not_say_it() -> None:
    world = World(
        bodies={"Ana": Body(name="Ana", position=Position(100, 100))},
        items={
            "old_oak": Item(name="old_oak", kind="tree", position=Position(110, 100)),
            "fruit": Item(name="fruit", kind="apple", position=Position(120, 100), portable=True),
            "diary": Item(
                name="diary", kind="book", position=Position(130, 100), portable=True, verbs=("read",), text="x"
            ),
        },
    )
    assert perceive(world, "Ana").seen == (
        "old_oak, a tree, is 10 to the east, at (110, 100).",
        "fruit, an apple, lies 20 to the east, at (120, 100).",
        "diary, a book, lies 30 to the east, at (130, 100); you can: read.",
    )


@pytest.mark.parametrize(
    ("x", "y", "place_name"),
    [
        (100, 200, "info_kiosk"),
        (140, 300, "cafe_chair"),
        (400, 300, "center_fountain"),
        (401, 300, None),
        (120, 320, "cafe_chair"),
    ],
)
def test_the_location_names_the_point_the_bounds_and_what_is_near(
    grid: World, x: float, y: float, place_name: str | None
) -> None:
    world = move(move(grid, "red_ball", x, y), "James", x, y)
    near = "" if place_name is None else f", near {place_name}"
    assert perceive(world, "James").location == f"at ({x}, {y}) in a square from 50 to 550{near}"


def test_of_two_places_equally_near_the_first_by_name_counts() -> None:
    bodies = {"Ana": Body(name="Ana", position=Position(100, 100))}
    landmarks = {name: Landmark(name=name, position=Position(x, 100)) for name, x in (("well", 90), ("gate", 110))}
    assert perceive(World(bodies=bodies, landmarks=landmarks), "Ana").location.endswith("near gate")
    assert perceive(World(bodies=bodies), "Ana").location == "at (100, 100) in a square from 50 to 550"


def test_speech_is_heard_apart_from_what_is_seen_and_never_by_the_speaker(grid: World) -> None:
    world = begin_tick(move(move(grid, "James", 300, 250), "Jesse", 300, 270))
    world = do(world, "Jade", "say", text="Who has seen my kite?", to="James")
    world = do(world, "Jesse", "say", text="Not I.")
    world = begin_tick(world)
    heard = perceive(world, "James").heard
    assert [(u.id, u.speaker, u.text, u.to) for u in heard] == [
        ("run/1/Jade/said", "Jade", "Who has seen my kite?", "James"),
        ("run/1/Jesse/said", "Jesse", "Not I.", None),
    ]
    assert not any("kite" in sentence for sentence in perceive(world, "James").seen)
    assert [u.speaker for u in perceive(world, "Jade").heard] == ["Jesse"]
    assert [u.speaker for u in perceive(world, "Jesse").heard] == ["Jade"], (
        "addressed to another, in earshot all the same"
    )
    assert perceive(world, "Jamal").heard == ()


def test_what_counts_is_where_one_stood_when_it_was_said(grid: World) -> None:
    world = do(begin_tick(move(grid, "James", 300, 280)), "Jade", "say", text="Wait for me!")
    gone = begin_tick(move(move(world, "James", 300, 540), "Jamal", 300, 210))
    assert [u.text for u in perceive(gone, "James").heard] == ["Wait for me!"]
    assert perceive(gone, "Jamal").heard == ()


def test_speech_is_heard_once(grid: World) -> None:
    world = do(begin_tick(move(grid, "James", 300, 280)), "Jade", "say", text="Wait for me!")
    world = begin_tick(world)
    assert perceive(world, "James").heard
    assert perceive(begin_tick(world), "James").heard == ()


def test_the_last_answer_reaches_the_next_observation(grid: World) -> None:
    assert perceive(grid, "James").answer == ""
    applied = apply(grid, "James", ToolCall(tool="move_to", arguments={"target": "moon"}), turn="t")
    assert perceive(begin_tick(applied.world), "James").answer == applied.outcome.sentence
    assert perceive(begin_tick(applied.world), "Jade").answer == ""


def test_what_one_carries_is_known_and_not_seen(grid: World) -> None:
    world = do(move(grid, "James", 450, 450), "James", "pick_up", item="red_ball")
    observation = perceive(world, "James")
    assert observation.carrying == ("red_ball",)
    assert not any("red_ball" in sentence for sentence in observation.seen)
    assert perceive(grid, "James").carrying == ()


def test_the_rest_is_handed_on(grid: World) -> None:
    observation = perceive(grid, "James")
    assert (observation.turn, observation.time, observation.intentions) == ("run/0/James", NOON, ("see the fountain",))
    assert (observation.episode, observation.position, observation.seed) == ("morning", 4, 11)


def test_an_agent_that_does_not_exist_perceives_nothing(grid: World) -> None:
    with pytest.raises(UnknownAgent, match=r"There is no agent Nobody\. Agents: Jade, Jamal, James, Jesse"):
        perceive(grid, "Nobody")


def test_looking_on_changes_nothing(grid: World) -> None:
    before = replace(grid)
    perceive(grid, "James")
    assert grid == before
