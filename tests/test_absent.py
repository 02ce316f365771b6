"""SIMUVERSE_REQUIRE_LIVE=1 fails every test that is skipped for want of something from outside the program."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.commands import ROOT


@pytest.mark.parametrize(
    ("test", "missing"),
    [
        ("tests/test_compose.py::test_docker_reads_it_without_complaint", "there is no `docker compose`"),
        ("tests/bad_input/test_disks.py::test_a_disk_that_is_full_from_the_start_says_so", "no file system can be"),
        ("tests/live/test_weaviate_faults.py::test_a_missing_grpc_port_is_named", "there is no `weaviate` on PATH"),
    ],
)
@pytest.mark.parametrize("required", [True, False])
def test_what_is_missing_fails_a_test_only_where_all_are_required(
    test: str, missing: str, required: bool, tmp_path: Path
) -> None:
    mount = tmp_path / "mount"
    mount.write_text("#!/bin/false\n")
    mount.chmod(0o755)
    environment = {name: value for name, value in os.environ.items() if name not in ("CI", "SIMUVERSE_REQUIRE_LIVE")}
    ended = subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", "-q", "-rs", "--no-cov", test],
        cwd=ROOT,
        env={**environment, "PATH": str(tmp_path), **({"SIMUVERSE_REQUIRE_LIVE": "1"} if required else {})},
        capture_output=True,
        text=True,
        check=False,
    )
    assert ended.returncode == int(required), ended.stdout
    assert f"SIMUVERSE_REQUIRE_LIVE=1, but {missing}" in ended.stdout if required else missing in ended.stdout
