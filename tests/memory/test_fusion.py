"""Relative score fusion. Every expected number is worked out from the formula by hand, beside it."""

from __future__ import annotations

import random
from itertools import pairwise
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.memory.fusion import TIE, Fused, relative_score_fusion

A, B, C, D, E = (UUID(int=number) for number in range(1, 6))


def check(ranked: list[Fused[UUID]], expected: list[tuple[UUID, float]]) -> None:
    assert [fused.id for fused in ranked] == [document for document, _ in expected]
    assert [fused.score for fused in ranked] == pytest.approx([score for _, score in expected], abs=1e-12)


def test_each_leg_is_scaled_between_its_worst_and_best_and_weighted() -> None:
    # semantic: A (0.9-0.5)/(0.9-0.5) = 1, B (0.7-0.5)/0.4 = 0.5, C 0; keyword: C (4-1)/(4-1) = 1, B (2-1)/3 = 1/3, D 0
    ranked = relative_score_fusion(
        semantic=[(A, 0.9), (B, 0.7), (C, 0.5)], keyword=[(C, 4.0), (B, 2.0), (D, 1.0)], alpha=0.5
    )
    # C 0.5*0 + 0.5*1; A 0.5*1; B 0.25 + 1/6; D 0. C and A tie at 0.5: C's raw value is BM25 4, A's the cosine 0.9.
    check(ranked, [(C, 0.5), (A, 0.5), (B, 0.25 + 1 / 6), (D, 0.0)])


def test_alpha_weighs_the_semantic_leg() -> None:
    ranked = relative_score_fusion(semantic=[(A, 0.8), (B, 0.2)], keyword=[(B, 3.0), (A, 1.5), (C, 1.0)], alpha=0.75)
    # A 0.75*1 + 0.25*(1.5-1)/(3-1) = 0.8125; B 0.75*0 + 0.25*1; C 0
    check(ranked, [(A, 0.8125), (B, 0.25), (C, 0.0)])


def test_a_leg_of_one_or_of_equals_counts_in_full() -> None:
    ranked = relative_score_fusion(semantic=[(A, -0.3)], keyword=[(B, 2.0), (C, 2.0)], alpha=0.4)
    check(ranked, [(B, 0.6), (C, 0.6), (A, 0.4)])


def test_what_only_one_leg_holds_gets_nothing_from_the_other() -> None:
    ranked = relative_score_fusion(semantic=[(A, 0.9), (B, 0.1)], keyword=[], alpha=0.5)
    check(ranked, [(A, 0.5), (B, 0.0)])


@pytest.mark.parametrize(
    ("alpha", "semantic", "keyword", "ranked"),
    [
        (0.5, [1, 2, 3], [0, 1, 2], [(C, 1), (B, 0.5), (A, 0)]),
        (0.5, [0, 2, 0.1], [0, 0.2, 2], [(B, 0.55), (C, 0.525), (A, 0)]),
        (0.75, [0.5, 0.5, 0], [0, 0.01, 0.001], [(B, 1), (A, 0.75), (C, 0.025)]),
        (0.75, [], [], []),
        (0.75, [1], [], [(A, 0.75)]),
        (0.75, [], [1], [(A, 0.25)]),
        (0.75, [1, 2], [], [(B, 0.75), (A, 0)]),
        (0.75, [], [1, 2], [(B, 0.25), (A, 0)]),
        (0.75, [1, 1], [1, 2], [(B, 1), (A, 0.75)]),
        (0.75, [1, 2, 3, 4], [1, 2, 3], [(D, 0.75), (C, 0.75), (B, 0.375), (A, 0)]),
    ],
)
def test_two_legs_are_fused_as_a_weaviate_server_fuses_them(
    alpha: float, semantic: list[float], keyword: list[float], ranked: list[tuple[UUID, float]]
) -> None:
    # The cases of its own tests; each leg's figures are of A, B, C and D.
    legs = [list(zip((A, B, C, D), leg, strict=False)) for leg in (semantic, keyword)]
    check(relative_score_fusion(semantic=legs[0], keyword=legs[1], alpha=alpha), ranked)


@pytest.mark.parametrize(("alpha", "kept"), [(1.0, [A, B]), (0.0, [C, A])])
def test_a_leg_without_weight_takes_no_part(alpha: float, kept: list[UUID]) -> None:
    ranked = relative_score_fusion(semantic=[(A, 0.9), (B, 0.1)], keyword=[(C, 5.0), (A, 1.0)], alpha=alpha)
    assert [fused.id for fused in ranked] == kept
    assert [fused.score for fused in ranked] == [1.0, 0.0]


def test_two_empty_legs_give_nothing() -> None:
    assert relative_score_fusion(semantic=[], keyword=[], alpha=0.5) == []


def test_no_more_than_the_limit_come_back() -> None:
    ranked = relative_score_fusion(semantic=[(A, 0.9), (B, 0.1)], keyword=[], alpha=0.5, limit=1)
    assert [one.id for one in ranked] == [A]


def test_equal_scores_are_ordered_by_bm25_before_cosine_and_then_by_id() -> None:
    assert [f.id for f in relative_score_fusion(semantic=[(A, 1.0)], keyword=[(B, 0.5)], alpha=0.5)] == [A, B]
    assert [f.id for f in relative_score_fusion(semantic=[(A, 0.4)], keyword=[(B, 0.5)], alpha=0.5)] == [B, A]
    assert [f.id for f in relative_score_fusion(semantic=[(B, 0.5)], keyword=[(A, 0.5)], alpha=0.5)] == [A, B]
    assert [f.id for f in relative_score_fusion(semantic=[(C, 1.0), (B, 1.0), (A, 1.0)], keyword=[], alpha=1.0)] == [
        A,
        B,
        C,
    ]


def test_a_document_in_both_legs_is_ordered_by_its_bm25_score() -> None:
    semantic = [(A, 0.2), (B, 0.9)]
    keyword = [(A, 2.0), (B, 1.0), (C, 1.0)]
    # A 0.5*0 + 0.5*1 = 0.5; B 0.5*1 + 0.5*0 = 0.5; the cosine would put B first, BM25 puts A first
    assert [f.id for f in relative_score_fusion(semantic=semantic, keyword=keyword, alpha=0.5)] == [A, B, C]


def test_scores_closer_than_a_tie_are_equal_and_those_a_tie_apart_are_not() -> None:
    swapped = relative_score_fusion(semantic=[(B, 1.0), (A, 1.0), (C, 0.0)], keyword=[(B, 1.0), (A, 1.0)], alpha=0.5)
    assert [f.id for f in swapped] == [A, B, C]
    # A scores a quarter of a tie more than B, whose BM25 is above A's cosine; then two ties more
    near = relative_score_fusion(semantic=[(A, 0.9), (C, 0.0)], keyword=[(B, 9.0), (D, 0.0)], alpha=0.5 + TIE / 8)
    assert [f.id for f in near][:2] == [B, A]
    apart = relative_score_fusion(semantic=[(A, 0.9), (C, 0.0)], keyword=[(B, 9.0), (D, 0.0)], alpha=0.5 + TIE)
    assert [f.id for f in apart][:2] == [A, B]


def test_a_chain_of_near_ties_is_cut_where_it_has_moved_a_tie_from_its_top() -> None:
    # A and B score 0.5, C 0.6 ties less, D 1.2 ties less, so only A, B and C are equal; E scores 0
    ranked = relative_score_fusion(
        semantic=[(A, 0.9)], keyword=[(B, 9.0), (C, 9 - 9 * 1.2 * TIE), (D, 9 - 9 * 2.4 * TIE), (E, 0.0)], alpha=0.5
    )
    assert [f.id for f in ranked] == [B, C, A, D, E]


@pytest.mark.parametrize("alpha", [-0.1, 1.1, float("nan")])
def test_a_weight_outside_0_to_1_is_refused(alpha: float) -> None:
    with pytest.raises(ValueError, match="alpha"):
        relative_score_fusion(semantic=[], keyword=[], alpha=alpha)


def test_an_id_twice_in_a_leg_is_refused() -> None:
    with pytest.raises(ValueError, match="keyword leg"):
        relative_score_fusion(semantic=[], keyword=[(A, 1.0), (A, 2.0)], alpha=0.5)


LEG = st.dictionaries(
    st.integers(1, 12).map(lambda number: UUID(int=number)), st.sampled_from([0.0, 0.1, 0.25, 0.7, 1.0, 3])
)


@given(LEG, LEG, st.floats(0, 1), st.randoms(use_true_random=False))
def test_the_order_of_the_input_does_not_matter_and_scores_stay_within_0_and_1(
    semantic: dict[UUID, float], keyword: dict[UUID, float], alpha: float, shuffler: random.Random
) -> None:
    ranked = relative_score_fusion(semantic=list(semantic.items()), keyword=list(keyword.items()), alpha=alpha)
    mixed = [list(semantic.items()), list(keyword.items())]
    for leg in mixed:
        shuffler.shuffle(leg)
    assert relative_score_fusion(semantic=mixed[0], keyword=mixed[1], alpha=alpha) == ranked
    assert all(-1e-12 <= fused.score <= 1 + 1e-12 for fused in ranked)
    assert all(above.score > below.score - 1.01 * TIE for above, below in pairwise(ranked))
