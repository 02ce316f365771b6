from __future__ import annotations

import json
from collections.abc import AsyncIterator

import numpy as np
import pytest

from simuverse.errors import StoreMismatch, UsageError
from simuverse.memory.exchange import export_lines, import_lines
from simuverse.memory.store import Entry, MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.contracts.memory_reference import DIMENSION, entry, invented_village, memory, vector
from tests.contracts.memory_store import EMBEDDER, FULL


async def new_store() -> MemoryStore:
    return await SQLiteStore.open(None, embedder_name=EMBEDDER, dimension=DIMENSION)


@pytest.fixture
async def source() -> AsyncIterator[MemoryStore]:
    store = await new_store()
    yield store
    await store.aclose()


@pytest.fixture
async def target() -> AsyncIterator[MemoryStore]:
    store = await new_store()
    yield store
    await store.aclose()


async def exported(store: MemoryStore, owner: str = "Jade") -> list[str]:
    return [line async for line in export_lines(await store.collection(owner), embedder=EMBEDDER)]


async def one_line(store: MemoryStore) -> dict[str, object]:
    await (await store.collection("Jade")).add([entry("The bell rang.")])
    (line,) = await exported(store)
    parsed: dict[str, object] = json.loads(line)
    return parsed


async def test_export_import_export_is_the_same_to_the_byte(source: MemoryStore, target: MemoryStore) -> None:
    collection = await source.collection("Jade")
    await collection.add([*invented_village(), Entry(memory=FULL, vector=vector(5))])
    lines = await exported(source)
    assert await import_lines(target, lines, embedder=EMBEDDER) == len(lines) == 129
    assert await exported(target) == lines


async def test_a_line_has_sorted_keys_and_no_line_break(source: MemoryStore) -> None:
    await (await source.collection("Jade")).add([Entry(memory=FULL, vector=vector(5))])
    (line,) = await exported(source)
    assert "\n" not in line
    assert line == json.dumps(json.loads(line), sort_keys=True, separators=(",", ":"), ensure_ascii=False)


async def test_importing_twice_adds_nothing(source: MemoryStore, target: MemoryStore) -> None:
    await (await source.collection("Jade")).add(invented_village())
    lines = await exported(source)
    await import_lines(target, lines, embedder=EMBEDDER)
    await import_lines(target, lines[:50], embedder=EMBEDDER)
    assert await exported(target) == lines


async def test_several_owners_in_one_file_go_to_their_own_collections(source: MemoryStore, target: MemoryStore) -> None:
    for owner in ("Jade", "jade"):
        await (await source.collection(owner)).add(invented_village(owner))
    jade, twin = await exported(source), await exported(source, "jade")
    mixed = [line for pair in zip(jade, twin, strict=True) for line in pair]
    await import_lines(target, ["", *mixed, "\n"], embedder=EMBEDDER)
    assert await exported(target) == jade
    assert await exported(target, "jade") == twin


@pytest.mark.parametrize(
    ("changes", "fault"),
    [
        ({"memory": {}}, "missing required field"),
        ({"surprise": 1}, "surprise"),
        ({"vector": "???"}, "base64"),
        ({"vector": "AAAA"}, "3 bytes"),
        ({"vector": "AACAPw=="}, r"shape \(1,\)"),
        ({"memory.importance": 11}, "importance 11"),
        ({"memory.category": "gossip"}, "gossip"),
        ({"memory.created_at": "2026-03-01T08:00:00"}, "no time zone"),
        ({"memory.mood": "glad"}, "unknown field mood"),
        ({"memory.provenance": {"source": "observed", "rumour": 1}}, "unknown field rumour"),
    ],
)
async def test_a_bad_line_is_named_and_those_before_it_stay(
    source: MemoryStore, target: MemoryStore, changes: dict[str, object], fault: str
) -> None:
    line = await one_line(source)
    bad = json.loads(json.dumps(line))
    for name, value in changes.items():
        *path, last = name.split(".")
        inner = bad
        for step in path:
            inner = inner[step]
        inner[last] = value
    good = json.dumps(line)
    with pytest.raises(UsageError, match=rf"line 3 isn't a memory: .*{fault}"):
        await import_lines(target, [good, "", json.dumps(bad), good], embedder=EMBEDDER)
    assert await exported(target) == await exported(source)


@pytest.mark.parametrize("text", ["{", "[]", "null", "\ud800", '{"embedder":1}'])
async def test_what_is_no_such_json_is_named_by_line(target: MemoryStore, text: str) -> None:
    with pytest.raises(UsageError, match="line 1 isn't a memory"):
        await import_lines(target, [text], embedder=EMBEDDER)


async def test_vectors_of_another_embedder_are_refused(source: MemoryStore, target: MemoryStore) -> None:
    line = json.dumps(await one_line(source))
    with pytest.raises(StoreMismatch, match=f"line 1: .*{EMBEDDER}.*another-embedder.*reembed"):
        await import_lines(target, [line], embedder="another-embedder")
    assert await target.owners() == []


async def test_more_than_one_batch_arrives_whole(source: MemoryStore, target: MemoryStore) -> None:
    entries = [Entry(memory=memory(f"Bell {n} rang.", n), vector=vector(n)) for n in range(1203)]
    await (await source.collection("Jade")).add(entries)
    assert await import_lines(target, await exported(source), embedder=EMBEDDER) == 1203
    scanned = [e async for e in (await target.collection("Jade")).scan()]
    assert np.array_equal([e.vector for e in scanned], [e.vector for e in entries])
