from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import FrozenInstanceError, replace

import msgspec
import pytest

from simuverse.agents.turn import Outcome, Utterance
from simuverse.world.state import (
    Body,
    Item,
    Landmark,
    Link,
    Position,
    Refusals,
    Spoken,
    World,
    direction,
    distance,
    links,
    state_hash,
)


def people(**positions: tuple[float, float]) -> World:
    return World(bodies={name: Body(name=name, position=Position(*xy)) for name, xy in positions.items()})


def busy_world() -> World:
    """A world in which every field holds something."""
    here = Position(100, 100)
    said = Utterance(id="t1/said", speaker="Mira", text="Zoë, 猫! <&>", to="Olu")
    return World(
        tick=3,
        bodies={
            "Olu": Body(name="Olu", position=Position(160.25, 100), seat="stool", doing="sitting on stool"),
            "Mira": Body(name="Mira", position=here, carrying="kite", doing="walking to pond", heading="pond"),
            "Ana": Body(name="Ana", position=Position(300, 300), heading=Position(400, 400)),
        },
        landmarks={"pond": Landmark(name="pond", position=Position(400, 100))},
        items={
            "stool": Item(
                name="stool", position=Position(160, 100), kind="stool", state="taken", verbs=("sit", "stand")
            ),
            "kite": Item(name="kite", position=here, kind="kite", portable=True, held_by="Mira", text="Fly me"),
        },
        spoken=(Spoken(utterance=said, position=here, tick=2, hearers=("Olu",)),),
        answers={"Mira": Outcome(ok=True, code="said", sentence="Olu heard you.", said=said)},
        refusals={"Ana": Refusals(call="wait(for=ever)", times=2)},
        low=0,
        high=500,
    )


@pytest.mark.parametrize(
    ("x", "y", "name"),
    [
        (0, -10, "north"),
        (10, -10, "north-east"),
        (10, 0, "east"),
        (10, 10, "south-east"),
        (0, 10, "south"),
        (-10, 10, "south-west"),
        (-10, 0, "west"),
        (-10, -10, "north-west"),
        (10, 4, "east"),
        (10, 5, "south-east"),
        (4, 10, "south"),
        (0, 0, "here"),
    ],
)
def test_smaller_y_is_north_and_smaller_x_is_west(x: float, y: float, name: str) -> None:
    assert direction(Position(300, 300), Position(300 + x, 300 + y)) == name


def test_distance_is_euclidean() -> None:
    assert distance(Position(100, 100), Position(130, 140)) == 50


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), float("-inf")])
def test_a_position_is_finite(bad: float) -> None:
    with pytest.raises(ValueError, match="no position"):
        Position(bad, 100)
    with pytest.raises(ValueError, match="no position"):
        Position(100, bad)


def test_a_world_survives_json_unchanged() -> None:
    world = busy_world()
    again = msgspec.json.decode(msgspec.json.encode(world), type=World)
    assert again == world
    assert state_hash(again) == state_hash(world)


def test_the_hash_depends_on_content_and_not_on_how_the_world_was_built() -> None:
    one = people(Ana=(100, 100), Bo=(200, 200))
    other = people(Bo=(200, 200), Ana=(100, 100))
    assert state_hash(one) == state_hash(other)
    whole_numbers = World(bodies={"Ana": Body(name="Ana", position=Position(100, 100))}, low=50, high=550)
    assert state_hash(whole_numbers) == state_hash(people(Ana=(100.0, 100.0)))


CHANGES: tuple[Callable[[World], World], ...] = (
    lambda w: replace(w, tick=4),
    lambda w: w.updated(replace(w.bodies["Ana"], position=Position(300, 300.01))),
    lambda w: w.updated(replace(w.bodies["Ana"], doing="humming")),
    lambda w: replace(w, spoken=()),
    lambda w: replace(w, answers={}),
    lambda w: replace(w, refusals={}),
)


@pytest.mark.parametrize("change", CHANGES)
def test_the_hash_tells_worlds_apart(change: Callable[[World], World]) -> None:
    assert state_hash(change(busy_world())) != state_hash(busy_world())


def test_the_hash_is_the_same_everywhere_and_forever() -> None:
    """Journals hold such hashes, so a change of the format must be noticed."""
    assert state_hash(busy_world()) == "e8ae3f2263c7b3093b9e5a1cb60d2f115f5d55323935eefb01500944bf060b84"


def test_names_come_in_sorted_order() -> None:
    assert list(busy_world().bodies) == ["Ana", "Mira", "Olu"]
    assert list(busy_world().items) == ["kite", "stool"]


def test_a_world_can_not_be_changed() -> None:
    world = people(Ana=(100, 100))
    with pytest.raises(FrozenInstanceError):
        world.tick = 1  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


def test_an_update_returns_a_new_world_and_moves_what_is_carried() -> None:
    world = busy_world()
    moved = world.updated(replace(world.bodies["Mira"], position=Position(120, 130)))
    assert moved.items["kite"].position == Position(120, 130)
    assert world.items["kite"].position == Position(100, 100)
    assert world == busy_world()


def _wrong_key() -> Mapping[str, Body]:
    return {"Ana": Body(name="Bo", position=Position(100, 100))}


NONSENSE: tuple[tuple[Callable[[], World | Item], str], ...] = (
    (lambda: people(Ana=(49, 100)), "outside the grid"),
    (lambda: people(Ana=(100, 551)), "outside the grid"),
    (lambda: people(Ana=(100, 100), ANA=(200, 200)), "differs from"),
    (lambda: World(bodies=_wrong_key()), "filed under"),
    (lambda: World(bodies={}, low=5, high=5), "hold nothing"),
    (lambda: World(bodies={}, low=float("nan")), "hold nothing"),
    (lambda: busy_world().updated(replace(busy_world().bodies["Mira"], carrying=None)), "disagree"),
    (lambda: busy_world().updated(replace(busy_world().items["kite"], held_by="Olu")), "disagree"),
    (lambda: busy_world().updated(replace(busy_world().bodies["Ana"], seat="stool")), "disagree"),
    (lambda: busy_world().updated(replace(busy_world().items["stool"], state="free")), "disagree"),
    (
        lambda: replace(
            busy_world(),
            items={
                **busy_world().items,
                "kite": replace(busy_world().items["kite"], position=Position(400, 400)),
            },
        ),
        "isn't where",
    ),
    (lambda: replace(busy_world().items["stool"], portable=True), "carried and sat on"),
    (lambda: replace(busy_world().items["stool"], held_by="Ana"), "isn't portable"),
    (lambda: replace(busy_world().items["stool"], hands=0), "at least 1"),
)


@pytest.mark.parametrize(("build", "complaint"), NONSENSE)
def test_a_world_that_makes_no_sense_can_not_be_made(build: Callable[[], World | Item], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        build()


def test_each_is_linked_to_its_nearest_and_of_equals_to_the_first_by_name() -> None:
    found = links(people(James=(100, 200), Jade=(300, 200), Jesse=(100, 400), Jamal=(300, 400)))
    assert [(link.agent, link.nearest) for link in found] == [
        ("Jade", "Jamal"),
        ("Jamal", "Jade"),
        ("James", "Jade"),
        ("Jesse", "Jamal"),
    ]
    assert {link.distance for link in found} == {200.0}


def test_a_link_has_no_limit_but_says_whether_one_can_talk() -> None:
    assert links(people(Ana=(50, 50), Bo=(50, 130))) == (
        Link(agent="Ana", nearest="Bo", distance=80.0, in_range=True),
        Link(agent="Bo", nearest="Ana", distance=80.0, in_range=True),
    )
    assert [link.in_range for link in links(people(Ana=(50, 50), Bo=(550, 550)))] == [False, False]


def test_two_in_one_spot_are_each_others_nearest() -> None:
    assert [link.nearest for link in links(people(Ana=(100, 100), Bo=(100, 100)))] == ["Bo", "Ana"]


def test_a_lone_agent_has_no_link() -> None:
    assert links(people(Ana=(100, 100))) == ()


def test_an_empty_world_has_none_either() -> None:
    assert links(World(bodies={})) == ()
