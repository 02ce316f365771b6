from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from simuverse.agents.turn import ToolCall
from simuverse.dashboard.graph import CROWD, PALETTES, Theme, elements, stylesheet
from simuverse.world.scenario import load
from simuverse.world.state import Body, Position, World
from simuverse.world.tools import apply, place

GRID = load("grid").world


def by_id(world: World) -> dict[str, Any]:
    return {element["data"]["id"]: element for element in elements(world)}


def test_everything_in_the_world_has_a_node_and_every_agent_one_link() -> None:
    ids = list(by_id(GRID))
    assert {f"agent:{name}" for name in GRID.bodies} <= set(ids)
    assert {f"item:{name}" for name in GRID.items} <= set(ids)
    assert {f"landmark:{name}" for name in GRID.landmarks} <= set(ids)
    assert [one for one in ids if one.startswith("near:")] == [f"near:{name}" for name in GRID.bodies]
    assert len(ids) == len(set(ids)) == 4 + 4 + 4 + 3


def test_ids_and_order_stay_when_the_world_changes() -> None:
    moved = place(GRID, "James", 520, 520).world
    assert list(by_id(moved)) == list(by_id(GRID))
    assert by_id(moved)["agent:James"]["position"] == {"x": 520.0, "y": 520.0}


def test_a_link_is_solid_within_earshot_and_dotted_beyond_and_a_pair_is_joined_once() -> None:
    lone = World(
        bodies={
            "Ann": Body(name="Ann", position=Position(100, 100)),
            "Ben": Body(name="Ben", position=Position(150, 100)),
            "Cyd": Body(name="Cyd", position=Position(400, 100)),
        }
    )
    shown = by_id(lone)
    assert shown["near:Ann"]["data"] == {
        "id": "near:Ann",
        "source": "agent:Ann",
        "target": "agent:Ben",
    }
    assert [shown[f"near:{name}"]["classes"] for name in lone.bodies] == ["near in-range", "near in-range twin", "near"]


def test_people_and_loose_things_can_be_dragged_and_nothing_else() -> None:
    movable = {one for one, element in by_id(GRID).items() if element.get("grabbable")}
    assert movable == {"agent:James", "agent:Jade", "agent:Jesse", "agent:Jamal", "item:red_ball"}


def test_what_someone_carries_is_drawn_beside_them_and_stays_in_their_hands() -> None:
    near = place(GRID, "James", 440, 440).world
    held = apply(near, "James", ToolCall(tool="pick_up", arguments={"item": "red_ball"}), turn="1").world
    ball = by_id(held)["item:red_ball"]
    assert not ball["grabbable"]
    assert "held" in ball["classes"]
    assert ball["position"] == {"x": 455.0, "y": 425.0}


def test_a_crowd_has_no_links() -> None:
    crowd = {f"p{n}": Body(name=f"p{n}", position=Position(50 + n % 500, 50 + n // 500 * 10)) for n in range(CROWD + 1)}
    assert all("source" not in element["data"] for element in elements(World(bodies=crowd)))


def test_names_are_written_as_people_write_them() -> None:
    assert by_id(GRID)["item:red_ball"]["data"]["label"] == "red ball"
    assert by_id(GRID)["item:red_ball"]["data"]["name"] == "red_ball"


@pytest.mark.parametrize(
    ("places", "beside"),
    [
        ({"Ann": (300, 300), "Ben": (400, 300)}, ["", ""]),
        ({"Ann": (300, 300), "Ben": (330, 310)}, [" name-left", " name-right"]),
        ({"Ann": (300, 300), "Ben": (310, 330)}, [" name-above", ""]),
        ({"Ann": (300, 300), "Ben": (300, 300)}, [" name-left", " name-right"]),
        ({"Ann": (300, 300), "Ben": (330, 300), "Cyd": (316, 330)}, [" name-left", " name-right", ""]),
        ({"Ann": (60, 300), "Ben": (90, 310)}, [" name-above", " name-right"]),
        ({"Ann": (510, 300), "Ben": (540, 310)}, [" name-left", ""]),
    ],
)
def test_names_stand_away_from_whoever_is_too_near(places: dict[str, tuple[float, float]], beside: list[str]) -> None:
    world = World(bodies={name: Body(name=name, position=Position(*at)) for name, at in places.items()})
    shown = by_id(world)
    assert [shown[f"agent:{name}"]["classes"] for name in places] == [f"agent{one}" for one in beside]


def contrast(one: str, other: str) -> float:
    """Of two colours, 1 to 21, after WCAG 2."""

    def luminance(colour: str) -> float:
        parts = [int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)]
        linear = [p / 12.92 if p <= 0.04045 else ((p + 0.055) / 1.055) ** 2.4 for p in parts]
        return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]

    light, dark = sorted((luminance(one), luminance(other)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_labels_and_shapes_can_be_told_from_the_ground(theme: Theme) -> None:
    palette = PALETTES[theme]
    for text in (palette.ink, palette.muted):
        assert contrast(text, palette.ground) >= 4.5
    for shape in (palette.agent, palette.landmark, palette.portable, palette.fixed):
        assert contrast(shape, palette.ground) >= 3


def test_shape_tells_the_type_as_well_as_colour() -> None:
    shapes = [rule["style"]["shape"] for rule in stylesheet("light") if "shape" in rule["style"]]
    assert len(shapes) == len(set(shapes)) == 4


def test_an_agent_that_is_alone_has_no_link() -> None:
    alone = replace(GRID, bodies={"James": GRID.bodies["James"]})
    assert not [element for element in elements(alone) if "source" in element["data"]]
