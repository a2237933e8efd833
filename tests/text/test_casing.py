from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.text.casing import CASES, Case, Variant, capitalised, matches, variants
from lexbeam.text.word_boundaries import occurrences


@pytest.mark.parametrize(
    ("phrase", "expected"),
    [
        ("haus", "Haus"),
        ("Haus", "Haus"),
        ("été chaud", "Été chaud"),
        ("ǆep", "ǅep"),  # one letter with a title case of its own
        ("ßa", "ßa"),  # has no single large letter
        ("1a", "1a"),
        ("(a)", "(a)"),
        ("猫", "猫"),
    ],
)
def test_capitalised(phrase: str, expected: str) -> None:
    assert capitalised(phrase) == expected


def test_variants() -> None:
    assert variants("new York", "exact") == [Variant("new York")]
    assert variants("new York", "start") == [Variant("new York"), Variant("New York", first=True)]
    assert variants("New York", "start") == [Variant("New York")]
    assert [v.text for v in variants("new York", "any")] == [
        "new York",
        "new york",
        "New york",
        "NEW YORK",
    ]
    assert variants("猫", "any") == [Variant("猫")]


@pytest.mark.parametrize(
    ("text", "phrase", "case", "expected"),
    [
        ("Haus haus", "haus", "exact", [(5, 9)]),
        ("Haus haus", "haus", "start", [(0, 4), (5, 9)]),
        ("Das Haus", "haus", "start", []),
        ("„Haus“ sagte er", "haus", "start", [(1, 5)]),  # still the first word
        ("haus", "Haus", "start", []),  # only small phrases may be written large
        ("Das HAUS", "haus", "any", [(4, 8)]),
        ("Die Straße", "STRASSE", "any", [(4, 10)]),
        ("STRASSE", "straße", "any", [(0, 7)]),
        ("Masse", "mas", "any", []),
        ("maß", "mas", "any", []),  # no half of a letter
        ("ß", "s", "any", []),
    ],
)
def test_matches(text: str, phrase: str, case: Case, expected: list[tuple[int, int]]) -> None:
    assert matches(text, phrase, case) == expected


def test_every_sentence_has_a_first_word() -> None:
    text = "Er kam. Haus und Hof."
    assert matches(text, "haus", "start") == []
    assert matches(text, "haus", "start", starts=[0, 8]) == [(8, 12)]
    assert matches(text, "hof", "start", starts=[0, 8]) == []


@given(st.text("aAbß sS.", max_size=12), st.text("aAbßsS", min_size=1, max_size=3))
def test_the_rules_grow_from_exact_to_any(text: str, phrase: str) -> None:
    exact, start, folded = (set(matches(text, phrase, case)) for case in CASES)
    assert exact == set(occurrences(text, phrase))
    assert exact <= start <= folded
    assert all(text[s:e].casefold() == phrase.casefold() for s, e in folded)


@given(st.text("aAbß ", max_size=10), st.text("aAbß", min_size=1, max_size=3))
def test_without_case_means_without_case(text: str, phrase: str) -> None:
    words = [word.casefold() for word in text.split()]
    assert len(matches(text, phrase, "any")) == words.count(phrase.casefold())
