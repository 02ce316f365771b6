"""What importing the package costs, and which names it gives."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version

import pytest

import simuverse
from simuverse import errors

HEAVY = (
    *("numpy", "lxml", "wordllama", "dash", "flask", "typer", "rich", "msgspec", "asyncio", "sqlite3", "email"),
    *("weaviate", "requests", "pydantic", "Stemmer", "logging", "importlib.metadata"),
)
NAMES = (
    "open_subconscious",
    "SubconsciousAgent",
    "Agent",
    "ConsciousAgent",
    "Memory",
    "MemoryQuery",
    "Flashback",
    "Recollection",
    "Score",
    "Preset",
    "TurnTrace",
    "MemoryStore",
    "Embedder",
    "ChatModel",
    "Clock",
)


def in_a_fresh_process(program: str) -> str:
    done = subprocess.run([sys.executable, "-W", "error", "-c", program], capture_output=True, text=True, check=True)
    return done.stdout


def test_the_import_loads_no_heavy_library() -> None:
    program = "import sys, simuverse; print(*sys.modules)"
    loaded = set(in_a_fresh_process(program).split())
    assert "simuverse" in loaded
    assert loaded.isdisjoint(HEAVY)


def test_neither_the_page_nor_any_providers_library_is_loaded_by_the_command_line() -> None:
    loaded = set(in_a_fresh_process("import sys, simuverse.cli; print(*sys.modules)").split())
    vendors = {"openai", "anthropic", "ollama", "xllamacpp", "weaviate", "sentence_transformers", "torch"}
    assert loaded.isdisjoint({"dash", "flask", "wordllama", *vendors})


@pytest.mark.parametrize("name", NAMES)
def test_every_documented_name_stands_at_the_top(name: str) -> None:
    assert getattr(simuverse, name).__name__ == name


@pytest.mark.parametrize(
    "error",
    [value for value in vars(errors).values() if isinstance(value, type) and issubclass(value, errors.SimuverseError)],
)
def test_every_error_stands_at_the_top(error: type[errors.SimuverseError]) -> None:
    assert getattr(simuverse, error.__name__) is error


def test_a_name_that_is_not_there_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="module 'simuverse' has no attribute 'nothing'"):
        _ = simuverse.nothing


def test_the_version_is_that_of_the_distribution() -> None:
    assert simuverse.__version__ == version("simu-verse")
