"""What may say the same again is linked: a group, which counts as one wherever it is found.

With the embedder that is shipped, as likeness of words is a part of it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

from simuverse.memory.dependents import doomed
from simuverse.memory.recall import RecallSettings
from simuverse.memory.records import Cut
from tests.memory.intaking import FERRY, NOON, OPEN, Gate, ask


async def test_what_may_be_an_echo_is_linked_and_no_more_important(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY, importance=3)).written
    [other] = (await gate.tell(FERRY, by="Joel", importance=9)).written
    [third] = (await gate.tell(FERRY, by="Greta", importance=9)).written
    assert {other.restates, third.restates} == {ferry.id}
    assert {other.group, third.group} == {ferry.group}
    assert {other.importance, third.importance} == {3}


async def test_what_differs_in_a_number_is_never_linked(gate: Gate) -> None:
    await gate.tell(FERRY)
    [other] = (await gate.tell("The ferry leaves the pier at half past five.", by="Joel")).written
    assert other.restates is None


async def test_a_recall_shows_one_of_a_group_and_cools_it_down_as_one(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    [boat] = (await gate.tell("At half past four, they say, the ferry leaves the old pier.", by="Joel")).written
    assert boat.group == ferry.group
    await gate.tell("At the pier they sell herring.", by="Joel")
    found = await ask(gate, "When does the ferry leave the pier?")
    group = [flashback for flashback in found.flashbacks if flashback.memory.group == ferry.group]
    assert len(group) == 1
    assert any(c.memory.group == ferry.group and c.cut is Cut.NEAR_DUPLICATE for c in found.candidates)
    cooled = await ask(
        gate, "When does the ferry for Lundby leave?", shown=(ferry.group,), settings=replace(OPEN, asked_again=1.0)
    )
    assert all(flashback.memory.group != ferry.group for flashback in cooled.flashbacks)


async def test_whoever_says_again_what_is_known_is_not_shown_as_its_source(gate: Gate) -> None:
    question = "When does the ferry leave the pier?"
    [ferry] = (await gate.tell(FERRY)).written
    for by, again in (("Joel", FERRY), ("Greta", f"{question} {FERRY}")):
        [echo] = (await gate.tell(again, by=by, after=timedelta(minutes=1))).written
        assert echo.group == ferry.group
    [shown] = (await ask(gate, question)).flashbacks
    assert shown.memory == ferry


async def test_of_a_group_what_alone_holds_what_is_asked_for_is_shown(gate: Gate) -> None:
    [sails] = (await gate.tell("My twin brother sails on a whaler.")).written
    [wrote] = (await gate.tell("Mira's twin brother wrote to her from the whaler.", by="Ada", shown=(sails,))).written
    assert wrote.group == sails.group
    [shown] = (await ask(gate, "What did Mira's twin brother write?")).flashbacks
    assert shown.memory == wrote


async def test_an_answer_is_not_linked_to_its_question(gate: Gate) -> None:
    [asked] = (await gate.tell("Joel, have you seen the red ball?", by="Ada")).written
    answer = "Ada, I have seen the red ball behind the café."
    [told] = (await gate.tell(answer, by="Joel", shown=(asked,))).written
    assert told.restates is None


async def test_when_the_first_of_a_group_is_erased_the_others_stay_one(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    await gate.tell(FERRY, by="Joel", after=timedelta(minutes=1))
    await gate.tell(FERRY, by="Greta", after=timedelta(minutes=2))
    memories = [entry.memory async for entry in gate.intake.collection.scan()]
    left = doomed(memories, [ferry.id]).changed
    assert [memory.restates for memory in left] == [None, left[0].id]
    await gate.editor().erase([ferry.id])
    assert len({memory.group for memory in await gate.intake.collection.recent(10)}) == 1


async def test_what_everyone_tells_crowds_out_nothing_else(gate: Gate) -> None:
    others = (
        "The ferry takes bicycles only in summer.",
        "The ferry at the pier is painted green.",
        "The captain of the ferry is called Lund.",
        "A ticket for the ferry costs three crowns.",
    )
    for text in others:
        await gate.tell(text, by="Greta")
    for number in range(500):
        await gate.tell(f"Cart {number} carries turnips to the mill.", by=None)
    for number in range(120):
        await gate.tell(FERRY, by=f"Guest{number}")
    settings = RecallSettings(count=10, tokens=10_000)
    recalled = await ask(gate, "What do you know about the ferry at the pier?", settings=settings)
    came = [flashback.memory for flashback in recalled.flashbacks]
    assert {memory.summary for memory in came} >= {f"Greta: {text}" for text in others}
    assert sum(FERRY in memory.summary for memory in came) == 1
    assert [memory.restates for memory in came if FERRY in memory.summary] == [None], "what was told first"


async def test_of_what_is_told_again_and_again_for_months_each_voice_leaves_two_memories_at_most(gate: Gate) -> None:
    voices = ("Mira", "Tomas", "Per")
    for number in range(45):
        await gate.tell(FERRY, by=voices[number % 3], after=timedelta(days=2 * number))
    kept = [entry.memory async for entry in gate.intake.collection.scan()]
    assert len({memory.group for memory in kept}) == 1
    by = {voice: [memory for memory in kept if memory.provenance.speaker == voice] for voice in voices}
    assert {voice: len(memories) for voice, memories in by.items()} == {"Mira": 2, "Tomas": 1, "Per": 1}
    first, last = sorted(by["Mira"], key=lambda memory: memory.created_at)
    assert (first.created_at, last.created_at) == (NOON, NOON + timedelta(days=84))
    assert len(first.provenance.messages) + len(last.provenance.messages) == 15
    assert {memory.importance for memory in kept} == {4}
