"""Which statement takes the place of which, and which stays as it is."""

from __future__ import annotations

import pytest

from simuverse.bench.labelled_pairs import labelled_pairs
from simuverse.memory.changed_facts import replaced_by
from simuverse.memory.statements import said


def replaces(new: str, old: str) -> bool:
    return replaced_by(said(old, by="Tomas"), said(new, by="Tomas")) is not None


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Orvale.", "I moved to Brenmoor last week."),
        ("I live in Orvale.", "I live in Kolderby now."),
        ("I live in Orvale.", "I live in Kolderby."),
        ("I moved from Orvale to Brenmoor.", "I moved to Tessin."),
        ("I work as a plumber.", "I work as a nurse."),
        ("I work as a plumber.", "I now work as a nurse."),
        ("My favourite dish is leek pie.", "My favourite dish is onion soup these days."),
        ("The number of my locker is 214.", "The number of my locker is 87."),
        ("I have four hives.", "I have six hives."),
        ("The bridge is closed.", "The bridge is open again."),
        ("The lab door is closed.", "The lab door is open."),
        ("The choir meets on Tuesdays.", "The choir meets on Thursdays now."),
        ("I am planning to visit the salt mines.", "I cancelled the trip to the salt mines."),
        ("I am learning the flute.", "I stopped learning the flute."),
        ("The spare key hangs in the pantry.", "I moved the spare key to the shed."),
        ("red_ball lies at (40, 60).", "red_ball lies at (90, 10)."),
        ("I am not allergic to walnuts.", "I am allergic to walnuts."),
    ],
)
def test_another_value_of_the_same_replaces_the_old_one(old: str, new: str) -> None:
    assert replaces(new, old)


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("I live in Orvale.", "I live in Orvale."),
        ("I live in Orvale.", "I lived in Kolderby before."),
        ("I live in Orvale.", "My sister lives in Kolderby."),
        ("My sister lives in Orvale.", "I live in Kolderby."),
        ("I live in Orvale.", "Do you live in Kolderby?"),
        ("I live in Orvale and work as a nurse. My cat is ill.", "I live in Kolderby."),
        ("I work as a plumber.", "I work at home."),
        ("My favourite dish is leek pie.", "My favourite colour is now yellow."),
        ("I have four hives.", "I have six hens."),
        ("The ferry leaves at four.", "The ferry leaves at six."),
        ("I ate two apples.", "I ate three apples."),
        ("I left my umbrella on the tram.", "I left my gloves on the tram."),
        ("My son Nils is seven.", "My son Nils is in the third class now."),
        ("red_ball lies at (40, 60).", "blue_ball lies at (90, 10)."),
        ("I like leek pie.", "I like onion soup now."),
    ],
)
def test_what_may_hold_beside_it_leaves_it_alone(old: str, new: str) -> None:
    assert not replaces(new, old)


def test_of_the_labelled_pairs_nothing_restated_or_new_replaces_and_most_changes_do() -> None:
    found = dict.fromkeys(("restated", "new", "changed", "contradicting"), 0)
    for pair in labelled_pairs():
        known, draft = said(pair.known.text, by=pair.known.speaker), said(pair.draft.text, by=pair.draft.speaker)
        same_voice = pair.known.speaker == pair.draft.speaker
        found[pair.kind] += same_voice and replaced_by(known, draft) is not None
    assert found["restated"] == found["new"] == 0
    assert found["changed"] >= 40


def test_hardly_any_fact_falls_to_one_that_was_made_up_about_something_else() -> None:
    pairs = labelled_pairs()
    all_known = {(pair.known.speaker, pair.known.text) for pair in pairs if pair.kind in ("restated", "new")}
    fallen = [
        (text, pair.draft.text)
        for pair in pairs
        if pair.kind in ("restated", "new")
        for speaker, text in all_known
        if speaker == pair.draft.speaker
        and text != pair.known.text
        and replaced_by(said(text, by=speaker), said(pair.draft.text, by=speaker)) is not None
    ]
    assert fallen == []
