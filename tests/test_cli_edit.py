"""``simuverse memories``: what changes memories, and ``simuverse agents``. Every change is shown, recorded, undone."""

from __future__ import annotations

import json
import shutil
from pathlib import Path
from typing import Any

import pytest
from filelock import FileLock

from simuverse.agents.trace import TurnTrace
from simuverse.memory.records import Memory, Source
from simuverse.world.journal import read_turns
from tests.commands import Here

STORE = ("memories", "sqlite:ada.db", "--embedder", "hashing")
KITE = "The blue kite hangs in the old oak."


@pytest.fixture
def ada(here: Here) -> Here:
    """A folder with ``ada.db``, where Ada knows of a kite and of a ferry."""
    talk = ("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing")
    assert here(*talk, typed=b"").code == 0
    for text in (KITE, "The ferry leaves at nine tomorrow."):
        assert here(*STORE, "add", text).code == 0
    return here


@pytest.fixture
def lived(here: Here) -> Here:
    """A folder with ``run1``, six ticks long."""
    assert here("run", "--ticks", "6", "--out", "run1", "--embedder", "hashing").code == 0
    return here


def seed_that_came_back(agent: str) -> tuple[TurnTrace, Memory]:
    """A memory that nobody else can have, with the first turn in which it came to mind."""
    return next(
        (trace, flashback.memory)
        for trace in read_turns(Path("run1"), agent=agent)
        for flashback in trace.recollection
        if flashback.memory.provenance.source is Source.SEED
    )


def listed(here: Here, *source: str) -> dict[str, str]:
    """Ids of what can be recalled, by summary."""
    found = json.loads(here(*(source or STORE), "list", "--json").out)
    return {memory["summary"]: memory["id"] for memory in found}


def data(here: Here, *words: str) -> Any:
    ended = here(*words, "--json")
    assert (ended.code, ended.err) == (0, ""), ended
    return json.loads(ended.out)


def bytes_in(folder: str) -> bytes:
    return b"".join(path.read_bytes() for path in Path(folder).rglob("*") if path.is_file())


def test_forget_hides_and_undo_brings_back(ada: Here) -> None:
    kite = listed(ada)[KITE]
    ended = ada(*STORE, "forget", kite, "--why", "it was a bag")
    assert (ended.code, ended.err) == (0, "")
    assert ended.out.startswith("change 1: forget\n    - ")
    assert f"[forgotten]  {KITE}\nundo it with: undo 1\n" in ended.out
    assert KITE not in listed(ada)
    assert KITE not in ada(*STORE, "search", "blue kite").out
    assert ada(*STORE, "undo", "1").code == 0
    assert listed(ada)[KITE] == kite


def test_rewrite_is_found_by_its_new_wording_and_history_shows_both(ada: Here) -> None:
    kite = listed(ada)[KITE]
    change = data(ada, *STORE, "rewrite", kite, "A grey bag hangs in the old oak.", "--why", "seen from near")
    assert (change["kind"], change["by"], change["why"]) == ("rewrite", "operator", "seen from near")
    assert KITE not in ada(*STORE, "search", "blue kite").out
    assert "A grey bag" in ada(*STORE, "search", "bag").out
    told = ada(*STORE, "history", kite).out
    assert "operator  rewrite: seen from near" in told
    assert f"    - {kite}" in told
    assert f"    + {kite}" in told
    assert KITE in told
    assert [one["number"] for one in data(ada, *STORE, "history", kite)] == [1]
    assert data(ada, *STORE, "rewrite", kite, "--importance", "9", "--keywords", "oak, bag")["after"][0][
        "keywords"
    ] == [
        "oak",
        "bag",
    ]


def test_merge_makes_one_of_several(ada: Here) -> None:
    ids = list(listed(ada).values())
    change = data(ada, *STORE, "merge", *ids, "--text", "A kite hangs in the oak and the ferry leaves at nine.")
    assert listed(ada) == {"A kite hangs in the oak and the ferry leaves at nine.": change["ids"][0]}
    ada(*STORE, "undo")
    assert sorted(listed(ada).values()) == sorted(ids)


def test_what_may_restate_another_is_told_to_be_by_itself(here: Here) -> None:
    for who, text in (("Bo", KITE), ("Cleo", "The blue kite hangs in the old oak, torn by crows.")):
        talk = ("chat", "Ada", "--me", who, "--store", "sqlite:ada.db", "--embedder", "hashing")
        assert here(*talk, typed=f"{text}\n".encode()).code == 0
    [linked] = [line for line in here(*STORE, "list").out.splitlines() if "[may restate another]" in line]
    kite = linked.split()[0]
    change = data(here, *STORE, "separate", kite, "--why", "another kite")
    assert (change["kind"], change["ids"]) == ("separate", [kite])
    assert "[may restate another]" not in here(*STORE, "list").out
    assert here(*STORE, "undo").code == 0
    assert "[may restate another]" in here(*STORE, "list").out


def test_what_is_anchored_is_changed_after_its_anchor_is_taken_away(ada: Here) -> None:
    kite = listed(ada)[KITE]
    assert ada(*STORE, "anchor", kite).code == 0
    assert "[anchored]" in ada(*STORE, "list").out
    refused = ada(*STORE, "forget", kite)
    assert (refused.code, refused.out) == (2, "")
    assert f"memory {kite} is anchored, so it isn't forgotten." in refused.err
    assert ada(*STORE, "unanchor", kite).code == 0
    assert ada(*STORE, "forget", kite).code == 0


def test_history_of_what_was_never_changed_says_so_and_undo_has_nothing_to_do(ada: Here) -> None:
    assert ada(*STORE, "history").out == "nothing was ever changed\n"
    ended = ada(*STORE, "undo")
    assert (ended.code, ended.err) == (2, "simuverse: there is no change to undo\n")
    assert not Path("ada.db.audit.jsonl").exists()


@pytest.mark.parametrize("words", [("forget", "7"), ("rewrite", "7", "x"), ("merge", "7", "8"), ("history", "7")])
def test_what_is_no_id_is_told(words: tuple[str, ...], ada: Here) -> None:
    ended = ada(*STORE, *words)
    assert (ended.code, ended.out) == (2, "")
    assert "'7' is not an id. `list` shows the ids" in ended.err


# --- erasing --------------------------------------------------------------------------------------------------------


def test_erase_asks_first_and_without_a_yes_nothing_goes(ada: Here) -> None:
    kite = listed(ada)[KITE]
    for answer in (b"n\n", b""):
        ended = ada(*STORE, "forget", kite, "--erase", typed=answer)
        assert ended.code == 2
        assert "This can't be undone. [y/N]" in ended.out
        assert "nothing was erased. Answer y, or give --yes" in ended.err
    assert kite in listed(ada).values()
    assert ada(*STORE, "forget", kite, "--erase", typed=b"y\n").code == 0
    assert b"kite" not in bytes_in(".")


def test_erase_takes_a_memory_and_its_history_out_of_every_file(ada: Here) -> None:
    kite = listed(ada)[KITE]
    ada(*STORE, "rewrite", kite, "A zephyrine bag hangs in the oak.")
    assert b"zephyrine" in bytes_in(".")
    erased = data(ada, *STORE, "forget", kite, "--erase", "--yes")
    assert (erased["change"]["kind"], erased["change"]["ids"], erased["still_held"]) == ("erase", [kite], [])
    assert b"zephyrine" not in bytes_in(".")
    assert b"kite" not in bytes_in(".")
    assert "erase\n" in ada(*STORE, "history").out
    assert "rewrite, its words were erased" in ada(*STORE, "history").out
    assert ada(*STORE, "undo").code == 2


def test_a_copy_of_the_store_beside_it_is_told(ada: Here) -> None:
    kite = listed(ada)[KITE]
    shutil.copy("ada.db", "ada.db.old")
    ended = ada(*STORE, "forget", kite, "--erase", "--yes")
    assert ended.code == 5
    assert "the same still stands in ada.db.old" in ended.err


def test_erase_clears_a_run_folder_of_a_memory_that_came_back_in_its_turns(lived: Here) -> None:
    james = ("memories", "run1", "--agent", "James")
    trace, seed = seed_that_came_back("James")
    count = len(list(read_turns(Path("run1"))))
    assert seed.summary.encode() in Path("run1/journal.jsonl").read_bytes()
    others = Path("run1/telemetry.jsonl").read_bytes()
    ended = lived(*james, "forget", str(seed.id), "--erase", "--yes")
    assert (ended.code, ended.err) == (0, ""), ended
    assert "a new run of it begins with this memory again" in ended.out
    assert seed.summary.encode() not in bytes_in("run1")
    assert seed.critical_information.encode() not in bytes_in("run1") or not seed.critical_information
    assert len(list(read_turns(Path("run1")))) == count
    assert Path("run1/telemetry.jsonl").read_bytes() == others
    assert "[erased]" in lived("flashbacks", "run1", "--agent", "James", "--tick", str(trace.tick)).out


def test_erase_takes_what_was_heard_out_of_the_run_and_tells_who_else_knows_it(lived: Here) -> None:
    heard = next(
        (trace, memory)
        for trace in read_turns(Path("run1"))
        for memory in trace.remembered.written
        if memory.provenance.speaker is not None and len(memory.summary.split()) > 6
    )
    trace, memory = heard
    said = trace.observation.heard[0].text
    assert said.encode() in Path("run1/journal.jsonl").read_bytes()
    owners, held = {trace.agent}, {str(memory.id): trace.agent}
    ended = lived("memories", "run1", "--agent", trace.agent, "forget", str(memory.id), "--erase", "--yes")
    assert ended.code == 5
    assert "the memories are erased, but the same still stands in memory " in ended.err
    assert said.encode() not in Path("run1/journal.jsonl").read_bytes()
    for _ in range(12):
        told = [part.split(" of ") for part in ended.err.partition("stands in ")[2].strip().split("; ")]
        held = {which.removeprefix("memory "): owner for which, owner in told}
        owners.update(held.values())
        ended = lived("memories", "run1", "--agent", *_next(held), "--erase", "--yes")
        if ended.code == 0:
            break
    assert ended.code == 0
    assert len(owners) > 1
    assert said.encode() not in bytes_in("run1")


def _next(held: dict[str, str]) -> tuple[str, ...]:
    owner = min(held.values())
    return owner, "forget", *(which for which, other in held.items() if other == owner)


def test_a_runs_store_is_the_runs_by_whatever_name(lived: Here) -> None:
    _, seed = seed_that_came_back("James")
    source = ("memories", "sqlite:run1/memory.db", "--embedder", "hashing", "--agent", "James")
    assert lived(*source, "rewrite", str(seed.id), "I promised nothing.").code == 0
    assert "I promised nothing." in lived("memories", "run1", "--agent", "James", "history").out
    assert lived(*source, "forget", str(seed.id), "--erase", "--yes").code == 0
    assert seed.summary.encode() not in bytes_in("run1")


def test_a_run_under_way_is_not_cleared_and_keeps_the_memory(lived: Here) -> None:
    source = ("memories", "run1", "--agent", "Jade")
    before, journal = listed(lived, *source), Path("run1/journal.jsonl").read_bytes()
    with FileLock("run1/lock"):
        ended = lived(*source, "forget", next(iter(before.values())), "--erase", "--yes")
    assert ended.code == 2
    assert "run1 is being written by another process, and nothing was erased" in ended.err
    assert listed(lived, *source) == before
    assert Path("run1/journal.jsonl").read_bytes() == journal


def test_words_in_a_file_that_cant_be_cleared_are_told(lived: Here) -> None:
    source = ("memories", "run1", "--agent", "Jade")
    lived(*source, "add", "The zephyrine box is under the quince.")
    Path("run1/notes.txt").write_text("NB: The zephyrine box is under the quince.", encoding="utf-8")
    box = listed(lived, *source)["The zephyrine box is under the quince."]
    ended = lived(*source, "forget", box, "--erase", "--yes")
    assert ended.code == 5
    assert "the same still stands in run1/notes.txt" in ended.err


def test_a_damaged_journal_is_refused_before_anything_is_erased(lived: Here) -> None:
    source = ("memories", "run1", "--agent", "Jade")
    journal = Path("run1/journal.jsonl")
    journal.write_bytes(b"{nonsense\n" + journal.read_bytes())
    before = listed(lived, *source)
    ended = lived(*source, "forget", next(iter(before.values())), "--erase", "--yes")
    assert ended.code == 2
    assert "journal.jsonl, line 1 is damaged, so it can't be cleared" in ended.err
    assert listed(lived, *source) == before


# --- agents ---------------------------------------------------------------------------------------------------------


def test_agents_are_made_listed_and_deleted(here: Here) -> None:
    agents = ("agents", "sqlite:friends.db", "--embedder", "hashing")
    assert here(*agents, "create", "Ada").out == "created Ada in sqlite:friends.db\n"
    assert here(*agents, "create", "Bo").code == 0
    again = here(*agents, "create", "Bo")
    assert (again.code, again.err) == (2, "simuverse: Bo is in sqlite:friends.db already\n")
    here("memories", "sqlite:friends.db", "--embedder", "hashing", "--agent", "Ada", "add", KITE)
    assert here(*agents, "list").out == "Ada  1 memories\nBo  0 memories\n"
    assert data(here, *agents, "list") == [{"name": "Ada", "memories": 1}, {"name": "Bo", "memories": 0}]
    assert here(*agents, "delete", "Ada", typed=b"n\n").code == 2
    assert here(*agents, "list").out == "Ada  1 memories\nBo  0 memories\n"
    ended = here(*agents, "delete", "Ada", "--yes")
    assert (ended.code, ended.out) == (0, "deleted Ada from sqlite:friends.db: its memories are erased\n")
    assert here(*agents, "list").out == "Bo  0 memories\n"
    unknown = here(*agents, "delete", "Ada", "--yes")
    assert (unknown.code, unknown.err) == (
        2,
        "simuverse: there is no agent Ada in sqlite:friends.db. Agents: Bo\n",
    )


def test_a_deleted_agents_words_are_in_no_file_and_the_others_stay(here: Here) -> None:
    for name, text in (("Ada", KITE), ("Bo", "The ferry leaves at nine tomorrow.")):
        here("agents", "sqlite:friends.db", "create", name, "--embedder", "hashing")
        source = ("memories", "sqlite:friends.db", "--embedder", "hashing", "--agent", name)
        here(*source, "add", text)
        here(*source, "rewrite", listed(here, *source)[text], f"{text} So they say.")
    here("agents", "sqlite:friends.db", "--embedder", "hashing", "delete", "Ada", "--yes", "--why", "left us")
    left = bytes_in(".")
    assert b"kite" not in left
    assert b"left us" in left
    assert "ferry" in here("memories", "sqlite:friends.db", "--embedder", "hashing", "history").out
    assert here("memories", "sqlite:friends.db", "--embedder", "hashing", "undo").code == 0


def test_deleting_an_agent_of_a_run_says_what_still_holds_its_life(lived: Here) -> None:
    ended = lived("agents", "run1", "delete", "Jade", "--yes")
    assert ended.code == 0
    assert "what it lived in the run still stands in run1/journal.jsonl; delete the folder" in ended.out
    assert "Jade" not in lived("agents", "run1", "list").out
