"""``simuverse memories``: looking changes nothing, adding adds one, and what is wrong is told with its cure."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simuverse.memory.records import Hit, Memory
from tests.commands import Here

STORE = ("memories", "sqlite:ada.db", "--embedder", "hashing")


@pytest.fixture
def ada(here: Here) -> Here:
    """A folder with ``ada.db``, where Ada was told of a kite and of a ferry."""
    lines = "The blue kite hangs in the old oak.\nThe ferry leaves at nine tomorrow.\n"
    talk = ("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", "--me", "Bo")
    assert here(*talk, typed=lines.encode()).code == 0
    return here


def found(here: Here, *words: str) -> list[dict[str, object]]:
    value: list[dict[str, object]] = json.loads(here(*STORE, *words, "--json").out)
    return value


def test_list_shows_the_newest_first_and_as_many_as_asked(ada: Here) -> None:
    ended = ada(*STORE, "list")
    assert ended.code == 0
    lines = ended.out.splitlines()
    assert len(lines) == 3, "what Ada answers twice is one memory"
    assert sum("said by Bo" in line for line in lines) == 2
    assert ada(*STORE, "list", "--limit", "1").out.splitlines() == lines[:1]
    assert len(found(ada, "list", "--category", "plan")) < 3
    assert found(ada, "list")[0].keys() == set(Memory.__dataclass_fields__)


def test_search_finds_by_words_and_meaning_and_leaves_no_mark(ada: Here) -> None:
    before = found(ada, "list")
    ended = ada(*STORE, "search", "the kite", "--limit", "2")
    assert ended.code == 0
    assert ended.out.startswith("cosine ")
    assert "The blue kite hangs in the old oak." in ended.out.splitlines()[0]
    assert ada(*STORE, "search", "ferry", "--type", "keyword").out.startswith("BM25 ")
    assert ada(*STORE, "search", "zeppelin", "--type", "keyword").out == "nothing found\n"
    assert found(ada, "search", "zeppelin", "--type", "keyword") == []
    assert found(ada, "search", "ferry")[0].keys() == set(Hit._fields)
    assert found(ada, "list") == before


def test_show_shows_every_field_of_one(ada: Here) -> None:
    one = found(ada, "list")[0]
    shown = ada(*STORE, "show", str(one["id"])).out
    assert f"id  {one['id']}" in shown
    assert f"summary  {one['summary']}" in shown
    never = {"used": 0, "ignored": 0, "contradicted": 0, "in_a_row": 0}
    assert json.loads(ada(*STORE, "show", str(one["id"]), "--json").out) == one | {"flashbacks": never}


def test_show_tells_what_became_of_it_as_a_flashback(here: Here) -> None:
    talk = ("chat", "Ada", "--me", "Bo", "--store", "sqlite:ada.db", "--embedder", "hashing")
    for line in (b"My bicycle is green.\n", b"What colour is my bicycle?\n"):
        assert here(*talk, typed=line).code == 0
    [known] = [one for one in found(here, "list") if one["summary"] == "Bo: My bicycle is green."]
    shown = here(*STORE, "show", str(known["id"])).out
    assert "as a flashback  shown once: used 1, ignored 0, contradicted 0" in shown


def test_add_adds_one_that_says_it_is_an_operators(ada: Here) -> None:
    ended = ada(*STORE, "add", "The mill is closed on Mondays.")
    assert ended.code == 0
    assert ended.out.startswith("added ")
    added = json.loads(ada(*STORE, "add", "민지 owns 3 boats.", "--json").out)
    assert added["provenance"]["source"] == "operator"
    assert added["summary"] == "민지 owns 3 boats."
    assert added["id"] in [one["id"] for one in found(ada, "list")]
    assert "The mill is closed on Mondays." in ada(*STORE, "search", "mill Mondays").out
    again = json.loads(ada(*STORE, "add", "민지 owns 3 boats.", "--json").out)
    assert again["id"] != added["id"]


def test_its_own_options_may_stand_before_or_after_the_word(here: Here) -> None:
    here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing")
    shown = {
        here(*words).out
        for words in (
            ("memories", "run1", "--agent", "Jade", "list"),
            ("memories", "run1", "list", "--agent", "Jade"),
            ("memories", "--agent", "Jade", "run1", "list"),
            ("memories", "run1", "list", "--agent=Jade"),
        )
    }
    assert len(shown) == 1
    assert "red_ball" in shown.pop()


def test_a_run_knows_its_embedder(here: Here) -> None:
    here("run", "--ticks", "1", "--out", "run1", "--embedder", "hashing")
    assert here("memories", "run1", "--agent", "Jade", "search", "ball").code == 0


@pytest.mark.parametrize(
    ("words", "code", "told"),
    [
        (
            ("sqlite:none.db", "list"),
            2,
            "there is no store sqlite:none.db. A run, a chat or open_subconscious makes one",
        ),
        (
            ("nowhere", "list"),
            2,
            "nowhere is not a run folder: it has no run.json. `simuverse run --out nowhere` makes",
        ),
        (("weaviate:x", "list"), 2, "'x' is not the address of a Weaviate server. Write it like http://localhost:8080"),
        (("sqlite:ada.db", "--agent", "Cy", "list"), 2, "there is no agent Cy in sqlite:ada.db. Agents: Ada"),
        (("sqlite:ada.db", "show", "7"), 2, "'7' is not an id. `list` shows the ids"),
        (
            ("sqlite:ada.db", "show", "0c6b2e15-bf01-5b3e-87f3-e20a4117224d"),
            2,
            "Ada has no memory 0c6b2e15-bf01-5b3e-87f3-e20a4117224d. `list` shows the ids",
        ),
        (("sqlite:ada.db", "add", "  "), 2, "there is nothing to add: the text is blank"),
        (("sqlite:ada.db", "search", ""), 2, "there is nothing to look for: the text is blank"),
        (("sqlite:ada.db", "list", "--category", "gossip"), 2, "gossip"),
        (("sqlite:ada.db", "list", "--limit", "0"), 2, "--limit"),
        (("notes.txt", "list"), 2, "notes.txt is not a run folder"),
        (("sqlite:notes.txt", "list"), 4, "notes.txt"),
    ],
)
def test_what_is_wrong_is_told_with_its_cure(words: tuple[str, ...], code: int, told: str, ada: Here) -> None:
    Path("notes.txt").write_text("Milk, bread and a kite.\n" * 100, encoding="utf-8")
    ended = ada("memories", "--embedder", "hashing", *words)
    assert ended.code == code
    assert ended.out == ""
    assert told in ended.err
    assert Path("notes.txt").read_text(encoding="utf-8") == "Milk, bread and a kite.\n" * 100


def test_a_store_knows_its_embedder_when_it_is_looked_into(ada: Here) -> None:
    assert ada("memories", "sqlite:ada.db", "list").out == ada(*STORE, "list").out


def test_a_store_of_another_embedder_names_both_and_what_to_do(ada: Here) -> None:
    ended = ada("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "wordllama")
    assert ended.code == 4
    assert "ada.db holds vectors of the embedder hashing" in ended.err
    assert "Go on with --embedder hashing" in ended.err


def test_nobody_talks_with_someone_of_the_same_name(here: Here) -> None:
    ended = here("chat", "Ada", "--me", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", typed=b"Hello.\n")
    assert ended.code == 2
    assert "two who are called Ada can't be told apart" in ended.err
