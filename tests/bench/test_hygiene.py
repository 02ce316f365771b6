from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import replace
from pathlib import Path

import pytest

from simuverse.bench.echoed import ECHOED, EVENTS, can_be_turned, in_other_words, reworded, wordings
from simuverse.bench.hygiene import measure_hygiene
from simuverse.bench.hygiene_cost import recall_cost
from simuverse.bench.hygiene_table import hygiene_table
from simuverse.bench.labelled_pairs import KINDS, LISTENER, TELLINGS, labelled_pairs
from simuverse.bench.silence import Gated, Silence, SilenceBench
from simuverse.bench.soak import soak
from simuverse.errors import UsageError
from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.recall import RecallSettings
from simuverse.memory.store import MemoryStore
from simuverse.memory.stores.sqlite import SQLiteStore


@pytest.fixture
async def embedder() -> WordLlamaEmbedder:
    return await WordLlamaEmbedder.open()


@pytest.fixture
async def store(embedder: WordLlamaEmbedder) -> AsyncIterator[MemoryStore]:
    store = await SQLiteStore.open(None, embedder_name=embedder.name, dimension=embedder.dimension)
    yield store
    await store.aclose()


def test_the_pairs_are_three_hundred_each_once_and_told_by_somebody() -> None:
    pairs = labelled_pairs()
    assert len(pairs) == len(set(pairs)) == 300
    assert {pair.kind for pair in pairs} == set(KINDS)
    for pair in pairs:
        assert pair.known.speaker
        assert pair.draft.speaker
        assert pair.known != pair.draft


def test_none_of_those_held_out_is_among_the_others() -> None:
    sets = [labelled_pairs(telling, held_out=held_out) for telling in TELLINGS for held_out in (False, True)]
    assert [len(pairs) for pairs in sets] == [len(set(pairs)) for pairs in sets] == [300, 60, 60, 60, 120, 120]
    told = [str(pair.known) for pairs in sets for pair in {str(pair.known): pair for pair in pairs}.values()]
    assert len(told) == len(set(told))


def test_of_ones_own_words_all_are_the_listeners() -> None:
    pairs = [*labelled_pairs("own"), *labelled_pairs("retold")]
    pairs += [*labelled_pairs("own", held_out=True), *labelled_pairs("retold", held_out=True)]
    assert {pair.draft.speaker for pair in pairs} == {LISTENER}


def test_every_form_says_the_same_again() -> None:
    fact = "Mira: My brother mends clocks in a shop behind the market."
    told = {form: in_other_words(form, fact, (), listener="Ada", turn=0) for form in ECHOED}
    assert told["verbatim"].text == "Your brother mends clocks in a shop behind the market."
    assert told["with a frame"].text.startswith("As you said, your brother")
    assert told["turned round"].text == "In a shop behind the market, your brother mends clocks."
    assert told["cut short"].text == "Your brother mends clocks."
    assert told["in pieces"].text == "Your brother mends clocks. In a shop behind the market."
    assert told["to another"] == told["to the speaker"], "of whoever is addressed it would say something else"
    ferry = in_other_words("to another", "Mira: The ferry leaves at nine.", (), listener="Ada", turn=0)
    assert ferry.text == "Bertil, the ferry leaves at nine."
    assert told["cited"].text == fact
    assert told["quoted"].speaker == "Mira"
    assert (told["passed on"].speaker, told["passed on"].text) == ("Runa", fact.replace("Mira:", "Mira told me:"))
    assert {one.speaker for form, one in told.items() if form not in ("quoted", "passed on")} == {"Ada"}
    assert can_be_turned("My brother mends clocks.")
    assert not can_be_turned("Mon oncle vend des pommes.")


def test_an_event_is_worded_twenty_times_each_otherwise() -> None:
    for texts in (*(wordings(event, 20) for event in EVENTS), *reworded()):
        assert len(texts) == len(set(texts)) == 20


async def test_echoes_are_told_and_no_fact_is_lost(store: MemoryStore, embedder: WordLlamaEmbedder) -> None:
    measured = await measure_hygiene(store, embedder, turns=60, memories=100)
    for fates, least in (
        (measured.fates, 70),
        (measured.held_out, 15),
        (measured.own, 20),
        (measured.own_held_out, 20),
    ):
        for kind in ("new", "changed", "contradicting"):
            assert fates[kind]["refused"] == fates[kind]["merged"] == 0
        assert fates["restated"]["refused"] + fates["restated"]["merged"] >= least
    assert measured.fates["changed"]["replaced"] >= 40
    assert measured.own["new"]["linked"] <= 5
    assert measured.own_held_out["new"]["linked"] <= 7
    assert measured.own["restated"]["stored"] == measured.own_held_out["restated"]["stored"] == 0
    for fates in (measured.retold, measured.retold_held_out):
        assert [fates[kind][lost] for kind in KINDS for lost in ("refused", "merged", "replaced", "in part")] == [
            0
        ] * 16
        assert fates["restated"]["linked"] >= 25
        assert fates["new"]["linked"] <= 5
    assert measured.changes.unrelated_replaced == 0
    assert measured.changes.unrelated > 400
    assert [one.recall for one in measured.curve] == sorted((one.recall for one in measured.curve), reverse=True)
    assert measured.loop.restated == 60
    assert sum(measured.loop.stored.values()) == 0
    assert measured.duplicates.most <= 4
    assert measured.reworded.most <= 12
    assert measured.reworded.groups <= 7
    assert measured.cost.memories == 100
    assert measured.cost.ratio > 0
    assert await store.owners() == []
    alone = hygiene_table(measured)
    assert "what becomes of the second sentence" in alone
    gated = Gated(min_sure=RecallSettings().min_sure, kept=0.96, own=0.9, foreign=0.31, far=0.02)
    silence = Silence(source="tales", area=0.94, answered=50, own=60, foreign=70, far=80, curve=(gated,))
    both = replace(measured, silence=SilenceBench(store="-", embedder="-", sources=(silence,)))
    assert hygiene_table(both).startswith(alone)
    assert "tales: 50 answered of 60; 70; 80" in hygiene_table(both)
    assert "96.0   90.0    31.0    2.0  shipped" in hygiene_table(both)


async def test_memories_of_the_listener_are_left_alone(store: MemoryStore, embedder: WordLlamaEmbedder) -> None:
    await store.collection(LISTENER)
    with pytest.raises(UsageError, match="already holds memories"):
        await measure_hygiene(store, embedder, turns=1)
    assert await store.owners() == [LISTENER]


async def test_a_soaked_village_stores_no_echo_and_ever_less() -> None:
    measured = await soak(1_000, embedder="hashing")
    assert measured.turns == 1_000
    assert measured.echoes == 0
    first, *_, last = measured.stages
    assert last.written < first.written / 2
    assert last.current - measured.stages[-2].current < first.current / 2


@pytest.mark.long
async def test_what_keeps_a_recall_clean_costs_less_than_a_tenth_of_it(
    store: MemoryStore, embedder: WordLlamaEmbedder
) -> None:
    assert (await recall_cost(store, embedder, "Ada", memories=10_000)).ratio < 1.1


@pytest.mark.long
@pytest.mark.timeout(3_600)
async def test_ten_thousand_turns_stay_flat(tmp_path: Path) -> None:
    measured = await soak(10_000, folder=tmp_path)
    assert measured.echoes == 0
    assert max(stage.most_written for stage in measured.stages) <= 3
    second, *_, last = measured.stages[1:]
    assert last.written <= second.written
    assert last.written <= last.turns / 100
    assert last.current - measured.stages[-2].current <= last.written
    if last.process_mb is not None and second.process_mb is not None:
        assert last.process_mb < 1.25 * second.process_mb
