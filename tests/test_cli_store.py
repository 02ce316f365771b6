"""``simuverse store``: what goes out comes in again to the byte, and a new version takes over without a loss."""

from __future__ import annotations

import base64
import json
import sqlite3
from collections.abc import Generator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
import pytest
from filelock import FileLock

from simuverse.memory.outbox_file import Added, OutboxFile
from simuverse.world.journal import LOCK, OUTBOX
from tests.commands import Here, finish, start
from tests.contracts.memory_reference import memory


@pytest.fixture
def ada(here: Here) -> Here:
    """A folder with ``ada.db``, where Ada was told of a kite and of a ferry."""
    lines = "The blue kite hangs in the old oak.\nThe ferry leaves at nine tomorrow.\n"
    talk = ("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "hashing", "--me", "Bo")
    assert here(*talk, typed=lines.encode()).code == 0
    return here


@pytest.fixture
def count(ada: Here) -> int:
    """How many memories Ada made of it."""
    listed = json.loads(ada("memories", "sqlite:ada.db", "list", "--past", "--json").out)
    assert len(listed) >= 2
    return len(listed)


def versions(folder: Path) -> set[str]:
    """Files of stores, without what SQLite keeps beside one."""
    return {path.name for path in folder.glob("*.db*") if not path.name.endswith(("-wal", "-shm"))}


@contextmanager
def connected(file: Path) -> Generator[sqlite3.Connection]:
    connection = sqlite3.connect(file, isolation_level=None)
    try:
        yield connection
    finally:
        connection.close()


def lose_an_index(file: Path) -> None:
    """The index by which an owner's memories are read is there and knows none of them."""
    with connected(file) as connection:
        connection.execute("DROP INDEX memories_by_revision")
        connection.execute("CREATE INDEX memories_by_revision ON memories (owner_id, revision) WHERE revision < 0")
        connection.execute("PRAGMA writable_schema = ON")
        connection.execute(
            "UPDATE sqlite_master SET sql = 'CREATE INDEX memories_by_revision ON memories (owner_id, revision)' "
            "WHERE name = 'memories_by_revision'"
        )


# Stats


def test_stats_say_whose_how_many_of_what_kind_and_of_which_embedder(ada: Here, count: int) -> None:
    ended = ada("store", "stats", "sqlite:ada.db")
    assert ended.code == 0
    first, second, third, fourth = ended.out.splitlines()
    assert first.startswith("SQLite ada.db, read only: 0.")
    assert first.endswith(" MB, 1 agent, 0 changes on record")
    assert second == f"Ada: {count} memories, 0 superseded, 0 forgotten"
    assert third == "  vectors of hashing (256 numbers)"
    assert "said_by 2" in fourth
    figures = json.loads(ada("store", "stats", "sqlite:ada.db", "--json").out)
    assert figures["bytes"] >= (ada.folder / "ada.db").stat().st_size
    told = figures["agents"]["Ada"]
    assert (told["memories"], told["current"], told["superseded"], told["forgotten"]) == (count, count, 0, 0)
    assert sum(told["by_category"].values()) == sum(told["by_source"].values()) == count
    assert told["embedder"] == {"name": "hashing", "dimension": 256}


def test_what_is_no_store_is_told_so(here: Here, tmp_path: Path) -> None:
    for command in ("stats", "check", "export", "rebuild"):
        assert here("store", command, "sqlite:none.db").code == 2
    ended = here("store", "stats", "memory:")
    assert (ended.code, "there is no store memory:" in ended.err) == (2, True)
    (tmp_path / "notes.txt").write_text("no store at all")
    assert here("store", "stats", "sqlite:notes.txt").code == 4
    assert here("store", "stats", "no-such-run").code == 2


# Export and import


def test_what_is_exported_imported_and_exported_again_is_the_same_to_the_byte(
    ada: Here, count: int, tmp_path: Path
) -> None:
    written = ada("store", "export", "sqlite:ada.db", "--out", "one.jsonl")
    assert written.out == f"{count} memories of 1 agent written to one.jsonl\n"
    assert written.err == f"exporting Ada: {count} of {count}\n"
    for already in ("", f", {count} of them there before"):
        imported = ada("store", "import", "sqlite:copy.db", "one.jsonl")
        assert imported.out == f"{count} memories of 1 agent imported into sqlite:copy.db{already}\n"
    printed = ada("store", "export", "sqlite:copy.db", "--agent", "Ada").out
    assert printed.encode() == (tmp_path / "one.jsonl").read_bytes()
    assert sorted(path.name for path in tmp_path.glob("one*")) == ["one.jsonl"]


def test_the_history_goes_along_and_can_be_undone_there(ada: Here) -> None:
    [first, *_] = json.loads(ada("memories", "sqlite:ada.db", "list", "--json").out)
    assert ada("memories", "sqlite:ada.db", "forget", first["id"], "--why", "a test").code == 0
    ada("store", "export", "sqlite:ada.db", "--out", "one.jsonl")
    imported = ada("store", "import", "sqlite:copy.db", "one.jsonl")
    assert imported.out.endswith(", and 2 lines of the record of changes\n")
    assert "a test" in ada("memories", "sqlite:copy.db", "history").out
    assert ada("memories", "sqlite:copy.db", "undo").code == 0
    assert first in json.loads(ada("memories", "sqlite:copy.db", "list", "--json").out)


def test_an_export_overwrites_nothing_and_an_unknown_agent_is_named(ada: Here, tmp_path: Path) -> None:
    (tmp_path / "mine.txt").write_text("mine")
    taken = ada("store", "export", "sqlite:ada.db", "--out", "mine.txt")
    assert (taken.code, "Name another file with --out" in taken.err) == (2, True)
    assert (tmp_path / "mine.txt").read_text() == "mine"
    nowhere = ada("store", "export", "sqlite:ada.db", "--out", "no/such/folder.jsonl")
    assert (nowhere.code, "can't be written" in nowhere.err) == (2, True)
    unknown = ada("store", "export", "sqlite:ada.db", "--agent", "Zoe")
    assert (unknown.code, "Agents: Ada" in unknown.err) == (2, True)


@pytest.mark.parametrize(
    ("content", "said"),
    [(b"not json\n", "line 1 isn't a memory"), (b"\xff\xfe\n", "it isn't UTF-8 text"), (None, "can't be read")],
)
def test_a_file_that_is_no_export_is_refused_with_what_is_wrong_and_no_store_is_made(
    here: Here, tmp_path: Path, content: bytes | None, said: str
) -> None:
    if content is not None:
        (tmp_path / "lines.jsonl").write_bytes(content)
    ended = here("store", "import", "sqlite:new.db", "lines.jsonl")
    assert ended.code == 2
    assert said in ended.err
    assert not (tmp_path / "new.db").exists()


def test_vectors_of_another_embedder_are_not_imported(ada: Here, tmp_path: Path) -> None:
    ada("store", "export", "sqlite:ada.db", "--out", "one.jsonl")
    ended = ada("store", "import", "sqlite:new.db", "one.jsonl", "--embedder", "wordllama")
    assert ended.code == 4
    assert "reembed sqlite:new.db --embedder wordllama" in ended.err
    assert not (tmp_path / "new.db").exists()
    ada("agents", "sqlite:other.db", "--embedder", "wordllama", "create", "Ada")
    ended = ada("store", "import", "sqlite:other.db", "one.jsonl")
    assert ended.code == 4
    assert "wordllama" in ended.err


# Migrate


def test_a_run_is_carried_into_a_file_and_nothing_else_of_it(here: Here, tmp_path: Path) -> None:
    assert here("run", "--ticks", "2", "--out", "run1", "--embedder", "hashing").code == 0
    ended = here("store", "migrate", "run1", "sqlite:all.db")
    assert ended.code == 0, ended.text
    assert " memories of 4 agents carried from run1 to sqlite:all.db" in ended.out
    for source in ("run1", "sqlite:all.db"):
        here("store", "export", source, "--out", f"{source[-4:]}.jsonl")
    assert (tmp_path / "run1.jsonl").read_bytes() == (tmp_path / "l.db.jsonl").read_bytes()


def test_what_is_there_is_added_to_only_when_asked(ada: Here) -> None:
    talk = ("chat", "Ada", "--store", "sqlite:other.db", "--embedder", "hashing", "--me", "Bo")
    assert ada(*talk, typed=b"My bicycle is green and stands by the gate.\n").code == 0
    refused = ada("store", "migrate", "sqlite:ada.db", "sqlite:other.db")
    assert (refused.code, "--merge" in refused.err) == (2, True)
    assert ada("store", "migrate", "sqlite:ada.db", "sqlite:other.db", "--merge").code == 0
    found = ada("memories", "sqlite:other.db", "list").out
    assert "kite" in found
    assert "bicycle" in found


def test_nothing_to_carry_and_no_such_agent_are_told(here: Here, ada: Here) -> None:
    unknown = ada("store", "migrate", "sqlite:ada.db", "sqlite:b.db", "--agent", "Zoe")
    assert (unknown.code, "Agents: Ada" in unknown.err) == (2, True)
    ada("agents", "sqlite:ada.db", "delete", "Ada", "--yes")
    empty = ada("store", "migrate", "sqlite:ada.db", "sqlite:b.db")
    assert (empty.code, "holds no agents" in empty.err) == (2, True)


# What waits in a run folder

RUN = ("run", "--ticks", "2", "--out", "run1", "--embedder", "hashing")


def test_what_waits_in_a_run_is_brought_out_before_it_is_carried(here: Here, tmp_path: Path) -> None:
    here(*RUN)
    waiting = memory("The bell rang.", 0)
    OutboxFile(tmp_path / "run1" / OUTBOX).append("Jade", Added(memories=(waiting,)), {})
    assert here("store", "migrate", "run1", "sqlite:all.db").code == 0
    assert str(waiting.id) in here("store", "export", "sqlite:all.db").out
    assert not (tmp_path / "run1" / OUTBOX).exists()


def test_of_a_run_under_way_that_holds_back_memories_nothing_is_carried(here: Here, tmp_path: Path) -> None:
    here(*RUN)
    OutboxFile(tmp_path / "run1" / OUTBOX).append("Jade", Added(memories=(memory("The bell rang.", 0),)), {})
    with FileLock(tmp_path / "run1" / LOCK):
        for words in (("export", "run1"), ("migrate", "run1", "sqlite:all.db"), ("rebuild", "run1")):
            ended = here("store", *words)
            assert (ended.code, "it brings out itself what waits there" in ended.err) == (2, True)
        assert here("store", "check", "run1").code == 0
    assert not (tmp_path / "all.db").exists()


# Reembed


def test_reembed_keeps_every_memory_and_the_old_file_and_is_what_the_mismatch_tells_one_to_do(
    ada: Here, count: int, tmp_path: Path
) -> None:
    before = json.loads(ada("memories", "sqlite:ada.db", "--embedder", "hashing", "list", "--json").out)
    mismatch = ada("chat", "Ada", "--store", "sqlite:ada.db", "--embedder", "wordllama")
    assert mismatch.code == 4
    command = mismatch.err.strip().partition("simuverse store ")[2]

    ended = ada("store", *command.split())

    assert ended.code == 0, ended.text
    assert ended.out.splitlines() == [
        f"{count} memories of 1 agent in sqlite:ada.db: from hashing to wordllama",
        "the old version is kept as ada.db.old; --drop-old deletes it",
    ]
    assert (tmp_path / "ada.db.old").exists()
    after = json.loads(ada("memories", "sqlite:ada.db", "--embedder", "wordllama", "list", "--json").out)
    assert after == before
    found = ada("memories", "sqlite:ada.db", "--embedder", "wordllama", "search", "the kite")
    assert "kite" in found.out.splitlines()[0]
    again = ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama", "--drop-old")
    assert again.out.splitlines() == [
        "all vectors of sqlite:ada.db are of wordllama (256 numbers) already",
        "deleted ada.db.old",
    ]
    assert versions(tmp_path) == {"ada.db"}


def test_the_same_embedder_computes_anew_only_when_told(ada: Here) -> None:
    ended = ada("store", "reembed", "sqlite:ada.db", "--embedder", "hashing", "--again", "--drop-old")
    assert ended.out.splitlines()[-1] == "deleted ada.db.old"
    assert ada("store", "check", "sqlite:ada.db").code == 0


def test_reembed_overwrites_no_old_file(ada: Here, tmp_path: Path) -> None:
    (tmp_path / "ada.db.old").write_text("mine")
    refused = ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama")
    assert (refused.code, "in the way" in refused.err) == (2, True)
    assert (tmp_path / "ada.db.old").read_text() == "mine"


def test_a_file_that_another_program_has_open_is_not_swapped_under_it(ada: Here, tmp_path: Path) -> None:
    with connected(tmp_path / "ada.db") as other:
        other.execute("SELECT * FROM owners").fetchall()
        ended = ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama")
        assert (ended.code, "is open in another program" in ended.err) == (4, True)
        assert "hashing" in ada("store", "stats", "sqlite:ada.db").out
    assert ada("store", "reembed", "sqlite:ada.db", "--embedder", "wordllama").code == 0
    assert "wordllama" in ada("store", "stats", "sqlite:ada.db").out


# Check and rebuild


def test_a_sound_store_is_called_sound_and_needs_no_rebuilding(ada: Here, count: int, tmp_path: Path) -> None:
    ended = ada("store", "check", "sqlite:ada.db")
    assert ended.code == 0
    assert ended.out == f"Ada: {count} memories, all read, all found by words, all found by meaning\n"
    assert json.loads(ada("store", "check", "sqlite:ada.db", "--json").out)["agents"]["Ada"]["faults"] == []
    rebuilt = ada("store", "rebuild", "sqlite:ada.db")
    assert (rebuilt.code, "nothing needs to be made anew" in rebuilt.out) == (0, True)
    assert not (tmp_path / "ada.db.old").exists()
    forced = ada("store", "rebuild", "sqlite:ada.db", "--force", "--drop-old")
    assert forced.code == 0
    assert versions(tmp_path) == {"ada.db"}


def test_a_lost_index_is_found_and_made_anew_with_every_memory(ada: Here, count: int, tmp_path: Path) -> None:
    ada("store", "export", "sqlite:ada.db", "--out", "before.jsonl")
    lose_an_index(tmp_path / "ada.db")
    assert ada("memories", "sqlite:ada.db", "list").out.strip() == "no memories"
    checked = ada("store", "check", "sqlite:ada.db")
    assert checked.code == 5
    assert "missing from index memories_by_revision" in checked.out
    assert "simuverse store rebuild sqlite:ada.db" in checked.err
    rebuilt = ada("store", "rebuild", "sqlite:ada.db")
    assert rebuilt.code == 0, rebuilt.text
    assert f"{count} memories of 1 agent" in rebuilt.out
    assert ada("store", "check", "sqlite:ada.db").code == 0
    ada("store", "export", "sqlite:ada.db", "--out", "after.jsonl")
    assert (tmp_path / "after.jsonl").read_bytes() == (tmp_path / "before.jsonl").read_bytes()
    assert versions(tmp_path) == {"ada.db", "ada.db.old"}


def test_memories_filed_under_other_words_are_found_and_filed_anew(ada: Here, tmp_path: Path) -> None:
    with connected(tmp_path / "ada.db") as connection:
        connection.execute("UPDATE memories SET search_text = 'zither', revision = revision + 1")
        connection.execute("UPDATE owners SET revision = revision + 1")
    checked = ada("store", "check", "sqlite:ada.db")
    assert checked.code == 5
    assert "are filed under other words than their own" in checked.out
    assert "can't be found by words" in checked.out
    assert ada("store", "rebuild", "sqlite:ada.db").code == 0
    assert ada("store", "check", "sqlite:ada.db").code == 0


def test_a_damaged_file_is_told_and_left_as_it_is(ada: Here, tmp_path: Path) -> None:
    file = tmp_path / "ada.db"
    with connected(file) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
        page: int = connection.execute("SELECT rootpage FROM sqlite_master WHERE name = 'memories'").fetchone()[0]
        size: int = connection.execute("PRAGMA page_size").fetchone()[0]
    damaged = bytearray(file.read_bytes())
    damaged[(page - 1) * size : page * size] = b"\xff" * size
    file.write_bytes(damaged)
    for command in ("check", "rebuild"):
        ended = ada("store", command, "sqlite:ada.db")
        assert ended.code == 4
        assert "damaged" in ended.err
    assert file.read_bytes() == damaged


# Stopped in the middle


@pytest.fixture
def many(here: Here) -> Here:
    """A folder with ``many.jsonl`` and ``some.jsonl``: 2,400 and 400 memories of two agents."""
    lines = [json.dumps(_line(f"Bell {number} rang.", number)) + "\n" for number in range(2400)]
    (here.folder / "many.jsonl").write_text("".join(lines))
    (here.folder / "some.jsonl").write_text("".join(lines[:400]))
    return here


def _line(summary: str, number: int) -> dict[str, object]:
    at = f"2026-03-01T{number // 3600:02}:{number // 60 % 60:02}:{number % 60:02}Z"
    return {
        "embedder": "hashing",
        "vector": base64.b64encode(np.eye(1, 256, dtype="<f4").tobytes()).decode(),
        "memory": {
            "id": f"00000000-0000-0000-0000-{number:012}",
            "owner": "Ada" if number % 2 else "Bo",
            "summary": summary,
            "category": "observation",
            "created_at": at,
            "last_accessed_at": at,
            "provenance": {"source": "observed"},
        },
    }


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_an_import_stopped_in_the_middle_is_whole_after_the_next(many: Here, how: str) -> None:
    process = start("store", "import", "sqlite:copy.db", "many.jsonl", folder=many.folder)
    assert process.stderr is not None
    assert process.stderr.readline() == "carrying Ada: 2000 of 2400\n"
    process.send_signal(2) if how == "interrupted" else process.kill()
    ended = finish(process)
    assert ended.code == (130 if how == "interrupted" else 137)
    assert ("the same command goes on from here" in ended.err) == (how == "interrupted")
    again = many("store", "import", "sqlite:copy.db", "many.jsonl")
    assert again.code == 0, again.text
    assert again.out.startswith("2400 memories of 2 agents imported into sqlite:copy.db, ")
    lines = many("store", "export", "sqlite:copy.db").out.splitlines()
    assert len({json.loads(line)["memory"]["id"] for line in lines}) == len(lines) == 2400


@pytest.mark.parametrize("how", ["interrupted", "killed"])
def test_a_new_version_stopped_in_the_middle_leaves_the_old_one_and_the_next_completes_it(many: Here, how: str) -> None:
    assert many("store", "import", "sqlite:bells.db", "some.jsonl").code == 0
    before = many("memories", "sqlite:bells.db", "--agent", "Ada", "list", "--limit", "9999", "--json").out
    assert len(json.loads(before)) == 200
    process = start("store", "reembed", "sqlite:bells.db", "--embedder", "wordllama", folder=many.folder)
    assert process.stderr is not None
    assert process.stderr.readline() == "embedding Ada: 200 of 200\n"
    process.send_signal(2) if how == "interrupted" else process.kill()
    assert finish(process).code == (130 if how == "interrupted" else 137)
    assert "vectors of hashing (256 numbers)" in many("store", "stats", "sqlite:bells.db").out
    again = many("store", "reembed", "sqlite:bells.db", "--embedder", "wordllama", "--drop-old")
    assert again.code == 0, again.text
    assert many("memories", "sqlite:bells.db", "--agent", "Ada", "list", "--limit", "9999", "--json").out == before
    assert versions(many.folder) == {"bells.db"}
