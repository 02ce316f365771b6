"""Fixtures that tests of several parts share."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.commands import Here


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """The command line in this process, in a folder of its own."""
    return Here(tmp_path, monkeypatch, capsys)
