from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import replace

import pytest

from simuverse.bench.client_latency import ClientLatency
from simuverse.bench.invented_texts import LONGEST, SHORTEST, InventedTexts
from simuverse.bench.latency import measure_latency
from simuverse.bench.latency_table import latency_table
from simuverse.bench.timing import Spread, timed
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore


async def test_every_size_is_measured_beside_the_bare_work_and_leaves_nothing(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    steps: list[str] = []
    measured = await measure_latency(store, embedder, sizes=(1, 150), queries=5, on_progress=steps.append)
    assert (measured.store, measured.embedder) == (store.description, embedder.name)
    assert [size.size for size in measured.sizes] == [1, 150]
    for size in measured.sizes:
        for spread in (size.recall, size.fresh, size.at_once, size.embed, size.search, size.matrix, size.fts):
            assert 0 < spread.p50 <= spread.p95
        assert size.ratio_p50 == pytest.approx(size.recall.p50 / (size.matrix.p50 + size.fts.p50))
        assert size.first_search > 0
        assert size.single_writes > 0
        assert size.client is None
    assert measured.sizes[1].batch_writes > 0
    assert steps[-1] == "150 memories: the bare work"
    assert await store.owners() == []


async def test_stores_stand_beside_each_other_size_by_size(store: MemoryStore, embedder: HashingEmbedder) -> None:
    one = await measure_latency(store, embedder, sizes=(3, 20), queries=2)
    client = ClientLatency(
        search=Spread(p50=1.5, p95=2.5),
        single_writes=10,
        batch_writes=20,
        search_ratio=1.25,
        new_ratio=1.5,
        single_ratio=3.5,
        batch_ratio=1.75,
    )
    other = replace(one, store="another", sizes=tuple(replace(size, client=client) for size in one.sizes))
    lines = latency_table([one, other]).splitlines()
    assert lines[:2] == [f"store 1: {store.description}", "store 2: another"]
    assert [line.split()[:2] for line in lines[4:8]] == [["3", "1"], ["3", "2"], ["20", "1"], ["20", "2"]]
    assert lines[-2].split() == ["3", "2", "1.5", "/", "2.5", "1.25", "1.50", "10", "3.50", "20", "1.75"]
    assert "client alone" not in latency_table([one])


async def test_as_many_are_under_way_as_there_are_agents() -> None:
    under_way, most = 0, 0

    async def work(_: int) -> None:
        nonlocal under_way, most
        under_way += 1
        most = max(most, under_way)
        await asyncio.sleep(0)
        under_way -= 1

    assert len(await timed(range(9), work, at_once=4)) == 9
    assert most == 4
    assert len(await timed(range(2), work, at_once=4)) == 2


async def test_memories_of_the_benchmarks_name_are_left_alone(store: MemoryStore, embedder: HashingEmbedder) -> None:
    await store.collection("simuverse bench latency 5")
    with pytest.raises(UsageError, match="already holds memories"):
        await measure_latency(store, embedder, sizes=(5,), queries=1)
    assert await store.owners() == ["simuverse bench latency 5"]


async def test_a_size_below_one_is_refused(store: MemoryStore, embedder: HashingEmbedder) -> None:
    with pytest.raises(UsageError, match="not 10, 0"):
        await measure_latency(store, embedder, sizes=(10, 0))


def test_invented_texts_repeat_with_the_seed_and_have_frequent_words() -> None:
    texts = InventedTexts(3).draw(2000)
    assert texts == InventedTexts(3).draw(2000)
    assert texts != InventedTexts(4).draw(2000)
    assert {len(text.split()) for text in texts} == set(range(SHORTEST, LONGEST + 1))
    counts = Counter(word for text in texts for word in text.removesuffix(".").split())
    first, second, *_ = (count for _, count in counts.most_common(2))
    assert 1.8 < first / second < 2.2
    assert sum(count == 1 for count in counts.values()) > 1000
