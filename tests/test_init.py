from __future__ import annotations

import lexbeam


def test_the_public_face_is_sorted_and_there() -> None:
    assert lexbeam.__all__ == sorted(lexbeam.__all__)
    assert all(hasattr(lexbeam, name) for name in lexbeam.__all__)
