"""``simuverse demo`` on a real Weaviate server that ends and comes back: the page says so, then no more."""

from __future__ import annotations

import asyncio
import json
import signal
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from simuverse.world.journal import OUTBOX
from tests.commands import finish
from tests.live.test_weaviate_outbox import assert_run_is_stored, settings_for
from tests.live.weaviate_server import WeaviateServer
from tests.test_cli_demo import address, demo, get

pytestmark = pytest.mark.live

PATIENCE = 60.0
"""Seconds for the page to show what it is to show."""

SHOWN_EVERY = 0.05
"""Seconds; a banner stays for a tick, which takes longer."""


def test_the_page_says_that_the_server_is_away_what_waits_and_when_it_has_gone_out(
    weaviate_binary: str, tmp_path: Path
) -> None:
    with WeaviateServer.running(weaviate_binary, tmp_path) as server:
        store, where = f"weaviate:{server.url}", f"Weaviate at {server.address.url}"
        process = demo("--port", "0", "--store", store, "--out", "run1", folder=tmp_path)
        assert process.stdout is not None
        try:
            page = address(process.stdout.readline())
            until(page, lambda shown: shown["tick"] >= 2 and banners(shown) == [])
            server.kill()
            away = until(page, lambda shown: any(OUTBOX in told for told in banners(shown)))
            assert any(told.startswith("nothing could be recalled: ") and where in told for told in banners(away))
            assert any(f" wait in {OUTBOX} until the store takes them: {where}" in told for told in banners(away))
            server.start()
            until(page, lambda shown: any(event["kind"] == "delivered" for event in shown["events"]))
            until(page, lambda shown: banners(shown) == [] and not (tmp_path / "run1" / OUTBOX).exists())
        finally:
            process.send_signal(signal.SIGINT)
            ended = finish(process)
        assert (ended.code, "Traceback" in ended.err) == (130, False), ended.text
        asyncio.run(assert_run_is_stored(tmp_path / "run1", settings_for(server)))


def banners(shown: dict[str, Any]) -> list[str]:
    return [banner["text"] for banner in shown["banners"]]


def until(page: str, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first state of the page that ``holds``."""
    end, pause = time.monotonic() + PATIENCE, threading.Event()
    while True:
        shown: dict[str, Any] = json.loads(get(f"{page}api/state"))
        if holds(shown):
            return shown
        assert time.monotonic() < end, shown
        pause.wait(SHOWN_EVERY)
