"""The rules of a mind without a model, as their docstring states them."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.agents.reflex import MAX_QUERIES, Note, heard_from, notes, queries, statement
from simuverse.agents.turn import Outcome, ToolCall, Utterance
from simuverse.memory.records import BY_RULE, MAX_KEYWORDS, Category, MemoryDraft, SearchType, Source
from tests.agents.minds import SAID_NOTHING, moment, said


def spoken(text: str) -> MemoryDraft:
    [note] = notes("Mira", moment(("Tomas", text)), None, None)
    return note.draft


# --- queries ----------------------------------------------------------------------------------------------------------


def test_the_last_thing_heard_the_intentions_and_the_nearest_name_are_asked() -> None:
    observation = moment(
        ("Tomas", "Good morning."),
        ("Greta", "Where is the key?"),
        intentions=("Open the sluice.",),
        seen=("brass_key lies 20 to the north, at (40, 60).", "Greta is here."),
    )

    found = queries(observation)

    assert [query.text for query in found] == ["Where is the key?", "Open the sluice.", "brass_key"]
    assert {query.search_type for query in found} == {SearchType.HYBRID}


def test_there_are_never_more_queries_than_three_nor_the_same_twice() -> None:
    observation = moment(
        ("Greta", "Open the sluice."),
        intentions=("Open the sluice.", "Greet Greta.", "Mend the wheel.", "Sleep."),
        seen=("Greta is here.",),
    )

    assert [query.text for query in queries(observation)] == ["Open the sluice.", "Greet Greta.", "Mend the wheel."]
    assert MAX_QUERIES == 3


@pytest.mark.parametrize("nothing", ["", "...", "?!", "  ", "It is what it is."])
def test_what_a_search_could_not_look_for_is_not_asked(nothing: str) -> None:
    assert queries(moment(("Greta", nothing), intentions=(nothing,), seen=(nothing,))) == ()


# --- sources ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("speaker", "to", "source"),
    [
        ("Tomas", "Mira", Source.SAID_BY),
        ("Tomas", None, Source.SAID_BY),
        ("Tomas", "Greta", Source.TOLD),
        ("Mira", "Tomas", Source.OWN_ACTION),
        ("Mira", None, Source.OWN_ACTION),
    ],
)
def test_what_was_said_has_its_speaker_and_whom_it_was_said_to(speaker: str, to: str | None, source: Source) -> None:
    provenance = heard_from("Mira", Utterance(id="m1", speaker=speaker, text="Hello.", to=to), "t1")

    assert (provenance.source, provenance.turn, provenance.messages) == (source, "t1", ("m1",))
    assert provenance.speaker == (None if source is Source.OWN_ACTION else "Tomas")
    assert provenance.listener == ("Greta" if source is Source.TOLD else None)


def test_a_deed_is_noted_where_it_changed_something_and_only_then() -> None:
    call = ToolCall(tool="use", arguments={"item": "lab_door", "verb": "open"})
    done = Outcome(ok=True, code="used", sentence="lab_door is open now.", notable=True)
    refused = Outcome(ok=False, code="refused", sentence="lab_door is out of reach.")

    [deed] = notes("Mira", moment(), call, done)

    assert deed.draft.summary == "Mira, use lab_door open: lab_door is open now."
    assert deed.draft.category is Category.ACTION
    assert deed.provenance.source is Source.OWN_ACTION
    assert notes("Mira", moment(), call, refused) == ()
    assert notes("Mira", moment(), None, done) == ()


def test_what_was_seen_is_noted_as_seen() -> None:
    [sight] = notes("Mira", moment(), None, None, sights=["brass_key lies at (40, 60)."])

    assert sight.draft.summary == "Mira saw: brass_key lies at (40, 60)."
    assert (sight.draft.category, sight.provenance.source) == (Category.OBSERVATION, Source.OBSERVED)


def test_what_one_says_oneself_is_noted_as_done() -> None:
    [own] = notes("Mira", moment(), ToolCall(tool="say"), said("Fog is coming."))

    assert own.draft.summary == "Mira: Fog is coming."
    assert (own.provenance.source, own.provenance.messages) == (Source.OWN_ACTION, ("own",))


@pytest.mark.parametrize("wordless", ["", "...", "?!", " \n", "—"])
def test_a_text_without_a_word_is_not_noted(wordless: str) -> None:
    assert notes("Mira", moment(("Tomas", wordless)), None, SAID_NOTHING) == ()


# --- category and importance ------------------------------------------------------------------------------------------


def test_a_greeting_or_a_question_weighs_less_than_a_statement() -> None:
    statement_weighs = spoken("The wheel turned backwards all through the long and stormy night.").importance

    assert spoken("Good morning.").importance < statement_weighs
    assert spoken("Did the wheel turn backwards all through the long and stormy night?").importance < statement_weighs


@pytest.mark.parametrize(
    ("more", "less"),
    [
        ("The old wheel turned 3 times, then stopped.", "The old wheel turned some times, then stopped."),
        ("The old wheel stopped when Greta came by.", "The old wheel stopped when someone came by."),
        ("I promise to mend the old wheel by night.", "I try to mend the old wheel by night."),
        ("I am worried about the old wheel by night.", "I am musing about the old wheel by night."),
    ],
)
def test_figures_names_promises_and_feelings_weigh_more(more: str, less: str) -> None:
    assert spoken(more).importance > spoken(less).importance


@pytest.mark.parametrize("text", ["My brother died.", "They got married at last, people say.", "I was fired!"])
def test_an_event_of_ones_life_weighs_at_least_eight(text: str) -> None:
    assert 8 <= spoken(text).importance <= 10


def test_a_plain_text_is_knowledge_and_weighs_as_if_it_was_said() -> None:
    text = "The wheel turned backwards all through the long and stormy night."

    assert statement(text).importance == spoken(text).importance
    assert statement(text).category is Category.KNOWLEDGE


@pytest.mark.parametrize(
    ("text", "category"),
    [
        ("Bread is cheap.", Category.CONVERSATION),
        ("I promised to oil the door.", Category.PLAN),
        ("I was so afraid in the fog.", Category.EMOTION),
    ],
)
def test_cue_words_sharpen_the_category(text: str, category: Category) -> None:
    assert spoken(text).category is category


# --- what must survive ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "critical"),
    [
        ("The red_ball lies at (450, 450) near Greta.", "red_ball, 450, Greta"),
        ("Yesterday I'll have said that I'm late, and I've said it.", ""),
        ("Stop! The door. A gull? Fog: Nothing.", ""),
        ("“The ferry leaves at 16:30,” said Nora.", "16, 30, Nora"),
        ("Ask José or Ömer at the pier.", "José, Ömer"),
    ],
)
def test_figures_names_of_things_and_capitals_within_a_sentence_survive(text: str, critical: str) -> None:
    assert spoken(text).critical_information == critical


def test_keywords_are_names_first_then_the_longest_words_and_never_more_than_eight() -> None:
    draft = spoken("We saw Greta carry the heavy flour sacks over the slippery wooden bridge towards the lighthouse.")

    assert draft.keywords[0] == "Greta"
    assert "lighthouse" in draft.keywords
    assert len(draft.keywords) == MAX_KEYWORDS
    lengths = [len(keyword) for keyword in draft.keywords[1:]]
    assert lengths == sorted(lengths, reverse=True)


@pytest.mark.parametrize(
    "text", ["我把红球放在喷泉旁边？", "Я обещаю принести ключ.", "هل رأيت المفتاح؟", "열쇠 봤어?"]
)
def test_any_script_is_noted_in_its_own_words(text: str) -> None:
    draft = spoken(text)

    assert draft.summary == f"Tomas: {text}"
    assert draft.keywords
    assert all(keyword in text for keyword in draft.keywords)


@settings(deadline=None)
@given(st.text(max_size=200), st.text(max_size=40), st.lists(st.text(max_size=60), max_size=3))
def test_no_text_is_too_odd_for_the_rules(text: str, name: str, sights: list[str]) -> None:
    found = notes("Mira", moment((name, text)), None, said(text), sights=sights)

    for note in found:
        assert isinstance(note, Note)
        assert note.draft.flags == (BY_RULE,)
        assert 1 <= note.draft.importance <= 10
    assert len(queries(moment((name, text), intentions=tuple(sights), seen=tuple(sights)))) <= MAX_QUERIES
