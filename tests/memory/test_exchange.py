"""Lines of JSON: one form only, read whole before anything is written, and what is wrong is named by its line."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from simuverse.errors import UsageError
from simuverse.memory.carrying import FileFreight, carry
from simuverse.memory.kept import EmbedderRecord
from simuverse.memory.records import Category, Source
from simuverse.memory.store import Entry
from tests.contracts.kept_store import MADE_BY, exported, nothing, sqlite
from tests.contracts.memory_reference import entry, invented_village, memory, vector
from tests.contracts.memory_store import FULL


async def lines_of(path: Path, *entries: Entry) -> list[str]:
    async with sqlite(path) as store:
        for one in entries:
            await (await store.collection(one.memory.owner, MADE_BY)).add([one])
        return await exported(store)


async def import_(place: Path, *lines: str) -> list[str]:
    """What a new store holds afterwards."""
    (place / "lines").write_bytes("\n".join(lines).encode("utf-8", "surrogatepass"))
    async with sqlite(place / "new.db") as store:
        try:
            await carry(FileFreight(place / "lines"), store, merge=False, on_progress=nothing)
        finally:
            held = await exported(store)
            assert await store.embedders() == ({} if not held else dict.fromkeys(await store.embedders(), MADE_BY))
        return held


async def test_a_line_has_sorted_keys_and_no_line_break(tmp_path: Path) -> None:
    (line,) = await lines_of(tmp_path / "one.db", Entry(memory=FULL, vector=vector(5)))
    assert "\n" not in line
    assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


async def test_several_owners_in_one_file_go_to_their_own_collections(tmp_path: Path) -> None:
    jade = await lines_of(tmp_path / "one.db", *invented_village())
    twin = await lines_of(tmp_path / "two.db", *invented_village("jade"))
    mixed = [line for pair in zip(jade, twin, strict=True) for line in pair]
    assert await import_(tmp_path, "", *mixed, "\n") == [*jade, *twin]


async def test_of_a_memory_that_stands_there_twice_the_last_form_counts(tmp_path: Path) -> None:
    (first,) = await lines_of(tmp_path / "one.db", entry("The bell rang."))
    (last,) = await lines_of(tmp_path / "two.db", entry("The bell rang twice."))
    for _ in range(2):
        assert await import_(tmp_path, first, last) == [last]
    assert await import_(tmp_path, first, last, last) == [last]


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"memory": {}}, "missing required field"),
        ({"surprise": 1}, "surprise"),
        ({"vector": "???"}, "base64"),
        ({"vector": "AAAA"}, "3 bytes"),
        ({"vector": "AACAPw=="}, r"its vector is of invented-embedder \(1 numbers\), and Jade's before it are of"),
        ({"vector": ""}, "zeros"),
        ({"embedder": "another"}, r"its vector is of another \(16 numbers\)"),
        ({"memory.importance": 11}, "importance 11"),
        ({"memory.category": "gossip"}, f"gossip.*Allowed: {', '.join(one.value for one in Category)}"),
        ({"memory.created_at": "2026-03-01T08:00:00"}, "no time zone"),
        ({"memory.mood": "glad"}, "unknown field mood"),
        ({"memory.provenance": {"source": "observed", "rumour": 1}}, "unknown field rumour"),
        ({"memory.provenance.source": "hearsay"}, f"hearsay.*Allowed: {', '.join(one.value for one in Source)}"),
    ],
)
async def test_a_bad_line_is_named_and_nothing_is_imported(
    tmp_path: Path, changes: dict[str, object], fault: str
) -> None:
    (line,) = await lines_of(tmp_path / "one.db", entry("The bell rang."))
    bad = json.loads(line)
    for name, value in changes.items():
        *path, last = name.split(".")
        inner = bad
        for step in path:
            inner = inner[step]
        inner[last] = value
    with pytest.raises(UsageError, match=rf"lines, line 3 isn't a memory: .*{fault}.*Nothing was imported"):
        await import_(tmp_path, line, "", json.dumps(bad), line)
    async with sqlite(tmp_path / "new.db") as store:
        assert await exported(store) == []


@pytest.mark.parametrize("text", ["{", "[]", "null", '{"embedder":1}', '{"change":{}}', '{"change":{"settles":"x"}}'])
async def test_what_is_no_such_json_is_named_by_line(tmp_path: Path, text: str) -> None:
    with pytest.raises(UsageError, match="line 1 isn't a memory"):
        await import_(tmp_path, text)


@pytest.mark.parametrize(("lines", "fault"), [(["\ud800"], "UTF-8"), ([""], "holds no memories")])
async def test_what_is_no_export_at_all_is_told_so(tmp_path: Path, lines: list[str], fault: str) -> None:
    with pytest.raises(UsageError, match=fault):
        await import_(tmp_path, *lines)


async def test_more_than_one_batch_arrives_whole(tmp_path: Path) -> None:
    async with sqlite(tmp_path / "one.db") as store:
        entries = [Entry(memory=memory(f"Bell {n} rang.", n), vector=vector(n)) for n in range(1203)]
        await (await store.collection("Jade", MADE_BY)).add(entries)
        lines = await exported(store)
    assert await import_(tmp_path, *lines) == lines


async def test_a_record_of_an_embedder_reads_well() -> None:
    assert str(EmbedderRecord(name="wordllama", dimension=256)) == "wordllama (256 numbers)"
