"""Fixtures that tests of several parts share."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.commands import Here


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Here:
    """The command line in this process, in a folder of its own."""
    return Here(tmp_path, monkeypatch, capsys)


@pytest.fixture
async def store() -> AsyncIterator[SQLiteStore]:
    """Empty, in memory."""
    store = await SQLiteStore.open(None, embedder_name="hashing", dimension=HashingEmbedder.dimension)
    yield store
    await store.aclose()
