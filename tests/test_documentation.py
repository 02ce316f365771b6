"""What README and docs say holds: code runs, commands run or parse, links lead somewhere, tables are complete.

A fenced block says by a word after its language how it is held. ``python``: runs; ``python model``: only compiles, as
it needs a model. ``console``: its commands run in order, a folder a page, and each line of output shown is among what
was printed (``…`` stands for anything); ``server``, ``model`` and ``slow`` only parse; ``make``: targets of the
Makefile; ``install`` and ``shell``: not ours. ``toml``: a file that its first line names, for its page's commands.
"""

from __future__ import annotations

import json
import re
import runpy
import shlex
import tomllib
from collections.abc import Iterator
from dataclasses import dataclass, fields
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
import typer

import simuverse
from simuverse import config, errors
from simuverse.cli import app
from simuverse.config import Settings
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Category, Cut, Memory, Relevance, Source
from simuverse.memory.scoring import PRESETS, Recency
from simuverse.world import scenario
from tests.commands import ROOT, Here

README = ROOT / "README.md"
DOCS = ROOT / "docs"
PAGES = [README, *sorted(DOCS.glob("*.md"))]

FENCE = re.compile(r"^```(\w+)([^\n]*)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`\n]+)`")
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")

UNITS = {timedelta(hours=1): "hour", timedelta(days=7): "week"}
PARSED_ONLY = frozenset(("server", "model", "slow"))
NOT_OURS = frozenset(("install", "shell", "make"))


@dataclass(frozen=True, kw_only=True, slots=True)
class Block:
    page: Path
    line: int
    language: str
    tags: frozenset[str]
    text: str

    @property
    def id(self) -> str:
        return f"{self.page.stem}:{self.line}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Command:
    """A command with the lines that follow it: what is typed and what is printed."""

    variables: dict[str, str]
    words: tuple[str, ...]
    lines: tuple[str, ...]


def read(page: Path) -> str:
    return page.read_text(encoding="utf-8")


def prose(page: Path) -> str:
    return FENCE.sub("", read(page))


def spans(page: Path) -> list[str]:
    return SPAN.findall(prose(page))


def blocks(language: str) -> Iterator[Block]:
    for page in PAGES:
        text = read(page)
        for match in FENCE.finditer(text):
            if match[1] == language:
                line = text.count("\n", 0, match.start()) + 1
                tags = frozenset(match[2].split())
                yield Block(page=page, line=line, language=language, tags=tags, text=match[3])


def named(found: Iterator[Block]) -> list[Any]:
    return [pytest.param(block, id=block.id) for block in found]


def commands(block: Block) -> Iterator[Command]:
    for part in re.split(r"^\$ ", block.text, flags=re.MULTILINE)[1:]:
        first, *lines = part.rstrip("\n").split("\n")
        words = shlex.split(first)
        variables: dict[str, str] = {}
        while re.fullmatch(r"[A-Z_]+=.*", words[0]):
            name, _, value = words.pop(0).partition("=")
            variables[name] = value
        yield Command(variables=variables, words=tuple(words), lines=tuple(lines))


def check_words(*words: str) -> None:
    """Reads a command line as the program would, and does nothing. Raises what the program would print."""

    def do_nothing(**_: object) -> None:
        pass

    def silence(command: Any) -> None:
        command.callback = do_nothing
        for sub in getattr(command, "commands", {}).values():
            silence(sub)

    command = typer.main.get_command(app)
    silence(command)
    command.main(args=list(words), prog_name="simuverse", standalone_mode=False)


def rows(page: Path, first_column: str) -> dict[str, list[str]]:
    """The table whose first column has that heading: its rows by their first cell, without backticks."""
    lines = prose(page).splitlines()
    start = next(i for i, line in enumerate(lines) if line.startswith(f"| {first_column} |"))
    table: dict[str, list[str]] = {}
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        first, *rest = (cell.strip().replace("`", "") for cell in line.strip("|").split("|"))
        table |= {name.strip(): rest for name in first.split(",")}
    return table


# --- code and commands ----------------------------------------------------------------------------------------------


def test_every_page_is_read() -> None:
    assert {page.stem for page in PAGES} >= {
        "README",
        "architecture",
        "demo",
        "headless",
        "library",
        "memory",
        "models",
    }
    for page in PAGES:
        # Every fence is one that the tests know what to do with.
        assert read(page).count("```") == 2 * len(FENCE.findall(read(page))), page.name
        assert {match[0] for match in FENCE.findall(read(page))} <= {"python", "console", "toml", "text", "xml"}


@pytest.mark.parametrize("block", named(block for block in blocks("python")))
def test_the_code_runs_as_it_stands(block: Block, here: Here) -> None:
    file = here.folder / "program.py"
    file.write_text(block.text, encoding="utf-8")
    compile(block.text, block.id, "exec")
    if not block.tags:
        runpy.run_path(str(file), run_name="__main__")
    else:
        assert block.tags == {"model"}


def test_the_ten_lines_of_the_readme_are_the_example() -> None:
    example = read(ROOT / "examples" / "remember_and_recall.py")
    assert [block.text for block in blocks("python") if block.page == README] == [example]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_the_commands_run_and_print_what_is_shown(page: Path, here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    for block in blocks("toml"):
        if block.page == page:
            (here.folder / block.text.split()[1]).write_text(block.text, encoding="utf-8")
    last_id = ""
    for block in blocks("console"):
        if block.page != page or block.tags & (PARSED_ONLY | NOT_OURS):
            continue
        assert not block.tags, block.id
        for command in commands(block):
            assert command.words[0] == "simuverse", block.id
            words = [last_id if word == "ID" else word for word in command.words[1:]]
            me = f"{words[words.index('--me') + 1]}: " if "--me" in words else None
            typed = [line.removeprefix(me) for line in command.lines if me and line.startswith(me)]
            with monkeypatch.context() as patch:
                for name, value in command.variables.items():
                    patch.setenv(name, value)
                ended = here(*words, typed="".join(f"{line}\n" for line in typed).encode())
            shown = [line for line in command.lines if not (me and line.startswith(me))]
            failed = any(line.startswith(("simuverse: ", "NO ")) for line in shown)
            assert (ended.code != 0) == failed, f"{block.id}: {ended.text}"
            for line in shown:
                pattern = ".*".join(re.escape(part) for part in line.split("…"))
                assert re.search(f"^{pattern}$", ended.text, re.MULTILINE), f"{block.id}: {line!r} isn't printed"
            if found := UUID.search(ended.out):
                last_id = found[0]


@pytest.mark.parametrize("block", named(block for block in blocks("console") if block.tags & PARSED_ONLY))
def test_commands_that_need_more_than_this_machine_parse(block: Block) -> None:
    for command in commands(block):
        assert command.words[0] == "simuverse"
        assert set(command.variables) <= set(variables()), block.id
        check_words(*command.words[1:])


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_commands_in_the_text_parse(page: Path) -> None:
    for span in spans(page):
        if span.startswith("simuverse ") and span != "simuverse run" and "…" not in span:
            check_words(*shlex.split(span)[1:])


def test_a_command_that_is_wrong_would_be_noticed() -> None:
    for wrong in ("run --tick 5", "flashback run1", "memories run1 lost", "demo --memory perhaps"):
        with pytest.raises(Exception, match=r"No such|not one of|Invalid"):
            check_words(*wrong.split())


def test_targets_of_make_and_extras_of_pip_are_there() -> None:
    targets = re.findall(r"^(\w+):", read(ROOT / "Makefile"), re.MULTILINE)
    extras = tomllib.loads(read(ROOT / "pyproject.toml"))["project"]["optional-dependencies"]
    for page in PAGES:
        assert set(re.findall(r"`make (\w+)`|^\$ make (\w+)", read(page), re.MULTILINE)) or page.stem != "README"
        for pair in re.findall(r"`make (\w+)`|^\$ make (\w+)", read(page), re.MULTILINE):
            assert "".join(pair) in targets, page.name
        for extra in re.findall(r'pip install "[\w.-]*\[([\w-]+)\]"', read(page)):
            assert extra in extras, page.name


def test_files_in_toml_are_read(here: Here) -> None:
    seen: set[str] = set()
    for block in blocks("toml"):
        file = here.folder / block.text.split()[1]
        file.write_text(block.text, encoding="utf-8")
        if "settings" in block.tags:
            assert config.load(file, environment={}) != Settings()
        else:
            assert scenario.load(file).personas
        seen |= block.tags
    assert seen == {"settings", "scenario"}


# --- links and names ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_links_and_images_lead_somewhere(page: Path) -> None:
    links = [link for link in LINK.findall(prose(page)) if "://" not in link]
    for link in links:
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        assert target.exists(), f"{page.name}: {link}"
        if anchor:
            headings = re.findall(r"^#+ (.*)$", prose(target), re.MULTILINE)
            slugs = [re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings]
            assert anchor in slugs, f"{page.name}: {link}"


def test_the_readme_leads_to_every_page_and_shows_the_page() -> None:
    links = LINK.findall(prose(README))
    assert {f"docs/{page.name}" for page in PAGES if page != README} <= set(links)
    assert {f"docs/images/page-{view}.png" for view in ("light", "dark", "phone")} <= set(links)


def test_files_that_are_named_are_there() -> None:
    architecture = DOCS / "architecture.md"
    for page in PAGES:
        for span in spans(page):
            path = re.fullmatch(r"[\w*/]+(?:/|\.py|\.md|\.rng|\.toml)", span)
            if path is None or not (page == architecture or span.startswith(("simuverse/", "tests/", "examples/"))):
                continue
            places = (ROOT, ROOT / "simuverse", ROOT / "simuverse" / "world")
            assert any(list(place.glob(span.rstrip("/"))) for place in places), f"{page.name}: {span}"


def test_the_architecture_names_every_part_of_the_package() -> None:
    text = read(DOCS / "architecture.md")
    for part in (ROOT / "simuverse").iterdir():
        if part.is_dir() and not part.name.startswith("__"):
            assert f"`{part.name}/`" in text
        elif part.suffix == ".py" and not part.name.startswith("__"):
            assert f"`{part.name}`" in text


# --- tables ---------------------------------------------------------------------------------------------------------


def variables() -> dict[str, str]:
    """Every variable that the program reads, by the setting that it sets."""
    own = config._OWN_VARIABLES
    names = {f"{config.PREFIX}{field.name.upper()}": field.name for field in fields(Settings)}
    return names | {variable: name for name, variable in own.items()}


def test_every_setting_is_documented_with_its_variables_and_default() -> None:
    table = rows(DOCS / "headless.md", "setting")
    settings = [field for field in fields(Settings) if field.name != "origins"]
    assert list(table) == [field.name for field in settings]
    for field in settings:
        variable, also, default, _ = table[field.name]
        assert variable == f"{config.PREFIX}{field.name.upper()}"
        assert also == config._OWN_VARIABLES.get(field.name, "")
        assert default == (json.dumps(field.default) if isinstance(field.default, str) else repr(field.default))


def test_every_variable_of_the_tests_is_documented() -> None:
    code = "".join(read(file) for folder in ("simuverse", "tests") for file in (ROOT / folder).rglob("*.py"))
    names = set(re.findall(r"SIMUVERSE_(?:TEST|REQUIRE)_\w*[A-Z]\b", code))
    assert names
    assert names <= set(re.findall(r"SIMUVERSE_\w+", read(DOCS / "headless.md")))


def test_every_public_name_is_in_the_library_page() -> None:
    raised = {name for name, value in vars(simuverse).items() if isinstance(value, type) and name in vars(errors)}
    assert len(raised) > 20
    assert set(simuverse._HOMES) | raised <= set(spans(DOCS / "library.md"))


def test_every_error_has_its_exit_code_and_every_error_of_a_model_its_cure() -> None:
    all_errors = [
        value for value in vars(errors).values() if isinstance(value, type) and value.__module__ == "simuverse.errors"
    ]
    codes = {error.exit_code for error in all_errors if issubclass(error, errors.SimuverseError)}
    assert set(rows(DOCS / "headless.md", "code")) == {"0", "130", *map(str, codes)}
    expected = {kind.__name__ for kind in errors.ModelError.__subclasses__()}
    assert set(rows(DOCS / "models.md", "error")) == expected | {"SettingsError", "MissingExtra", "MissingKey"}


def test_the_options_and_settings_of_the_library_are_complete() -> None:
    options = rows(DOCS / "library.md", "option")
    assert set(options) == set(simuverse.open_subconscious.__annotations__) - {"name", "return"}
    settings = rows(DOCS / "library.md", "setting")
    assert {field.name for field in fields(RecallSettings)} <= set(settings)
    defaults = RecallSettings()
    for name in ("count", "tokens", "min_sure", "cool_down", "asked_again", "runners_up", "alpha"):
        assert settings[name][0] == f"{getattr(defaults, name):g}"
    gate = ("min_cosine", "min_matched", "min_found")
    assert settings["min_cosine"][0] == ", ".join(f"{getattr(defaults, name):g}" for name in gate)


def test_the_record_is_complete() -> None:
    page = DOCS / "memory.md"
    assert set(rows(page, "field")) == {field.name for field in fields(Memory)}
    assert set(rows(page, "source")) == set(Source)
    assert set(rows(page, "signal")) == {field.name for field in fields(Relevance)}
    assert set(rows(page, "cut")) == set(Cut)
    assert all(category in rows(page, "field")["category"][0] for category in Category)


def test_the_presets_are_those_of_the_code() -> None:
    table = rows(DOCS / "memory.md", "preset")
    assert set(table) == set(PRESETS)
    for name, preset in PRESETS.items():
        weights, recency = preset.weights, preset.recency
        figures = [f"{value:g}" for value in (weights.relevance, weights.importance, weights.recency)]
        assert table[name] == [*figures, preset.scaling, f"{recency.decay:g}", per(recency), recency.since]


def per(recency: Recency) -> str:
    return UNITS[recency.per] if isinstance(recency.per, timedelta) else recency.per
