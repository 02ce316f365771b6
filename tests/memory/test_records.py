"""The values of memory: frozen, and no nonsense in them."""

from __future__ import annotations

from dataclasses import FrozenInstanceError, replace
from datetime import UTC, datetime, timedelta, timezone
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.memory.records import (
    Category,
    Factor,
    Memory,
    MemoryDraft,
    MemoryFilter,
    MemoryQuery,
    Provenance,
    Score,
    SearchType,
    Source,
    memory_id,
)

NOW = datetime(2026, 3, 18, 12, tzinfo=UTC)
DRAFT = MemoryDraft(
    summary="Mira promised Tomas to oil the mill's door.",
    category=Category.PLAN,
    keywords=("mill", "door"),
    critical_information="Mira promised",
    importance=7,
    flags=("by_rule",),
)


def memory(**changes: Any) -> Memory:
    made = Memory.from_draft(
        DRAFT, id=UUID(int=1), owner="Mira", at=NOW, provenance=Provenance(source=Source.OWN_ACTION)
    )
    return replace(made, **changes)


def test_there_are_eight_categories_and_three_kinds_of_search() -> None:
    assert sorted(Category) == [
        "action", "conversation", "emotion", "knowledge", "observation", "plan", "reflection", "relationship",
    ]  # fmt: skip
    assert sorted(SearchType) == ["hybrid", "keyword", "semantic"]


# --- provenance -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("provenance", "words"),
    [
        (Provenance(source=Source.SAID_BY, speaker="Jade"), "said by Jade"),
        (Provenance(source=Source.TOLD, speaker="Jade", listener="James"), "told by Jade to James"),
        (Provenance(source=Source.OBSERVED), "seen"),
        (Provenance(source=Source.OWN_ACTION), "done"),
        (Provenance(source=Source.INFERRED), "inferred"),
        (Provenance(source=Source.SEED), "known from before"),
        (Provenance(source=Source.OPERATOR), "added by an operator"),
    ],
)
def test_every_source_says_what_it_is(provenance: Provenance, words: str) -> None:
    assert provenance.describe() == words


@pytest.mark.parametrize("source", Source)
@pytest.mark.parametrize("speaker", [None, "Jade"])
@pytest.mark.parametrize("listener", [None, "James"])
def test_a_speaker_goes_with_what_was_said_and_a_listener_with_what_was_told(
    source: Source, speaker: str | None, listener: str | None
) -> None:
    fits = (speaker is not None) == (source in (Source.SAID_BY, Source.TOLD)) and (listener is not None) == (
        source is Source.TOLD
    )
    if fits:
        assert Provenance(source=source, speaker=speaker, listener=listener).speaker == speaker
    else:
        with pytest.raises(ValueError, match=str(source)):
            Provenance(source=source, speaker=speaker, listener=listener)


# --- memories ---------------------------------------------------------------------------------------------------------


def test_a_memory_is_its_draft_with_an_owner_a_time_and_an_id() -> None:
    made = Memory.from_draft(
        DRAFT,
        id=UUID(int=2),
        owner="Mira",
        at=NOW,
        provenance=Provenance(source=Source.INFERRED),
        location="at the mill",
        episode="morning",
        position=3,
        evidence=(UUID(int=1),),
        anchored=True,
    )

    for name in ("summary", "category", "keywords", "critical_information", "importance", "flags"):
        assert getattr(made, name) == getattr(DRAFT, name)
    assert (made.id, made.owner, made.location, made.episode, made.position) == (
        UUID(int=2), "Mira", "at the mill", "morning", 3,
    )  # fmt: skip
    assert made.created_at == made.last_accessed_at == NOW
    assert made.evidence == (UUID(int=1),)
    assert made.anchored
    assert made.current


def test_nothing_of_a_memory_can_be_changed() -> None:
    with pytest.raises(FrozenInstanceError):
        memory().owner = "Tomas"  # type: ignore[misc]  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"summary": " \n"}, "summary is blank"),
        ({"keywords": ("a",) * 9}, "9 keywords"),
        ({"keywords": ("a", " ")}, "keyword is blank"),
        ({"importance": 0}, "importance 0"),
        ({"importance": 11}, "importance 11"),
    ],
)
def test_a_draft_and_a_memory_refuse_the_same_nonsense(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        replace(DRAFT, **changes)
    with pytest.raises(ValueError, match=why):
        memory(**changes)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"owner": ""}, "needs an owner"),
        ({"position": -1}, "position -1"),
        ({"evidence": (UUID(int=1),)}, "its own evidence"),
        ({"created_at": NOW.replace(tzinfo=None)}, "created_at has no time zone"),
        ({"last_accessed_at": NOW.replace(tzinfo=None)}, "last_accessed_at has no time zone"),
        ({"superseded_at": NOW.replace(tzinfo=None)}, "superseded_at has no time zone"),
        ({"forgotten_at": NOW.replace(tzinfo=None)}, "forgotten_at has no time zone"),
    ],
)
def test_a_memory_refuses_nonsense(changes: dict[str, Any], why: str) -> None:
    with pytest.raises(ValueError, match=why):
        memory(**changes)


def test_all_times_are_kept_in_utc() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=9)))
    made = memory(created_at=there, last_accessed_at=there, superseded_at=there, forgotten_at=there)

    for name in ("created_at", "last_accessed_at", "superseded_at", "forgotten_at"):
        assert getattr(made, name) == NOW
        assert getattr(made, name).tzinfo is UTC


def test_what_is_superseded_or_forgotten_is_no_longer_current_and_still_itself() -> None:
    past = memory().superseded(by=UUID(int=9), at=NOW)
    hidden = memory().forgotten(at=NOW)

    assert (past.superseded_by, past.superseded_at, past.current) == (UUID(int=9), NOW, False)
    assert (hidden.forgotten_at, hidden.current) == (NOW, False)
    assert replace(past, superseded_by=None, superseded_at=None) == memory()
    assert replace(hidden, forgotten_at=None) == memory()


def test_an_id_is_the_same_in_every_process() -> None:
    assert memory_id("Jade", "t1", 0) == UUID("5e8aa7f2-5f01-52e0-95fc-d460d403abaf")


@settings(deadline=None)
@given(st.tuples(st.text(), st.text(), st.integers(0, 99)), st.tuples(st.text(), st.text(), st.integers(0, 99)))
def test_ids_differ_wherever_owner_turn_or_place_differ(one: tuple[str, str, int], two: tuple[str, str, int]) -> None:
    separated = not any("\x1f" in text for text in (*one[:2], *two[:2]))
    if separated:
        assert (memory_id(*one) == memory_id(*two)) == (one == two)


# --- filters and queries ----------------------------------------------------------------------------------------------


def test_a_filter_comes_from_names_and_values() -> None:
    wanted = MemoryFilter.from_mapping({"category": Category.PLAN, "min_importance": 4, "about": "Jade"})

    assert wanted == MemoryFilter(category=Category.PLAN, min_importance=4, about="Jade")


def test_an_unknown_filter_is_refused_with_those_there_are() -> None:
    with pytest.raises(ValueError, match=r"unknown filter colour, size\. Filters: category, .*include_forgotten"):
        MemoryFilter.from_mapping({"size": 3, "colour": "red", "about": "Jade"})


def test_a_filter_that_nothing_can_pass_is_refused() -> None:
    with pytest.raises(ValueError, match="min_importance 8 is above max_importance 3"):
        MemoryFilter(min_importance=8, max_importance=3)
    assert MemoryFilter(min_importance=3, max_importance=3).max_importance == 3


def test_the_times_of_a_filter_are_aware_and_in_utc() -> None:
    there = NOW.astimezone(timezone(timedelta(hours=-5)))
    wanted = MemoryFilter(since=there, until=there)

    assert wanted.since is not None
    assert wanted.since.tzinfo is UTC
    with pytest.raises(ValueError, match="until has no time zone"):
        MemoryFilter(until=NOW.replace(tzinfo=None))


@pytest.mark.parametrize("blank", [{}, {"text": "  "}, {"keywords": (" ", "")}])
def test_a_query_asks_for_something(blank: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="needs text or keywords"):
        MemoryQuery(**blank)


def test_the_keyword_side_reads_text_and_keywords_the_other_text_before_keywords() -> None:
    both = MemoryQuery(text="Where is the ball?", keywords=("red", "fountain"))
    bare = MemoryQuery(keywords=("red", "fountain"))

    assert both.keyword_text == "Where is the ball? red fountain"
    assert both.semantic_text == "Where is the ball?"
    assert bare.keyword_text == "red fountain"
    assert bare.semantic_text == "red, fountain"


# --- scores -----------------------------------------------------------------------------------------------------------


def test_a_score_is_the_sum_of_its_parts() -> None:
    score = Score(
        preset="own",
        relevance=Factor(raw=0.8, scaled=0.5, weight=3),
        importance=Factor(raw=7, scaled=0.25, weight=2),
        recency=Factor(raw=0.9, scaled=1, weight=0.5),
    )

    assert score.parts == {"relevance": 1.5, "importance": 0.5, "recency": 0.5}
    assert score.total == 2.5
