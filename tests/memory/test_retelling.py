"""What one may only retell of what came to mind this turn, and what is said of the same and yet is something else."""

from __future__ import annotations

import asyncio

import pytest

from simuverse.memory.embedders.wordllama import WordLlamaEmbedder
from simuverse.memory.retelling import may_retell, tells_something_else
from simuverse.memory.statements import said


@pytest.fixture(scope="module")
def embedder() -> WordLlamaEmbedder:
    return asyncio.run(WordLlamaEmbedder.open())


def retells(embedder: WordLlamaEmbedder, draft: str, known: str, *, known_by: str = "Mira") -> bool:
    """Ada says the draft, to whom the known text was said by ``known_by``."""
    one, other = asyncio.run(embedder.embed([f"Ada: {draft}", f"{known_by}: {known}"]))
    statement = said(known, by=known_by)
    return may_retell(said(draft, by="Ada"), statement, cosine=float(one @ other), table=embedder)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("My dog barks at strangers.", "When someone new comes, your dog barks."),
        ("I lost my spectacles in the hay.", "Your spectacles must be somewhere in the hay."),
        ("I lost my spectacles in the hay.", "Mira can't find her spectacles, they are in the hay."),
        ("The bridge at Halmo is closed until Friday.", "The bridge at Halmo won't open until Friday."),
        ("I am afraid of geese.", "You don't like geese, Mira."),
        ("I can't stand the smell of fish.", "Mira hates it when something smells of fish."),
        ("I have never sailed to Orvale.", "You can't sail to Orvale, you never sailed."),
        ("The barn in Orvale collapsed, and nobody noticed.", "In Orvale the barn collapsed."),
        ("The clock in the tower stopped at noon.", "Since noon the clock in the tower doesn't go."),
        ("The train to Orvale takes three hours.", "We will be three hours on the train to Orvale."),
        ("My uncle repairs violins.", "Joel, you can have your violin repaired by Mira's uncle."),
    ],
)
def test_common_words_alone_and_denials_of_what_a_word_denies_may_be_the_same_again(
    embedder: WordLlamaEmbedder, known: str, draft: str
) -> None:
    assert retells(embedder, draft, known)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("My dog barks at strangers.", "Your dog barks at the goat."),
        ("My elbow aches before it rains.", "Your back aches before it rains."),
        ("My uncle repairs violins.", "Your uncle has two violins."),
        ("My uncle repairs violins.", "Your uncle has Joel's violin."),
        ("My uncle repairs violins.", "Your uncle makes violins as well."),
        ("My uncle repairs violins.", "Your uncle should look at my violin."),
        ("My uncle repairs violins.", "Your uncle gave up repairing violins."),
        ("My uncle repairs violins.", "Joel, your uncle repairs violins."),
        ("Does my uncle repair violins?", "Your uncle makes violins good."),
        ("I sold my boat to the priest.", "The priest didn't pay you for the boat."),
        ("The bridge at Halmo is closed until Friday.", "The bridge at Halmo isn't closed until Friday."),
        ("The bridge at Halmo is closed until Friday.", "It isn't true that the bridge at Halmo is closed."),
        ("The bridge at Halmo is closed until Friday.", "The bridge at Halmo has no railing."),
        ("I am allergic to every kind of walnut.", "You have no allergy to any kind of walnut."),
        ("I never went to school in Orvale.", "Mira went to school in Orvale."),
        ("The train to Orvale takes three hours.", "I will be three hours on the train to Orvale."),
        ("We keep the seeds in the tin box.", "We use the seeds in the tin box."),
    ],
)
def test_what_adds_a_rare_word_a_number_a_name_a_denial_or_a_wish_is_something_else(
    embedder: WordLlamaEmbedder, known: str, draft: str
) -> None:
    assert not retells(embedder, draft, known)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("My cousins live in a hamlet on the coast.", "Your relatives dwell in a village by the sea."),
        ("The surgeon removed my appendix.", "A doctor cut that organ out of your belly."),
        ("The thief was sentenced to three years in jail.", "They locked the burglar up for three years."),
        ("My lawyer won the trial.", "Your attorney was victorious in court."),
        ("The shepherd lost a lamb in the blizzard.", "One young sheep went missing from the flock when it snowed."),
    ],
)
def test_rare_words_that_together_mean_what_is_left_out_may_be_the_same_again(
    embedder: WordLlamaEmbedder, known: str, draft: str
) -> None:
    assert retells(embedder, draft, known)
    assert not tells_something_else(said(draft, by="Ada"), said(known, by="Mira"), embedder)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("My lawyer won the trial.", "Your attorney has a stutter."),
        ("My cousins live in a hamlet on the coast.", "Your relatives quarrel about a saxophone."),
        ("The shepherd lost a lamb in the blizzard.", "That young sheep chews electric cables."),
        ("The thief was sentenced to three years in jail.", "The burglar plays chess by mail."),
        ("The surgeon removed my appendix.", "A doctor cut the hedge between both gardens with a bread knife."),
        (
            "My lawyer won the trial.",
            "Your attorney was victorious in court, bought a vineyard near Orvale and breeds peacocks there.",
        ),
    ],
)
def test_rare_words_that_mean_nothing_of_it_or_far_more_are_something_else(
    embedder: WordLlamaEmbedder, known: str, draft: str
) -> None:
    assert not retells(embedder, draft, known)


@pytest.mark.parametrize(
    ("known", "draft", "something_else"),
    [
        ("My uncle tuned the organ of the cathedral.", "The organ of the cathedral has mildew.", True),
        ("The smith sleeps in the forge.", "There are bats in the forge.", True),
        ("The smith sleeps in the forge.", "The forge is the smith's bedroom.", False),
        ("The smith sleeps in the forge.", "There are bats in the forge, where the smith sleeps.", False),
        ("The smith sleeps in the forge.", "In the forge somebody sleeps, the smith.", False),
    ],
)
def test_a_rare_word_without_any_likeness_to_what_is_left_out_tells_something_else(
    embedder: WordLlamaEmbedder, known: str, draft: str, something_else: bool
) -> None:
    """Where nothing is left out, it tells more of the same."""
    assert tells_something_else(said(draft, by="Ada"), said(known, by="Mira"), embedder) is something_else


def test_what_one_said_oneself_goes_on(embedder: WordLlamaEmbedder) -> None:
    known, draft = "I promised Joel a basket of pears.", "I gave Joel the basket of pears."
    assert not retells(embedder, draft, known, known_by="Ada")


def test_what_is_far_from_it_is_something_else_however_common_its_words(embedder: WordLlamaEmbedder) -> None:
    assert not retells(embedder, "Mira, you look very good, come here.", "My dog barks at strangers.")
