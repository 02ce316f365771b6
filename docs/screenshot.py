"""Takes the README's screenshots of the page: light, dark and phone width. Run by ``make screenshot``.

Serves the demo with its default settings for 14 ticks, selects James, and looks with Debian's chromium.
"""

from __future__ import annotations

import tempfile
from contextlib import chdir
from pathlib import Path
from typing import Literal

from playwright.sync_api import Page, sync_playwright

from simuverse import wiring
from simuverse.config import load
from simuverse.dashboard.serving import serve
from simuverse.dashboard.session import Session

IMAGES = Path(__file__).resolve().parent / "images"
TICKS = 14
VIEWS: tuple[tuple[str, Literal["light", "dark"], int, int], ...] = (
    ("page-light", "light", 1280, 800),
    ("page-dark", "dark", 1280, 800),
    ("page-phone", "light", 390, 844),
)
CHROMIUM = "/usr/bin/chromium"
FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


def take(page: Page, url: str, name: str) -> None:
    page.goto(url)
    page.wait_for_function(f"simuverse.run.state && simuverse.run.state.tick >= {TICKS}")
    page.click("button[data-agent=James]")
    page.wait_for_selector("#card[data-turn]")
    page.wait_for_function("cy.nodes(':animated').empty()")
    page.screenshot(path=IMAGES / f"{name}.png")


def main() -> None:
    IMAGES.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch, chdir(scratch):
        settings = load(environment={})
        session = Session(lambda: wiring.open_simulation(settings, folder=Path("runs/grid-7")), running=False)
        with session, serve(session, "127.0.0.1", 0) as served, sync_playwright() as playwright:
            for _ in range(TICKS):
                session.step()
            browser = playwright.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
            for name, scheme, width, height in VIEWS:
                context = browser.new_context(color_scheme=scheme, viewport={"width": width, "height": height})
                take(context.new_page(), served.url, name)
            browser.close()


if __name__ == "__main__":
    main()
