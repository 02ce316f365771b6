"""How much room a memory takes, and what is left of it in less."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.records import Category, Memory, Provenance, Source, memory_id
from simuverse.memory.room import estimated_tokens, fitted

AT = datetime(2026, 3, 1, tzinfo=UTC)
LEAST = 60
"""Tokens in which something can be said."""

texts = st.text(st.characters(codec="utf-8"), min_size=1, max_size=3_000).filter(lambda text: text.strip() != "")


def memory(summary: str, vital: str = "") -> Memory:
    return Memory(
        id=memory_id("Mira", "t", 0),
        owner="Mira",
        summary=summary,
        critical_information=vital,
        category=Category.KNOWLEDGE,
        created_at=AT,
        last_accessed_at=AT,
        provenance=Provenance(source=Source.OBSERVED),
    )


@given(summary=texts, vital=texts | st.just(""), tokens=st.integers(LEAST, 500))
def test_whatever_it_says_it_takes_no_more_than_its_room(summary: str, vital: str, tokens: int) -> None:
    one = memory(summary, vital)

    cut = fitted(one, tokens)

    assert estimated_tokens(cut) <= tokens
    assert (cut == one) == (estimated_tokens(one) <= tokens)
    for before, after in ((one.summary, cut.summary), (one.critical_information, cut.critical_information)):
        assert before.startswith(after.removesuffix(" …"))


def test_it_is_cut_between_words_and_says_that_it_goes_on() -> None:
    cut = fitted(memory("The river rose and fell and rose again. " * 40), 100)
    assert cut.summary.endswith((" rose …", " and …", " fell …", " again. …", " The …", " river …"))
    assert len(cut.summary) > 150


def test_what_must_survive_is_cut_last_and_has_half_the_room() -> None:
    cut = fitted(memory("The river rose. " * 100, "key 7714"), 100)
    assert cut.critical_information == "key 7714"
    cut = fitted(memory("The river rose.", "key 7714, " * 300), 100)
    assert cut.summary == "The river rose."
    assert len(cut.critical_information) < 150


@pytest.mark.parametrize("text", ["granary" * 400, "鍵は織機の下にあります。" * 100])
def test_a_text_without_a_blank_is_cut_too(text: str) -> None:
    cut = fitted(memory(text), 100)
    assert text.startswith(cut.summary.removesuffix(" …"))
    assert len(cut.summary) > 40
