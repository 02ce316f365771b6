"""What holds of every world and every call, found out with invented ones."""

from __future__ import annotations

import copy
import re
from dataclasses import replace
from datetime import UTC, datetime

import msgspec
from hypothesis import assume, given
from hypothesis import strategies as st

from simuverse.agents.turn import ToolCall
from simuverse.world import scenario
from simuverse.world.actions import CLOSE
from simuverse.world.observe import observe
from simuverse.world.state import EARSHOT, STEP, Body, Item, Landmark, Position, World, distance, links, state_hash
from simuverse.world.tools import TOOLS, Applied, Code, apply, begin_tick, offered, place

GRID = scenario.load("grid").world
AGENTS = tuple(GRID.bodies)
NAMES = (*GRID.bodies, *GRID.landmarks, *GRID.items)
NOON = datetime(2026, 6, 1, 12, tzinfo=UTC)

coordinates = st.one_of(
    st.floats(min_value=50, max_value=550), st.sampled_from([50.0, 100.0, 150.0, 300.0, 450.0, 500.0, 550.0])
)
positions = st.builds(Position, coordinates, coordinates)
anything = st.one_of(
    st.text(max_size=30),
    st.text(alphabet=st.characters(), max_size=10),
    st.sampled_from(
        ["", " ", "nan", "-inf", "1e999", "९९", "\ud800", "\x00", "<x>&", "{}", "null", "a" * 5000, "9" * 400]
    ),
)
numbers = st.one_of(
    st.floats().map(str), st.integers().map(str), coordinates.map(str), coordinates.map("{:.0f}".format)
)
names = st.one_of(st.sampled_from(NAMES), st.sampled_from(NAMES).map(lambda n: n.upper().replace("_", " ")), anything)


def using(tool: str, **arguments: st.SearchStrategy[str]) -> st.SearchStrategy[ToolCall]:
    return st.builds(ToolCall, tool=st.just(tool), arguments=st.fixed_dictionaries(dict(arguments)))


sensible = st.one_of(
    using("move_to", target=names),
    using("move_to", x=numbers, y=numbers),
    using("say", text=anything, to=names),
    using("use", item=names, verb=st.sampled_from(["open", "close", "sit", "stand", "read"])),
    using("pick_up", item=names),
    using("give", item=names, agent=names),
    *(using(tool.name) for tool in TOOLS),
)
parameters = st.one_of(st.sampled_from([p.name for t in TOOLS for p in t.parameters]), anything)
garbage = st.builds(
    ToolCall,
    tool=st.one_of(st.sampled_from([t.name for t in TOOLS]), anything),
    arguments=st.dictionaries(parameters, st.one_of(anything, names, numbers), max_size=4),
)
calls = st.one_of(sensible, garbage)


def do(world: World, actor: str, call: ToolCall) -> Applied:
    return apply(world, actor, call, turn=f"run/{world.tick}/{actor}")


@st.composite
def worlds(draw: st.DrawFn) -> World:
    """A world that the grid can come to: people dropped somewhere, most of them close together, then some calls."""
    world = GRID
    spots = draw(st.lists(positions, min_size=1, max_size=3))
    for name in (*AGENTS, "red_ball"):
        spot = draw(st.one_of(st.sampled_from(spots), st.sampled_from([i.position for i in GRID.items.values()])))
        world = place(world, name, spot.x, spot.y).world
    for actor, call in draw(st.lists(st.tuples(st.sampled_from(AGENTS), sensible), max_size=8)):
        world = do(world, actor, call).world
    return world


def in_order(world: World) -> bool:
    """Everything is inside, and hands and seats agree with things."""
    things: list[Body | Landmark | Item] = [*world.bodies.values(), *world.landmarks.values(), *world.items.values()]
    inside = all(50 <= t.position.x <= 550 and 50 <= t.position.y <= 550 for t in things)
    held = {i.held_by: i.name for i in world.items.values() if i.held_by}
    hands = {b.name: b.carrying for b in world.bodies.values() if b.carrying} == held
    at_hand = all(world.items[item].position == world.bodies[agent].position for agent, item in held.items())
    sitters = [b.name for b in world.bodies.values() if b.seat == "cafe_chair"]
    return inside and hands and at_hand and len(sitters) == (world.items["cafe_chair"].state == "taken")


@given(world=worlds(), actor=st.sampled_from(AGENTS), call=calls)
def test_every_call_is_answered_with_a_code_and_a_sentence_and_leaves_a_world_in_order(
    world: World, actor: str, call: ToolCall
) -> None:
    before = copy.deepcopy(world)
    applied = do(world, actor, call)
    assert world == before, "the world given is left as it is"
    outcome = applied.outcome
    assert outcome.code in set(Code)
    assert outcome.sentence.strip()
    assert outcome.sentence == " ".join(outcome.sentence.split())
    assert outcome == applied.world.answers[actor]
    assert in_order(applied.world)
    assert set(applied.world.bodies) == set(AGENTS)
    assert set(applied.world.items) == set(GRID.items)
    assert applied.world.landmarks == GRID.landmarks
    assert msgspec.json.decode(msgspec.json.encode(applied.world), type=World) == applied.world
    assert do(world, actor, call).world == applied.world, "the same again gives the same"


@given(world=worlds(), actor=st.sampled_from(AGENTS), call=calls)
def test_a_refused_call_changes_nothing_but_the_answer(world: World, actor: str, call: ToolCall) -> None:
    applied = do(world, actor, call)
    if applied.outcome.ok:
        assert actor not in applied.world.refusals
    else:
        assert replace(applied.world, answers=world.answers, refusals=world.refusals) == world
        assert applied.outcome.said is None
        assert applied.world.refusals[actor].times >= 1


@given(world=worlds(), actor=st.sampled_from(AGENTS), call=calls)
def test_an_act_touches_nobody_but_the_actor_and_whom_it_gives_to(world: World, actor: str, call: ToolCall) -> None:
    after = do(world, actor, call).world
    for name in set(AGENTS) - {actor}:
        body = after.bodies[name]
        assert replace(body, carrying=None) == replace(world.bodies[name], carrying=None)
        if body.carrying != world.bodies[name].carrying:
            assert after.answers[actor].code == Code.GIVEN
    for name, item in after.items.items():
        if not item.portable:
            assert item.position == GRID.items[name].position, "what is fixed stays"
    assert distance(world.bodies[actor].position, after.bodies[actor].position) <= STEP + 0.01


@given(world=worlds(), name=st.one_of(st.sampled_from(NAMES), anything), x=st.floats(), y=st.floats())
def test_the_operators_hand_moves_inside_the_grid_or_is_refused_with_a_sentence(
    world: World, name: str, x: float, y: float
) -> None:
    applied = place(world, name, x, y)
    assert applied.outcome.sentence
    assert applied.outcome.code in set(Code)
    assert in_order(applied.world)
    if not applied.outcome.ok:
        assert applied.world == world


@given(
    world=worlds(),
    order=st.permutations(AGENTS),
    acts=st.lists(calls, min_size=4, max_size=4),
    lost=st.sampled_from(AGENTS),
)
def test_in_a_tick_everyone_is_answered_and_one_call_that_fails_costs_the_others_nothing(
    world: World, order: list[str], acts: list[ToolCall], lost: str
) -> None:
    nonsense = ToolCall(tool="dematerialise", arguments={"where": "everywhere"})
    start = replace(begin_tick(world), answers={})
    whole = without = start
    for name, call in zip(order, acts, strict=True):
        whole = do(whole, name, nonsense if name == lost else call).world
        if name != lost:
            without = do(without, name, call).world
    assert set(whole.answers) == set(AGENTS), "ties included"
    assert (whole.bodies, whole.items, whole.spoken) == (without.bodies, without.items, without.spoken)
    assert {n: a for n, a in whole.answers.items() if n != lost} == without.answers


@given(world=worlds())
def test_time_and_looking_on_move_nothing(world: World) -> None:
    later = begin_tick(world)
    assert replace(later, tick=world.tick, spoken=world.spoken) == world
    before = state_hash(later)
    for name in AGENTS:
        links(later)
        tools = offered(later, name)
        assert {"wait", "look"} <= {t.name for t in tools} <= {t.name for t in TOOLS}
        observation = observe(later, name, turn="t", time=NOON, intentions=(), episode="", position=0, seed=0)
        assert all(s.strip().endswith(".") for s in observation.seen)
        assert name not in {u.speaker for u in observation.heard}
    assert state_hash(later) == before


@given(spots=st.lists(positions, min_size=1, max_size=7))
def test_links_are_what_brute_force_finds(spots: list[Position]) -> None:
    names_ = [f"P{i}" for i in range(len(spots))]
    world = World(bodies={n: Body(name=n, position=p) for n, p in zip(names_, spots, strict=True)})
    found = {link.agent: link for link in links(world)}
    assert list(found) == (names_ if len(names_) > 1 else [])
    for me, link in found.items():
        mine = world.bodies[me].position
        best: str | None = None
        for other in names_:
            if other == me:
                continue
            if best is None or distance(mine, world.bodies[other].position) < distance(
                mine, world.bodies[best].position
            ):
                best = other
        assert link.nearest == best, "of equals the first by name"
        assert link.distance == distance(mine, world.bodies[link.nearest].position)
        assert link.in_range == (link.distance <= EARSHOT)


@given(x=coordinates, y=coordinates)
def test_numbers_given_as_text_lead_to_the_point_in_as_many_ticks_as_announced(x: float, y: float) -> None:
    # Where James stands he is already; and the edge between two whole numbers of ticks is left out, as positions are
    # rounded to two decimals.
    left = distance(GRID.bodies["James"].position, Position(x, y)) - CLOSE
    assume(left > 0 and 0.1 < left % STEP < STEP - 0.1)
    call = ToolCall(tool="move_to", arguments={"x": f" {x!r}", "y": repr(y)})
    applied = do(GRID, "James", call)
    announced = re.search(r"(\d+) more", applied.outcome.sentence)
    ticks = int(announced[1]) if announced else 0
    for _ in range(ticks):
        assert applied.outcome.code == Code.ON_THE_WAY
        applied = do(applied.world, "James", call)
    assert applied.outcome.code == Code.ARRIVED
    assert applied.world.bodies["James"].position == Position(x, y)


@given(world=worlds(), speaker=st.sampled_from(AGENTS))
def test_who_hears_is_who_is_in_earshot(world: World, speaker: str) -> None:
    quiet = replace(world, spoken=())
    after = begin_tick(do(quiet, speaker, ToolCall(tool="say", arguments={"text": "Listen."})).world)
    mine = world.bodies[speaker].position
    for name in set(AGENTS) - {speaker}:
        heard = observe(after, name, turn="t", time=NOON, intentions=(), episode="", position=0, seed=0).heard
        assert bool(heard) == (distance(mine, world.bodies[name].position) <= EARSHOT)
