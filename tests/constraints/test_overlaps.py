from __future__ import annotations

from typing import Any

import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import ConstraintError

ONCE = {"text": "b", "exactly": 1}


@pytest.mark.parametrize(
    ("asked", "avoid", "message"),
    [
        (["a b", "b c", ONCE], ["a b c"], '"a b" and "b c" are "a b c", which is avoided'),
        (["b c", "a b", ONCE], [{"text": "B C", "case": "any"}], "is demanded"),
        (["b c", "a b", ONCE], [{"text": "A B C", "case": "any"}], 'are "a b c", which is avoided'),
        (["a b", "x b", ONCE], [], '"a b" and "x b" need it in different places'),
        (["a b c", {"suffix": "b x"}, ONCE], [], "in different places"),
        (["b in b", "b im b", {"text": "b", "at_most": 2}], [], "may occur twice, but"),
    ],
)
def test_phrases_that_can_not_share_are_refused(asked: Any, avoid: Any, message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.build(asked, avoid)


@pytest.mark.parametrize(
    ("asked", "avoid"),
    [
        (["a b", "b c", ONCE], ["b c a"]),
        (["a b", "b c"], ["a b c"]),
        (["a b", "b c", {"text": "b", "exactly": 2}], ["a b c"]),
        (["a b", "A b", ONCE], []),  # at the beginning it is both
        (["a b", "b c", ONCE], [{"text": "a b c", "case": "exact"}]),  # it may be A b c
        (["a b", "x a b c", ONCE], []),
    ],
)
def test_phrases_that_may_share_are_not_refused(asked: Any, avoid: Any) -> None:
    assert Constraints.build(asked, avoid)
