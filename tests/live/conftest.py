"""Live tests skip loudly where what they need isn't there; with SIMUVERSE_REQUIRE_LIVE=1 they fail instead."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import NoReturn

import pytest

Absent = Callable[[str], NoReturn]


@pytest.fixture(scope="session")
def absent() -> Absent:
    """Call it with what is missing and how to get it."""

    def end(reason: str) -> NoReturn:
        if os.environ.get("SIMUVERSE_REQUIRE_LIVE") == "1":
            pytest.fail(f"SIMUVERSE_REQUIRE_LIVE=1, but {reason}", pytrace=False)
        pytest.skip(reason)

    return end


@pytest.fixture(scope="session")
def ollama_server() -> tuple[str, str]:
    """Address and model of a running Ollama; these tests are for those who have one, and never required."""
    address, model = (os.environ.get(f"SIMUVERSE_TEST_OLLAMA_{name}", "") for name in ("URL", "MODEL"))
    if not address or not model:
        pytest.skip("SIMUVERSE_TEST_OLLAMA_URL and SIMUVERSE_TEST_OLLAMA_MODEL name no Ollama server and model")
    return address, model
