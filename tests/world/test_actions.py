from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import pytest

from simuverse.world import scenario
from simuverse.world.state import Body, Position, World, distance
from simuverse.world.tools import Code, begin_tick
from tests.world.acting import do, refused, standing, with_ball


@pytest.fixture
def grid() -> World:
    return scenario.load("grid").world


# Walking


def test_a_walk_takes_sixty_a_tick_and_says_how_long_it_still_takes(grid: World) -> None:
    world = standing(grid, James=(300, 300))
    answers: list[str] = []
    ys: list[float] = []
    for _ in range(4):
        done = do(world, "James", "move_to", target="north_bench")
        world = done.world
        answers.append(done.outcome.sentence)
        ys.append(world.bodies["James"].position.y)
    assert ys == [240, 180, 120, 100]
    assert answers == [
        "On the way to north_bench, 3 more ticks.",
        "On the way to north_bench, 2 more ticks.",
        "On the way to north_bench, 1 more tick.",
        "You are at north_bench.",
    ]
    assert world.bodies["James"].heading is None


def test_on_the_way_the_body_says_where_to(grid: World) -> None:
    body = do(grid, "James", "move_to", target="north_bench").world.bodies["James"]
    assert (body.doing, body.heading) == ("walking to north_bench", "north_bench")
    body = do(grid, "James", "move_to", x="400", y="500").world.bodies["James"]
    assert (body.doing, body.heading) == ("walking to (400, 500)", Position(400, 500))


def test_anything_else_ends_the_walk(grid: World) -> None:
    world = do(grid, "James", "move_to", target="north_bench").world
    assert do(world, "James", "wait").world.bodies["James"].heading is None


def test_a_walk_to_a_person_stops_within_arms_length(grid: World) -> None:
    world = standing(grid, James=(300, 250))
    done = do(world, "James", "move_to", target="Jade")
    assert done.outcome.code == Code.ARRIVED
    assert done.world.bodies["James"].position == Position(300, 220)
    refused(do(done.world, "James", "move_to", target="Jade"), done.world, "James", Code.ALREADY, "already at Jade")


def test_a_walk_follows_a_person_who_moves(grid: World) -> None:
    world = do(grid, "James", "move_to", target="Jade").world
    world = standing(world, Jade=(160, 400))
    after = do(world, "James", "move_to", target="Jade").world.bodies["James"].position
    assert after == Position(160, 260)


@pytest.mark.parametrize("x", ["450", " 450 ", "450.0", "4.5e2"])
def test_a_point_may_be_given_as_any_way_of_writing_numbers(grid: World, x: str) -> None:
    done = do(standing(grid, James=(420, 450)), "James", "move_to", x=x, y="450")
    assert done.outcome.sentence == "You are at (450, 450)."


@pytest.mark.parametrize(
    ("x", "y", "code"),
    [
        ("600", "100", Code.OUT_OF_GRID),
        ("100", "49.9", Code.OUT_OF_GRID),
        ("nan", "100", Code.OUT_OF_GRID),
        ("inf", "100", Code.OUT_OF_GRID),
        ("100", "-inf", Code.OUT_OF_GRID),
        ("1e999", "100", Code.OUT_OF_GRID),
        ("9" * 5000, "100", Code.OUT_OF_GRID),
        ("east", "100", Code.BAD_VALUE),
        ("三百", "100", Code.BAD_VALUE),
        ("0x64", "100", Code.BAD_VALUE),
    ],
)
def test_a_point_that_is_none_is_refused(grid: World, x: str, y: str, code: Code) -> None:
    applied = do(grid, "James", "move_to", x=x, y=y)
    refused(applied, grid, "James", code)
    assert len(applied.outcome.sentence) < 200


@pytest.mark.parametrize(
    "arguments",
    [{}, {"x": "100"}, {"y": "100"}, {"target": "Jade", "x": "100"}, {"target": "Jade", "x": "1", "y": "1"}],
)
def test_a_walk_has_one_goal(grid: World, arguments: Mapping[str, str]) -> None:
    refused(do(grid, "James", "move_to", **arguments), grid, "James", Code.BAD_VALUE, "a target, or x and y", "Places:")


def test_an_unknown_place_is_answered_with_those_that_exist(grid: World) -> None:
    applied = do(grid, "James", "move_to", target="south_bench")
    refused(applied, grid, "James", Code.UNKNOWN_NAME, "There is no south_bench. Places: cafe_chair, center_fountain")
    assert "red_ball" not in applied.outcome.sentence, "it isn't in sight"


def test_a_loose_thing_out_of_sight_can_not_be_walked_to_by_name(grid: World) -> None:
    refused(
        do(grid, "James", "move_to", target="red_ball"),
        grid,
        "James",
        Code.OUT_OF_SIGHT,
        "can't see red_ball",
        "x and y",
    )
    assert do(grid, "Jamal", "move_to", target="red_ball").outcome.ok


def test_what_never_moves_can_be_walked_to_from_anywhere(grid: World) -> None:
    assert do(grid, "Jamal", "move_to", target="lab_door").outcome.code == Code.ON_THE_WAY


def test_a_thing_in_someones_hands_leads_to_that_person(grid: World) -> None:
    world = with_ball(grid, "Jamal")
    world = standing(world, Jamal=(300, 200), Jade=(340, 200))
    done = do(world, "Jade", "move_to", target="red_ball")
    assert done.outcome.sentence == "You are at Jamal."
    assert done.world.bodies["Jade"].position == Position(320, 200)
    refused(do(world, "Jamal", "move_to", target="red_ball"), world, "Jamal", Code.ALREADY, "You hold red_ball")


def test_nobody_walks_to_oneself(grid: World) -> None:
    refused(do(grid, "James", "move_to", target="James"), grid, "James", Code.YOURSELF, "People: Jade, Jamal, Jesse")


@pytest.mark.parametrize("name", ["NORTH_BENCH", "north bench", " North-Bench ", "ｎｏｒｔｈ_bench", "north  bench"])
def test_names_may_differ_in_case_width_and_gaps(grid: World, name: str) -> None:
    assert do(grid, "James", "move_to", target=name).world.bodies["James"].heading == "north_bench"


def test_a_name_that_could_be_two_is_refused_unless_written_exactly() -> None:
    bodies = {
        name: Body(name=name, position=Position(x, 100))
        for name, x in (("Ann Lee", 100), ("Ann-Lee", 200), ("Bo", 300))
    }
    world = World(bodies=bodies)
    refused(do(world, "Bo", "move_to", target="ann_lee"), world, "Bo", Code.AMBIGUOUS_NAME, "Ann Lee, Ann-Lee")
    assert do(world, "Bo", "move_to", target="Ann-Lee").outcome.ok


def test_a_step_is_never_longer_than_sixty(grid: World) -> None:
    world = grid
    for _ in range(10):
        before = world.bodies["James"].position
        world = do(world, "James", "move_to", x="541.7", y="533.3").world
        assert distance(before, world.bodies["James"].position) <= 60.01
    assert world.bodies["James"].position == Position(541.7, 533.3)


# Talking


def test_what_is_said_reaches_everyone_in_earshot_and_nobody_else(grid: World) -> None:
    world = standing(grid, James=(300, 280), Jesse=(300, 281))
    done = do(world, "Jade", "say", text="Is that your ball?", to="James")
    assert done.outcome.code == Code.SAID
    (spoken,) = done.world.spoken
    assert spoken.hearers == ("James",), "80 away hears, 81 doesn't"
    assert spoken.utterance == done.outcome.said
    assert spoken.utterance.id == "run/0/Jade/said"
    assert (spoken.utterance.speaker, spoken.utterance.to) == ("Jade", "James")
    assert done.world.bodies["Jade"].doing == "talking to James"


@pytest.mark.parametrize("to", ["", "everyone", " ALL "])
def test_speech_may_be_meant_for_nobody_in_particular(grid: World, to: str) -> None:
    done = do(standing(grid, James=(300, 250)), "Jade", "say", text="Good morning!", to=to)
    assert done.outcome.said is not None
    assert done.outcome.said.to is None


def test_speech_nobody_can_hear_is_refused_with_the_nearest_person(grid: World) -> None:
    refused(
        do(grid, "James", "say", text="Hello?"), grid, "James", Code.OUT_OF_EARSHOT, "Nearest: Jade, 200 to the east"
    )
    world = World(bodies={"Ana": Body(name="Ana", position=Position(100, 100))})
    refused(do(world, "Ana", "say", text="Hello?"), world, "Ana", Code.OUT_OF_EARSHOT, "Nobody is within 80")


def test_an_addressee_out_of_earshot_is_refused_with_who_is_in(grid: World) -> None:
    world = standing(grid, Jesse=(300, 250))
    refused(
        do(world, "Jade", "say", text="James!", to="James"), world, "Jade", Code.OUT_OF_EARSHOT, "In earshot: Jesse."
    )
    refused(do(world, "Jade", "say", text="Who?", to="Bob"), world, "Jade", Code.UNKNOWN_NAME, "Jamal, James, Jesse")
    refused(do(world, "Jade", "say", text="Me?", to="jade"), world, "Jade", Code.YOURSELF)


def test_four_hundred_characters_can_be_said_and_one_more_can_not(grid: World) -> None:
    world = standing(grid, James=(300, 250))
    assert do(world, "Jade", "say", text="é" * 400).outcome.ok
    refused(do(world, "Jade", "say", text="é" * 401), world, "Jade", Code.TOO_LONG, "401", "at most 400")


def test_speech_keeps_its_script_and_loses_what_can_not_be_written(grid: World) -> None:
    world = standing(grid, James=(300, 250))
    done = do(world, "Jade", "say", text="안녕\x00 <b>&\n\ud800 مرحبا 👩‍🚀")
    assert done.outcome.said is not None
    assert done.outcome.said.text == "안녕 <b>& مرحبا 👩‍🚀"
    refused(do(world, "Jade", "say", text="\x00\x01"), world, "Jade", Code.MISSING_PARAMETER)


def test_what_was_said_is_perceived_in_the_next_tick_only(grid: World) -> None:
    world = begin_tick(standing(grid, James=(300, 250)))
    world = do(world, "Jade", "say", text="Hello.").world
    next_tick = begin_tick(world)
    assert [s.utterance.text for s in next_tick.spoken] == ["Hello."]
    assert begin_tick(next_tick).spoken == ()


# Things


def test_a_thing_is_picked_up_carried_given_and_put_down(grid: World) -> None:
    world = with_ball(grid, "James")
    assert (world.bodies["James"].carrying, world.items["red_ball"].held_by) == ("red_ball", "James")
    world = do(world, "James", "move_to", x="450", y="390").world
    assert world.items["red_ball"].position == world.bodies["James"].position == Position(450, 390)
    world = standing(world, Jade=(450, 430))
    given = do(world, "James", "give", item="red ball", agent="jade")
    assert given.outcome.sentence == "Jade has red_ball now."
    assert given.world.bodies["James"].carrying is None
    assert given.world.items["red_ball"].position == Position(450, 430)
    down = do(given.world, "Jade", "put_down")
    assert down.outcome.sentence == "You put down red_ball at (450, 430)."
    assert down.world.items["red_ball"].held_by is None
    assert down.world.bodies["Jade"].carrying is None


def test_picking_up_has_rules(grid: World) -> None:
    refused(do(grid, "Jamal", "pick_up", item="red_ball"), grid, "Jamal", Code.OUT_OF_REACH, "158 to the east", "40")
    refused(do(grid, "James", "pick_up", item="red_ball"), grid, "James", Code.OUT_OF_SIGHT, "in sight: cafe_chair")
    refused(do(grid, "James", "pick_up", item="blue_ball"), grid, "James", Code.UNKNOWN_NAME, "in sight: cafe_chair")
    refused(
        do(grid, "James", "pick_up", item="info_kiosk"),
        grid,
        "James",
        Code.NOT_POSSIBLE,
        "You can't pick up info_kiosk; you can: read.",
    )
    world = standing(with_ball(grid, "James"), Jade=(450, 450))
    refused(do(world, "James", "pick_up", item="red_ball"), world, "James", Code.ALREADY)
    refused(do(world, "Jade", "pick_up", item="red_ball"), world, "Jade", Code.HELD_BY_ANOTHER, "James holds red_ball")


def two_balls(grid: World) -> World:
    second = replace(grid.items["red_ball"], name="blue_ball", position=Position(450, 440))
    return replace(grid, items={**grid.items, "blue_ball": second})


def test_full_hands_take_nothing_more(grid: World) -> None:
    world = with_ball(two_balls(grid), "James")
    refused(
        do(world, "James", "pick_up", item="blue_ball"),
        world,
        "James",
        Code.HANDS_FULL,
        "Your hands are full (red_ball).",
    )
    world = do(standing(world, Jade=(450, 440)), "Jade", "pick_up", item="blue_ball").world
    refused(do(world, "James", "give", item="red_ball", agent="Jade"), world, "James", Code.HANDS_FULL, "Jade's")


def test_giving_has_rules(grid: World) -> None:
    world = with_ball(grid, "James")
    refused(do(world, "James", "give", item="red_ball", agent="Jade"), world, "James", Code.OUT_OF_REACH, "reach 40")
    refused(do(world, "James", "give", item="red_ball", agent="James"), world, "James", Code.YOURSELF)
    refused(do(world, "James", "give", item="red_ball", agent="Bob"), world, "James", Code.UNKNOWN_NAME, "Jade")
    refused(do(world, "Jamal", "give", item="red_ball", agent="Jade"), world, "Jamal", Code.NOT_HELD, "nothing")


def test_empty_hands_put_nothing_down(grid: World) -> None:
    refused(do(grid, "James", "put_down"), grid, "James", Code.NOT_HELD, "empty")


def test_reading_returns_the_text_and_changes_no_thing(grid: World) -> None:
    world = standing(grid, James=(150, 110))
    done = do(world, "James", "use", item="info_kiosk", verb="read")
    assert done.outcome.sentence == f"info_kiosk says: {grid.items['info_kiosk'].text}"
    assert done.world.items == world.items


def test_the_door_takes_two_to_open_and_one_to_close(grid: World) -> None:
    world = standing(grid, Jamal=(500, 230), Jade=(500, 241))
    refused(
        do(world, "Jamal", "use", item="lab_door", verb="open"),
        world,
        "Jamal",
        Code.NEEDS_HANDS,
        "takes 2 people",
        "1 more",
    )
    world = standing(world, Jade=(500, 240))
    opened = do(world, "Jamal", "use", item="lab_door", verb="Open")
    assert opened.outcome.sentence == "lab_door is open now."
    refused(
        do(opened.world, "Jade", "use", item="lab_door", verb="open"),
        opened.world,
        "Jade",
        Code.ALREADY,
        "lab_door is already open.",
    )
    closed = do(standing(opened.world, Jade=(300, 200)), "Jamal", "use", item="lab_door", verb="close")
    assert closed.world.items["lab_door"].state == "closed"
    refused(
        do(closed.world, "Jamal", "use", item="lab_door", verb="close"), closed.world, "Jamal", Code.ALREADY, "closed"
    )


def test_using_has_rules(grid: World) -> None:
    refused(
        do(standing(grid, Jade=(459, 200)), "Jade", "use", item="lab_door", verb="open"),
        standing(grid, Jade=(459, 200)),
        "Jade",
        Code.OUT_OF_REACH,
        "41 to the east; you reach 40",
    )
    refused(
        do(grid, "Jade", "use", item="lab_door", verb="kick"),
        grid,
        "Jade",
        Code.NOT_POSSIBLE,
        "You can't kick lab_door; you can: open, close.",
    )
    refused(
        do(grid, "Jamal", "use", item="red_ball", verb="read"), grid, "Jamal", Code.NOT_POSSIBLE, "you can: pick_up."
    )
    world = with_ball(grid, "Jamal")
    refused(
        do(world, "Jamal", "use", item="red_ball", verb="read"), world, "Jamal", Code.NOT_POSSIBLE, "put_down, give"
    )


def test_a_seat_holds_one_person_until_they_get_up(grid: World) -> None:
    world = standing(grid, Jesse=(120, 350), James=(120, 310))
    refused(do(world, "Jesse", "use", item="cafe_chair", verb="stand"), world, "Jesse", Code.ALREADY, "don't sit")
    world = do(world, "Jesse", "use", item="cafe_chair", verb="sit").world
    assert world.bodies["Jesse"].position == world.items["cafe_chair"].position
    assert world.items["cafe_chair"].state == "taken"
    refused(do(world, "Jesse", "use", item="cafe_chair", verb="sit"), world, "Jesse", Code.ALREADY)
    refused(do(world, "James", "use", item="cafe_chair", verb="sit"), world, "James", Code.SEAT_TAKEN, "by Jesse")
    talking = do(world, "Jesse", "say", text="Sit with me.").world
    assert (talking.bodies["Jesse"].seat, talking.bodies["Jesse"].doing) == ("cafe_chair", "talking on cafe_chair")
    up = do(talking, "Jesse", "use", item="cafe_chair", verb="stand").world
    assert up.items["cafe_chair"].state == "free"
    assert do(up, "James", "use", item="cafe_chair", verb="sit").outcome.ok


def test_walking_away_frees_the_seat(grid: World) -> None:
    world = do(standing(grid, Jesse=(120, 350)), "Jesse", "use", item="cafe_chair", verb="sit").world
    done = do(world, "Jesse", "move_to", target="center_fountain")
    assert done.outcome.sentence == "You got up. On the way to center_fountain, 3 more ticks."
    assert (done.world.items["cafe_chair"].state, done.world.bodies["Jesse"].seat) == ("free", None)


def test_sitting_down_elsewhere_frees_the_first_seat(grid: World) -> None:
    stool = replace(grid.items["cafe_chair"], name="stool", position=Position(120, 340))
    world = replace(grid, items={**grid.items, "stool": stool})
    world = do(standing(world, Jesse=(120, 350)), "Jesse", "use", item="cafe_chair", verb="sit").world
    world = do(world, "Jesse", "use", item="stool", verb="sit").world
    assert [world.items[name].state for name in ("cafe_chair", "stool")] == ["free", "taken"]


# Mind


def test_looking_tells_what_is_there(grid: World) -> None:
    sentence = do(grid, "Jamal", "look").outcome.sentence
    assert "red_ball lies 158 to the east, at (450, 450)." in sentence
    alone = World(bodies={"Ana": Body(name="Ana", position=Position(100, 100))})
    assert do(alone, "Ana", "look").outcome.sentence == "You look around. Nothing is within 200."


def test_thinking_and_waiting_always_work(grid: World) -> None:
    assert do(grid, "James", "think").outcome.sentence == "You thought a while."
    thought = do(grid, "James", "think", topic="my exam")
    assert thought.outcome.sentence == "You thought about my exam."
    assert thought.world.bodies["James"].doing == "thinking", "others don't see what about"
    assert do(grid, "James", "wait").outcome.code == Code.WAITED
