from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.constraint import Constraint, usable_forms
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.kinds import Phrase
from lexbeam.errors import ConstraintError, quoted


def plain(phrase: str) -> Constraint:
    return Phrase(((phrase,),))


def test_phrases_are_cleaned() -> None:
    asked = Constraints.build([" no \n tapete "], avoid=["a\u00a0b", "a b"], prefix=" O  gato")
    assert asked == Constraints((plain("no tapete"),), (plain("a b"),), "O gato")


def test_a_space_behind_the_prefix_finishes_its_last_word() -> None:
    assert Constraints.build(prefix="O  gato \n").prefix == "O gato "
    assert Constraints.build([{"prefix": "O gato "}]).prefix == "O gato "


def test_a_phrase_given_twice_stays_twice() -> None:
    assert Constraints.build(["a", "a"]).demanded == (plain("a"), plain("a"))


def test_a_text_begins_in_one_way() -> None:
    assert Constraints.build([{"prefix": "O"}, {"prefix": "O"}], prefix="O").prefix == "O"
    with pytest.raises(ConstraintError, match='can\'t begin with "A" and "O": drop one'):
        Constraints.build([{"prefix": "O"}], prefix="A")


def test_a_demand_with_another_way_out_contradicts_nothing() -> None:
    asked = Constraints.build([{"any": ["o gato", "a gata"]}], avoid=["gato"])
    assert usable_forms(asked.demanded[0].parts[0], asked.avoid) == ("a gata",)
    assert Constraints.build(["Essen"], avoid=["essen"])
    assert Constraints.build(avoid=["gato"], prefix="O gato")  # it may become "gatos"
    assert Constraints.build(avoid=["gato"], prefix="(gato")


@pytest.mark.parametrize(
    ("phrase", "chain"),
    [
        ({"text": "gato", "exactly": 1}, {"order": ["gato", "gato"]}),
        ({"text": "gato", "at_most": 1}, {"gap": ["o gato", "gato"]}),
        ({"text": "gato", "at_most": 1}, {"order": ["gato", "x"], "count": 2}),
        ({"any": ["gato", "gata"], "exactly": 1}, {"order": [{"any": ["gato", "gata"]}, "gata"]}),
        ({"text": "gato", "exactly": 1, "case": "any"}, {"order": ["Gato", "GATO"]}),
    ],
)
def test_a_chain_that_needs_a_phrase_too_often_is_refused(phrase: Any, chain: Any) -> None:
    with pytest.raises(ConstraintError, match=r"may occur once, but .* needs it twice: drop one"):
        Constraints.build([phrase, chain])
    assert Constraints.build([phrase, {**chain, "soft": 1}] if "count" not in chain else [phrase])


@pytest.mark.parametrize(
    "chain",
    [
        {"order": ["gato", "gata"]},
        {"order": ["gato", {"any": ["gato", "gata"]}]},
        {"order": ["gato", "Gato"]},
        {"order": ["gato", "gato"], "case": "any"},  # it may be Gato
    ],
)
def test_a_chain_that_can_do_without_is_not_refused(chain: Any) -> None:
    assert Constraints.build([{"text": "gato", "exactly": 1}, chain])


@pytest.mark.parametrize(
    ("phrase", "others"),
    [
        ({"text": "o", "at_most": 1}, [{"text": "o gato", "count": 2}]),
        ({"text": "o", "at_most": 1}, ["o gato", "o gato"]),
        ({"text": "o", "at_most": 1}, [{"any": ["o gato", "o rato"], "count": 2}]),
        ({"text": "3", "exactly": 1}, [{"text": "3.14", "count": 2, "case": "any"}]),
        ({"text": "--", "exactly": 1}, ["---"]),
        ({"text": "na", "exactly": 1, "case": "exact"}, [{"text": "na na na", "case": "start"}]),
        ({"text": "o", "exactly": 1}, [{"suffix": "o o"}]),
    ],
)
def test_a_phrase_that_another_needs_too_often_is_refused(phrase: Any, others: list[Any]) -> None:
    with pytest.raises(ConstraintError, match=r"may occur once, but .* needs it twice: drop one"):
        Constraints.build([phrase, *others])


def test_a_prefix_needs_phrases_too() -> None:
    phrase = {"text": "o", "at_most": 1}
    with pytest.raises(ConstraintError, match=r'"o" may occur once, but "o o" needs it twice'):
        Constraints.build([phrase], prefix="o o ")
    assert Constraints.build([phrase], prefix="o o")  # it may become "o os"


@pytest.mark.parametrize(
    "others",
    [
        ["o gato", "gato o"],  # one "o" may be in both
        [{"text": "o gato o", "soft": 1}],
        [{"any": ["o gato", "gato"], "count": 2}],
        [{"text": "o gato", "count": 2, "case": "any"}],  # it may be "O gato"
    ],
)
def test_a_phrase_that_others_can_share_is_not_refused(others: list[Any]) -> None:
    assert Constraints.build([{"text": "o", "exactly": 1}, *others])


def test_what_overlaps_with_itself_needs_less() -> None:
    twice = {"text": "o gato o", "count": 2}
    assert Constraints.build([{"text": "o", "at_most": 3}, twice])  # o gato o gato o
    with pytest.raises(ConstraintError, match="needs it 3 times"):
        Constraints.build([{"text": "o", "at_most": 2}, twice])


def test_nothing_asks_nothing() -> None:
    assert Constraints.build() == Constraints.build([], (), "") == Constraints()


def test_what_is_asked_is_cleaned() -> None:
    asked = Constraints.build([" gato"], ["gata", "gata"], "O")
    assert asked == Constraints((plain("gato"),), (plain("gata"),), "O")


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"constraints": "gato"}, 'constraints must be a list of phrases, not the text "gato"'),
        ({"constraints": 7}, "constraints must be a list"),
        ({"constraints": {"gato": 1}}, "constraints must be a list"),
        ({"constraints": ["a", 7]}, r"constraints\[1\] must be text or an object"),
        ({"constraints": ["a", None]}, r"constraints\[1\] must be text"),
        ({"constraints": ["  \t\n"]}, r"constraints\[0\] is empty or only spaces"),
        ({"constraints": [""]}, r"constraints\[0\] is empty"),
        ({"avoid": ["\u3000"]}, r"avoid\[0\] is empty"),
        ({"constraints": ["a\0b"]}, r'constraints\[0\] "a\\0b" contains a NUL'),
        ({"constraints": ["a\ud800b"]}, "surrogate"),
        ({"prefix": ["O"]}, "prefix must be text, not list"),
        ({"prefix": "  "}, "prefix is empty"),
        ({"constraints": ["gato"], "avoid": ["gato"]}, '"gato" is avoided, but "gato" is demanded'),
        ({"constraints": ["o gato preto"], "avoid": ["gato"]}, '"o gato preto" is demanded'),
        ({"prefix": "o gato ", "avoid": ["gato"]}, '"o gato" is demanded'),
        ({"prefix": "(gato)", "avoid": ["gato"]}, "\\(gato\\)"),
        ({"prefix": "o gato p", "avoid": ["gato"]}, '"o gato" is demanded'),
        (
            {"constraints": [{"any": ["o gato", "gato"]}], "avoid": [{"any": ["x", "gato"]}]},
            r'"x | gato" is avoided, but "o gato | gato" is demanded'.replace("|", r"\|"),
        ),
        ({"constraints": [{"order": ["a", "b"]}], "avoid": ["b"]}, '"b" is demanded'),
        (
            {"constraints": ["Gato"], "avoid": [{"text": "gato", "case": "any"}]},
            '"Gato" is demanded',
        ),
    ],
)
def test_what_makes_no_sense_is_named(asked: dict[str, Any], message: str) -> None:
    with pytest.raises(ConstraintError, match=message):
        Constraints.build(asked.get("constraints"), asked.get("avoid"), asked.get("prefix"))


def test_an_avoided_word_may_be_part_of_a_demanded_one() -> None:
    assert Constraints.build(["gatos"], ["gato"]).avoid == (plain("gato"),)


def test_long_phrases_are_quoted_short() -> None:
    assert len(quoted("x" * 5000)) < 80


@given(st.text())
def test_any_text_is_a_clean_phrase_or_an_error(phrase: str) -> None:
    try:
        (constraint,) = Constraints.build([phrase]).demanded
    except ConstraintError as error:
        assert str(error).encode()  # noqa: PT017
        assert "\0" not in str(error)  # noqa: PT017
        assert len(str(error)) < 300  # noqa: PT017
        return
    cleaned = constraint.text
    assert cleaned == " ".join(cleaned.split()) != ""
    assert Constraints.build([cleaned]).demanded == (constraint,)
