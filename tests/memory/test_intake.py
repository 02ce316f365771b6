"""What becomes of drafts: refused, merged, linked, in another's place, in part, or just stored.

With the embedder that is shipped, as likeness of words is a part of it.
"""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest

from simuverse.memory.records import MemoryFilter, Provenance, Source, memory_id
from simuverse.memory.store import Entry
from tests.memory.intaking import FERRY, NOON, Gate, ask

# --- echo -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text",
    [
        FERRY,
        "At half past four the ferry leaves the pier.",
        "You told me that the ferry leaves the pier at half past four.",
        "The ferry leaves from the pier at half past four, as you know, Mira.",
        "The ferry leaves the pier. It leaves the pier at half past four.",
        "The ferry leaves the pier. At half past four.",
        "Bertil, the ferry leaves the pier at half past four.",
        "The ferry leaves the pier at half past four, Bertil.",
        "Mira: The ferry leaves the pier at half past four.",
        "Ferry. Pier. Half past four.",
    ],
)
async def test_what_came_to_mind_is_not_stored_again_in_any_of_its_forms(gate: Gate, text: str) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    taken = await gate.tell(text, by="Ada", shown=(ferry,), after=timedelta(minutes=1))
    assert taken.written == ()
    assert taken.refused == (f"restates a flashback: Ada: {text}",)
    assert await gate.current() == [f"Mira: {FERRY}"]


@pytest.mark.parametrize("quote", ["{}", "Mira says that {}", "Mira told me: {}", "Mira: {}", "You know, {}"])
async def test_nor_when_another_quotes_it(gate: Gate, quote: str) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    taken = await gate.tell(quote.format(FERRY), by="Joel", shown=(ferry,))
    assert (taken.written, len(taken.refused)) == ((), 1)


async def test_what_one_says_of_oneself_or_of_another_person_to_their_face_is_new(gate: Gate) -> None:
    [coming] = (await gate.tell("Jesse, I will come to the mill with you.", by="Ada")).written
    [brother] = (await gate.tell("My brother mends clocks in a shop.")).written
    for text in ("James, I will come to the mill with you.", "James, your brother mends clocks in a shop."):
        assert (await gate.tell(text, by="Ada", shown=(coming, brother))).written
    [thanks] = (await gate.tell("Thank you, Jesse.", by="Ada")).written
    assert (await gate.tell("Thank you, Jesse.", by="Ada", shown=(thanks,))).written == ()
    assert (await gate.tell("Thank you, James.", by="Ada", shown=(thanks,))).written


async def test_a_quote_of_what_someone_says_of_themselves_is_theirs(gate: Gate) -> None:
    [allergic] = (await gate.tell("I am allergic to walnuts.")).written
    quoted = await gate.tell("Mira told me: I am allergic to walnuts.", by="Joel", shown=(allergic,))
    assert quoted.written == ()
    assert (await gate.tell("I am allergic to walnuts.", by="Joel", shown=(allergic,))).written


async def test_a_day_that_came_to_mind_is_not_another_day_in_ones_own_mouth(gate: Gate) -> None:
    [bread] = (await gate.tell("The bakery gives away yesterday's bread.")).written
    later = timedelta(days=2)
    said_again = await gate.tell("The bakery gives away yesterday's bread.", by="Ada", shown=(bread,), after=later)
    assert said_again.written == ()
    [own] = (await gate.tell("I saw Greta yesterday.", by="Ada")).written
    assert (await gate.tell("I saw Greta yesterday.", by="Ada", shown=(own,), after=later)).written


async def test_words_of_ones_own_for_what_came_to_mind_are_kept_and_linked(gate: Gate) -> None:
    [sails] = (await gate.tell("My twin brother sails on a whaler.")).written
    [wrote] = (await gate.tell("Mira's twin brother wrote to her from the whaler.", by="Ada", shown=(sails,))).written
    assert wrote.restates == sails.id


@pytest.mark.parametrize(("by", "came_to_mind"), [("Ada", True), ("Ada", False), ("Joel", True)])
async def test_what_adds_common_words_alone_is_linked_if_one_says_it_of_what_just_came_to_mind(
    gate: Gate, by: str, came_to_mind: bool
) -> None:
    [hay] = (await gate.tell("I lost my spectacles in the hay.", importance=3)).written
    text, shown = "Mira, your spectacles must be somewhere in the hay.", (hay,) if came_to_mind else ()
    [hope] = (await gate.tell(text, by=by, shown=shown, importance=6)).written
    linked = by == "Ada" and came_to_mind
    assert (hope.restates, hope.importance) == ((hay.id, 3) if linked else (None, 6))


async def test_a_confirmation_refreshes_what_is_there(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    taken = await gate.tell(f"Yes, still true: {FERRY}", after=timedelta(hours=3))
    assert taken.written == ()
    [again] = await gate.intake.collection.get([ferry.id])
    assert again.created_at == NOON + timedelta(hours=3)
    assert set(again.provenance.messages) == {"m001", "m002"}


async def test_ones_own_prompt_is_no_news(gate: Gate) -> None:
    taken = await gate.tell("I want my key back!", by="Ada")
    assert taken.refused == ("restates the prompt: Ada: I want my key back!",)
    assert (await gate.tell("I want my key back!", by="Joel")).written, "another's wish is another's"


async def test_of_an_echo_with_something_new_beside_it_only_that_is_kept(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    [kept] = (await gate.tell(f"{FERRY} I will take my green suitcase.", by="Ada", shown=(ferry,))).written
    assert kept.summary == "Ada: I will take my green suitcase."


async def test_each_sentence_is_compared_by_itself_with_what_is_known(gate: Gate) -> None:
    await gate.tell("Hello, Jade.", by="Ada")
    await gate.tell("I saw that the red ball lies behind the café chair.", by="Ada")
    again = "Hello, Jade. I saw that the red ball lies behind the café chair."
    assert (await gate.tell(again, by="Ada")).written == ()


async def test_what_each_sentence_repeats_is_found_among_much_that_is_nearer_to_the_whole(gate: Gate) -> None:
    await gate.tell("Hello, James.", by="Joel")
    [ball] = (await gate.tell("The red ball lies behind the café chair.")).written
    for thing in ("oak", "pine", "iron", "cane", "beech", "birch", "walnut", "cherry", "maple", "teak", "ash", "elm"):
        await gate.tell(f"James saw that the red ball lies behind the {thing} chair.", by=thing.title())
        await gate.tell(f"Hello, {thing.title()}.", by="Joel")
    again = "Hello, James. The red ball lies behind the café chair."
    assert (await gate.tell(again, by="Ada", shown=(ball,))).written == ()
    [kept] = (await gate.tell(f"{again} My boots are wet.", by="Ada", shown=(ball,))).written
    assert kept.summary == "Ada: My boots are wet."


async def test_what_is_left_of_anothers_words_is_told_again_like_any_other(gate: Gate) -> None:
    [asked] = (await gate.tell("Will you come to the old mill with me?")).written
    [ferry] = (await gate.tell(FERRY)).written
    taken = await gate.tell(f"{FERRY} Will you come to the old mill with me?", shown=(asked,))
    assert (taken.written, [memory.id for memory in taken.merged]) == ((), [ferry.id])
    assert len(await gate.current()) == 2


async def test_where_it_leans_on_the_echo_it_is_kept_whole_and_rests_on_the_old_one(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    [kept] = (await gate.tell(f"{FERRY} It is painted white.", by="Ada", shown=(ferry,))).written
    assert kept.summary == f"Ada: {FERRY} It is painted white."
    assert kept.evidence == (ferry.id,)
    assert kept.restates == ferry.id


async def test_a_deed_done_again_is_another_deed(gate: Gate) -> None:
    deed = replace(
        gate.draft("Ada, take red_ball: You took it.", None), provenance=Provenance(source=Source.OWN_ACTION)
    )
    [first] = (await gate.intake.take([deed])).written
    again = replace(deed, id=memory_id("Ada", "again", 0))
    assert (await gate.intake.take([again], shown=[first])).written == (again,)


async def test_an_operators_memory_is_never_refused(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    meant = replace(gate.draft(FERRY, None), id=memory_id("Ada", "o", 0), provenance=Provenance(source=Source.OPERATOR))
    assert (await gate.intake.take([meant], shown=[ferry])).written == (meant,)


async def test_what_a_first_try_stored_stays_as_it_is_there(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    assert (await gate.intake.take([gate.draft(FERRY, "Mira")])).written == (ferry,)
    assert len(await gate.current()) == 1


async def test_a_try_cut_short_before_the_old_fact_was_past_is_finished_by_the_next(gate: Gate) -> None:
    [old] = (await gate.tell("I live in Orvale.")).written
    gate.told += 1
    gate.clock.set(NOON + timedelta(days=3))
    moved = gate.draft("I moved to Brenmoor.", "Mira")
    [vector] = await gate.embedder.embed([moved.summary])
    await gate.intake.collection.add([Entry(memory=moved, vector=vector)])
    taken = await gate.intake.take([moved])
    assert [memory.id for memory in taken.past] == [old.id]
    assert [memory.supersedes for memory in taken.written] == [old.id]
    assert (await gate.intake.take([moved])).past == ()


async def test_what_a_model_puts_into_words_is_the_same_again(gate: Gate) -> None:
    await gate.tell(FERRY)
    for text in ("Mira told Ada that the ferry leaves the pier at half past four.", f"Mira said that {FERRY}"):
        gate.told += 1
        draft = replace(gate.draft("-", "Mira"), summary=text)
        assert (await gate.intake.take([draft])).written == ()
    assert len(await gate.current()) == 1


# --- the same in other words ----------------------------------------------------------------------------------------


async def test_wordings_by_one_voice_are_one_memory_with_all_that_they_hold(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY, keywords=("ferry",), importance=2)).written
    taken = await gate.tell("At half past four the ferry leaves the pier.", keywords=("Oldpier",), importance=6)
    [merged] = taken.merged
    assert (taken.written, merged.id) == ((), ferry.id)
    assert set(merged.keywords) == {"ferry", "Oldpier"}
    assert merged.importance == 6
    assert len(await gate.current()) == 1


async def test_a_merge_is_on_record_and_an_undo_gives_both_back(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    await gate.tell("At half past four the ferry leaves the pier.", keywords=("Oldpier",))
    [change] = await gate.editor().history()
    assert (change.kind, change.by) == ("merge", "rules")
    await gate.editor().undo()
    assert await gate.current() == ["Mira: At half past four the ferry leaves the pier.", f"Mira: {FERRY}"]
    [as_it_was] = await gate.intake.collection.get([ferry.id])
    assert (as_it_was.summary, as_it_was.keywords) == (ferry.summary, ())


@pytest.mark.parametrize(
    "text",
    [
        "The ferry leaves the pier at half past five.",
        "The ferry never leaves the pier at half past four.",
        "The ferry leaves the pier at half past four on Sunday.",
        "The ferry leaves the pier at half past four, Tomas.",
    ],
)
async def test_another_number_date_name_or_a_denial_is_never_merged(gate: Gate, text: str) -> None:
    await gate.tell(FERRY)
    taken = await gate.tell(text)
    assert taken.merged == ()
    assert [memory.summary for memory in taken.written] == [f"Mira: {text}"]


async def test_the_same_told_days_later_is_kept_as_it_may_have_happened_again(gate: Gate) -> None:
    [lost] = (await gate.tell("I lost my key in the reeds.")).written
    [again] = (await gate.tell("I lost my key in the reeds.", after=timedelta(days=30))).written
    assert again.restates == lost.id


async def test_what_is_anchored_takes_nothing_in(gate: Gate) -> None:
    [ferry] = (await gate.tell(FERRY)).written
    await gate.editor().anchor([ferry.id])
    await gate.tell("At half past four the ferry leaves the pier.", keywords=("Oldpier",))
    [anchored] = await gate.intake.collection.get([ferry.id])
    assert anchored == replace(ferry, anchored=True)


# --- facts that changed ---------------------------------------------------------------------------------------------


async def test_a_fact_that_changed_is_past_with_the_time_until_which_it_held(gate: Gate) -> None:
    [old] = (await gate.tell("I live in Orvale.")).written
    taken = await gate.tell("I moved to Brenmoor last week.", after=timedelta(days=3))
    [new], [past] = taken.written, taken.past
    assert (past.id, past.superseded_by, past.superseded_at) == (old.id, new.id, NOON + timedelta(days=3))
    assert new.supersedes == old.id
    assert await gate.current() == ["Mira: I moved to Brenmoor last week."]
    assert [change.kind for change in await gate.editor().history()] == ["supersede"]
    await gate.editor().undo()
    assert len(await gate.current()) == 2


async def test_now_the_later_one_comes_to_mind_and_asked_about_before_the_earlier(gate: Gate) -> None:
    await gate.tell("I live in Orvale.")
    await gate.tell("I live in Brenmoor now.", after=timedelta(days=3))
    now = await ask(gate, "Where does Mira live?")
    then = await ask(gate, "Where did Mira live before?", filter=MemoryFilter(include_superseded=True))
    assert [flashback.memory.summary for flashback in now.flashbacks] == ["Mira: I live in Brenmoor now."]
    assert then.flashbacks[0].memory.summary == "Mira: I live in Orvale."


async def test_what_others_say_of_someone_makes_nothing_past(gate: Gate) -> None:
    await gate.tell("I live in Orvale.")
    taken = await gate.tell("Mira lives in Brenmoor now.", by="Joel")
    assert taken.past == ()
    assert (await gate.tell("I live in Brenmoor now.", by="Joel")).past == ()
    assert len(await gate.current()) == 3


async def test_other_facts_of_the_same_person_stay(gate: Gate) -> None:
    facts = [
        "I live in Orvale.",
        "I work as a florist.",
        "My sister lives in Lundby.",
        "My favourite dish is leek pie.",
    ]
    for fact in facts:
        await gate.tell(fact)
    taken = await gate.tell("I moved to Brenmoor.", after=timedelta(days=3))
    assert [memory.summary for memory in taken.past] == ["Mira: I live in Orvale."]


async def test_a_thing_seen_elsewhere_is_where_it_was_seen_last(gate: Gate) -> None:
    await gate.tell("Ada saw: red_ball lies at (40, 60).", by=None)
    taken = await gate.tell("Ada saw: red_ball lies at (90, 10).", by=None, after=timedelta(minutes=5))
    assert [memory.summary for memory in taken.past] == ["Ada saw: red_ball lies at (40, 60)."]
