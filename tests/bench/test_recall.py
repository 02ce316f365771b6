from __future__ import annotations

from itertools import chain

import pytest

from simuverse.bench.ablation import FULL, ablations, measure_ablation
from simuverse.bench.recall import SHIPPED, UNGATED, measure_recall
from simuverse.errors import StoreError, UsageError
from simuverse.memory.analysis import content_words, read_without, tokens
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.records import Memory
from simuverse.memory.store import MemoryStore
from tests.bench.talks import KEYS, asks, dialogue


async def test_what_is_found_counts_by_place_and_by_category(store: MemoryStore, embedder: HashingEmbedder) -> None:
    talk = dialogue(
        "keys",
        asks("Where is the copper key?", "2:2"),
        asks("Where is the silver key?", "3:2", "99:1", category="half"),
    )
    measured = await measure_recall({"own": [talk]}, store, embedder, settings={"order": UNGATED})
    [one] = measured.measured
    assert (one.source, one.setting) == ("own", "order")
    assert [(figures.category, figures.questions) for figures in one.categories] == [
        ("half", 1),
        ("single-hop", 1),
        ("all", 2),
    ]
    half, single, total = one.categories
    for found in (single.at_5, single.at_10, single.at_20, single.all_at_10, single.mrr):
        assert (found.mean, found.low, found.high) == (1, 1, 1)
    assert (half.at_10.mean, half.all_at_10.mean, half.mrr.mean) == (0.5, 0, 1)
    assert (total.at_10.mean, total.at_10.low, total.at_10.high) == (0.75, 0.5, 1)
    assert one.total is total
    assert 0 < one.p50_ms <= one.p95_ms


async def test_what_is_not_there_is_not_found(store: MemoryStore, embedder: HashingEmbedder) -> None:
    talk = dialogue("keys", asks("Where is the copper key?", "99:1"))
    measured = await measure_recall({"own": [talk]}, store, embedder, settings={"order": UNGATED})
    total = measured.measured[0].total
    assert [total.at_5.mean, total.at_20.mean, total.all_at_10.mean, total.mrr.mean] == [0, 0, 0, 0]


async def test_the_order_alone_is_measured_and_what_is_shipped(store: MemoryStore, embedder: HashingEmbedder) -> None:
    talk = dialogue("keys", asks("Tell me about the velvet curtain.", "1:2"))
    measured = await measure_recall({"own": [talk], "again": [talk]}, store, embedder)
    assert [(one.source, one.setting) for one in measured.measured] == [
        ("own", "order"),
        ("own", "shipped"),
        ("again", "order"),
        ("again", "shipped"),
    ]
    assert await store.owners() == []


async def test_each_talk_is_an_episode_and_every_turn_has_its_time(
    store: MemoryStore, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept: list[Memory] = []
    erase = store.erase

    async def look_and_erase(owner: str) -> bool:
        kept.extend([entry.memory async for entry in (await store.collection(owner)).scan()])
        return await erase(owner)

    monkeypatch.setattr(store, "erase", look_and_erase)
    talk = dialogue("keys", asks("Where is the copper key?", "2:2"))
    await measure_recall({"own": [talk]}, store, embedder, settings={"shipped": SHIPPED})
    turns = list(chain.from_iterable(talk.sessions))
    assert [memory.created_at for memory in kept] == [turn.time for turn in turns]
    assert [memory.provenance.speaker for memory in kept] == [turn.speaker for turn in turns]
    assert len({memory.episode for memory in kept}) == len(talk.sessions)
    assert [memory.position for memory in kept] == [1, 2, 3] * len(talk.sessions)
    assert all(memory.last_accessed_at == memory.created_at for memory in kept)


async def test_the_same_run_twice_gives_the_same_figures(store: MemoryStore, embedder: HashingEmbedder) -> None:
    talk = dialogue("keys", *(asks(f"The {key} key?", f"{day}:2", f"{day}:1") for day, key in enumerate(KEYS, start=1)))
    first, again = [(await measure_recall({"own": [talk]}, store, embedder)).measured for _ in range(2)]
    assert [one.categories for one in first] == [one.categories for one in again]


async def test_memories_of_the_benchmarks_name_are_left_alone(store: MemoryStore, embedder: HashingEmbedder) -> None:
    await store.collection("simuverse bench recall keys")
    with pytest.raises(UsageError, match="already holds memories"):
        await measure_recall({"own": [dialogue("keys", asks("Where?", "1:1"))]}, store, embedder)
    assert await store.owners() == ["simuverse bench recall keys"]


async def test_a_source_that_asks_nothing_is_refused(store: MemoryStore, embedder: HashingEmbedder) -> None:
    with pytest.raises(UsageError, match="no question"):
        await measure_recall({"own": [dialogue("keys")]}, store, embedder)


async def test_a_store_that_fails_is_an_error_and_never_a_bad_figure(
    store: MemoryStore, embedder: HashingEmbedder, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def fail(*_: object) -> None:
        raise StoreError("the disk is full")

    monkeypatch.setattr("simuverse.memory.stores.sqlite.SQLiteCollection.search_all", fail)
    with pytest.raises(StoreError, match="the disk is full"):
        await measure_recall({"own": [dialogue("keys", asks("Where is the oak key?", "1:1"))]}, store, embedder)


def test_every_part_has_a_line_of_its_own_in_the_ablation() -> None:
    settings = ablations()
    assert next(iter(settings)) == FULL
    assert settings[FULL] == UNGATED
    distinct = list(settings.values())
    assert all(one not in distinct[:place] for place, one in enumerate(distinct))
    for name in ("words", "context", "meaning", "ramp", "importance", "recency", "near-duplicate cut"):
        assert f"no {name}" in settings
    assert "preset park" in settings


async def test_what_writing_rests_on_is_left_out_when_it_is_written_too(
    store: MemoryStore, embedder: HashingEmbedder
) -> None:
    talk = dialogue("keys", asks("Who is polishing candlesticks?", "2:2"))
    measured = await measure_ablation({"own": [talk]}, store, embedder)
    ways = [one.setting for one in measured.measured]
    assert ways == [*ablations(), "no stems", "stop words kept", "no table of words", "no embedder"]
    assert await store.owners() == []


def test_text_is_read_without_stems_or_with_its_stop_words_for_as_long_as_it_is_measured() -> None:
    text, russian = "The bells are ringing.", "Он не в лодке"
    usual = tokens(text), content_words(text), tokens(russian)
    with read_without(stems=True):
        assert tokens(text) == ["bells", "ringing"]
    with read_without(stop_words=True):
        assert tokens(text) == ["the", "bell", "are", "ring"]
        assert content_words(text) == ("the", "bells", "are", "ringing")
        assert len(tokens(russian)) == 4
    assert (tokens(text), content_words(text), tokens(russian)) == usual
    assert usual[0] == ["bell", "ring"]
