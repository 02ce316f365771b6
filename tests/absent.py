"""Ends a test that needs what isn't here: loudly skipped, or failed where SIMUVERSE_REQUIRE_LIVE=1 asks for all."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest


def absent(reason: str) -> NoReturn:
    """Args:
    reason: what is missing and how to get it.
    """
    if os.environ.get("SIMUVERSE_REQUIRE_LIVE") == "1":
        pytest.fail(f"SIMUVERSE_REQUIRE_LIVE=1, but {reason}", pytrace=False)
    pytest.skip(reason)
