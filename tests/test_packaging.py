"""The wheel: everything inside, nothing else, and it works where nothing of this checkout is."""

from __future__ import annotations

import re
import subprocess
import sys
import sysconfig
from importlib.util import find_spec
from pathlib import Path
from zipfile import ZipFile

import pytest

import simuverse
from tests.commands import ROOT

DATA = (".md", ".rng", ".toml", ".js", ".css", ".typed")


def done(*words: str | Path, folder: Path) -> str:
    ended = subprocess.run(list(map(str, words)), cwd=folder, capture_output=True, text=True, check=False, timeout=280)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    return ended.stdout


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built from this checkout with the build backend that is installed; where there is none it is fetched first."""
    folder = tmp_path_factory.mktemp("dist")
    isolation = ["--no-isolation"] if find_spec("hatchling") else []
    done(sys.executable, "-m", "build", "--wheel", *isolation, "--outdir", folder, ROOT, folder=folder)
    (built,) = folder.iterdir()
    return built


def venv(folder: Path, *options: str) -> Path:
    """The interpreter of a new environment."""
    done(sys.executable, "-m", "venv", *options, folder / "venv", folder=folder)
    return folder / "venv" / "bin" / "python"


def test_the_wheel_holds_every_file_of_the_package_and_no_other(wheel: Path) -> None:
    package = ROOT / "simuverse"
    sources = {
        f"simuverse/{file.relative_to(package)}"
        for file in package.rglob("*")
        if file.is_file() and "__pycache__" not in file.parts
    }
    with ZipFile(wheel) as archive:
        inside = {name for name in archive.namelist() if ".dist-info/" not in name}
    assert inside == sources
    for kind in DATA:
        assert any(name.endswith(kind) for name in inside), kind
    assert "simuverse/world/scenarios/grid.toml" in inside
    assert "simuverse/prompts/character.md" in inside


def test_the_wheel_says_what_it_is(wheel: Path) -> None:
    with ZipFile(wheel) as archive:
        (name,) = [name for name in archive.namelist() if name.endswith(".dist-info/METADATA")]
        metadata = archive.read(name).decode()
        assert any(name.endswith("licenses/LICENSE") for name in archive.namelist())
    assert "Name: simu-verse\n" in metadata
    assert "License-Expression: MIT\n" in metadata
    extras = set(re.findall(r"^Provides-Extra: (.+)$", metadata, re.MULTILINE))
    assert extras == {"weaviate", "anthropic", "openai", "ollama", "local", "sentence-transformers", "all"}


def test_it_installs_elsewhere_and_works_there(wheel: Path, tmp_path: Path) -> None:
    python = venv(tmp_path, "--without-pip")
    pip = (sys.executable, "-m", "pip", "--python", python, "--disable-pip-version-check")
    done(*pip, "install", "--no-deps", "--no-index", wheel, folder=tmp_path)
    # What it depends on is lent by this environment; the package itself is found in the new one first.
    site = Path(done(python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))", folder=tmp_path).strip())
    (site / "lent.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    command = python.with_name("simuverse")
    where = done(python, "-c", "import simuverse; print(simuverse.__file__)", folder=tmp_path)
    assert Path(where.strip()).is_relative_to(tmp_path)
    assert done(command, "--version", folder=tmp_path) == f"simuverse {simuverse.__version__}\n"
    lived = done(command, "run", "--ticks", "1", "--out", "run1", folder=tmp_path)
    assert "journal sha256: " in lived
    assert "embedder wordllama, 256 dimensions" in lived


@pytest.mark.long
def test_it_installs_into_an_empty_environment_with_what_it_depends_on(wheel: Path, tmp_path: Path) -> None:
    python = venv(tmp_path)
    constraints = ROOT / "constraints.txt"
    done(python, "-m", "pip", "install", "--quiet", "--constraint", constraints, wheel, folder=tmp_path)
    command = python.with_name("simuverse")
    assert done(command, "--version", folder=tmp_path) == f"simuverse {simuverse.__version__}\n"
    assert "journal sha256: " in done(command, "run", "--ticks", "2", "--out", "run1", folder=tmp_path)
