"""What comes to mind, out of a real store by a real embedder, and what the record says of what doesn't."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from simuverse.errors import EmbedderUnavailable, StoreUnavailable
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.embedding import TextKind, Vectors
from simuverse.memory.recall import Recalled, RecallSettings
from simuverse.memory.records import Category, MemoryFilter, MemoryQuery, Provenance, SearchType, Source
from simuverse.memory.scoring import PRESETS, preset
from simuverse.memory.stores.sqlite import SQLiteStore
from tests.memory.recalling import NOW, OPEN, Pool, summaries

DAY = timedelta(days=1)


# --- order ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["balanced", "interview", "generative_agents", "companion"])
async def test_a_close_match_of_little_importance_comes_before_an_off_topic_one_of_the_highest(
    pool: Pool, name: str
) -> None:
    await pool.keep("Mira married the ferryman on the pier.", importance=10)
    await pool.keep("The dentist moved Mira's appointment to Thursday.", importance=3)
    await pool.keep("It rained on the mill all morning.", importance=1)

    recalled = await pool.recall("When is the appointment at the dentist?", settings=replace(OPEN, preset=preset(name)))

    assert summaries(recalled)[0] == "The dentist moved Mira's appointment to Thursday."


async def test_what_was_kept_first_or_last_makes_no_difference_to_the_order(store: SQLiteStore) -> None:
    texts = [f"Tomas mended net number {number} at the harbour." for number in range(8)]
    orders: list[list[str]] = []
    for owner, sequence in (("Ada", texts), ("Bo", texts[::-1])):
        pool = Pool(await store.collection(owner), HashingEmbedder())
        for text in sequence:
            place = texts.index(text)
            await pool.keep(text, importance=1 + place, age=DAY * place**2)
        orders.append(summaries(await pool.recall("nets mended at the harbour")))

    assert len(orders[0]) == 8
    assert orders[0] == orders[1]


async def test_equals_come_in_the_order_of_their_ids_every_time(pool: Pool) -> None:
    kept = [await pool.keep("A gull stole the bread.") for _ in range(6)]

    first = await pool.recall("the gull and the bread")
    again = await pool.recall("the gull and the bread")

    assert first == again
    assert [c.memory.id for c in first.candidates] == sorted((m.id for m in kept), key=str)


async def test_every_candidate_recomputes_from_its_figures_best_first(pool: Pool) -> None:
    for number in range(12):
        await pool.keep(
            f"Greta sold {number} loaves at the bakery.",
            importance=1 + number % 10,
            age=DAY * number,
            episode="day",
            position=number,
        )

    recalled = await pool.recall("loaves at the bakery", "What did Greta sell?")

    assert recalled.considered == 12 == len(recalled.candidates)
    for candidate in recalled.candidates:
        score = candidate.score
        factors = (score.relevance, score.importance, score.recency)
        assert score.total == pytest.approx(sum(f.weight * f.scaled for f in factors))
        assert score.total == pytest.approx(sum(score.parts.values()))
    totals = [candidate.score.total for candidate in recalled.candidates]
    assert totals == sorted(totals, reverse=True)


@pytest.mark.parametrize("name", PRESETS)
async def test_every_preset_can_be_used(pool: Pool, name: str) -> None:
    for number in range(4):
        await pool.keep(f"Greta baked bread number {number}.", importance=2 * number + 1, age=DAY * number)

    recalled = await pool.recall("Who baked bread?", settings=replace(OPEN, preset=preset(name)))

    assert {flashback.score.preset for flashback in recalled.flashbacks} == {name}
    totals = [flashback.score.total for flashback in recalled.flashbacks]
    assert len(totals) == 4
    assert totals == sorted(totals, reverse=True)


# --- search and merge -------------------------------------------------------------------------------------------------


async def test_what_three_queries_find_comes_once_with_the_best_of_them_and_all_their_names(pool: Pool) -> None:
    brass = await pool.keep("Mira hid the brass key under the mill.")
    await pool.keep("Tomas rowed to the island.")

    queries = (
        MemoryQuery(search_type=SearchType.KEYWORD, text="mill"),
        MemoryQuery(search_type=SearchType.SEMANTIC, text="the brass key"),
        MemoryQuery(text="Where did Mira hide the key, under which roof or stone?"),
    )

    recalled = await pool.recall(*queries)
    apart = [await pool.recall(query) for query in queries]

    [found] = [c for c in recalled.candidates if c.memory.id == brass.id]
    assert [f.query for f in found.found_by] == [0, 1, 2]
    alone = [c.score.relevance.raw for one in apart for c in one.candidates if c.memory.id == brass.id]
    assert len(alone) == 3
    assert found.score.relevance.raw == max(alone)
    assert [flashback.memory.id for flashback in recalled.flashbacks].count(brass.id) == 1
    keyword, semantic, hybrid = found.found_by
    assert keyword.bm25 is not None
    assert semantic.cosine is not None
    assert semantic.bm25 is None
    assert hybrid.cosine is not None
    assert hybrid.bm25 is not None


async def test_a_rare_word_is_found_whatever_its_vector_says(pool: Pool) -> None:
    await pool.keep("The crate is marked ZX4471.", as_if="Greta sang about the rain.")
    for number in range(20):
        await pool.keep(f"Tomas counted {number} gulls on the pier.")

    recalled = await pool.recall("Where is ZX4471?", settings=RecallSettings())

    assert summaries(recalled) == ["The crate is marked ZX4471."]


@pytest.mark.parametrize(
    ("kept", "asked"),
    [
        ("我把红球放在喷泉旁边。", "红球"),
        ("Я оставил красный мяч у фонтана.", "Где красный мяч?"),
        ("تركت الكرة الحمراء قرب النافورة", "أين الكرة الحمراء؟"),
        ("빨간 공을 분수 옆에 두었다.", "빨간 공"),
        ("मैंने लाल गेंद फव्वारे के पास रखी।", "लाल गेंद कहाँ है?"),
        ("Άφησα την κόκκινη μπάλα στο σιντριβάνι.", "Πού είναι η κόκκινη μπάλα;"),
    ],
)
async def test_any_script_is_kept_as_it_was_and_found(pool: Pool, kept: str, asked: str) -> None:
    await pool.keep(kept)
    await pool.keep("Tomas counted gulls on the pier.")

    assert summaries(await pool.recall(asked, settings=RecallSettings())) == [kept]


async def test_the_keywords_of_a_query_change_what_it_finds(pool: Pool) -> None:
    await pool.keep("Greta opened the bakery at dawn.")
    await pool.keep("Tomas opened the lighthouse at dusk.")
    await pool.keep("Rain fell all morning.")
    bare = MemoryQuery(text="What was opened?")

    gets_bakery = await pool.recall(replace(bare, keywords=("bakery",)))
    gets_lighthouse = await pool.recall(replace(bare, keywords=("lighthouse",)))

    assert summaries(gets_bakery)[0].startswith("Greta")
    assert summaries(gets_lighthouse)[0].startswith("Tomas")


async def test_keywords_alone_are_enough_for_any_search(pool: Pool) -> None:
    await pool.keep("Greta opened the bakery at dawn.")

    for search_type in SearchType:
        query = MemoryQuery(search_type=search_type, keywords=("bakery", "dawn"))
        assert len((await pool.recall(query)).flashbacks) == 1


@pytest.mark.parametrize(
    ("wanted", "found"),
    [
        (MemoryFilter(category=Category.PLAN), {"plan"}),
        (MemoryFilter(min_importance=6), {"plan", "old"}),
        (MemoryFilter(max_importance=5), {"rumour", "seen"}),
        (MemoryFilter(min_importance=6, max_importance=8), {"plan"}),
        (MemoryFilter(since=NOW - 2 * DAY), {"plan", "rumour", "seen"}),
        (MemoryFilter(until=NOW - 2 * DAY), {"old"}),
        (MemoryFilter(about="Tomas"), {"rumour"}),
        (MemoryFilter(exclude_sources=frozenset({Source.SAID_BY})), {"plan", "old", "seen"}),
    ],
)
async def test_nothing_comes_back_that_the_filter_shuts_out(pool: Pool, wanted: MemoryFilter, found: set[str]) -> None:
    names = {
        (await pool.keep("Regatta plan: start at the pier.", category=Category.PLAN, importance=7)).id: "plan",
        (await pool.keep("The old regatta ended in fog.", importance=9, age=30 * DAY)).id: "old",
        (
            await pool.keep(
                "The regatta is called off, they say.",
                importance=2,
                provenance=Provenance(source=Source.SAID_BY, speaker="Tomas"),
            )
        ).id: "rumour",
        (await pool.keep("Flags hang along the quay for the regatta.", importance=4)).id: "seen",
    }

    recalled = await pool.recall(MemoryQuery(text="the regatta", filter=wanted))

    assert {names[c.memory.id] for c in recalled.candidates} == found
    assert {names[f.memory.id] for f in recalled.flashbacks} == found


async def test_what_is_past_or_forgotten_never_comes_back(pool: Pool) -> None:
    past = await pool.keep("The ferry leaves at noon.")
    present = await pool.keep("The ferry leaves at one o'clock now.")
    secret = await pool.keep("The ferry has a hole below the waterline.")
    await pool.collection.supersede(past.id, by=present.id, at=NOW)
    await pool.collection.forget([secret.id], NOW)

    recalled = await pool.recall("When does the ferry leave, and has it a hole?")

    assert [c.memory.id for c in recalled.candidates] == [present.id]


async def test_no_query_and_an_empty_store_bring_nothing(pool: Pool) -> None:
    assert await pool.recall("Who is there?") == Recalled()
    await pool.keep("Someone is there.")
    assert await pool.recall() == Recalled()


async def test_what_fails_outside_is_raised(pool: Pool, store: SQLiteStore) -> None:
    class Unreachable(HashingEmbedder):
        async def embed(self, texts: Any, *, kind: TextKind = "document") -> Vectors:
            raise EmbedderUnavailable("no answer")

    with pytest.raises(EmbedderUnavailable):
        await Pool(pool.collection, Unreachable()).recall("Who is there?")
    await store.aclose()
    with pytest.raises(StoreUnavailable):
        await pool.recall("Who is there?")


# --- context ----------------------------------------------------------------------------------------------------------


async def test_an_answer_is_found_by_the_question_before_it(pool: Pool) -> None:
    await pool.keep("Mira: Where did the brass key go?", episode="talk", position=1)
    answer = await pool.keep("Tomas: Under the third stone.", episode="talk", position=2)
    alone = await pool.keep("Tomas: Under the third bench.", episode="walk", position=2)

    recalled = await pool.recall("Where is the brass key?")

    found = {c.memory.id: c for c in recalled.candidates}
    assert found[answer.id].relevance.context > 0 == found[alone.id].relevance.context
    assert found[answer.id].found_by[0].context_bm25 is not None
    assert found[answer.id].score.total > found[alone.id].score.total


async def test_the_best_of_an_episode_lends_to_all_of_it_and_to_what_it_follows_more(pool: Pool) -> None:
    beside = await pool.keep("Tomas: Hm.", episode="talk", position=1)
    await pool.keep("Mira: Where did the brass key go?", episode="talk", position=2)
    later = await pool.keep("Tomas: Hm.", episode="talk", position=9)
    await pool.keep("Greta: Two loaves, please.", episode="shop", position=1)
    elsewhere = await pool.keep("Tomas: Hm.", episode="shop", position=9)

    recalled = await pool.recall("Where is the brass key?")

    lent = {c.memory.id: c.relevance.contiguity for c in recalled.candidates}
    assert lent[beside.id] > lent[later.id] > lent[elsewhere.id]


async def test_of_several_memories_of_one_place_the_best_lends(pool: Pool) -> None:
    texts = ["Mira: Where did the brass key go?", "Greta went by with bread.", "A gull cried twice.", "Rain began."]
    for text in texts:
        await pool.keep(text, episode="talk", position=1)
    answer = await pool.keep("Tomas: Under the third stone.", episode="talk", position=2)
    first = await pool.recall("Where is the brass key?")
    lent = {c.memory.id: c.relevance.contiguity for c in first.candidates}[answer.id]
    for text in reversed(texts):
        await pool.keep(text, episode="walk", position=1)
    other = await pool.keep("Tomas: Under the third stone.", episode="walk", position=2)

    again = await pool.recall("Where is the brass key?")

    both = {c.memory.id: c.relevance.contiguity for c in again.candidates}
    assert lent > 0
    assert both[other.id] == pytest.approx(both[answer.id])


async def test_words_that_were_hardly_found_count_little(pool: Pool) -> None:
    await pool.keep("The ferry left at noon.")
    await pool.keep("A heron stood in the reeds.")

    well, hardly = (
        next(c for c in recalled.candidates if "ferry" in c.memory.summary)
        for recalled in (
            await pool.recall("ferry noon"),
            await pool.recall("ferry velvet orchard lantern compass saddle thimble walnut quarry goblet anvil"),
        )
    )

    assert hardly.relevance.words < well.relevance.words


async def test_whoever_is_named_in_the_query_is_heard_first(pool: Pool) -> None:
    said = {
        name: await pool.keep("The well is deep.", provenance=Provenance(source=Source.SAID_BY, speaker=name))
        for name in ("Mira", "Tomas")
    }

    recalled = await pool.recall(MemoryQuery(search_type=SearchType.HYBRID, text="What did Mira say of the well?"))

    speaker = {c.memory.id: c.relevance.speaker for c in recalled.candidates}
    assert speaker[said["Mira"].id] > 0 == speaker[said["Tomas"].id]
