"""What a model gives is checked before anything is compared with it."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from simuverse.errors import BadVector
from simuverse.memory.embedding import unit_vectors


@settings(deadline=None)
@given(
    st.lists(
        st.lists(st.floats(-(2.0**100), 2.0**100, width=32), min_size=3, max_size=3).filter(
            lambda row: max(map(abs, row)) > 1e-30
        ),
        min_size=1,
        max_size=4,
    )
)
def test_every_row_has_length_one_and_keeps_its_direction_however_long_it_was(rows: list[list[float]]) -> None:
    vectors = unit_vectors(rows, count=len(rows), dimension=3, embedder="odd")

    assert vectors.dtype == np.float32
    assert vectors.shape == (len(rows), 3)
    for row, vector in zip(np.array(rows), vectors, strict=True):
        assert np.linalg.norm(vector) == pytest.approx(1, abs=1e-6)
        assert float(row / np.abs(row).max() @ vector) > 0


def test_no_texts_give_an_empty_table_of_the_right_width() -> None:
    assert unit_vectors([], count=0, dimension=7, embedder="odd").shape == (0, 7)


@pytest.mark.parametrize(
    ("raw", "why"),
    [
        ([[1.0, 2.0]], "shape"),
        ([1.0, 2.0, 3.0], "shape"),
        ([[1.0, 2.0, 3.0]] * 2, "shape"),
        ([[1.0, float("nan"), 3.0]], "NaN"),
        ([[1.0, float("inf"), 3.0]], "infinity"),
        ([[1.0, -1e300, 3.0]], "beyond float32"),
        ([[0.0, 0.0, 0.0]], "zeros"),
        ([[1.0, 2.0], [3.0]], "table of numbers"),
        ([["a", "b", "c"]], "table of numbers"),
        ([[None, None, "x"]], "table of numbers"),
        ([[10**400, 0, 0]], "table of numbers"),
        (None, "shape"),
    ],
)
def test_what_is_no_table_of_directions_is_refused_with_the_embedders_name(raw: object, why: str) -> None:
    with pytest.raises(BadVector, match=why) as caught:
        unit_vectors(raw, count=1, dimension=3, embedder="ollama:odd")

    assert str(caught.value).startswith("ollama:odd gave")
