"""Chromium as Debian ships it, and visits to pages that are watched for errors and for requests to anyone else."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Generator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, ConsoleMessage, Page, Request, sync_playwright

from simuverse import wiring
from simuverse.config import Settings
from simuverse.dashboard.serving import Served, serve
from simuverse.dashboard.session import Session
from tests.absent import absent

CHROMIUM = Path("/usr/bin/chromium")
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)
WHEEL = "You have set a custom wheel sensitivity"
"""Cytoscape's one warning, about a default that its Dash component always sets."""
SWIPE = "Ignored attempt to cancel a touchend event"
"""Chromium's remark where a swipe over the map scrolls the page, as it should."""

QUICK = Settings(embedder="hashing")
"""The whole stack, with the embedder that needs no loading."""


@dataclass(kw_only=True)
class Visit:
    """A page of a run, and what it complained of.

    Args:
        complaints: errors and warnings of the console, and errors that nothing caught.
        abroad: requests to any other host.
    """

    page: Page
    session: Session
    served: Served
    complaints: list[str] = field(default_factory=list[str])
    abroad: list[str] = field(default_factory=list[str])

    def state(self) -> dict[str, Any]:
        """What the page shows."""
        state: dict[str, Any] = self.page.evaluate("simuverse.run.state")
        return state

    def until(self, condition: str, argument: object = None) -> None:
        """Waits for a condition in JavaScript; ``state`` is what the page shows, ``given`` the argument."""
        self.page.wait_for_function(
            f"(given) => {{ const state = simuverse.run.state; return state && ({condition}); }}", arg=argument
        )

    def until_seq(self, seq: int) -> None:
        self.until("state.seq >= given", seq)

    def rest(self) -> dict[str, Any]:
        """Pauses, and waits until the page shows that nothing moves any more."""
        self.session.pause()
        self.until("!state.running && !state.stepping")
        self.page.wait_for_function("cy.nodes(':animated').empty()")
        return self.state()

    def select(self, name: str) -> None:
        """Presses someone's button and waits for the newest turn in the panel."""
        self.page.click(f"button[data-agent={name}]")
        self.page.wait_for_function(
            """(name) => {
                const agent = simuverse.run.state.agents.find((one) => one.name === name);
                return document.getElementById("card").dataset.turn === agent.turn;
            }""",
            arg=name,
        )

    def place_of(self, element: str) -> tuple[float, float]:
        """Where a node is drawn, in pixels of the window."""
        x, y = self.page.evaluate(
            """(id) => {
                const box = cy.container().getBoundingClientRect();
                const { x, y } = cy.getElementById(id).renderedPosition();
                return [box.left + x, box.top + y];
            }""",
            element,
        )
        return x, y

    def drag(self, element: str, x: float, y: float) -> None:
        """Drags a node by the mouse to a point of the world."""
        there: list[float] = self.page.evaluate(
            """([x, y]) => {
                const box = cy.container().getBoundingClientRect();
                const { x: left, y: top } = cy.pan();
                return [box.left + left + x * cy.zoom(), box.top + top + y * cy.zoom()];
            }""",
            [x, y],
        )
        self.page.mouse.move(*self.place_of(element))
        self.page.mouse.down()
        self.page.mouse.move(*there, steps=5)
        self.page.mouse.up()


Visits = Callable[..., contextlib.AbstractContextManager[Visit]]


@pytest.fixture(scope="module")
def browser() -> Generator[Browser]:
    """One a module: while Playwright is open its loop runs, and no test that is a coroutine can."""
    if not CHROMIUM.exists():
        reason = f"{CHROMIUM} is missing: apt install chromium"
        if os.environ.get("CI"):
            pytest.fail(reason)
        absent(reason)
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def visit(browser: Browser) -> Visits:
    """Opens a run and its page; when it is left, the page must have complained of nothing and asked no one else."""

    @contextlib.contextmanager
    def opened(
        session: Session | None = None,
        *,
        settings: Settings = QUICK,
        pause: float = 0.2,
        running: bool = True,
        query: str = "",
        size: tuple[int, int] = (1280, 800),
        theme: Literal["light", "dark"] = "light",
        still: bool = False,
        touch: bool = False,
    ) -> Generator[Visit]:
        session = session or Session(lambda: wiring.open_simulation(settings), pause=pause, running=running)
        with session, serve(session, "127.0.0.1", 0) as served:
            context = browser.new_context(
                viewport={"width": size[0], "height": size[1]},
                color_scheme=theme,
                has_touch=touch,
                is_mobile=touch,
                reduced_motion="reduce" if still else "no-preference",
            )
            context.set_default_timeout(20_000)
            visit = Visit(page=context.new_page(), session=session, served=served)
            _watch(visit)
            visit.page.goto(served.url + query)
            visit.page.wait_for_selector("body[data-map=ready]")
            yield visit
            context.close()
        assert visit.complaints == []
        assert visit.abroad == []

    return opened


def _watch(visit: Visit) -> None:
    def heard(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning") and not message.text.startswith((WHEEL, SWIPE)):
            visit.complaints.append(message.text)

    def asked(request: Request) -> None:
        address = urlsplit(request.url)
        if address.scheme not in ("data", "blob") and address.port != visit.served.port:
            visit.abroad.append(request.url)

    visit.page.on("console", heard)
    visit.page.on("pageerror", lambda error: visit.complaints.append(str(error)))
    visit.page.on("request", asked)
