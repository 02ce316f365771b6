"""The same words, and yet something else."""

from __future__ import annotations

import pytest

from simuverse.bench.hygiene import PAIRS
from simuverse.bench.labelled_pairs import labelled_pairs
from simuverse.memory.arrangement import counts_otherwise, says_otherwise
from simuverse.memory.echoes import compared
from simuverse.memory.statements import said


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("The dog bit the miller.", "The miller bit the dog."),
        ("The old dog bit the fat miller.", "The fat miller bit the old dog."),
        ("I like him more than her.", "I like her more than him."),
        ("Per gave the ring to Liv.", "Liv gave the ring to Per."),
        ("Yesterday the sexton sold the mare to the vicar.", "Yesterday the vicar sold the mare to the sexton."),
        ("The letter lies under the bed.", "The letter lies on the bed."),
        ("The key is in the mill.", "Near the mill is the key."),
        ("She left before the long rain.", "She left after the rain."),
        ("I have two goats.", "I have one goat."),
        ("We caught eleven fish.", "We caught several fish."),
    ],
)
def test_who_does_it_where_it_is_and_how_many_is_never_sure_to_be_the_same(known: str, draft: str) -> None:
    one, other = said(known, by="Mira"), said(draft, by="Mira")
    assert says_otherwise(other, one) or counts_otherwise(other, one)
    found = compared(other, one, cosine=1.0)
    assert found is None or not found.is_sure(of_own=True)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("The spare key hangs in the pantry.", "In the pantry hangs the spare key."),
        ("The mayor is Mister Holm.", "Mister Holm is the mayor."),
        ("The priest and the keeper play chess.", "The keeper and the priest play chess."),
        ("The key is under the loom.", "Beneath the loom is the key."),
        ("On Sunday the twins built a raft behind the school.", "Behind the school the twins built a raft on Sunday."),
        ("I grew up on a farm.", "I grew up at a farm."),
        ("Поезд отправляется в шесть.", "В шесть отправляется поезд."),
    ],
)
def test_another_order_of_the_same_is_the_same(known: str, draft: str) -> None:
    assert not says_otherwise(said(draft, by="Mira"), said(known, by="Mira"))


def test_hardly_any_labelled_restatement_is_held_back() -> None:
    pairs = [pair for telling, held_out in PAIRS for pair in labelled_pairs(telling, held_out=held_out)]
    restated = [pair for pair in pairs if pair.kind == "restated"]
    held_back = [
        pair
        for pair in restated
        if says_otherwise(said(pair.draft.text, by=pair.draft.speaker), said(pair.known.text, by=pair.known.speaker))
    ]
    assert len(restated) == 170
    assert len(held_back) <= 4
