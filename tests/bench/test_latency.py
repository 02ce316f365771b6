from __future__ import annotations

from collections import Counter
from collections.abc import AsyncIterator

import pytest

from simuverse.bench.invented_texts import LONGEST, SHORTEST, InventedTexts
from simuverse.bench.latency import measure_latency
from simuverse.errors import UsageError
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore


@pytest.fixture
def embedder() -> HashingEmbedder:
    return HashingEmbedder()


@pytest.fixture
async def store(embedder: HashingEmbedder) -> AsyncIterator[MemoryStore]:
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    yield store
    await store.aclose()


async def test_every_size_is_measured_beside_the_bare_work_and_leaves_nothing(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    steps: list[str] = []
    measured = await measure_latency(store, embedder, sizes=(1, 150), queries=5, on_progress=steps.append)
    assert (measured.store, measured.embedder) == (store.description, embedder.name)
    assert [size.size for size in measured.sizes] == [1, 150]
    for size in measured.sizes:
        for spread in (size.recall, size.embed, size.search, size.matrix, size.fts):
            assert 0 < spread.p50 <= spread.p95
        assert size.ratio_p50 == pytest.approx(size.recall.p50 / (size.matrix.p50 + size.fts.p50))
        assert size.first_search > 0
        assert size.single_writes > 0
    assert measured.sizes[1].batch_writes > 0
    assert steps[-1] == "150 memories: the bare work"
    assert await store.owners() == []


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
