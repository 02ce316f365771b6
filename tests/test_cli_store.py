"""``simuverse store``: what goes out comes in again to the byte, and another embedder takes over without a loss."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.commands import Here


@pytest.fixture
def ada(here: Here) -> Here:
    """A folder with ``ada.db``, where Ada was told of a kite and of a ferry."""
    lines = "The blue kite hangs in the old oak.\nThe ferry leaves at nine tomorrow.\n"
    talk = ("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", "--me", "Bo")
    assert here(*talk, typed=lines.encode()).code == 0
    return here


def test_stats_say_whose_how_many_and_of_which_embedder(ada: Here) -> None:
    ended = ada("store", "stats", "sqlite:ada.db")
    assert ended.code == 0
    first, second = ended.out.splitlines()
    assert "embedder hashing" in first
    assert second == "Ada: 4 memories, 0 past or hidden"
    figures = json.loads(ada("store", "stats", "sqlite:ada.db", "--json").out)
    assert figures["owners"] == {"Ada": {"memories": 4, "past_or_hidden": 0}}
    assert figures["embedder"] == "hashing"


def test_what_is_exported_imported_and_exported_again_is_the_same_to_the_byte(ada: Here, tmp_path: Path) -> None:
    assert ada("store", "export", "sqlite:ada.db", "--out", "one.jsonl").out == "4 memories written to one.jsonl\n"
    for _ in range(2):
        imported = ada("store", "import", "sqlite:copy.db", "one.jsonl", "--embedder", "hashing")
        assert imported.out == "4 memories imported into sqlite:copy.db\n"
    printed = ada("store", "export", "sqlite:copy.db", "--agent", "Ada").out
    assert printed.encode() == (tmp_path / "one.jsonl").read_bytes()


def test_an_export_overwrites_nothing_and_an_unknown_agent_is_named(ada: Here, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    taken = ada("store", "export", "sqlite:ada.db", "--out", "mine.txt")
    assert (taken.code, "Name another file with --out" in taken.err) == (2, True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    unknown = ada("store", "export", "sqlite:ada.db", "--agent", "Zoe")
    assert (unknown.code, "Agents: Ada" in unknown.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"not json\n", "line 1 isn't a memory"), (b"\xff\xfe\n", "it isn't UTF-8 text"), (None, "can't be read")],
)
def test_a_file_that_is_no_export_is_refused_with_what_is_wrong(
    here: Here, tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "lines.jsonl").write_bytes(content)
    ended = here("store", "import", "sqlite:new.db", "lines.jsonl", "--embedder", "hashing")
    assert ended.code == 2
    assert said in ended.err


def test_vectors_of_another_embedder_are_not_imported(ada: Here) -> None:
    ada("store", "export", "sqlite:ada.db", "--out", "one.jsonl")
    ended = ada("store", "import", "sqlite:new.db", "one.jsonl", "--embedder", "wordllama")
    assert ended.code == 4
    assert "hashing" in ended.err


def test_reembed_keeps_every_memory_and_the_old_file_and_is_what_the_mismatch_tells_one_to_do(
    ada: Here, tmp_path: Path
) -> None:
    before = json.loads(ada("memories", "sqlite:ada.db", "--embedder", "hashing", "list", "--json").out)
    mismatch = ada("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "wordllama")
    assert mismatch.code == 4
    command = mismatch.err.strip().partition("simuverse store ")[2]

    ended = ada("store", *command.split())

    assert ended.code == 0, ended.text
    assert ended.out.splitlines()[-1].startswith("4 memories of ada.db: from hashing to wordllama")
    assert (tmp_path / "ada.db.old").exists()
    after = json.loads(ada("memories", "sqlite:ada.db", "--embedder", "wordllama", "list", "--json").out)
    assert after == before
    found = ada("memories", "sqlite:ada.db", "--embedder", "wordllama", "search", "the kite")
    assert "kite" in found.out.splitlines()[0]


def test_reembed_overwrites_no_old_file_and_deletes_one_only_when_told(ada: Here, tmp_path: Path) -> None:
    (tmp_path / "ada.db.old").write_text("mine")
    refused = ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama")
    assert (refused.code, "in the way" in refused.err) == (2, True)
    (tmp_path / "ada.db.old").unlink()
    assert ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama", "--drop-old").code == 0
    assert not (tmp_path / "ada.db.old").exists()


def test_what_is_no_store_is_told_so(here: Here, tmp_path: Path) -> None:
    assert here("store", "stats", "sqlite:none.db").code == 2
    (tmp_path / "notes.txt").write_text("no store at all")
    assert here("store", "stats", "sqlite:notes.txt").code == 4
