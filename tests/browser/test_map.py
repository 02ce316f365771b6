from __future__ import annotations

import math

import pytest

from simuverse.dashboard.session import Session
from simuverse.world.state import Position, distance
from tests.browser.conftest import Visit, Visits
from tests.dashboard.staged import Stage

pytestmark = pytest.mark.browser


def where(visit: Visit, name: str) -> Position:
    """Someone, as the world has it."""
    agent = next(one for one in visit.state()["agents"] if one["name"] == name)
    return Position(agent["x"], agent["y"])


def deviation(visit: Visit) -> float:
    """The farthest that anything is drawn from where the world has it, in pixels."""
    farthest: float = visit.page.evaluate(
        """() => Math.max(...simuverse.run.state.elements.filter((one) => one.position).map(({ data, position }) => {
            const drawn = cy.getElementById(data.id).position();
            return Math.hypot(drawn.x - position.x, drawn.y - position.y) * cy.zoom();
        }))"""
    )
    return farthest


def test_dragging_someone_moves_them_in_the_world(visit: Visits) -> None:
    with visit(running=False) as page:
        page.drag("agent:James", 250, 450)
        page.until("state.agents.some((one) => one.name === 'James' && one.x !== 100)")
        there = where(page, "James")
        assert distance(there, Position(250, 450)) < 1.5
        assert deviation(page) <= 1
        world = page.session.snapshot()
        assert world.events[-1].kind == "operator"
        assert world.events[-1].agent == "James"


def test_a_loose_thing_can_be_dragged_and_a_fixed_one_can_not(visit: Visits) -> None:
    with visit(running=False) as page:
        page.drag("item:red_ball", 200, 500)
        page.until("state.things.some((one) => one.name === 'red ball' && one.x === 200)")
        before = page.session.snapshot().seq
        bench = page.place_of("landmark:north_bench")
        page.drag("landmark:north_bench", 200, 450)
        assert page.place_of("landmark:north_bench") == bench
        page.until_seq(page.session.place("James", 520, 520).seq)
        assert page.session.snapshot().seq == before + 1


def test_the_world_may_refuse_and_then_the_node_goes_back_and_everyone_is_told(visit: Visits) -> None:
    with visit(running=False) as page:
        before = where(page, "Jade")
        page.drag("agent:Jade", 20, 300)
        page.page.wait_for_function("document.getElementById('announcements').textContent !== ''")
        refusal = page.session.snapshot().events[-1]
        assert refusal.kind == "refused"
        assert page.page.inner_text("#announcements") == refusal.text
        assert page.page.inner_text("#toast") == refusal.text
        page.page.wait_for_function("cy.nodes(':animated').empty()")
        assert deviation(page) <= 1
        assert where(page, "Jade") == before


def test_clicking_someone_on_the_map_selects_them(visit: Visits) -> None:
    with visit(running=False) as page:
        page.page.mouse.click(*page.place_of("agent:Jesse"))
        page.page.wait_for_selector("[data-agent=Jesse][aria-pressed=true]")
        page.page.wait_for_function("cy.getElementById('agent:Jesse').hasClass('selected')")


def test_nodes_stay_where_the_world_has_them_through_ticks_and_drags_and_the_zoom_is_kept(visit: Visits) -> None:
    with visit(Session(Stage().open, pause=0.05)) as page:
        page.page.click("[data-do=zoom-out]")
        zoom = page.page.evaluate("cy.zoom()")
        for number, name in enumerate(["James", "Jade", "Jesse", "Jamal", "James"]):
            page.drag(f"agent:{name}", 150 + 60 * number, 130)
            page.until("state.tick >= given", page.state()["tick"] + 4)
        page.rest()
        assert page.state()["tick"] >= 20
        assert deviation(page) <= 1
        assert page.page.evaluate("cy.zoom()") == zoom
        assert page.page.evaluate("cy.edges().length") == 4


def test_the_canvas_never_gains_or_loses_an_element(visit: Visits) -> None:
    with visit(pause=0.0, running=False) as page:
        page.page.evaluate("() => { window.changes = 0; cy.on('add remove', () => window.changes++); }")
        page.session.play()
        page.until("state.tick >= 12")
        page.rest()
        assert page.page.evaluate("window.changes") == 0


def test_a_node_that_is_held_by_the_mouse_is_not_pulled_away(visit: Visits) -> None:
    with visit(Session(Stage().open, pause=0.05, running=False)) as page:
        page.rest()  # taken hold of beside its middle, a moving node would be drawn as far beside the mouse
        x, y = page.place_of("agent:Jamal")
        page.page.mouse.move(x, y)
        page.page.mouse.down()
        page.page.mouse.move(x + 60, y + 20, steps=4)
        page.session.play()
        page.until("state.tick > given", page.state()["tick"])
        drawn = page.place_of("agent:Jamal")
        assert math.dist(drawn, (x + 60, y + 20)) < 20
        page.until("state.tick >= given", page.state()["tick"] + 4)
        assert page.place_of("agent:Jamal") == drawn
        page.page.mouse.up()
        page.rest()
        assert deviation(page) <= 1


def test_on_a_phone_a_finger_drags_people_and_scrolls_everywhere_else(visit: Visits) -> None:
    with visit(running=False, size=(390, 844), touch=True) as page:
        finger = page.page.context.new_cdp_session(page.page)

        def touch(kind: str, *points: dict[str, float]) -> None:
            event = {"type": kind, "touchPoints": list(points)}
            finger.send("Input.dispatchTouchEvent", event)  # pyright: ignore[reportUnknownMemberType]

        def swipe(x: float, y: float) -> None:
            """Up and to the right by 80 pixels."""
            touch("touchStart", {"x": x, "y": y})
            for way in (10, 30, 60, 80):
                touch("touchMove", {"x": x + way, "y": y - way})
            touch("touchEnd")

        swipe(*page.place_of("agent:Jesse"))
        page.until("state.agents.some((one) => one.name === 'Jesse' && one.y < 350)")
        assert page.page.evaluate("scrollY") == 0
        x, y = page.place_of("agent:Jamal")
        swipe(x - 60, y + 60)
        page.page.wait_for_function("scrollY > 20")


def test_who_wants_less_motion_gets_none(visit: Visits) -> None:
    with visit(running=False, still=True) as page:
        page.page.evaluate(
            "() => { window.glides = 0; const f = cy.nodes()[0].constructor.prototype; "
            "const a = f.animate; f.animate = function (...all) { window.glides++; return a.apply(this, all); }; }"
        )
        page.until_seq(page.session.place("James", 300, 420).seq)
        assert deviation(page) <= 1
        assert page.page.evaluate("window.glides") == 0


def test_what_is_said_stands_beside_the_speaker_and_refusals_too(visit: Visits) -> None:
    with visit(Session(Stage().open, pause=0, running=False)) as page:
        for _ in range(3):
            page.session.step()
        page.until("state.tick === 3 && !state.stepping")
        turns = page.session.snapshot().turns
        bubbles = page.page.locator(".bubble")
        assert bubbles.count() == 4
        expected = {t.outcome.said.text if t.outcome.said else t.outcome.sentence for t in turns.values()}
        assert set(bubbles.all_inner_texts()) == expected
        assert page.page.locator(".bubble.refused").count() == sum(not t.outcome.ok for t in turns.values())


def test_colours_of_the_map_follow_the_theme(visit: Visits) -> None:
    with visit(running=False, theme="dark") as page:
        colour = "cy.getElementById('agent:James').style('background-color')"
        page.page.wait_for_function(f"{colour} === 'rgb(86,180,233)'")
        page.page.click("#theme")
        page.page.wait_for_function(f"{colour} === 'rgb(0,114,178)'")
        assert page.page.inner_text("#theme") == "Dark"
        page.page.reload()
        page.page.wait_for_function("document.documentElement.dataset.theme === 'light'")
        page.page.wait_for_selector("body[data-map=ready]")
