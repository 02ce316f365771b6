from __future__ import annotations

from typing import Any

import pytest

from simuverse.config import Settings
from simuverse.dashboard.session import Session
from simuverse.memory.records import Candidate, Flashback
from simuverse.world.scenario import load
from tests.browser.conftest import Visit, Visits
from tests.dashboard.staged import Stage

pytestmark = pytest.mark.browser


def positions(visit: Visit) -> dict[str, Any]:
    """Of the agents, as drawn."""
    drawn: dict[str, Any] = visit.page.evaluate(
        "Object.fromEntries(cy.nodes('.agent').map((node) => [node.id(), { ...node.position() }]))"
    )
    return drawn


def test_the_world_is_alive_from_the_start_with_the_settings_as_shipped(visit: Visits) -> None:
    with visit(settings=Settings(), pause=1.0) as page:
        page.until("state.tick >= 1")
        page.rest()
        start = load("grid").world.bodies
        drawn = positions(page)
        assert sorted(drawn) == [f"agent:{name}" for name in start]
        moved = [name for name, body in start.items() if drawn[f"agent:{name}"]["x"] != body.position.x]
        assert len(moved) >= 2


def test_what_is_in_use_is_always_in_sight(visit: Visits) -> None:
    with visit(running=False) as page:
        doctor = page.page.inner_text("#doctor")
        assert page.session.parts.embedder in doctor
        assert page.session.parts.store in doctor
        assert "rehearsal: fixed rules, not a language model" in doctor


@pytest.mark.parametrize("name", ["James", "Jade", "Jesse", "Jamal"])
def test_selecting_someone_shows_the_flashbacks_of_their_last_turn(visit: Visits, name: str) -> None:
    with visit(pause=0.0) as page:
        page.until("state.tick >= 8")
        page.rest()
        page.select(name)
        recollection = page.session.snapshot().turns[name].recollection
        assert recollection.candidates
        shown = page.page.evaluate(
            """() => [...document.querySelectorAll(".recalled [data-memory]")].map((one) => ({
                id: one.dataset.memory,
                summary: (one.querySelector("blockquote") || one.querySelector("p")).textContent,
                figures: [...one.querySelectorAll(".factors tbody tr")].map(
                    (row) => [...row.cells].map((cell) => cell.textContent)),
                total: one.querySelector(".total b").textContent,
                found: one.querySelectorAll(".found li").length - 1,
            }))"""
        )
        expected: list[Flashback | Candidate] = [*recollection.flashbacks, *recollection.runners_up]
        assert [one["id"] for one in shown] == [str(one.memory.id) for one in expected]
        for one, truth in zip(shown, expected, strict=True):
            factors = {name: getattr(truth.score, name) for name in ("relevance", "importance", "recency")}
            assert one["summary"] == truth.memory.summary
            assert one["total"] == f"{truth.score.total:.2f}"
            assert [row[0] for row in one["figures"]] == list(factors)
            for row, factor in zip(one["figures"], factors.values(), strict=True):
                figures = (factor.raw, factor.scaled, factor.weight, factor.part)
                assert [float(cell) for cell in row[1:]] == pytest.approx(figures, abs=0.00501)
            assert one["found"] == len(truth.found_by)


def test_the_turn_is_told_to_the_end(visit: Visits) -> None:
    with visit(Session(Stage().open, running=False), query="?agent=James") as page:
        page.session.step()
        page.page.wait_for_selector("#card[data-tick='1']")
        turn = page.session.snapshot().turns["James"]
        text = page.page.inner_text("#card")
        assert turn.outcome.sentence in text
        assert turn.remembered.written[0].summary in text
        assert "Not written, restates a flashback: the ball" in text
        assert "told by Jade" in text
        page.page.get_by_text("turn, rehearsal", exact=False).click()
        marked = page.page.locator("#card mark")
        assert marked.count() == 1
        assert marked.inner_text().strip() == turn.recollection.as_xml().strip()
        prompt = page.page.locator("#card pre").nth(1).inner_text()
        assert prompt == turn.calls[0].messages[1].text


def test_silence_is_explained(visit: Visits) -> None:
    with visit(Session(Stage().open, running=False), query="?agent=Jamal") as page:
        page.session.step()
        page.page.wait_for_selector("#card[data-tick='1']")
        silence = page.page.inner_text(".silence")
        assert silence.startswith("Nothing came to mind")
        assert "0.07 short of the gate" in silence
        page.page.locator("#card details[data-key=queries] summary").click()
        asked = page.page.locator("#card .query .note").all_inner_texts()
        assert asked == ["hybrid", "hybrid · words: ball · importance at least 3"]


def test_pause_stops_and_play_goes_on(visit: Visits) -> None:
    with visit(pause=0.0) as page:
        page.until("state.tick >= 2")
        page.page.click("#play")
        page.until("!state.running && !state.stepping")
        tick = page.state()["tick"]
        for x in (200, 210, 220):
            page.until_seq(page.session.place("James", x, 520).seq)
        assert page.state()["tick"] == page.session.snapshot().tick == tick
        assert page.page.inner_text("#play") == "Play"
        page.page.click("#play")
        page.until("state.tick > given", tick)


def test_step_steps_once(visit: Visits) -> None:
    with visit(pause=0.0, running=False) as page:
        for tick in (1, 2):
            page.page.click("#step")
            page.until("state.tick === given && !state.stepping", tick)
            page.until_seq(page.session.place("James", 200 + tick, 520).seq)
            assert page.session.snapshot().tick == tick


def test_speed_shortens_the_pause(visit: Visits) -> None:
    with visit(pause=60.0) as page:
        page.page.select_option("#speed", "8")
        page.until("state.speed === 8")


def test_the_strength_slider_changes_the_temperature(visit: Visits) -> None:
    with visit(running=False, query="?agent=Jesse") as page:
        page.page.wait_for_selector("#strength")
        page.page.fill("#strength", "1")
        page.until("state.agents.find((one) => one.name === 'Jesse').temperature === 0.1")
        assert page.page.inner_text("#temperature") == "1.00 · temperature 0.10"
        page.page.focus("#strength")
        page.page.keyboard.press("ArrowLeft")
        page.until("state.agents.find((one) => one.name === 'Jesse').strength === 0.95")


def test_the_address_says_who_is_selected(visit: Visits) -> None:
    with visit(query="?agent=Jamal") as page:
        page.page.wait_for_selector("#card[data-turn*=Jamal]")
        page.select("Jade")
        assert page.page.url.endswith("?agent=Jade")
        assert page.page.get_attribute("[data-agent=Jade]", "aria-pressed") == "true"
        assert page.page.get_attribute("[data-agent=Jamal]", "aria-pressed") == "false"


def test_what_one_begins_to_read_while_the_next_turn_is_on_its_way_stays(visit: Visits) -> None:
    with visit(pause=0.1, query="?agent=James") as page:
        page.until("state.tick >= 3")
        page.page.evaluate(
            """() => {
                const ask = window.fetch;
                window.fetch = async (...given) => {
                    const answer = await ask(...given);
                    if (!String(given[0]).includes("/api/turn/")) return answer;
                    window.fetch = ask;
                    await new Promise((done) => (window.letGo = done));
                    return answer;
                };
            }"""
        )
        page.page.wait_for_function("window.letGo !== undefined")
        turn, words = page.page.evaluate(
            """() => {
                getSelection().selectAllChildren(document.querySelector("#card blockquote, #card .silence"));
                window.letGo();
                return [document.getElementById("card").dataset.turn, getSelection().toString()];
            }"""
        )
        page.until("state.tick >= given", page.state()["tick"] + 2)
        page.page.wait_for_selector("#held:not([hidden])")
        assert page.page.get_attribute("#card", "data-turn") == turn
        assert page.page.evaluate("getSelection().toString()") == words != ""
        page.page.get_by_role("button", name="Show the newest").click()
        page.page.wait_for_function("(old) => document.getElementById('card').dataset.turn !== old", arg=turn)


def test_what_is_being_read_stays_until_the_newest_is_asked_for(visit: Visits) -> None:
    with visit(pause=0.1, query="?agent=James") as page:
        page.until("state.tick >= 3")
        page.page.locator("#card details[data-key=queries] summary").click()
        # In one go, or another turn may come in between.
        turn, words = page.page.evaluate(
            """() => {
                const text = document.querySelector("#card blockquote, #card .silence");
                getSelection().selectAllChildren(text);
                document.getElementById("panel").scrollTop = 120;
                return [document.getElementById("card").dataset.turn, getSelection().toString()];
            }"""
        )
        height = "document.querySelector('#card [data-key=queries]').getBoundingClientRect().top"
        before = page.page.evaluate(height)
        page.until("state.tick >= given", page.state()["tick"] + 4)
        page.page.wait_for_selector("#held:not([hidden])")
        assert page.page.get_attribute("#card", "data-turn") == turn
        assert page.page.evaluate("getSelection().toString()") == words
        assert page.page.evaluate(height) == pytest.approx(before, abs=1)
        page.page.get_by_role("button", name="Show the newest").click()
        page.page.wait_for_function("(old) => document.getElementById('card').dataset.turn !== old", arg=turn)
        assert page.page.locator("#card details[data-key=queries][open]").count() == 1


def test_the_panel_follows_until_it_is_held(visit: Visits) -> None:
    with visit(pause=0.1, query="?agent=Jade") as page:
        page.until("Number(document.getElementById('card').dataset.tick) >= 3")
        page.page.click("#hold")
        turn = page.page.get_attribute("#card", "data-turn")
        page.until("state.tick >= given", page.state()["tick"] + 3)
        assert page.page.get_attribute("#card", "data-turn") == turn
        page.page.click("#hold")
        page.page.wait_for_function("(old) => document.getElementById('card').dataset.turn !== old", arg=turn)


def test_keys_work_and_not_while_choosing_a_speed(visit: Visits) -> None:
    with visit(running=False) as page:
        keyboard = page.page.keyboard
        keyboard.press(".")
        page.until("state.tick === 1 && !state.stepping")
        keyboard.press("2")
        page.page.wait_for_selector("[data-agent=Jamal][aria-pressed=true]")
        page.page.focus("#speed")
        keyboard.press("1")
        assert page.page.get_attribute("[data-agent=Jamal]", "aria-pressed") == "true"
        page.page.evaluate("document.activeElement.blur()")
        keyboard.press("?")
        page.page.wait_for_selector("#help[open]")
        keyboard.press(".")
        keyboard.press("Escape")
        page.page.wait_for_selector("#help:not([open])", state="attached")
        assert page.session.snapshot().tick == 1
        keyboard.press("Escape")
        page.page.wait_for_selector("[data-agent=Jamal][aria-pressed=false]")
        keyboard.press("Space")
        page.until("state.running")


def test_the_table_and_the_log_tell_what_the_map_shows(visit: Visits) -> None:
    with visit(pause=0.0) as page:
        page.until("state.tick >= 10")
        page.rest()
        assert page.page.locator("#things tr").count() == 4 + 4 + 3
        said = [event for event in page.session.snapshot().events if event.kind == "said"]
        assert said
        assert page.page.locator("#log li.said").count() == len(said)
        assert said[-1].text in page.page.inner_text("#log li.said >> nth=0")


def test_a_fault_is_shown_as_a_banner(visit: Visits) -> None:
    async def break_down(name: str, tick: int) -> None:
        raise ZeroDivisionError("a slip of ours")

    with visit(Session(Stage(before_turn=break_down).open, running=False)) as page:
        page.page.click("#step")
        page.page.wait_for_selector(".banner.fault")
        assert "ZeroDivisionError: a slip of ours" in page.page.inner_text("#banners")


def test_a_run_that_can_not_be_reached_any_more_is_told(visit: Visits) -> None:
    with visit(running=False) as page:
        page.session.stop()
        page.page.wait_for_selector(".banner.fault")
        assert "can't be reached" in page.page.inner_text("#banners")
        assert all("503" in complaint for complaint in page.complaints)
        page.complaints.clear()
