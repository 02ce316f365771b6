"""What says nothing new, what may say nothing new, and what surely does."""

from __future__ import annotations

import re
from itertools import pairwise, product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.bench.hygiene import PAIRS
from simuverse.bench.labelled_pairs import labelled_pairs
from simuverse.memory.echoes import Echo, compared, likeness, replaced
from simuverse.memory.embedders.hashing import HashingEmbedder
from simuverse.memory.statements import said
from simuverse.memory.synonyms import tells_little


async def echo(draft: str, known: str, *, by: str = "Mira", known_by: str = "Mira") -> Echo | None:
    one, other = await HashingEmbedder().embed([draft, known])
    return compared(said(draft, by=by), said(known, by=known_by), cosine=float(one @ other))


KNOWN = "I saw the red ball behind the cafe, when the lab door was open at half past nine."


@pytest.mark.parametrize(
    "text",
    [
        KNOWN,
        "Behind the cafe I saw the red ball.",
        "When the lab door was open, at half past nine, I saw the red ball behind the cafe!",
    ],
)
async def test_the_same_in_other_words_of_its_own_is_surely_a_restatement(text: str) -> None:
    found = await echo(text, KNOWN)
    assert found is not None
    assert found.is_sure()


@pytest.mark.parametrize(
    "text",
    [
        "I saw the red ball behind the cafe, when the lab door was open at half past ten.",
        "I saw 2 red balls behind the cafe.",
        "I saw the blue ball behind the cafe.",
        "I didn't see the red ball behind the cafe.",
        "I saw Greta behind the cafe with the red ball.",
        "Now the red ball is behind the cafe.",
        "Bread is baked at dawn.",
    ],
)
async def test_another_number_colour_or_name_a_denial_or_a_change_is_no_restatement_at_all(text: str) -> None:
    assert await echo(text, KNOWN) is None


async def test_who_speaks_of_oneself_doesnt_restate_another() -> None:
    assert await echo("I am allergic to walnuts.", "I am allergic to walnuts.", by="Joel") is None
    found = await echo("You are allergic to walnuts.", "I am allergic to walnuts.", by="Ada")
    assert found is not None
    assert found.is_sure()


async def test_what_goes_on_after_an_echo_is_never_sure() -> None:
    found = await echo(
        "The choir meets in the school hall, and Joel is its tenor.", "The choir meets in the school hall."
    )
    assert found is None or not found.is_sure(of_own=True)


async def test_one_word_in_anothers_place_is_never_linked() -> None:
    found = await echo("We buried the dog under the plum tree.", "We buried the dog under the pear tree.")
    assert found is not None
    assert found.replaced == 1
    assert not found.is_likely()
    assert not found.is_likely(of_own=True)


async def test_a_denial_put_anywhere_into_what_is_known_is_never_an_echo() -> None:
    """Of what nobody denied, and in ten words as in twenty."""
    pairs = [pair for telling, held_out in PAIRS for pair in labelled_pairs(telling, held_out=held_out)]
    known = sorted({pair.known.text for pair in pairs})
    known = [text for text in known if not said(text, by="Mira").denied]
    known += [f"{one.rstrip('.')}, and {other}" for one, other in pairwise(known)]
    assert len(known) > 150
    for text in known:
        words = text.split()
        denials = [
            " ".join((*words[:place], denial, *words[place:]))
            for denial in ("not", "never", "hardly", "without")
            for place in range(1, len(words))
        ]
        denials += [f"{before} {text}" for before in ("It isn't true that", "I doubt that", "It's false:", "Not true,")]
        for denied in denials:
            found = compared(said(denied, by="Mira"), said(text, by="Mira"), cosine=1.0)
            assert found is None, denied


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("I don't eat meat and I don't drink wine.", "I eat meat and I drink wine."),
        ("I take two sugars in my tea and no milk.", "I take no sugars in my tea and two drops of milk."),
        ("Nobody was hurt when the old mill burned down.", "The old mill was not burned down when Per was hurt."),
        ("I am not afraid of dogs, but I fear geese.", "I am afraid of dogs, but I don't fear geese."),
    ],
)
async def test_who_denies_something_else_says_something_else(known: str, draft: str) -> None:
    assert await echo(draft, known) is None


def test_words_that_mean_the_same_are_no_words_of_ones_own() -> None:
    found = compared(
        said("You own the huge ship.", by="Ada"), said("The big boat belongs to me.", by="Mira"), cosine=0.5
    )
    assert found is not None
    assert (found.foreign, found.substitutes) == (0, False)


async def test_a_word_in_place_of_a_known_one_is_never_sure_and_one_left_out_is() -> None:
    known = "My twin brother sails on a whaler."
    other = await echo("Your twin brother sings on a whaler.", known, by="Ada")
    short = await echo("Your twin brother, on a whaler.", known, by="Ada")
    assert other is not None
    assert short is not None
    assert (other.substitutes, short.substitutes) == (True, False)
    assert not other.is_sure(of_own=True)
    assert short.is_sure(of_own=True)


@pytest.mark.parametrize(
    ("known", "draft"),
    [
        ("The priest sold the old mare to the miller at the fair.", "At the fair the sexton sold the miller the mare."),
        ("I bought the small boat from the smith on the pier.", "On the pier I sold the small boat to the smith."),
        ("We eat breakfast with the neighbours in the garden.", "In the garden we eat lunch with the neighbours."),
        ("My brother took the old mare to the fair.", "To the fair my sister took the old mare."),
    ],
)
def test_another_word_in_another_order_is_never_sure_however_long_and_like(known: str, draft: str) -> None:
    found = compared(said(draft, by="Mira"), said(known, by="Mira"), cosine=1.0)
    assert found is not None
    assert not found.is_sure(of_own=True)


def test_no_word_of_what_is_known_can_be_exchanged_unseen() -> None:
    for pair in labelled_pairs():
        known = said(pair.known.text, by="Mira")
        for word in known.words:
            if not tells_little(word):
                other = said(re.sub(rf"\b{re.escape(word)}\b", "walrus", known.text, flags=re.IGNORECASE), by="Mira")
                found = compared(other, known, cosine=1.0)
                assert found is None or not found.is_sure(of_own=True) or "walrus" not in other.words, other.text


async def test_what_moved_is_no_change_where_the_known_text_tells_of_moving() -> None:
    known = "We are moving the bees to the orchard."
    assert await echo("The bees are moved to the orchard.", known, by="Ada") is not None
    assert await echo("The bees are in the orchard now.", known, by="Ada") is None


async def test_a_confirmation_is_believed() -> None:
    plain = await echo("The boat goes from the pier at half past four.", "The ferry leaves the pier at half past four.")
    confirmed = await echo(
        "As you said, the boat goes from the pier at half past four.", "The ferry leaves the pier at half past four."
    )
    assert plain is not None
    assert confirmed is not None
    assert confirmed.score > plain.score + 1


async def test_of_the_labelled_pairs_no_new_fact_is_refused_and_most_restatements_are_told() -> None:
    pairs = labelled_pairs()
    sure = dict.fromkeys(("restated", "new", "changed", "contradicting"), 0)
    for pair in pairs:
        found = await echo(str(pair.draft), str(pair.known), by=pair.draft.speaker, known_by=pair.known.speaker)
        sure[pair.kind] += found is not None and found.is_sure()
    assert len(pairs) == 300
    assert sure["new"] == sure["changed"] == sure["contradicting"] == 0
    assert sure["restated"] >= 50


words = st.lists(st.sampled_from(["ball", "mill", "rain", "oven", "key", "9", "Mira"]), min_size=1, max_size=8)


@settings(deadline=None)
@given(words, st.randoms(use_true_random=False))
def test_a_text_restates_itself_in_any_order_of_its_words_unless_one_takes_anothers_place(
    text: list[str], random: object
) -> None:
    one = said(" ".join(text), by="Ada")
    found = compared(one, said(" ".join(text[::-1]), by="Ada"), cosine=1.0)
    assert found is not None
    assert found.held == 1.0
    assert found.foreign == 0


@pytest.mark.parametrize("text", ["我把红球放在喷泉旁边", "Я оставил красный мяч у фонтана", "تركت الكرة قرب النافورة"])
async def test_it_is_the_same_in_any_script(text: str) -> None:
    found = await echo(text, text)
    assert found is not None
    assert found.is_sure()
    assert await echo("Greta bakes bread.", text) is None


def test_thousands_of_words_and_denials_are_compared_as_a_few_are() -> None:
    long = said("The mill, not the barn. " * 5_000, by="Mira")
    longer = said("The mill, not the barn. " * 5_002, by="Mira")
    found = compared(longer, long, cosine=1.0)
    assert found is not None
    assert (found.held, found.foreign, found.substitutes, found.replaced) == (1.0, 0, False, 0)


def test_thousands_of_different_words_are_each_looked_for_once(monkeypatch: pytest.MonkeyPatch) -> None:
    looked_at = 0

    def counted(word: str, other: str) -> bool:
        nonlocal looked_at
        looked_at += 1
        return word == other

    monkeypatch.setattr("simuverse.memory.echoes._same", counted)
    words = ["".join(letters) for letters in product("bcdfghjkl", repeat=4)]
    known, draft = said(" ".join(words[:2_000]), by="Mira"), said(" ".join(words[1_000:3_000]), by="Mira")
    near = likeness(draft.words, known, None)
    assert [near[words[1_500]], near[words[2_500]]] == [1.0, 0.0]
    assert looked_at == 1_000


def test_of_long_texts_that_differ_all_over_nobody_is_sure() -> None:
    known = said("The mill, not the barn. " * 500, by="Mira")
    other = said("The barn, not the mill. " * 500, by="Mira")
    assert replaced(other, known) == 1
    assert replaced(said("The mill, not the barn. " * 499 + "The mill, not the well.", by="Mira"), known) == 1
    assert replaced(known, known) == 0
