"""Scenarios: one TOML file that says what a world is made of, who lives in it and what they know at the start.

The only module of ``world`` besides the journal that reads files. A file that is broken in any way is a
:class:`ScenarioError` that says where, what is wrong and what is allowed.
"""

from __future__ import annotations

import math
import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from importlib.resources import files
from pathlib import Path
from typing import Annotated, Any

import msgspec
from msgspec import Meta, Struct

from simuverse.agents.turn import Persona
from simuverse.errors import ScenarioError
from simuverse.memory.records import IMPORTANCE_DEFAULT, MAX_KEYWORDS, Category, MemoryDraft
from simuverse.world.actions import VERBS
from simuverse.world.answers import clean
from simuverse.world.state import CLOSED, FREE, OPEN, Body, Item, Landmark, Position, World

_FOLDER = files("simuverse.world").joinpath("scenarios")

NAME_LENGTH = 40
"""Characters of a name."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Scenario:
    """A world before its first tick.

    Args:
        name: of the file, without its ending.
        title: one line, for people.
        start: aware; the time of tick 0.
        seconds_per_tick: of simulated time, above 0.
        personas: one for each of the world's bodies, sorted by name.
        seeds: what each knows from before, by the agent's name, in the order of the file.
    """

    name: str
    title: str
    start: datetime
    seconds_per_tick: float
    world: World
    personas: tuple[Persona, ...]
    seeds: Mapping[str, tuple[MemoryDraft, ...]]


def available() -> tuple[str, ...]:
    """Names of the scenarios that come with the package, sorted."""
    names = (entry.name for entry in _FOLDER.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def load(name_or_path: str | Path) -> Scenario:
    """A scenario of the package by its name, or any file by its path (a :class:`Path`, or text ending in ``.toml``).

    Raises:
        ScenarioError: there is none, or it can't be read, or it makes no sense.
    """
    if isinstance(name_or_path, Path) or name_or_path.endswith(".toml"):
        path = Path(name_or_path)
        try:
            data = path.read_bytes()
        except OSError as error:
            raise ScenarioError(f"{path}: {error.strerror or error}. {_known()}") from error
        return parse(data, name=path.stem, file=str(path))
    if name_or_path not in available():
        raise ScenarioError(f"There is no scenario {name_or_path}. {_known()}")
    data = _FOLDER.joinpath(f"{name_or_path}.toml").read_bytes()
    return parse(data, name=name_or_path, file=f"{name_or_path}.toml")


def parse(data: bytes, *, name: str, file: str) -> Scenario:
    """The scenario that ``data`` describes.

    Args:
        file: what to call it in errors.

    Raises:
        ScenarioError: it isn't TOML in UTF-8, or makes no sense.
    """
    try:
        text = data.decode("utf-8-sig")
        tables = tomllib.loads(text)
    except (UnicodeDecodeError, tomllib.TOMLDecodeError, RecursionError) as error:
        raise ScenarioError(f"{file}: not TOML in UTF-8: {error}") from error
    try:
        return _scenario(_converted(tables), name)
    except _Nonsense as nonsense:
        raise ScenarioError(_located(file, text, nonsense)) from nonsense


class _Nonsense(Exception):
    """A value of the right type that makes no sense; ``path`` says which, as in ``items[0].x``."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path


_Text = Annotated[str, Meta(pattern=r"\S")]


class _Bounds(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    low: float = 50.0
    high: float = 550.0


class _Landmark(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    x: float
    y: float


class _Item(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    kind: _Text
    x: float
    y: float
    portable: bool = False
    state: str = ""
    verbs: tuple[str, ...] = ()
    text: str = ""
    hands: Annotated[int, Meta(ge=1)] = 1


class _Seed(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    summary: _Text
    category: Category
    importance: Annotated[int, Meta(ge=1, le=10)] = IMPORTANCE_DEFAULT
    keywords: Annotated[tuple[_Text, ...], Meta(max_length=MAX_KEYWORDS)] = ()
    critical_information: str = ""


class _Agent(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    name: str
    x: float
    y: float
    description: _Text
    speech: str = ""
    facts: tuple[_Text, ...] = ()
    wishes: tuple[_Text, ...] = ()
    strength: Annotated[float, Meta(ge=0, le=1)] = 0.7
    seed_paragraph: str = ""
    memories: tuple[_Seed, ...] = ()


class _File(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    title: _Text
    start: Annotated[datetime, Meta(tz=True)]
    seconds_per_tick: Annotated[float, Meta(gt=0, le=86_400)] = 60.0
    bounds: _Bounds = _Bounds()
    landmarks: tuple[_Landmark, ...] = ()
    items: tuple[_Item, ...] = ()
    agents: Annotated[tuple[_Agent, ...], Meta(min_length=1)]


_TABLES: Mapping[str, type[Struct]] = {
    "": _File,
    "bounds": _Bounds,
    "landmarks": _Landmark,
    "items": _Item,
    "agents": _Agent,
    "memories": _Seed,
}


def _converted(tables: dict[str, Any]) -> _File:
    try:
        return msgspec.convert(tables, _File)
    except msgspec.ValidationError as error:
        raise _invalid(error) from error


def _scenario(file: _File, name: str) -> Scenario:
    low, high = file.bounds.low, file.bounds.high
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise _Nonsense("bounds", f"low {low:g} must be below high {high:g}, both finite.")
    _check_names(file)
    _check_items(file)
    world = World(
        bodies={a.name: Body(name=a.name, position=Position(a.x, a.y)) for a in file.agents},
        landmarks={m.name: Landmark(name=m.name, position=Position(m.x, m.y)) for m in file.landmarks},
        items={i.name: _made(i) for i in file.items},
        low=low,
        high=high,
    )
    agents = sorted(file.agents, key=lambda a: a.name)
    return Scenario(
        name=name,
        title=file.title,
        start=file.start,
        seconds_per_tick=file.seconds_per_tick,
        world=world,
        personas=tuple(_persona(a) for a in agents),
        seeds={a.name: _drafts(a) for a in agents},
    )


def _check_names(file: _File) -> None:
    seen: dict[str, str] = {}
    named: dict[str, tuple[_Agent | _Landmark | _Item, ...]] = {
        "agents": file.agents,
        "landmarks": file.landmarks,
        "items": file.items,
    }
    for kind, things in named.items():
        for i, thing in enumerate(things):
            path = f"{kind}[{i}]"
            if not thing.name or clean(thing.name) != thing.name or len(thing.name) > NAME_LENGTH:
                raise _Nonsense(
                    f"{path}.name", f"{thing.name[:NAME_LENGTH]!r} is no name: one line, 1 to {NAME_LENGTH} characters."
                )
            other = seen.setdefault(thing.name.casefold(), path)
            if other != path:
                raise _Nonsense(f"{path}.name", f"{thing.name} is taken by {other}; names differ in more than case.")
            for axis, value in (("x", thing.x), ("y", thing.y)):
                if not file.bounds.low <= value <= file.bounds.high:
                    raise _Nonsense(
                        f"{path}.{axis}",
                        f"{value:g} is outside the grid: {file.bounds.low:g} to {file.bounds.high:g}.",
                    )


def _check_items(file: _File) -> None:
    for i, item in enumerate(file.items):
        path = f"items[{i}]"
        verbs = set(item.verbs)
        if unknown := sorted(verbs - set(VERBS)):
            raise _Nonsense(f"{path}.verbs", f"unknown: {', '.join(unknown)}. Allowed: {', '.join(VERBS)}.")
        if verbs & {"open", "close"} and item.state not in (OPEN, CLOSED):
            raise _Nonsense(f"{path}.state", f"what can be opened is {OPEN!r} or {CLOSED!r}, not {item.state!r}.")
        if verbs & {"sit", "stand"} and (not {"sit", "stand"} <= verbs or item.state != FREE or item.portable):
            raise _Nonsense(path, f"a seat has both sit and stand, the state {FREE!r}, and isn't portable.")
        if ("read" in verbs) != bool(item.text.strip()):
            raise _Nonsense(f"{path}.text", "what can be read needs a text, and a text the verb read.")


def _made(item: _Item) -> Item:
    return Item(
        name=item.name,
        position=Position(item.x, item.y),
        kind=clean(item.kind),
        portable=item.portable,
        state=clean(item.state),
        verbs=item.verbs,
        text=clean(item.text),
        hands=item.hands,
    )


def _persona(agent: _Agent) -> Persona:
    return Persona(
        name=agent.name,
        description=agent.description.strip(),
        speech=agent.speech.strip(),
        facts=agent.facts,
        wishes=agent.wishes,
        strength=agent.strength,
    )


def _drafts(agent: _Agent) -> tuple[MemoryDraft, ...]:
    """The clauses of the seed paragraph, then the written memories."""
    clauses = (clause for part in agent.seed_paragraph.split(";") if (clause := clean(part)))
    return (
        *(MemoryDraft(summary=clause, category=Category.KNOWLEDGE) for clause in clauses),
        *(
            MemoryDraft(
                summary=clean(seed.summary),
                category=seed.category,
                keywords=seed.keywords,
                critical_information=clean(seed.critical_information),
                importance=seed.importance,
            )
            for seed in agent.memories
        ),
    )


def _known() -> str:
    return f"Scenarios: {', '.join(available())}; or the path of a .toml file."


def _invalid(error: msgspec.ValidationError) -> _Nonsense:
    """The same with the key it is about, and with what is allowed where msgspec's own words don't say it."""
    what, _, where = str(error).partition(" - at `")
    path = where.removesuffix("`").removeprefix("$").removeprefix(".")
    if unknown := re.search("unknown field `(.*)`", what):
        table = _TABLES[re.sub(r".*\.|\[\d+\]", "", path)]
        path = f"{path}.{unknown[1]}" if path else unknown[1]
        return _Nonsense(path, f"unknown key. Allowed: {', '.join(table.__struct_fields__)}.")
    allowed = f" Allowed: {', '.join(Category)}." if path.endswith(".category") else ""
    return _Nonsense(path, f"{what}.{allowed}")


def _located(file: str, text: str, nonsense: _Nonsense) -> str:
    line = _line(text, nonsense.path)
    where = file if line is None else f"{file}, line {line}"
    return f"{where}: {nonsense.path}: {nonsense}" if nonsense.path else f"{where}: {nonsense}"


def _line(text: str, path: str) -> int | None:
    """Where ``path`` is written, from 1: its key, or else the table that it belongs in, or else None.

    Reads headers and keys at the beginning of lines, which is how such files are written.
    """
    lines = text.splitlines()
    start, found, header = 0, None, ""
    for name, index in re.findall(r"(\w+)(?:\[(\d+)\])?", path):
        header = f"{header}.{name}" if header else name
        opening = re.compile(rf"\s*\[\[?\s*{re.escape(header)}\s*\]")
        tables = [i for i in range(start, len(lines)) if opening.match(lines[i])]
        if int(index or 0) >= len(tables):
            return _key_line(lines, start, name) or found
        found = start = tables[int(index or 0)] + 1
    return found


def _key_line(lines: list[str], start: int, key: str) -> int | None:
    """The line, from 1, that sets ``key`` in the table whose first line is ``lines[start]``."""
    for i in range(start, len(lines)):
        if re.match(r"\s*\[\[?[\w.\s]+\]\]?\s*(#|$)", lines[i]):
            return None
        if re.match(rf"\s*{re.escape(key)}\s*=", lines[i]):
            return i + 1
    return None
