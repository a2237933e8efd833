from __future__ import annotations

from typing import Any

import pytest

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import find_countable, find_met, least_inside, may_be_inside
from lexbeam.errors import ConstraintError

TWICE = {"text": "gato", "exactly": 2}


@pytest.mark.parametrize(
    ("asked", "counts", "limits"),
    [
        (["gato", "gato"], [1, 1], [None, None]),
        ([TWICE, "gato"], [1, 1], [1, 1]),
        (["gato", "gato", TWICE], [1, 1, 0], [1, 1, 0]),
        ([TWICE, TWICE], [2, 0], [2, 0]),
        (["gato", {"text": "gato", "at_most": 3}], [1, 0], [1, 2]),
        ([TWICE, "gata"], [2, 1], [2, None]),
    ],
)
def test_a_limit_is_one_on_the_whole_text(
    asked: list[Any], counts: list[int], limits: list[int | None]
) -> None:
    shared = Constraints.build(asked).counted
    assert ([each.count for each in shared], [each.at_most for each in shared]) == (counts, limits)


@pytest.mark.parametrize(
    "asked",
    [
        ["gato", "gato", {"text": "gato", "exactly": 1}],
        [TWICE, {"text": "gato", "exactly": 1}],
        [{"text": "gato", "count": 2}, {"text": "gato", "at_most": 1}],
    ],
)
def test_more_than_the_limit_is_refused(asked: list[Any]) -> None:
    with pytest.raises(ConstraintError, match="may occur once, but is demanded twice"):
        Constraints.build(asked)


def test_what_has_a_limit_is_met_by_what_others_are_met_by() -> None:
    demanded = Constraints.build(["gato", "gato", TWICE]).demanded
    first, second = ((0, 4),), ((5, 9),)
    assert find_met("gato gato", demanded) == [[first], [second], [first, second]]
    assert find_met("gato", demanded) == [[first], [], [first]]


@pytest.mark.parametrize(
    ("phrase", "other", "times"),
    [
        ({"text": "STRASSE", "case": "any"}, "alte Straße", 1),
        ({"any": ["Haus", "Tür"]}, {"order": ["die Tür", "das Haus"]}, 2),
        ("der", {"text": "Der Hund", "case": "exact"}, 0),
        ({"text": "der", "case": "any"}, "Der Hund und der Hut", 2),
        ("Haus", "Hausboot", 0),
    ],
)
def test_a_phrase_is_found_in_another_in_whatever_case(
    phrase: object, other: object, times: int
) -> None:
    """What is left out at first sight is only what has none of the letters."""
    one, two = Constraints.build([phrase, other]).demanded
    assert least_inside(one, two) == times
    assert may_be_inside(one, two) or not times


@pytest.mark.parametrize(
    ("phrase", "other", "is_countable"),
    [
        ("sein.", "sein.\u0301", False),  # to the search, "sein." has been said there
        ("日本", "日本\u0301", False),
        ("sein", "sein\u0301", True),  # a word that goes on is another one to the search, too
        ("sein.", "sein. \u0301", True),
        ("sein.", "zu sein.", True),
    ],
)
def test_what_a_mark_goes_on_is_not_counted_by_the_search(
    phrase: str, other: str, is_countable: bool
) -> None:
    limited = {"text": phrase, "exactly": 1}
    asked = Constraints.build([limited, {"suffix": other}])
    assert find_countable(asked.demanded)[0] == is_countable
    begun = Constraints.build([limited], prefix=other)
    assert find_countable(begun.demanded, begun.prefix) == [is_countable]
