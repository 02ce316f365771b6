"""What a statement is taken apart into."""

from __future__ import annotations

import pytest

from simuverse.memory.records import Provenance, Source
from simuverse.memory.statements import said, same_voice, statement_of
from tests.contracts.memory_reference import memory


def test_the_speaker_before_a_memory_is_no_part_of_what_it_says() -> None:
    by = Provenance(source=Source.SAID_BY, speaker="Mira")
    statement = statement_of(memory("Mira: The mill stands still.", provenance=by))
    assert (statement.speaker, statement.text) == ("Mira", "The mill stands still.")
    assert statement == said("The mill stands still.", by="Mira")


@pytest.mark.parametrize(
    ("text", "particulars"),
    [
        ("We have eleven goats and 4 hens.", {"11", "4"}),
        ("Come on the 14th at half past nine.", {"14", "half", "9"}),
        ("The choir meets on Tuesdays in May.", {"tuesday"}),
        ("The red barge lies north of the mill.", {"red", "north"}),
        ("It lies at (40, 60).", {"40", "60"}),
        ("One never knows.", set[str]()),
    ],
)
def test_numbers_dates_colours_and_directions_are_particulars(text: str, particulars: set[str]) -> None:
    assert said(text, by="Mira").particulars == particulars


@pytest.mark.parametrize(
    ("text", "denies"),
    [
        ("I like rain.", False),
        ("I don't like rain.", True),
        ("I never said nothing.", False),
        ("Ich mag keinen Regen.", True),
        ("Je n'aime pas la pluie.", True),
        ("Я не люблю дождь.", True),
        ("我不喜欢雨。", True),
    ],
)
def test_an_odd_number_of_negations_denies(text: str, denies: bool) -> None:
    assert said(text, by="Mira").negated is denies


@pytest.mark.parametrize(
    "text",
    [
        "As you said, the mill stands still.",
        "I remember that the mill stands still.",
        "The mill stands still, you told me.",
        "Yes, the mill stands still.",
    ],
)
def test_what_is_put_around_words_heard_before_is_left_out_and_confirms(text: str) -> None:
    statement = said(text, by="Mira")
    assert statement.confirms
    assert statement.spoken == ("the", "mill", "stands")


def test_still_tells_nothing_and_confirms_nothing() -> None:
    assert not said("He still cries about the dog.", by="Mira").confirms
    assert "still" not in said("He still cries about the dog.", by="Mira").spoken


@pytest.mark.parametrize("aside", ["You know, ", "Believe me, ", "By the way, ", "Did you know that ", "I tell you, "])
def test_asides_tell_nothing_and_confirm_nothing(aside: str) -> None:
    statement = said(f"{aside}the mill stands.", by="Mira")
    assert statement.spoken == ("the", "mill", "stands")
    assert not statement.confirms


def test_pronouns_of_the_speaker_are_told_from_those_of_the_listener() -> None:
    mine, yours = said("My brother mends clocks.", by="Mira"), said("Your brother mends clocks.", by="Ada")
    assert (mine.of_speaker, mine.of_listener) == (True, False)
    assert (yours.of_speaker, yours.of_listener) == (False, True)
    assert mine.words == yours.words
    assert not said("Поезд отправляется вечером.", by="Mira").of_speaker


@pytest.mark.parametrize(
    ("text", "speaker"),
    [
        ("Mira: The mill stands still.", "Mira"),
        ("Mira told me: The mill stands still.", "Mira"),
        ("Old Per said to Joel: The mill stands still.", "Old Per"),
        ("Mira says, “The mill stands still.”", "Mira"),
        ("Note: The mill stands still.", "Ada"),
        ("The mill stands still: it has no water.", "Ada"),
        ("At nine: The mill stands still.", "Ada"),
    ],
)
def test_who_is_quoted_word_for_word_is_who_says_it(text: str, speaker: str) -> None:
    statement = said(text, by="Ada")
    assert statement.speaker == speaker
    assert statement.text == text
    assert speaker == "Ada" or statement.spoken == ("the", "mill", "stands")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Bertil, the ferry leaves at nine.", {"bertil"}),
        ("The ferry leaves at nine, Bertil.", {"bertil"}),
        ("Yes, the ferry leaves at nine.", set[str]()),
        ("Pia, your daughter, is ill.", set[str]()),
        ("Pia, Mira's daughter, is ill.", set[str]()),
        ("The ferry leaves for Lundby.", set[str]()),
    ],
)
def test_whom_it_is_said_to_by_name_is_no_part_of_what_is_said(text: str, names: set[str]) -> None:
    statement = said(text, by="Ada")
    assert statement.addressed == names
    assert names.isdisjoint(statement.unaddressed.words)
    assert names.isdisjoint(statement.unaddressed.names)


def test_a_negation_denies_the_words_behind_it_else_those_before() -> None:
    assert [set(one) for one in said("I don't eat meat, and I never drink.", by="Mira").denied] == [
        {"eat", "meat"},
        {"drink"},
    ]
    assert [set(one) for one in said("Das Brot schmeckt nicht.", by="Mira").denied] == [{"brot", "schmeckt"}]
    assert said("I eat meat.", by="Mira").denied == ()


def test_names_are_words_with_a_capital_within_a_sentence() -> None:
    assert said("Carla and Mira's boat went to Lundby on Monday.", by="Ada").names == {"mira", "lundby"}


def test_a_voice_is_a_mouth_however_it_was_overheard() -> None:
    to_me = memory("Mira: I am ill.", 1, provenance=Provenance(source=Source.SAID_BY, speaker="Mira"))
    to_others = memory(
        "Mira: I am ill.", 2, provenance=Provenance(source=Source.TOLD, speaker="Mira", listener="Tomas")
    )
    by_another = memory("Joel: I am ill.", 3, provenance=Provenance(source=Source.SAID_BY, speaker="Joel"))
    own = memory("Jade: I am ill.", 4, provenance=Provenance(source=Source.OWN_ACTION))
    assert same_voice(to_me, to_others)
    assert not same_voice(to_me, by_another)
    assert not same_voice(to_me, own)
