from __future__ import annotations

import numpy as np

from lexbeam.models.graphs.positions import SinusoidalPositions, TabledPositions, sinusoids


def test_sines_first_then_cosines() -> None:
    codes = sinusoids(3, 6)
    assert codes.dtype == np.float32
    frequencies = [1.0, 1e-2, 1e-4]
    for place in range(3):
        angles = [place * frequency for frequency in frequencies]
        np.testing.assert_allclose(codes[place], [*np.sin(angles), *np.cos(angles)], rtol=1e-6)


def test_positions_beyond_the_table() -> None:
    positions = SinusoidalPositions(8)
    early = positions.between(3, 5).copy()
    far = positions.between(5000, 5001)
    np.testing.assert_array_equal(far, sinusoids(5001, 8)[5000:])
    np.testing.assert_array_equal(positions.between(3, 5), early)


def test_places_past_a_table_share_its_last_code() -> None:
    table = np.arange(12, dtype=np.float32).reshape(4, 3)
    positions = TabledPositions(table)
    np.testing.assert_array_equal(positions.between(1, 3), table[1:3])
    np.testing.assert_array_equal(positions.between(2, 7), table[[2, 3, 3, 3, 3]])
