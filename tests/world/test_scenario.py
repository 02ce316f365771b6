from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from simuverse.errors import ScenarioError
from simuverse.memory.records import Category
from simuverse.world.scenario import Scenario, available, load, parse
from simuverse.world.state import Body, Landmark, Position

SMALL = """\
title = "A garden"
start = 2026-03-01T09:00:00+01:00
seconds_per_tick = 30

[bounds]
low = 0
high = 100

[[landmarks]]
name = "pond"
x = 10
y = 20

[[items]]
name = "gate"
kind = "gate"
x = 50
y = 50
state = "closed"
verbs = ["open", "close"]

[[items]]
name = "bench"
kind = "bench"
x = 30
y = 30
state = "free"
verbs = ["sit", "stand"]

[[agents]]
name = "Olu"
x = 1
y = 1
description = "I'm Olu."
seed_paragraph = "I keep bees; I owe Mira a jar of honey ;; My hive is by the pond;"

[[agents.memories]]
summary = "Mira waved to me."
category = "relationship"
importance = 3

[[agents]]
name = "Mira"
x = 2
y = 2
description = "I'm Mira."
wishes = ["I want some honey."]

[[agents.memories]]
summary = "It rained."
category = "observation"

[[agents.memories]]
summary = "I like rain."
category = "emotion"
keywords = ["rain"]
critical_information = "Mira likes rain."
importance = 10
"""


def small(*changes: tuple[str, str]) -> Scenario:
    text = SMALL
    for old, new in changes:
        assert text.count(old) >= 1, old
        text = text.replace(old, new, 1)
    return parse(text.encode(), name="garden", file="garden.toml")


def line(text: str) -> int:
    """Of the first line of SMALL that starts so."""
    return next(i for i, at in enumerate(SMALL.splitlines(), start=1) if at.startswith(text))


# The grid


@pytest.fixture
def grid() -> Scenario:
    return load("grid")


def test_the_grid_ships(grid: Scenario) -> None:
    assert "grid" in available()
    assert (grid.name, grid.start, grid.seconds_per_tick) == ("grid", datetime(2026, 6, 1, 8, tzinfo=UTC), 60)


def test_the_grid_has_the_coordinates_of_the_design(grid: Scenario) -> None:
    world = grid.world
    fixed: list[Body | Landmark] = [*world.bodies.values(), *world.landmarks.values()]
    where = {t.name: (t.position.x, t.position.y) for t in fixed}
    assert where == {
        "James": (100, 200),
        "Jade": (300, 200),
        "Jesse": (100, 400),
        "Jamal": (300, 400),
        "center_fountain": (300, 300),
        "north_bench": (300, 100),
        "west_cafe": (100, 300),
    }
    things = {i.name: (i.position.x, i.position.y, i.portable, i.state, i.verbs, i.hands) for i in world.items.values()}
    assert things == {
        "red_ball": (450, 450, True, "", (), 1),
        "info_kiosk": (150, 150, False, "", ("read",), 1),
        "lab_door": (500, 200, False, "closed", ("open", "close"), 2),
        "cafe_chair": (120, 320, False, "free", ("sit", "stand"), 1),
    }
    assert (world.low, world.high, world.tick) == (50, 550, 0)


def known_to(grid: Scenario, name: str) -> str:
    (persona,) = (p for p in grid.personas if p.name == name)
    seeds = (f"{s.summary} {s.critical_information} {' '.join(s.keywords)}" for s in grid.seeds[name])
    return "\n".join([persona.description, *persona.facts, *persona.wishes, *seeds])


def knowers(grid: Scenario, pattern: str) -> list[str]:
    return [p.name for p in grid.personas if re.search(pattern, known_to(grid, p.name), re.IGNORECASE)]


def test_each_part_of_the_story_is_known_to_one_person_alone(grid: Scenario) -> None:
    assert knowers(grid, r"south-east|\(450, 450\)") == ["Jade"]
    assert knowers(grid, r"\b\d\d?:\d\d\b|\bopens\b") == ["Jesse"], "west_cafe is to open, not when"
    assert knowers(grid, "lab_door|caretaker|promise") == ["Jamal"]
    assert knowers(grid, "red_ball") == ["Jade", "James"]
    assert knowers(grid, "west_cafe") == ["Jesse"]


def test_what_memory_must_supply_stands_in_no_persona(grid: Scenario) -> None:
    """Without memories Jamal doesn't know of his promise, nor Jesse of the hour, nor Jade of the ball."""
    for persona in grid.personas:
        text = "\n".join([persona.description, persona.speech, *persona.facts, *persona.wishes])
        assert not re.search(r"lab_door|promise|\d:\d|450|south-east", text), persona.name
    assert not re.search("450|south-east|lab_door takes|08:25|promise", grid.world.items["info_kiosk"].text)


def test_the_wishes_name_what_they_are_about(grid: Scenario) -> None:
    wishes = {p.name: " ".join(p.wishes) for p in grid.personas}
    assert "red_ball" in wishes["James"]
    assert "west_cafe" in wishes["Jesse"]


def test_the_cafe_opens_some_twenty_five_minutes_after_the_start(grid: Scenario) -> None:
    (hour,) = (s for s in grid.seeds["Jesse"] if "west_cafe opens" in s.summary)
    opening = (grid.start + timedelta(minutes=25)).strftime("%H:%M")
    assert opening in hour.summary
    assert opening in hour.critical_information


def test_everyone_has_a_life_of_small_and_great_memories(grid: Scenario) -> None:
    for persona in grid.personas:
        seeds = grid.seeds[persona.name]
        assert 5 <= len(seeds) <= 8, persona.name
        assert min(s.importance for s in seeds) <= 2
        assert max(s.importance for s in seeds) >= 8
        assert len({s.category for s in seeds}) >= 3
        assert all(s.keywords for s in seeds)
        assert persona.description.startswith(f"I'm {persona.name}, twenty")
        assert persona.speech
        assert len(persona.facts) >= 3


def test_nobody_knows_that_it_is_a_game(grid: Scenario) -> None:
    assert knowers(grid, r"simulat|\bgrid\b|\bagent|\bNPC|language model|\bgame\b|database|flashback") == []


# Reading files


def test_a_file_of_ones_own_is_read(tmp_path: Path) -> None:
    path = tmp_path / "garden.toml"
    path.write_text(SMALL, encoding="utf-8")
    for given in (path, str(path)):
        scenario = load(given)
        assert (scenario.name, scenario.title) == ("garden", "A garden")
        assert scenario.start == datetime(2026, 3, 1, 8, tzinfo=UTC)
        assert [p.name for p in scenario.personas] == ["Mira", "Olu"]
        assert scenario.world.bodies["Olu"].position == Position(1, 1)
        assert scenario.world.high == 100


def test_a_byte_order_mark_does_no_harm() -> None:
    assert parse(b"\xef\xbb\xbf" + SMALL.encode(), name="garden", file="garden.toml").title == "A garden"


def test_a_seed_paragraph_becomes_a_memory_for_each_clause_before_the_others() -> None:
    seeds = small().seeds["Olu"]
    assert [s.summary for s in seeds] == [
        "I keep bees",
        "I owe Mira a jar of honey",
        "My hive is by the pond",
        "Mira waved to me.",
    ]
    assert {s.category for s in seeds[:3]} == {Category.KNOWLEDGE}


def test_seven_clauses_give_seven_memories() -> None:
    clauses = "; ".join(f"Clause number {n}" for n in range(7))
    seeds = small(("I keep bees; I owe Mira a jar of honey ;; My hive is by the pond;", clauses)).seeds["Olu"]
    assert len(seeds) == 8, "and the one written out"


def test_memories_belong_to_the_agent_above_them() -> None:
    seeds = small().seeds["Mira"]
    assert [(s.summary, s.importance, s.keywords) for s in seeds] == [
        ("It rained.", 5, ()),
        ("I like rain.", 10, ("rain",)),
    ]
    assert seeds[1].critical_information == "Mira likes rain."


@pytest.mark.parametrize(
    ("changes", "where", "words"),
    [
        ([('title = "A garden"', "title = 3")], line("title"), ["title: Expected `str`, got `int`"]),
        ([("x = 10", 'x = "ten"')], line("x = 10"), ["landmarks[0].x: Expected `float`, got `str`"]),
        ([("x = 30", "width = 30")], line("x = 30"), ["items[1].width", "Allowed: name, kind, x, y, portable"]),
        ([("seconds_per_tick", "seconds")], line("seconds"), ["seconds: unknown key", "Allowed: title, start"]),
        ([("low = 0", "lowest = 0")], line("low"), ["bounds.lowest: unknown key. Allowed: low, high"]),
        ([("y = 30\n", "")], line('name = "bench"') - 1, ["items[1]: Object missing required field `y`"]),
        ([("+01:00", "")], line("start"), ["start: Expected `datetime` with a timezone component"]),
        (
            [("seconds_per_tick = 30", "seconds_per_tick = 0")],
            line("seconds"),
            ["seconds_per_tick: Expected `float` > 0"],
        ),
        ([("x = 50", "x = 101")], line("x = 50"), ["items[0].x: 101 is outside the grid: 0 to 100"]),
        ([("x = 50", "x = nan")], line("x = 50"), ["items[0].x: nan is outside the grid"]),
        ([("x = 2", "x = -1")], line("x = 2"), ["agents[1].x: -1 is outside the grid"]),
        ([("high = 100", "high = -1")], line("[bounds]"), ["bounds: low 0 must be below high -1"]),
        ([("high = 100", "high = inf")], line("[bounds]"), ["bounds: low 0 must be below high inf, both finite"]),
        ([('"Mira"', '"olu"')], line('name = "Mira"'), ["agents[1].name: olu is taken by agents[0]"]),
        ([('"pond"', '"gate"')], line('name = "gate"'), ["items[0].name: gate is taken by landmarks[0]"]),
        ([('"pond"', '""')], line('name = "pond"'), ["landmarks[0].name: '' is no name"]),
        ([('"pond"', r'"a\nb"')], line('name = "pond"'), ["is no name: one line, 1 to 40 characters"]),
        ([('"pond"', f'"{"p" * 41}"')], line('name = "pond"'), ["is no name"]),
        ([('["open", "close"]', '["oepn"]')], line("verbs"), ["items[0].verbs: unknown: oepn. Allowed: read, open"]),
        ([('"closed"', '"ajar"')], line("state"), ["items[0].state", "'open' or 'closed', not 'ajar'"]),
        ([('"free"', '"taken"')], line('name = "bench"') - 1, ["items[1]: a seat has both sit and stand"]),
        ([('["sit", "stand"]', '["sit"]')], line('name = "bench"') - 1, ["items[1]: a seat has both"]),
        ([('["open", "close"]', '["open", "read"]')], line('name = "gate"') - 1, ["items[0].text", "needs a text"]),
        ([('"closed"', '"closed"\nhands = 0')], line("verbs"), ["items[0].hands: Expected `int` >= 1"]),
        (
            [('category = "emotion"', 'category = "gossip"')],
            line('category = "emotion"'),
            ["agents[1].memories[1].category", "'gossip'", "Allowed: conversation, observation"],
        ),
        (
            [("importance = 10", "importance = 11")],
            line("importance = 10"),
            ["memories[1].importance: Expected `int` <= 10"],
        ),
        ([('"It rained."', '" "')], line('summary = "It rained."'), ["agents[1].memories[0].summary"]),
        ([('["rain"]', '[""]')], line("keywords"), ["agents[1].memories[1].keywords[0]"]),
        (
            [('"I\'m Mira."', '"I\'m Mira."\nstrength = 2')],
            line("wishes"),
            ["agents[1].strength: Expected `float` <= 1"],
        ),
    ],
)
def test_what_is_wrong_is_named_with_file_line_key_and_what_is_allowed(
    changes: list[tuple[str, str]], where: int, words: list[str]
) -> None:
    with pytest.raises(ScenarioError) as caught:
        small(*changes)
    message = str(caught.value)
    assert message.startswith(f"garden.toml, line {where}: "), message
    for word in words:
        assert word in message


def test_a_world_without_agents_is_refused() -> None:
    text = SMALL[: SMALL.index("[[agents]]")]
    with pytest.raises(ScenarioError, match=r"garden\.toml: Object missing required field `agents`"):
        parse(text.encode(), name="garden", file="garden.toml")
    with pytest.raises(ScenarioError, match=r"line 1: agents: Expected `array` of length >= 1"):
        parse(f"agents = []\n{text}".encode(), name="garden", file="garden.toml")


def test_tables_written_in_a_line_are_found_by_their_key_and_dotted_keys_go_without_a_line() -> None:
    inline = SMALL[: SMALL.index("[[landmarks]]")] + SMALL[SMALL.index("[[items]]") :]
    inline = f'landmarks = [{{name = "pond", x = 1, y = 101}}]\n{inline}'
    with pytest.raises(ScenarioError, match=r"^garden\.toml, line 1: landmarks\[0\]\.y: 101 is outside"):
        parse(inline.encode(), name="garden", file="garden.toml")
    dotted = b'title = "A garden"\nstart = 2026-03-01T09:00:00Z\nbounds.low = "left"\nagents = []\n'
    with pytest.raises(ScenarioError, match=r"^garden\.toml: bounds\.low: Expected `float`, got `str`"):
        parse(dotted, name="garden", file="garden.toml")


def test_broken_toml_is_named_with_its_line() -> None:
    with pytest.raises(ScenarioError, match=r"garden\.toml: not TOML.*line 1"):
        parse(b"title = \n", name="garden", file="garden.toml")


@pytest.mark.parametrize("data", [b"\xff\xfe\x00", b"", b"[" * 100_000, b"x = " + b"[" * 100_000, b"\x00"])
def test_what_is_no_scenario_at_all_is_refused(data: bytes) -> None:
    with pytest.raises(ScenarioError, match=r"junk\.toml"):
        parse(data, name="junk", file="junk.toml")


def test_an_unknown_name_is_answered_with_those_that_exist(tmp_path: Path) -> None:
    with pytest.raises(ScenarioError, match=r"There is no scenario moon\. Scenarios: .*grid"):
        load("moon")
    with pytest.raises(ScenarioError, match=r"moon\.toml: No such file or directory. Scenarios: .*grid"):
        load(str(tmp_path / "moon.toml"))
    with pytest.raises(ScenarioError, match="Is a directory"):
        load(tmp_path)


@pytest.mark.parametrize("name", available())
def test_every_scenario_that_ships_is_sound(name: str) -> None:
    scenario = load(name)
    assert {p.name for p in scenario.personas} == set(scenario.world.bodies) == set(scenario.seeds)
