from __future__ import annotations

from typing import Any

import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.translation.hidden_limits import LeftLimits


def left(asked: list[Any], *hidden: str, prefix: str = "") -> LeftLimits | None:
    return LeftLimits.of(Constraints.build(asked).demanded, prefix, hidden)


def test_what_is_hidden_counts() -> None:
    (limited,) = Constraints.build([{"text": "name", "count": 2, "at_most": 3}]).demanded
    found = left(["Haus", limited.given], "{name}", "{user}")
    assert found is not None
    assert (found.counted, found.avoid) == ((1,), ())
    assert [(each.count, each.at_most) for each in found.demanded] == [(1, 2)]


def test_what_is_hidden_may_be_enough() -> None:
    assert left([{"text": "name", "at_most": 3}], "{name}") == LeftLimits((0,))
    found = left([{"text": "name", "exactly": 2}], "{name}", "{name}")
    assert found is not None
    assert not found.demanded
    assert [each.text for each in found.avoid] == ["name"]


@pytest.mark.parametrize(
    "asked",
    [
        [{"text": "name", "exactly": 1}],
        [{"text": "name", "at_most": 3}, "name"],
        [{"text": "name", "at_most": 3}, "my name"],
        [{"text": "NAME", "case": "exact", "at_most": 3}],
    ],
)
def test_what_can_not_be_told_is_left_to_the_search(asked: list[Any]) -> None:
    assert left(asked, "{name}", "{name}") is None


def test_other_limits_stay() -> None:
    assert left([{"text": "file", "at_most": 3}], "{name}") == LeftLimits()
    assert left([{"text": "name", "at_most": 3}], "{name}", prefix="My name") is None
