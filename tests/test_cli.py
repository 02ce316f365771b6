"""The command line: what it prints, the codes it ends with, and the examples of its own help."""

from __future__ import annotations

import io
import json
import re
import shlex
import shutil
import socket
import sys
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest
import typer.main
from typer.core import TyperGroup

from simuverse import __version__, cli
from simuverse.agents.trace import TurnTrace
from simuverse.world.journal import read_info, read_turns
from tests.commands import Here, run

FAST = ("--embedder", "hashing")


def closed_port() -> str:
    with socket.socket() as bound:
        bound.bind(("127.0.0.1", 0))
        return f"127.0.0.1:{bound.getsockname()[1]}"


def at_once(*_: object) -> float:
    """In place of the wait before a call is tried again."""
    return 0.0


# --- run ------------------------------------------------------------------------------------------------------------


def test_run_lives_as_long_as_told_and_ends_with_the_hash_of_its_journal(here: Here) -> None:
    ended = here("run", "--ticks", "3", "--seed", "5", "--out", "run1", *FAST)
    assert (ended.code, ended.err) == (0, "")
    lines = ended.out.splitlines()
    assert lines[0] == "store SQLite run1/memory.db | embedder hashing, 256 dimensions | model rehearsal | mind reflex"
    assert lines[1] == "run folder run1"
    assert [line.split()[0] for line in lines[2:-1]] == ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    assert lines[-1] == f"journal sha256: {sha256(Path('run1/journal.jsonl').read_bytes()).hexdigest()}"
    assert read_info(Path("run1")).seed == 5


def test_run_makes_a_folder_of_its_own_where_none_is_named(here: Here) -> None:
    for name in ("runs/grid-7", "runs/grid-7-2"):
        assert f"run folder {name}\n" in here("run", "--ticks", "1", *FAST).out
        assert len(list(read_turns(Path(name)))) == 4


def test_what_is_typed_reaches_the_run(here: Here) -> None:
    Path("settings.toml").write_text('seed = 3\nembedder = "hashing"\nconcurrency = 2\n', encoding="utf-8")
    words = ("--config", "settings.toml", "--seed", "4", "--memory", "off", "--model", "rehearsal")
    ended = here("run", "--ticks", "1", "--out", "run1", *words)
    assert "store none: memory is off | embedder hashing, 256 dimensions | model rehearsal | mind off" in ended.out
    info = read_info(Path("run1"))
    assert (info.seed, info.embedder, info.memory) == (4, "hashing", False)


def test_run_ends_with_code_4_when_its_model_has_gone(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    address = closed_port()
    monkeypatch.setenv("OLLAMA_HOST", address)
    monkeypatch.setattr("simuverse.agents.wrappers.Retrying._wait", at_once)
    ended = here("run", "--ticks", "5", "--out", "run1", "--model", "ollama:qwen2.5:14b", *FAST)
    assert ended.code == 4
    assert "model calls in a row had no reply, so the run in run1 ended after tick 1." in ended.err
    assert f"can't be reached at http://{address}" in ended.err
    assert "ollama serve" in ended.err
    assert len(list(read_turns(Path("run1")))) == 4


# --- flashbacks -----------------------------------------------------------------------------------------------------


@pytest.fixture
def lived(here: Here) -> Here:
    """A folder with ``run1``, three ticks long."""
    assert here("run", "--ticks", "3", "--out", "run1", *FAST).code == 0
    return here


def test_flashbacks_shows_the_last_turn_of_everyone_unless_told_otherwise(lived: Here) -> None:
    shown = lived("flashbacks", "run1").out
    assert [line for line in shown.splitlines() if ", tick 3, " in line] != []
    assert {line.split(",")[0] for line in shown.splitlines() if ", tick " in line} == {
        "Jade",
        "Jamal",
        "James",
        "Jesse",
    }
    trace = next(turn for turn in read_turns(Path("run1")) if turn.recollection.flashbacks)
    one = lived("flashbacks", "run1", "--agent", trace.agent, "--tick", str(trace.tick)).out
    assert one.startswith(f"{trace.agent}, tick {trace.tick}, ")
    for flashback in trace.recollection:
        assert f"flashback {flashback.rank}: {flashback.memory.summary}" in one
    for candidate in trace.recollection.runners_up:
        assert candidate.memory.summary in one


def test_flashbacks_as_data_is_the_traces_themselves(lived: Here) -> None:
    data = json.loads(lived("flashbacks", "run1", "--agent", "Jade", "--json").out)
    assert [(one["agent"], one["tick"]) for one in data] == [("Jade", 3)]
    assert data[0].keys() == set(TurnTrace.__dataclass_fields__)


def test_flashbacks_of_a_run_without_memory_says_so(here: Here) -> None:
    here("run", "--ticks", "1", "--out", "run1", "--memory", "off", *FAST)
    assert here("flashbacks", "run1").out.count("memory is off") == 4


# --- chat -----------------------------------------------------------------------------------------------------------

TALK = ("chat", "Ada", "--store", "sqlite:ada.db", *FAST)


def test_a_talk_is_remembered_in_the_next_one(here: Here) -> None:
    first = here(*TALK, "--me", "Bo", typed=b"The blue kite hangs in the old oak.\n")
    assert (first.code, first.err) == (0, "")
    assert first.out.splitlines()[0].startswith("Ada runs on rehearsal, mind reflex, store SQLite ada.db")
    assert "Ada: I see, Bo. I will remember that." in first.out
    second = here(*TALK, "--me", "Bo", typed=b"Where is the blue kite?\n")
    assert "  (recalled: Bo: The blue kite hangs in the old oak.)" in second.out
    assert "Ada: You told me: The blue kite hangs in the old oak." in second.out
    assert "(recalled:" not in here(*TALK, "--no-why", typed=b"Where is the blue kite?\n").out


def test_an_empty_line_ends_a_talk(here: Here) -> None:
    ended = here(*TALK, typed="Grüß dich, 안녕!\n\nThis is not heard.\n".encode())
    assert ended.code == 0
    assert ended.out.count("Ada: ") == 1


def test_a_talk_without_a_model_to_talk_with_ends_with_code_4(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", closed_port())
    monkeypatch.setattr("simuverse.agents.wrappers.Retrying._wait", at_once)
    ended = here(*TALK, "--model", "ollama:qwen2.5:14b", typed=b"Hello?\nAre you there?\n")
    assert ended.code == 4
    assert ended.err.startswith("simuverse: Ada can't answer. ")
    assert "ollama serve" in ended.err


def test_a_line_that_is_no_text_is_refused_and_nothing_made_of_it(here: Here) -> None:
    ended = here(*TALK, typed=b"a kite \xff\xfe\n")
    assert ended.code == 2
    assert "what was typed isn't utf-8: invalid start byte. Nothing was made of it" in ended.err
    assert here("memories", "sqlite:ada.db", *FAST, "list").out == "no memories\n"


# --- doctor ---------------------------------------------------------------------------------------------------------


def test_doctor_prints_a_line_a_part_and_ends_with_the_worst_code(here: Here) -> None:
    well = here("doctor", *FAST)
    assert well.code == 0
    assert all(line.startswith(("ok ", "    ")) for line in well.out.splitlines())
    ill = here("doctor", *FAST, "--model", "nonsense", "--store", "sqlite:none/x.db")
    assert ill.code == 2
    assert "NO  model      nonsense\n               'nonsense' is not a model." in ill.out
    data = json.loads(here("doctor", "--json", "--embedder", "nonsense").out)
    assert {one["part"]: one["ok"] for one in data}["embedder"] is False


# --- the rest -------------------------------------------------------------------------------------------------------


def test_debug_shows_where_an_error_came_from_and_nothing_else_changes(here: Here) -> None:
    plain = here("store", "stats", "sqlite:none.db")
    told = here("--debug", "store", "stats", "sqlite:none.db")
    assert told.code == plain.code == 2
    assert "Traceback" not in plain.err
    assert told.err.startswith("Traceback (most recent call last):\n")
    assert told.err.endswith(plain.err)


def test_the_version_is_the_packages(here: Here) -> None:
    assert here("--version").out == f"simuverse {__version__}\n"


@pytest.mark.parametrize("words", [("nosuch",), ("run", "--ticks", "0"), ("run", "--ticks", "x"), ("run", "--nosuch")])
def test_what_is_typed_wrongly_ends_with_code_2_and_points_to_help(words: tuple[str, ...], here: Here) -> None:
    ended = here(*words)
    assert ended.code == 2
    assert "--help" in ended.err


def test_a_word_that_is_no_text_is_refused(here: Here) -> None:
    ended = here("chat", "Ad\udcff")
    assert ended.code == 2
    assert "'Ad\\udcff' isn't utf-8. Type it again, or rename the file" in ended.err


def test_a_terminal_of_few_letters_is_shown_what_it_can_show(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    here("chat", "Ada", "--store", "sqlite:ada.db", *FAST, typed="민지 lives by the sea.\n".encode())
    bare = io.TextIOWrapper(io.BytesIO(), encoding="latin-1", write_through=True)
    monkeypatch.setattr(sys, "stdout", bare)
    assert here("memories", "sqlite:ada.db", *FAST, "list").code == 0
    assert isinstance(bare.buffer, io.BytesIO)
    assert b"\\ubbfc\\uc9c0 lives by the sea." in bare.buffer.getvalue()


def commands(group: TyperGroup, before: str = "") -> Iterator[tuple[str, str]]:
    """Every command by its words, with the example of its help."""
    for name, command in group.commands.items():
        words = f"{before} {name}".strip()
        yield words, command.epilog or ""
        if isinstance(command, TyperGroup):
            yield from commands(command, words)


def root() -> TyperGroup:
    group = typer.main.get_command(cli.app)
    assert isinstance(group, TyperGroup)
    return group


EXAMPLES = {words: epilog.removeprefix("Example: ") for words, epilog in commands(root())}
ELSEWHERE = {"demo", "doctor", "bench"}
"""Commands whose example needs a server or a model of someone's own; ``demo`` has tests of its own."""


def test_the_help_of_every_command_shows_an_example(here: Here) -> None:
    for words, example in EXAMPLES.items():
        if words == "bench":
            continue
        assert example.startswith(f"simuverse {words.split()[0]} "), words
        shown = " ".join(here(*words.split(), "--help").out.split())
        assert "Example: " in shown, words


def test_the_examples_of_the_help_work_as_they_stand(here: Here) -> None:
    order = sorted(EXAMPLES, key=lambda words: (words != "run", words))
    for words in order:
        if words.split()[0] in ELSEWHERE:
            continue
        typed = shlex.split(EXAMPLES[words])[1:]
        ended = here(*typed, typed=b"Good morning.\n")
        said = [line for line in ended.err.splitlines() if not re.fullmatch(r"\w+ing .+: \d+ of \d+", line)]
        assert (ended.code, said) == (0, []), (EXAMPLES[words], ended)
        assert ended.out.strip()
        if words == "run":
            shutil.copytree("run1", "runs/grid-7")


def test_what_doctors_example_asks_for_is_examined(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OLLAMA_HOST", closed_port())
    monkeypatch.setattr("simuverse.agents.wrappers.Retrying._wait", at_once)
    ended = here(*shlex.split(EXAMPLES["doctor"])[1:])
    assert ended.code == 4
    assert "NO  model      ollama:qwen2.5:14b" in ended.out


def test_the_command_is_a_module_too(tmp_path: Path) -> None:
    ended = run("--version", folder=tmp_path)
    assert (ended.code, ended.out) == (0, f"simuverse {__version__}\n")
