"""The page's two ways to the run: looking (GET) and commanding (POST), both JSON.

Only the page itself may use them. ``Host`` must be a name that can't be pointed elsewhere, or another site could have
its own name lead to this address and read along; and what comes with an ``Origin`` must come from this very address.
"""

from __future__ import annotations

import ipaddress
from collections.abc import Callable, Mapping
from dataclasses import asdict
from typing import Any
from urllib.parse import urlsplit

import flask
import msgspec

from simuverse.dashboard.session import Answer, Session
from simuverse.dashboard.turn_card import card
from simuverse.errors import UnknownAgent


class BadValue(ValueError):
    """The body of a command isn't what it should be."""


def add_api(server: flask.Flask, session: Session, *, host: str) -> None:
    """Adds ``/api/...`` to ``server``.

    Args:
        host: that the page is served on; its name is accepted besides addresses and ``localhost``.
    """
    commands: Mapping[str, Callable[[Mapping[str, Any]], Answer]] = {
        "play": lambda _: session.play(),
        "pause": lambda _: session.pause(),
        "step": lambda _: session.step(),
        "speed": lambda body: session.set_speed(_number(body, "value")),
        "strength": lambda body: session.set_strength(_text(body, "agent"), _number(body, "value")),
        "place": lambda body: session.place(_text(body, "name"), _number(body, "x"), _number(body, "y")),
    }

    def guard() -> flask.Response | None:
        reason = refusal(flask.request.host, flask.request.headers.get("Origin"), host=host)
        return None if reason is None else _said(403, reason)

    def state() -> flask.Response:
        if session.ended:
            return _said(503, "The run has ended.")
        body = session.since(flask.request.args.get("since", -1, type=int))
        return flask.Response(status=204) if body is None else _json(200, body)

    def turn(agent: str) -> flask.Response:
        trace = session.snapshot().turns.get(agent)
        if trace is None:
            return _said(404, f"{agent} has not had a turn.")
        return _json(200, msgspec.json.encode(card(trace)))

    def command(name: str) -> flask.Response:
        if name not in commands:
            return _said(404, f"There is no command {name}. Commands: {', '.join(commands)}.")
        try:
            answer = commands[name](_body())
        except (ValueError, UnknownAgent) as error:
            return _said(400, f"{error}.")
        return _json(200, msgspec.json.encode(asdict(answer)))

    server.before_request(guard)
    server.add_url_rule("/api/state", "state", state)
    server.add_url_rule("/api/turn/<agent>", "turn", turn)
    server.add_url_rule("/api/command/<name>", "command", command, methods=["POST"])


def refusal(address: str, origin: str | None, *, host: str) -> str | None:
    """Why a request is refused; None if it may pass.

    Args:
        address: its ``Host``, with or without a port.
        origin: its ``Origin``; None where a program that isn't a browser sends none.
    """
    name = urlsplit(f"//{address}").hostname or ""
    if name not in ("localhost", host.casefold()) and not _is_address(name):
        return f"The page isn't served as {name}: use an address or localhost."
    if origin is not None and urlsplit(origin).netloc != address:
        return f"The request comes from {origin}, not from this page."
    return None


def _is_address(name: str) -> bool:
    try:
        ipaddress.ip_address(name)
    except ValueError:
        return False
    return True


def _body() -> Mapping[str, Any]:
    """The request's JSON object; an absent body is an empty one."""
    raw = flask.request.get_data()
    try:
        return msgspec.json.decode(raw or b"{}", type=dict[str, Any])
    except msgspec.MsgspecError as error:
        raise BadValue(f"the body isn't a JSON object: {error}") from error


def _number(body: Mapping[str, Any], name: str) -> float:
    value = body.get(name)
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadValue(f"{name} is {value!r}; it takes a number")
    return float(value)


def _text(body: Mapping[str, Any], name: str) -> str:
    value = body.get(name)
    if not isinstance(value, str):
        raise BadValue(f"{name} is {value!r}; it takes a name")
    return value


def _json(status: int, body: bytes) -> flask.Response:
    return flask.Response(body, status=status, mimetype="application/json", headers={"Cache-Control": "no-store"})


def _said(status: int, message: str) -> flask.Response:
    return _json(status, msgspec.json.encode({"ok": False, "message": message}))
