from __future__ import annotations

import sys
from typing import Any

import matplotlib as mpl
import pytest

from lexbeam.errors import MissingExtraError
from lexbeam.study.report.blocks import Figure
from lexbeam.study.report.figures import Line, draw_lines, render


def draw(axes: Any) -> None:
    draw_lines(axes, [Line("a", [1, 2, 3], [3, 1, 2]), Line("b", [1], [2], 1)], "x", "y", ("c", 2))


def test_the_same_numbers_give_the_same_bytes_whatever_the_user_set_up() -> None:
    first = render(Figure("f", "", draw))
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": "other"}):
        assert render(Figure("f", "", draw)) == first
        assert mpl.rcParams["font.size"] == 20
    assert first["png"].startswith(b"\x89PNG")
    assert b"<svg" in first["svg"]
    assert b"<dc:date>" not in first["svg"]


def test_without_matplotlib_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"lexbeam\[study\]"):
        render(Figure("f", "", draw))
