"""Fixtures that tests of several parts share."""

from __future__ import annotations

import subprocess
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.absent import absent
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


@pytest.fixture
def disk(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Path]:
    """A small file system of its own, with the options given as parameter; where none can be mounted, none is tried."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", str(request.param), "tmpfs", str(folder)], capture_output=True, check=False
    )
    if mounted.returncode != 0:
        absent("no file system can be mounted: run this as root")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)
