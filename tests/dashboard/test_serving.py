from __future__ import annotations

import json
import urllib.request
from contextlib import closing

import pytest

from simuverse.dashboard.serving import Served, free_port, serve
from simuverse.dashboard.session import Session
from simuverse.errors import SettingsError
from tests.dashboard.staged import Stage


def test_the_page_answers_as_soon_as_its_address_is_known() -> None:
    with Session(Stage().open, running=False) as session, serve(session, "127.0.0.1", 0) as served:
        assert served.url == f"http://127.0.0.1:{served.port}/"
        assert not served.moved
        with urllib.request.urlopen(f"{served.url}api/state", timeout=10) as response:
            assert json.load(response)["tick"] == 0


def test_a_port_that_is_taken_moves_the_page_to_the_next() -> None:
    with closing(free_port("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        with Session(Stage().open, running=False) as session, serve(session, "127.0.0.1", port) as served:
            assert served.moved
            assert served.port > port


def test_the_port_is_free_again_afterwards() -> None:
    with Session(Stage().open, running=False) as session:
        with serve(session, "127.0.0.1", 0) as first:
            pass
        with serve(session, "127.0.0.1", first.port) as second:
            assert second.port == first.port


def test_a_host_that_is_not_this_machines_is_an_error_that_names_it() -> None:
    with pytest.raises(SettingsError, match=r"203\.0\.113\.5"):
        free_port("203.0.113.5", 8050)
    with pytest.raises(SettingsError, match="no-such-host"):
        free_port("no-such-host.invalid", 8050)


def test_an_address_for_all_is_shown_as_one_that_can_be_opened() -> None:
    assert Served(host="0.0.0.0", port=8050, asked=8050).url == "http://localhost:8050/"
    assert Served(host="::1", port=8051, asked=8050).url == "http://[::1]:8051/"
