"""Wordings of one thing as one memory: whatever their order, and however often."""

from __future__ import annotations

from dataclasses import replace
from functools import reduce
from itertools import permutations

from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.memory.merging import absorbed
from simuverse.memory.records import MAX_KEYWORDS, Category, Memory, Provenance, Source, memory_id
from tests.contracts.memory_reference import START, memory

MIRA = Provenance(source=Source.SAID_BY, speaker="Mira")


def told(
    *,
    number: int,
    summary: str,
    category: Category,
    keywords: tuple[str, ...],
    critical: str,
    importance: int,
    messages: tuple[str, ...],
    minutes: int,
) -> Memory:
    return replace(
        memory(summary, number, category=category, keywords=keywords, importance=importance, minutes=minutes),
        critical_information=critical,
        provenance=replace(MIRA, messages=messages),
        flags=("by_rule",) if number % 2 else (),
    )


drafts = st.builds(
    told,
    number=st.integers(0, 50),
    summary=st.sampled_from(
        ["The sluice opens.", "The old sluice opens.", "The sluice, the old one, opens.", "Open it."]
    ),
    category=st.sampled_from(Category),
    keywords=st.lists(
        st.sampled_from(
            ["sluice", "Sluice", "gate", "opens", "Oldwheel", "7", "water", "mill", "river", "wheel", "lock"]
        ),
        max_size=MAX_KEYWORDS,
    ).map(tuple),
    critical=st.sampled_from(["", "Oldwheel", "7 o'clock", "7 o'clock; Oldwheel"]),
    importance=st.integers(1, 10),
    messages=st.lists(st.sampled_from(["m1", "m2", "m3"]), unique=True, max_size=3).map(tuple),
    minutes=st.integers(0, 600),
)


def content(one: Memory) -> Memory:
    """All of it but for which of them it is."""
    return replace(one, id=memory_id("x", "x", 0), last_accessed_at=START)


@settings(deadline=None)
@given(st.lists(drafts, min_size=2, max_size=4, unique_by=lambda one: one.id))
def test_the_order_in_which_they_come_is_no_matter(memories: list[Memory]) -> None:
    outcomes = {str(content(reduce(absorbed, order))) for order in permutations(memories)}
    assert len(outcomes) == 1


@settings(deadline=None)
@given(drafts, drafts)
def test_to_merge_twice_changes_nothing(one: Memory, other: Memory) -> None:
    once = absorbed(one, other)
    assert absorbed(once, other) == once
    assert absorbed(once, once) == once


@settings(deadline=None)
@given(drafts, drafts)
def test_nothing_is_lost_but_keywords_that_have_no_room(one: Memory, other: Memory) -> None:
    both = absorbed(one, other)
    assert both.id == one.id
    assert both.importance == max(one.importance, other.importance)
    assert {*both.provenance.messages} == {*one.provenance.messages, *other.provenance.messages}
    told = {piece for m in (one, other) for piece in m.critical_information.split("; ") if piece}
    assert {*both.critical_information.split("; ")} - {""} == told
    keywords = {keyword.casefold() for m in (one, other) for keyword in m.keywords}
    found = {keyword.casefold() for keyword in both.keywords}
    assert found == keywords or (found < keywords and len(found) == MAX_KEYWORDS)
    assert both.summary in (one.summary, other.summary)
    assert both.created_at == max(one.created_at, other.created_at)


def test_the_wording_that_tells_most_is_kept() -> None:
    short, long = memory("The sluice opens.", 1), memory("The old sluice opens at dawn.", 2)
    assert absorbed(short, long).summary == absorbed(long, short).summary == long.summary
