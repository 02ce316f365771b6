"""Settings: one frozen value, from a TOML file, the environment and what was typed. The only reader of the environment.

What is typed wins over ``SIMUVERSE_*`` variables, they win over the file, the file over the defaults. Keys of providers
are read from the providers' own variables too, so that a key that is set for other software serves here.
"""

from __future__ import annotations

import math
import os
import sys
import tomllib
from collections.abc import Generator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, fields
from pathlib import Path
from types import MappingProxyType
from typing import Any

from simuverse.errors import ScenarioError, SettingsError

PREFIX = "SIMUVERSE_"

_OWN_VARIABLES: Mapping[str, str] = MappingProxyType(
    {
        "openai_api_key": "OPENAI_API_KEY",
        "openai_base_url": "OPENAI_BASE_URL",
        "anthropic_api_key": "ANTHROPIC_API_KEY",
        "anthropic_base_url": "ANTHROPIC_BASE_URL",
        "weaviate_api_key": "WEAVIATE_API_KEY",
        "ollama_host": "OLLAMA_HOST",
        "port": "PORT",
    }
)
"""Variables that other software reads too; ``SIMUVERSE_*`` of the same setting wins over them."""


class Secret:
    """A key. Prints and logs show that there is one; its text is only had by :meth:`reveal`."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __repr__(self) -> str:
        return "Secret(set)"

    def reveal(self) -> str:
        return self._text


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """What a user can set.

    Args:
        model: of the characters, ``provider:model``.
        subconscious_model: of their second minds; ``reflex`` works by rule. None: by rule beside ``rehearsal``, else
            the same as ``model``.
        embedder, store: as a user types them. None for the store: an SQLite file in the run folder.
        scenario: a name of the program's own, or a TOML file.
        seed: of all chance in a run.
        concurrency: agents that think at once, 1 or more.
        memory: False switches every subconscious off.
        judge: whether a second mind's model judges what comes to mind in place of the gate, by a second call a turn.
        preset: how the three factors are weighed.
        zone: whose days and hours are meant where a text speaks of a time, such as ``Europe/Berlin``. None: that of the
            scenario's start, else UTC.
        capacity: memories that an agent keeps at most; 0: as many as there are.
        model_timeout: seconds for one call of a model.
        model_calls: calls to one provider at once; 0: 2 for local ones, 8 for others.
        host, port: where the page is served.
        weaviate_headers: sent with every call of a Weaviate server, as ``Name: value; Name: value``.
        origins: not a setting: of each that a file or a variable made, the file and line, or the variable.
    """

    model: str = "rehearsal"
    subconscious_model: str | None = None
    embedder: str = "wordllama"
    store: str | None = None
    scenario: str = "grid"
    seed: int = 7
    concurrency: int = 8
    memory: bool = True
    judge: bool = False
    preset: str = "balanced"
    zone: str | None = None
    capacity: int = 0
    model_timeout: float = 120.0
    model_calls: int = 0
    host: str = "127.0.0.1"
    port: int = 8050
    openai_api_key: Secret | None = None
    openai_base_url: str | None = None
    anthropic_api_key: Secret | None = None
    anthropic_base_url: str | None = None
    weaviate_api_key: Secret | None = None
    weaviate_headers: Secret | None = None
    ollama_host: str | None = None
    origins: Mapping[str, str] = field(default_factory=dict[str, str], compare=False, repr=False)

    def __post_init__(self) -> None:
        for name in _RANGES:
            _check_range(name, getattr(self, name))

    def public(self) -> dict[str, Any]:
        """All but what is secret."""
        return {name: getattr(self, name) for name, kind in _kinds().items() if "Secret" not in kind}


def _kinds() -> dict[str, str]:
    """Setting to its type."""
    return {f.name: str(f.type) for f in fields(Settings) if f.name != "origins"}


_RANGES: Mapping[str, tuple[float, float, str]] = MappingProxyType(
    {
        "seed": (0, math.inf, "0 or more"),
        "concurrency": (1, math.inf, "1 or more"),
        "capacity": (0, math.inf, "0 or more"),
        "model_timeout": (math.ulp(0.0), sys.float_info.max, "a number of seconds above 0"),
        "model_calls": (0, math.inf, "0 or more"),
        "port": (0, 65535, "0 to 65535"),
    }
)
"""Least, greatest, and both in words."""


def _check_range(name: str, value: float) -> None:
    least, greatest, words = _RANGES[name]
    if not least <= value <= greatest:
        raise SettingsError(f"{name} is {value}; it must be {words}")


def load(
    file: Path | None = None, *, environment: Mapping[str, str] | None = None, typed: Mapping[str, Any] | None = None
) -> Settings:
    """Settings from all their sources.

    Args:
        environment: by default that of the process.
        typed: what a command line was given; None values are passed over.

    Raises:
        SettingsError: naming file or variable, what is wrong and what is allowed.
    """
    values: dict[str, Any] = {}
    origins: dict[str, str] = {}
    if file is not None:
        table = _from_file(file)
        origins |= {name: _place(file, name) for name in table}
        values |= {name: _checked(name, value, where=origins[name]) for name, value in table.items()}
    for name, (variable, text) in _from_environment(os.environ if environment is None else environment).items():
        origins[name] = variable
        values[name] = _checked(name, text, where=variable)
    chosen = {name: value for name, value in (typed or {}).items() if value is not None}
    kept = {name: origin for name, origin in origins.items() if name not in chosen}
    return Settings(**(values | chosen), origins=kept)


@contextmanager
def placed(settings: Settings | None, *names: str, value: object = None) -> Generator[None]:
    """Says in front of an error about these settings where they were made, unless by typing.

    Args:
        value: of the settings only the one that has it is meant.
    """
    try:
        yield
    except (SettingsError, ScenarioError) as error:
        if settings is None:
            raise
        meant = [name for name in names if value is None or getattr(settings, name) == value]
        places = [settings.origins[name] for name in meant if name in settings.origins]
        if not places or any(origin in str(error) for origin in settings.origins.values()):
            raise
        raise type(error)(f"{' or '.join(places)}: {error}") from error


def _from_file(file: Path) -> dict[str, Any]:
    try:
        with file.open("rb") as opened:
            return tomllib.load(opened)
    except FileNotFoundError as error:
        raise SettingsError(f"there is no settings file {file}; --config takes one that is there") from error
    except OSError as error:
        raise SettingsError(f"the settings file {file} can't be read: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise SettingsError(f"the settings file {file} isn't valid TOML in UTF-8: {error}") from error


def _place(file: Path, name: str) -> str:
    """File and line of a top-level key."""
    lines = file.read_text(encoding="utf-8").splitlines()
    number = next((i for i, line in enumerate(lines, start=1) if line.split("=")[0].strip(" \"'[]") == name), None)
    return str(file) if number is None else f"{file}, line {number}"


def _from_environment(environment: Mapping[str, str]) -> dict[str, tuple[str, str]]:
    """Setting to the variable that makes it, and that one's text."""
    set_there = {variable: text for variable, text in environment.items() if text}
    found = {
        name: (variable, set_there[variable]) for name, variable in _OWN_VARIABLES.items() if variable in set_there
    }
    for variable, text in set_there.items():
        name = variable.removeprefix(PREFIX).lower()
        if variable.startswith(PREFIX) and not name.startswith(("test_", "require_")):
            found[name] = (variable, text)
    return found


def _checked(name: str, value: object, *, where: str) -> Any:
    """``value`` as the setting's own type; text is read as numbers and truth values where those are wanted."""
    kinds = _kinds()
    if name not in kinds:
        raise SettingsError(f"{where}: there is no setting {name}. Settings: {', '.join(kinds)}")
    kind = kinds[name]
    if kind == "bool":
        words = {
            "on": True,
            "true": True,
            "1": True,
            "yes": True,
            "off": False,
            "false": False,
            "0": False,
            "no": False,
        }
        if isinstance(value, bool):
            return value
        if isinstance(value, str) and value.lower() in words:
            return words[value.lower()]
        raise SettingsError(f"{where}: {name} is {value!r}; it takes on or off")
    if kind in ("int", "float"):
        try:
            if isinstance(value, bool) or (kind == "int" and isinstance(value, float)):
                raise ValueError
            number = int(str(value)) if kind == "int" else float(str(value))
        except ValueError:
            whole = "a whole number" if kind == "int" else "a number"
            raise SettingsError(f"{where}: {name} is {value!r}; it takes {whole}") from None
        try:
            _check_range(name, number)
        except SettingsError as error:
            raise SettingsError(f"{where}: {error}") from None
        return number
    if not isinstance(value, str):
        # The value isn't quoted, as it may hold a key.
        raise SettingsError(f"{where}: {name} takes text in quotes")
    return Secret(value) if "Secret" in kind else value
