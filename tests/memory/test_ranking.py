from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from simuverse.errors import BadVector
from simuverse.memory.stores.ranking import TIE, best
from simuverse.memory.stores.vectors import checked_vector


def ids(*numbers: int) -> np.typing.NDArray[np.uint64]:
    return np.array([[0, number] for number in numbers], dtype=np.uint64).reshape(-1, 2)


def rows(scores: list[float], numbers: list[int], *, limit: int = 10) -> list[int]:
    ranked = best(np.array(scores), ids(*numbers), among=np.ones(len(scores), dtype=np.bool_), limit=limit)
    return [int(row) for row in ranked.rows]


def test_highest_first_and_ties_by_id() -> None:
    assert rows([0.1, 0.3, 0.3, 0.2], [1, 9, 4, 2]) == [2, 1, 3, 0]


def test_scores_a_rounding_apart_tie_and_count_as_the_higher() -> None:
    scores = np.array([0.5, 0.5 + TIE / 2, 0.4])
    ranked = best(scores, ids(1, 2, 3), among=np.ones(3, dtype=np.bool_), limit=3)
    assert ranked.rows.tolist() == [0, 1, 2]
    assert ranked.scores.tolist() == [scores[1], scores[1], scores[2]]


def test_ties_do_not_chain() -> None:
    assert rows([0.5, 0.5 - 0.7 * TIE, 0.5 - 1.4 * TIE], [3, 2, 1]) == [1, 0, 2]


def test_a_tie_across_the_limit_is_cut_by_id() -> None:
    assert rows([0.5] * 5, [5, 4, 3, 2, 1], limit=2) == [4, 3]


def test_only_marked_rows_are_ranked() -> None:
    among = np.array([False, True, False])
    assert best(np.array([3.0, 2.0, 1.0]), ids(1, 2, 3), among=among, limit=5).rows.tolist() == [1]
    assert best(np.array([3.0]), ids(1), among=np.array([False]), limit=5).rows.tolist() == []


@given(scores=st.lists(st.integers(-20, 20), max_size=60), limit=st.integers(1, 30), seed=st.integers(0, 9))
def test_equals_sorting_everything(scores: list[int], limit: int, seed: int) -> None:
    numbers = np.random.default_rng(seed).permutation(len(scores)).tolist()
    noise = np.random.default_rng(seed).uniform(-TIE / 3, TIE / 3, len(scores))
    expected = sorted(range(len(scores)), key=lambda row: (-scores[row], numbers[row]))[:limit]
    assert rows(list(scores + noise), numbers, limit=limit) == expected


def test_a_unit_vector_is_kept_bit_by_bit_and_another_is_scaled() -> None:
    unit = np.array([0.6, 0.8, 0.0], dtype=np.float32)
    assert checked_vector(unit, dimension=3) is unit
    scaled = checked_vector(unit * 7, dimension=3)
    assert scaled.tolist() == pytest.approx(unit.tolist())
    assert checked_vector(scaled, dimension=3) is scaled


@pytest.mark.parametrize(
    ("bad", "fault"),
    [
        ([0.0, 0.0], "zeros"),
        ([1.0, float("nan")], "NaN"),
        ([1.0, float("inf")], "infinity"),
        ([1.0], r"shape \(1,\).*2 numbers"),
        ([[1.0, 0.0]], r"shape \(1, 2\)"),
    ],
)
def test_a_bad_vector_is_refused_by_what_is_wrong(bad: list[float], fault: str) -> None:
    with pytest.raises(BadVector, match=fault):
        checked_vector(np.array(bad, dtype=np.float32), dimension=2)
