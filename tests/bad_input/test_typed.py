"""What is typed or written wrongly, through the command line: code 2, one or two sentences, and nothing made."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest

from tests import commands
from tests.commands import Here

KEY = "sk-willow-3306"
SCENARIO = """\
title = "A yard"
start = 2026-06-01T08:00:00Z
[[agents]]
name = "Ann"
x = 100
y = {y}
description = "I am Ann."
"""


def refused(here: Here, *words: str) -> str:
    """What ``run`` says; it must end with code 2 and leave no folder."""
    ended = here("run", "--ticks", "1", "--out", "run1", *words)
    assert ended.code == 2
    assert ended.out == ""
    assert ended.err.startswith("simuverse: ")
    assert "Traceback" not in ended.err
    assert len(ended.err.splitlines()) == 1
    assert not Path("run1").exists()
    return ended.err


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--model", "gpt"), "'gpt' is not a model. Models are written provider:model, for example rehearsal, ollama:"),
        (("--subconscious-model", "x:y"), "'x:y' is not a model"),
        (("--embedder", "word2vec"), "'word2vec' is not an embedder. Embedders: wordllama, hashing, "),
        (("--store", "postgres://x"), "'postgres://x' is not a store. Stores: sqlite:FILE, memory:"),
        (("--scenario", "market"), "There is no scenario market. Scenarios: grid; or the path of a .toml file"),
        (("--scenario", "none.toml"), "none.toml: No such file or directory. Scenarios: grid"),
        (("--config", "none.toml"), "there is no settings file none.toml"),
        (("--config", "."), "the settings file . can't be read: Is a directory"),
        (("--concurrency", "0"), "concurrency is 0; it must be 1 or more"),
        (("--seed", "-1"), "seed is -1; it must be 0 or more"),
        (("--model", "openai:gpt-4o-mini"), "needs a key: set OPENAI_API_KEY"),
        (("--model", "anthropic:claude-x"), "needs a key: set ANTHROPIC_API_KEY"),
        (("--model", "local:none.gguf"), "none.gguf"),
    ],
)
def test_a_wrong_name_or_number_is_told_with_what_is_allowed(words: tuple[str, ...], told: str, here: Here) -> None:
    assert told in refused(here, *words)


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("seed = 1\nport = 'x'\n", "settings.toml, line 2: port is 'x'; it takes a whole number"),
        ("seed = 1\nconcurrency = 0\n", "settings.toml, line 2: concurrency is 0; it must be 1 or more"),
        ("seed = 1\ncolour = 'red'\n", "settings.toml, line 2: there is no setting colour. Settings: model, "),
        ("seed = 1\nport = \n", "settings.toml isn't valid TOML in UTF-8: Invalid value (at line 2, column 8)"),
        ("preset = 'wild'\n", "settings.toml, line 1: 'wild' is not a preset. Presets: park, generative_agents, "),
        ("model = 'gpt'\n", "settings.toml, line 1: 'gpt' is not a model"),
        ("seed = 1\nsubconscious_model = 'gpt'\n", "settings.toml, line 2: 'gpt' is not a model"),
        ("embedder = 'word2vec'\n", "settings.toml, line 1: 'word2vec' is not an embedder"),
        ("store = 'postgres://x'\n", "settings.toml, line 1: 'postgres://x' is not a store"),
        (
            'store = "weaviate:http://127.0.0.1:9"\nweaviate_api_key = "a\\tb"\n',
            "settings.toml, line 2: WEAVIATE_API_KEY holds a line break",
        ),
        ("store = 'weaviate:nowhere'\n", "settings.toml, line 1: 'nowhere' is not the address of a Weaviate server"),
        ("scenario = 'market'\n", "settings.toml, line 1: There is no scenario market"),
        ("zone = 'Mars/Olympus'\n", "settings.toml, line 1: "),
        (
            "model = 'openai:x'\nopenai_api_key = 'k'\nopenai_base_url = 'nowhere'\n",
            "settings.toml, line 2 or settings.toml, line 3: openai:x: the address",
        ),
        ("model = 'ollama:x'\nollama_host = 'ftp://x'\n", "settings.toml, line 2: ollama:x: the address"),
    ],
)
def test_a_broken_settings_file_is_told_with_its_line(text: str, told: str, here: Here) -> None:
    Path("settings.toml").write_text(text, encoding="utf-8")
    assert told in refused(here, "--config", "settings.toml")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        (SCENARIO.format(y=900), "yard.toml, line 6: agents[0].y: 900 is outside the grid: 50 to 550"),
        (SCENARIO.format(y="'south'"), "yard.toml, line 6: "),
        (SCENARIO.format(y=100) + "colour = 'red'\n", "yard.toml, line 8: "),
        (SCENARIO.format(y=""), "at line 6"),
        ("", "yard.toml"),
    ],
)
def test_a_broken_scenario_is_told_with_its_line(text: str, told: str, here: Here) -> None:
    Path("yard.toml").write_text(text, encoding="utf-8")
    assert told in refused(here, "--scenario", "yard.toml")


def test_a_wrong_variable_is_named(here: Here, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SIMUVERSE_CONCURRENCY", "many")
    assert "SIMUVERSE_CONCURRENCY: concurrency is 'many'; it takes a whole number" in refused(here)


@pytest.mark.parametrize("key", ["sEcret-a\nsEcret-b", "sEcret-schlüssel"])
@pytest.mark.parametrize(
    ("variable", "words"),
    [
        ("WEAVIATE_API_KEY", ("--store", "weaviate:http://127.0.0.1:9")),
        ("OPENAI_API_KEY", ("--model", "openai:gpt-4o-mini")),
        ("OPENAI_API_KEY", ("--embedder", "openai:text-embedding-3-small")),
        ("ANTHROPIC_API_KEY", ("--model", "anthropic:claude-x")),
    ],
)
def test_a_key_that_can_t_be_sent_is_told_by_its_variable_and_never_shown(
    variable: str, words: tuple[str, ...], key: str, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(variable, key)
    told = refused(here, "--embedder", "hashing", *words)
    examined = here("doctor", "--embedder", "hashing", *words)
    assert examined.code == 2
    for text in (told, examined.text):
        assert variable in text
        assert "sEcr" not in text


@pytest.mark.parametrize("variables", [{"OLLAMA_API_KEY": "sEcret-schlüssel"}, {"OLLAMA_HOST": "http://h:port"}])
@pytest.mark.parametrize("words", [("--model", "ollama:qwen"), ("--embedder", "ollama:nomic-embed-text")])
def test_variables_that_the_ollama_package_can_t_be_loaded_with_are_named(
    words: tuple[str, ...], variables: dict[str, str], tmp_path: Path
) -> None:
    ended = commands.run("run", "--ticks", "1", *words, folder=tmp_path, environment=variables)
    assert ended.code == 2, ended.text
    assert set(variables) <= set(re.findall("[A-Z_]+", ended.err))
    assert "sEcr" not in ended.text


@pytest.mark.parametrize(
    ("words", "module", "extra"),
    [
        (("--model", "ollama:qwen"), "ollama", "ollama"),
        (("--model", "openai:gpt-4o-mini"), "openai", "openai"),
        (("--model", "anthropic:claude-x"), "anthropic", "anthropic"),
        (("--model", "local:smollm2"), "xllamacpp", "local"),
        (("--embedder", "sentence-transformers:all-MiniLM-L6-v2"), "sentence_transformers", "sentence-transformers"),
    ],
)
def test_a_missing_extra_is_told_with_the_line_that_installs_it(
    words: tuple[str, ...], module: str, extra: str, here: Here, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, module, None)
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    monkeypatch.setenv("ANTHROPIC_API_KEY", KEY)
    told = refused(here, *words)
    assert f'pip install "simu-verse[{extra}]"' in told
    assert KEY not in told


LOOKS = [("flashbacks", "run1"), ("memories", "run1", "--agent", "Bo", "list")]


@pytest.mark.parametrize("words", LOOKS)
@pytest.mark.parametrize("folder", [True, False])
def test_something_else_than_a_run_is_told_to_be_none(folder: bool, words: tuple[str, ...], here: Here) -> None:
    notes = Path("run1/notes.txt" if folder else "run1")
    notes.parent.mkdir(exist_ok=True)
    notes.write_text("milk", encoding="utf-8")
    ended = here(*words)
    assert (ended.code, ended.out) == (2, "")
    assert ended.err == "simuverse: run1 is not a run folder: it has no run.json. Name one that a run made\n"


@pytest.mark.parametrize("words", LOOKS)
@pytest.mark.parametrize("there", [True, False])
def test_an_empty_folder_is_told_how_a_run_is_made_there(there: bool, words: tuple[str, ...], here: Here) -> None:
    if there:
        Path("run1").mkdir()
    ended = here(*words)
    assert ended.err == (
        "simuverse: run1 is not a run folder: it has no run.json. `simuverse run --out run1` makes one\n"
    )


def test_a_run_that_ended_before_its_first_tick_says_so(here: Here) -> None:
    here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing")
    journal = Path("run1/journal.jsonl")
    journal.write_bytes(b"".join(journal.read_bytes().splitlines(keepends=True)[:1]))
    ended = here("flashbacks", "run1")
    assert ended.code == 2
    assert "the run in run1 ended before its first tick was finished" in ended.err


def test_another_embedder_than_the_memories_own_is_refused(here: Here) -> None:
    here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing")
    for source in ("run1", "sqlite:run1/memory.db"):
        ended = here("memories", source, "--embedder", "wordllama", "--agent", "Jade", "list")
        assert ended.code == 4
        assert f"the vectors in {source} are those of the embedder 'hashing', not of 'wordllama'" in ended.err
        assert here("memories", source, "--embedder", "hashing", "--agent", "Jade", "list").code == 0


@pytest.mark.parametrize("name", ["", " "])
def test_nobody_is_no_one_to_talk_with(name: str, here: Here) -> None:
    ended = here("chat", name, typed=b"Hello.\n")
    assert ended.code == 2
    assert ended.err == "simuverse: who is to be talked with has no name. Give one: simuverse chat Ada\n"


def test_a_page_on_an_address_of_no_one_here_begins_no_run(here: Here) -> None:
    ended = here("demo", "--host", "203.0.113.5", "--out", "run1")
    assert ended.code == 2
    assert "Give one of this machine's with --host" in ended.err
    assert not Path("run1").exists()


def test_an_unknown_agent_and_tick_are_told_which_there_are(here: Here) -> None:
    here("run", "--ticks", "2", "--out", "run1", "--embedder", "hashing")
    for words in (("flashbacks", "run1", "--agent", "Bo"), ("memories", "run1", "--agent", "Bo", "list")):
        ended = here(*words)
        assert ended.code == 2
        assert "there is no agent Bo in run1. Agents: Jade, Jamal, James, Jesse" in ended.err
    ended = here("flashbacks", "run1", "--tick", "9")
    assert ended.code == 2
    assert "run1 has no turn at tick 9. `simuverse flashbacks run1` shows the last one" in ended.err


@pytest.mark.parametrize("name", ["run.json", "notes.txt"])
def test_a_taken_folder_is_refused_and_left_as_it_was(name: str, here: Here) -> None:
    Path("run1").mkdir()
    Path("run1", name).write_text("milk", encoding="utf-8")
    ended = here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing")
    assert ended.code == 2
    assert ended.err == "simuverse: run1 isn't empty. Choose another folder with --out, or delete it\n"
    assert [file.name for file in Path("run1").iterdir()] == [name]
    assert Path("run1", name).read_text(encoding="utf-8") == "milk"


def test_an_empty_folder_may_be_used(here: Here) -> None:
    Path("run1").mkdir()
    assert here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing").code == 0


def test_a_file_in_place_of_a_folder_is_told_of(here: Here) -> None:
    Path("notes.txt").write_text("milk", encoding="utf-8")
    for out, told in (("notes.txt", "notes.txt is a file"), ("notes.txt/run", "notes.txt/run can't be made")):
        ended = here("run", "--ticks", "1", "--out", out, "--embedder", "hashing")
        assert ended.code == 2
        assert f"{told}" in ended.err
        assert "Choose another folder with --out" in ended.err
