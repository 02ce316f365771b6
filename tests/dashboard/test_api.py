from __future__ import annotations

from collections.abc import Generator
from typing import Any

import msgspec
import pytest
from flask.testing import FlaskClient
from werkzeug.test import TestResponse

from simuverse.dashboard.api import refusal
from simuverse.dashboard.app import create_app
from simuverse.dashboard.session import Session
from simuverse.dashboard.turn_card import card
from tests.dashboard.staged import Stage
from tests.dashboard.waiting import until


@pytest.fixture
def session() -> Generator[Session]:
    with Session(Stage().open, pause=0, running=False) as opened:
        yield opened


@pytest.fixture
def client(session: Session) -> FlaskClient:
    client: FlaskClient = create_app(session).server.test_client()
    return client


def body_of(response: TestResponse) -> dict[str, Any]:
    return msgspec.json.decode(response.data, type=dict[str, Any])


def test_the_state_comes_once_and_then_nothing_until_something_is_new(client: FlaskClient, session: Session) -> None:
    first = client.get("/api/state")
    assert first.status_code == 200
    seq = body_of(first)["seq"]
    assert seq == session.snapshot().seq
    idle = client.get(f"/api/state?since={seq}")
    assert (idle.status_code, idle.data) == (204, b"")
    answer = body_of(client.post("/api/command/place", json={"name": "Jade", "x": 400, "y": 300}))
    assert answer == {"ok": True, "seq": seq + 1, "message": answer["message"]}
    assert client.get(f"/api/state?since={seq}").status_code == 200


def test_every_command_reaches_the_session(client: FlaskClient, session: Session) -> None:
    assert body_of(client.post("/api/command/step"))["ok"]
    until(session, lambda shown: shown["tick"] == 1 and not shown["stepping"])
    assert body_of(client.post("/api/command/speed", json={"value": 4}))["ok"]
    assert body_of(client.post("/api/command/strength", json={"agent": "Jade", "value": 0.25}))["ok"]
    assert body_of(client.post("/api/command/play"))["ok"]
    until(session, lambda shown: shown["tick"] >= 3 and shown["speed"] == 4)
    assert body_of(client.post("/api/command/pause"))["ok"]
    shown = until(session, lambda shown: not shown["running"])
    assert next(agent for agent in shown["agents"] if agent["name"] == "Jade")["strength"] == 0.25


def test_a_place_that_the_world_refuses_is_answered_not_an_error(client: FlaskClient) -> None:
    answer = client.post("/api/command/place", json={"name": "Jade", "x": 1, "y": 1})
    assert answer.status_code == 200
    assert not body_of(answer)["ok"]
    assert body_of(answer)["message"]


@pytest.mark.parametrize(
    ("name", "body", "words"),
    [
        ("speed", {}, "value is None; it takes a number"),
        ("speed", {"value": "fast"}, "'fast'"),
        ("speed", {"value": True}, "True"),
        ("speed", {"value": 0}, "outside 0.1 to 100"),
        ("strength", {"agent": "Joan", "value": 0.5}, "Joan"),
        ("strength", {"agent": "Jade", "value": 2}, "0 to 1"),
        ("place", {"name": 3, "x": 1, "y": 1}, "takes a name"),
        ("place", {"name": "Jade", "x": 1}, "y is None"),
    ],
)
def test_bad_values_are_refused_with_a_sentence(
    client: FlaskClient, session: Session, name: str, body: dict[str, object], words: str
) -> None:
    seq = session.snapshot().seq
    answer = client.post(f"/api/command/{name}", json=body)
    assert answer.status_code == 400
    assert words in body_of(answer)["message"]
    assert session.snapshot().seq == seq


@pytest.mark.parametrize("raw", [b"{", b"[1]", b"\xff"])
def test_a_body_that_is_no_json_object_is_refused(client: FlaskClient, raw: bytes) -> None:
    answer = client.post("/api/command/speed", data=raw)
    assert answer.status_code == 400
    assert "isn't a JSON object" in body_of(answer)["message"]


def test_an_unknown_command_is_not_found_and_a_command_is_no_link(client: FlaskClient, session: Session) -> None:
    answer = client.post("/api/command/explode")
    assert answer.status_code == 404
    assert "play, pause, step" in body_of(answer)["message"]
    seq = session.snapshot().seq
    client.get("/api/command/play")
    assert session.snapshot().seq == seq


def test_a_turn_is_that_of_the_trace(client: FlaskClient, session: Session) -> None:
    assert client.get("/api/turn/Jade").status_code == 404
    session.step()
    until(session, lambda shown: shown["tick"] == 1 and not shown["stepping"])
    shown = body_of(client.get("/api/turn/Jade"))
    expected = card(session.snapshot().turns["Jade"])
    assert shown["recollection"]["flashbacks"] == [
        {**one, "keywords": list(one["keywords"]), "flags": list(one["flags"])}
        for one in expected["recollection"]["flashbacks"]
    ]
    assert client.get("/api/turn/Joan").status_code == 404


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("attacker.example", None),
        ("attacker.example:8050", "http://attacker.example:8050"),
        ("localhost:8050", "http://attacker.example"),
        ("localhost:8050", "http://localhost:9999"),
        ("127.0.0.1:8050", "null"),
        ("", None),
    ],
)
def test_other_sites_are_kept_out(host: str, origin: str | None) -> None:
    assert refusal(host, origin, host="127.0.0.1")


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        ("localhost:8050", "http://localhost:8050"),
        ("127.0.0.1:8050", "http://127.0.0.1:8050"),
        ("[::1]:8050", "http://[::1]:8050"),
        ("192.168.1.7:8050", "http://192.168.1.7:8050"),
        ("mybox:8050", "http://mybox:8050"),
        ("localhost:8050", None),
    ],
)
def test_the_page_itself_is_let_in(host: str, origin: str | None) -> None:
    assert refusal(host, origin, host="mybox") is None


def test_what_other_sites_send_changes_nothing_and_is_told_why(client: FlaskClient, session: Session) -> None:
    seq = session.snapshot().seq
    answer = client.post("/api/command/play", headers={"Origin": "http://attacker.example"})
    assert answer.status_code == 403
    assert "attacker.example" in body_of(answer)["message"]
    assert client.get("/api/state", headers={"Host": "attacker.example"}).status_code == 403
    assert session.snapshot().seq == seq


def test_a_run_that_has_ended_says_so() -> None:
    with Session(Stage().open, running=False) as session:
        client = create_app(session).server.test_client()
    assert client.get("/api/state").status_code == 503


def test_the_page_says_what_is_in_use_and_that_rehearsal_is_no_model(client: FlaskClient) -> None:
    layout = client.get("/_dash-layout").get_data(as_text=True)
    assert "rehearsal: fixed rules, not a language model" in layout
    assert "hashing, 64 dimensions" in layout
    assert "version 0" in layout
    assert "http://" not in client.get("/").get_data(as_text=True).replace("http://www.w3.org/2000/svg", "")
