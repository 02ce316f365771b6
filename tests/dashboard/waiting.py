"""Waiting for what a session will show, never for time to pass."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import msgspec

from simuverse.dashboard.session import Session

PATIENCE = 10.0
"""Seconds after which a test gives up."""


def state(session: Session) -> dict[str, Any]:
    return msgspec.json.decode(session.snapshot().as_json(), type=dict[str, Any])


def until(session: Session, holds: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
    """The first state that ``holds``, looked for whenever the sequence number moves on."""
    tick = threading.Event()
    for _ in range(int(PATIENCE / 0.005)):
        shown = state(session)
        if holds(shown):
            return shown
        tick.wait(0.005)
    raise AssertionError(f"not within {PATIENCE} seconds; the last state was {state(session)}")


def at_rest(session: Session) -> dict[str, Any]:
    """The state once no tick is being lived and none will be."""
    return until(session, lambda shown: not shown["running"] and not shown["stepping"])
