from __future__ import annotations

from pathlib import Path
from typing import Any, Literal, cast

import pytest
from axe_playwright_python.sync_playwright import Axe
from playwright.sync_api import Page

from simuverse.dashboard.session import Session
from tests.browser.conftest import Visits
from tests.dashboard.staged import Stage

pytestmark = pytest.mark.browser

WIDE, NARROW = (1280, 800), (390, 844)


def barriers(page: Page) -> list[str]:
    """What axe finds serious or critical, with the elements it concerns."""
    found = cast("dict[str, Any]", Axe().run(page).response)  # pyright: ignore[reportUnknownMemberType]
    violations: list[dict[str, Any]] = found["violations"]
    return [
        f"{one['id']}: {[node['html'] for node in one['nodes']]}"
        for one in violations
        if one["impact"] in ("serious", "critical")
    ]


@pytest.mark.parametrize("theme", ["light", "dark"])
@pytest.mark.parametrize("size", [WIDE, NARROW])
def test_nothing_keeps_anyone_out(
    visit: Visits, theme: Literal["light", "dark"], size: tuple[int, int], tmp_path: Path
) -> None:
    with visit(pause=0.0, theme=theme, size=size, query="?agent=James", still=True) as page:
        page.until("state.tick >= 18")
        page.rest()
        page.select("James")
        page.page.screenshot(path=tmp_path / f"{theme}-{size[0]}.png", full_page=True)
        for fold in page.page.locator("#card details").all():
            fold.locator("summary").first.click()
        page.session.place("Jade", 0, 0)
        page.page.wait_for_selector("#log .refused", state="attached")
        page.page.screenshot(path=tmp_path / f"{theme}-{size[0]}-open.png", full_page=True)
        assert barriers(page.page) == []
        page.page.keyboard.press("?")
        assert barriers(page.page) == []


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_banners_and_silence_keep_no_one_out(visit: Visits, theme: Literal["light", "dark"]) -> None:
    stage = Stage(unanswered=lambda tick: True)
    with visit(Session(stage.open, pause=0, running=False), theme=theme, query="?agent=Jamal", still=True) as page:
        page.session.step()
        page.page.wait_for_selector("#card[data-tick='1']")
        assert page.page.locator(".banner.problem").count() == 4
        assert page.page.locator(".silence").count() == 1
        assert barriers(page.page) == []


def test_nothing_is_wider_than_a_phone(visit: Visits) -> None:
    with visit(pause=0.0, size=NARROW, query="?agent=James") as page:
        page.until("state.tick >= 18")
        page.rest()
        page.select("James")
        for fold in page.page.locator("#card details").all():
            fold.locator("summary").first.click()
        assert page.page.evaluate("document.documentElement.scrollWidth") == NARROW[0]
        wide: list[str] = page.page.evaluate(
            """(width) => [...document.querySelectorAll("body *")]
                .filter((one) => one.checkVisibility() && !one.closest("canvas, .scroll, .map"))
                .filter((one) => one.getBoundingClientRect().right > width + 0.5)
                .map((one) => one.outerHTML.slice(0, 120))""",
            NARROW[0],
        )
        assert wide == []
        map_bottom, panel_top = page.page.evaluate(
            "[document.querySelector('.world').getBoundingClientRect().bottom,"
            " document.getElementById('panel').getBoundingClientRect().top]"
        )
        assert panel_top >= map_bottom


def test_map_and_panel_are_in_sight_together_on_a_laptop(visit: Visits) -> None:
    with visit(running=False, size=WIDE) as page:
        for part in (".map", "#panel", "#play", "#doctor", "#agents"):
            box = page.page.locator(part).bounding_box()
            assert box is not None
            assert box["y"] + box["height"] <= WIDE[1]
            assert box["x"] + box["width"] <= WIDE[0]


def test_everyone_can_be_reached_and_chosen_by_keyboard(visit: Visits) -> None:
    with visit(running=False) as page:
        page.page.focus("[data-agent=Jesse]")
        page.page.keyboard.press("Enter")
        page.page.wait_for_selector("[data-agent=Jesse][aria-pressed=true]")
        running = page.state()["running"]
        page.page.focus("[data-agent=Jade]")
        page.page.keyboard.press("Space")
        page.page.wait_for_selector("[data-agent=Jade][aria-pressed=true]")
        assert page.state()["running"] == running
