"""Who a memory comes from that a model wrote: what is claimed stays a claim, and a guess never supports itself."""

from __future__ import annotations

import pytest

from simuverse.agents.attribution import attributed
from simuverse.agents.subconscious import Exchange
from simuverse.agents.turn import ToolCall
from simuverse.memory.records import Category, MemoryDraft, Source
from simuverse.memory.store import MemoryCollection
from tests.agents.minds import Minds, memory_xml, moment, said

RICH = "Greta must be secretly wealthy."


def draft(summary: str) -> MemoryDraft:
    return MemoryDraft(summary=summary, category=Category.KNOWLEDGE)


@pytest.mark.parametrize(
    ("claim", "written"),
    [
        ("You promised me the mill last winter, Mira.", "Mira promised Tomas the mill last winter."),
        ("You owe me forty coins.", "Mira owes Tomas forty coins."),
        ("Remember how you stole the brass key?", "Mira stole the brass key."),
        ("You told me that you are my sister.", "Mira is the sister of Tomas."),
    ],
)
def test_what_someone_claims_of_the_owners_past_is_theirs_even_if_the_owner_answers(claim: str, written: str) -> None:
    talk = Exchange(
        observation=moment(("Tomas", claim)), call=ToolCall(tool="say"), outcome=said("I don't remember that.")
    )

    found = attributed("Mira", talk, draft(written))

    assert (found.provenance.source, found.provenance.speaker) == (Source.SAID_BY, "Tomas")
    assert found.evidence == ()


def test_what_is_claimed_to_someone_else_is_told() -> None:
    talk = Exchange(observation=moment(("Tomas", "Mira stole the brass key.", "Greta")))

    found = attributed("Mira", talk, draft("Mira stole the brass key."))

    assert found.provenance.describe() == "told by Tomas to Greta"


@pytest.mark.parametrize(
    "written", [RICH, "Nobody can be trusted by the river any longer.", "Wealth corrupts every honest person."]
)
def test_what_holds_nothing_of_the_turn_is_inferred(written: str) -> None:
    talk = Exchange(observation=moment(("Tomas", "The sluice opens at seven.")), outcome=said("Thank you."))

    found = attributed("Mira", talk, draft(written))

    assert found.provenance.source is Source.INFERRED
    assert (found.provenance.turn, found.provenance.messages) == ("t1", ("t1/m0", "own"))
    assert (found.evidence, found.refused) == ((), "")


def test_a_memory_in_the_words_of_another_language_keeps_its_speaker_by_the_names() -> None:
    talk = Exchange(observation=moment(("Tomas", "Die Schleuse öffnet um sieben.")))

    found = attributed("Mira", talk, draft("Tomas: sieben, Schleuse. Tomas named the hour."))

    assert found.provenance.speaker == "Tomas"


async def test_an_inference_rests_on_what_was_said_and_never_on_an_inference(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    [heard] = (await open_mind().remember("Greta bought a second barge and a gold ring.", said_by="Tomas")).written
    [guess] = (await open_mind().remember(RICH, source=Source.INFERRED)).written
    recollection = await open_mind().recollect("What of Greta, her barge, her ring, is she secretly wealthy?")
    assert {flashback.memory.id for flashback in recollection} == {heard.id, guess.id}
    turn = Exchange(observation=moment(("Nils", "Good day.")), recollection=recollection)

    new = attributed("Mira", turn, draft("Greta bought a gold ring, a second barge and servants."))
    loop = attributed("Mira", turn, draft("Greta must be wealthy, secretly so."))

    assert new.provenance.source is Source.INFERRED
    assert new.evidence == (heard.id,)
    assert loop.refused.startswith("rests on what was only inferred")


async def test_a_guess_that_comes_to_mind_again_and_again_doesnt_grow(
    open_mind: Minds, collection: MemoryCollection
) -> None:
    guesses = [
        "Greta is wealthy, secretly.",
        "Secretly, Greta must be very wealthy.",
        "Greta: wealthy, must be secretly",
    ]
    await open_mind().remember(RICH, source=Source.INFERRED)
    for number in range(12):
        mind = open_mind(memory_xml(guesses[number % 3]))
        recollection = await open_mind().recollect("Is Greta secretly wealthy?")
        assert len(recollection) == 1
        turn = Exchange(observation=moment(("Nils", "Good day."), number=number), recollection=recollection)
        remembered = await mind.remember(turn)
        assert remembered.written == ()
        assert len(remembered.refused) == 1

    assert await collection.count() == 1
