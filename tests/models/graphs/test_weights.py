from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as st_numpy

from lexbeam.models.graphs.weights import Int8Matrix, quantise, without_overflow

SIZES = st.tuples(st.integers(1, 9), st.integers(1, 5))


def can_overflow(values: np.ndarray[tuple[int, ...], np.dtype[np.int8]]) -> bool:
    """Say whether two neighbouring products with the largest activation leave sixteen bits."""
    wide = values.astype(int)
    pairs = zip(wide[0::2], wide[1::2], strict=False)
    worst = [
        255
        * np.maximum(np.maximum(a, 0) + np.maximum(b, 0), -(np.minimum(a, 0) + np.minimum(b, 0)))
        for a, b in pairs
    ]
    return bool(np.max(worst, initial=0) > 2**15)


@given(st_numpy.arrays(np.int8, SIZES, elements=st.integers(-127, 127)))
def test_no_pair_overflows_and_the_matrix_stays_what_it_was(
    values: np.ndarray[tuple[int, int], np.dtype[np.int8]],
) -> None:
    before = Int8Matrix(values, np.full((1, values.shape[1]), 0.5, np.float32), 3.0)
    after = without_overflow(before)
    assert not can_overflow(after.values)
    assert after.activation == 3.0
    np.testing.assert_allclose(after.to_float(), before.to_float(), atol=0.5 * 1.001)


def test_light_columns_keep_every_bit() -> None:
    values = np.array([[127, 100, -3], [-127, 100, 5]], np.int8)
    scale = np.array([[0.1, 0.2, 0.3]], np.float32)
    after = without_overflow(Int8Matrix(values, scale))
    np.testing.assert_array_equal(after.values[:, [0, 2]], values[:, [0, 2]])
    np.testing.assert_array_equal(after.scale[:, [0, 2]], scale[:, [0, 2]])
    assert after.scale[0, 1] > scale[0, 1]


@given(st_numpy.arrays(np.float32, SIZES, elements=st.floats(-8, 8, width=32)))
def test_rounding_is_as_fine_as_promised(
    matrix: np.ndarray[tuple[int, int], np.dtype[np.float32]],
) -> None:
    rounded = quantise(matrix)
    assert not can_overflow(rounded.values)
    error = np.abs(rounded.to_float() - matrix)
    assert (error <= 0.501 * rounded.scale + 1e-6).all()
    assert (rounded.scale <= np.maximum(2 * np.abs(matrix).max(axis=0) / 127, 1)).all()


def test_the_transpose_of_a_table() -> None:
    table = Int8Matrix(np.array([[1, 2], [3, 4], [5, 6]], np.int8), np.ones((3, 1), np.float32))
    assert table.T.shape == (2, 3)
    np.testing.assert_array_equal(table.T.to_float(), table.to_float().T)
