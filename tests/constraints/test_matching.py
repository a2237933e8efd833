"""Against brute force: every way to choose occurrences, and the longest row of them."""

from __future__ import annotations

import re
from dataclasses import replace
from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.kinds import KINDS, AnyOf, Gap, Phrase
from lexbeam.constraints.matching import Occurrence, find_all, words_between


def gap(*parts: str | tuple[str, ...], within: int | None = None) -> Constraint:
    return chain("gap", *parts, within=within)


def chain(key: str, *parts: str | tuple[str, ...], within: int | None = None) -> Constraint:
    forms = tuple((part,) if isinstance(part, str) else part for part in parts)
    (kind,) = (kind for kind in KINDS if kind.key == key)
    return kind(forms, within=within)


@pytest.mark.parametrize(
    ("text", "constraint", "expected"),
    [
        ("Er fängt heute an.", gap("fängt", "an"), [((3, 8), (15, 17))]),
        ("Er fängt heute an.", gap("fängt", "an", within=1), [((3, 8), (15, 17))]),
        ("Er fängt heute früh an.", gap("fängt", "an", within=1), []),
        ("Er fängt an.", gap("fängt", "an", within=0), [((3, 8), (9, 11))]),
        ("an fängt er", gap("fängt", "an"), []),
        ("Er fängt – an.", gap("fängt", "an", within=0), [((3, 8), (11, 13))]),
        # the first "a" is too far from "b", the second is not
        ("a x x a b", gap("a", "b", within=0), [((6, 7), (8, 9))]),
        ("a a", gap("a", "a"), [((0, 1), (2, 3))]),
        ("a", gap("a", "a"), []),  # parts share no characters
        ("a b a", chain("order", "a b", "b a"), []),
        ("b a c", chain("order", "a", ("x", "c")), [((2, 3), (4, 5))]),
        ("die Fabriken", chain("any", ("Fabrik", "Fabriken")), [((4, 12),)]),
        ("die Fabrik AG", chain("any", ("Fabrik AG", "Fabrik")), [((4, 10),)]),
        ("so ist es.", chain("suffix", "es."), [((7, 10),)]),
        ("so ist es.", chain("suffix", "es"), []),
        ("Haustür", chain("suffix", "tür"), []),
        ("es ist es", chain("suffix", "es"), [((7, 9),)]),
        ("Fabrik", chain("prefix", "Fab"), [((0, 3),)]),
        ("Fabrik", chain("prefix", "Fab "), []),
        ("Fab ist", chain("prefix", "Fab "), [((0, 3),)]),
        ("Fab", chain("prefix", "Fab "), [((0, 3),)]),
        ("Die Fabrik", chain("prefix", "Fab"), []),
    ],
)
def test_occurrences(text: str, constraint: Constraint, expected: list[Occurrence]) -> None:
    assert constraint.find(text) == expected


def test_a_gap_stays_in_one_sentence_an_order_need_not() -> None:
    text, starts = "Er fängt an. Dann hört er auf.", [0, 13]
    assert gap("fängt", "auf").find(text, starts=starts) == []
    assert gap("hört", "auf").find(text, starts=starts)
    assert chain("order", "fängt", "auf").find(text, starts=starts)


def test_a_single_form_may_overlap_with_itself_nothing_else_may() -> None:
    assert len(Phrase((("na na",),)).find("na na na", 3)) == 2
    assert len(AnyOf((("na na", "x"),)).find("na na na", 3)) == 1
    assert len(gap("a", "b").find("a b a b", 3)) == 2


def test_equal_constraints_get_different_occurrences() -> None:
    a = Phrase((("a",),))
    twice = Phrase((("a",),), count=2)
    occurrences = find_all("a b a x a", [a, twice, Phrase((("b",),)), a])
    assert occurrences == [[((0, 1),)], [((4, 5),), ((8, 9),)], [((2, 3),)], []]


def test_words_are_what_begins_after_a_space() -> None:
    text = "a, don't (b c) – d"
    assert words_between(text, 1, len(text) - 1) == 3
    assert words_between(text, 0, 1) == 0


FORMS = st.sampled_from(["a", "b", "c", "a b", "b a"])
PARTS = st.lists(st.lists(FORMS, min_size=1, max_size=2, unique=True).map(tuple), min_size=1)
TEXTS = st.lists(st.sampled_from(["a", "b", "c", "d.", "b,", "ab"]), max_size=7).map(" ".join)


def every_chain(text: str, constraint: Constraint, starts: list[int]) -> list[Occurrence]:
    options = []
    for part in constraint.parts:
        spans = {
            match.span(1)
            for form in part
            for match in re.finditer(rf"(?=(?<!\w)({re.escape(form)})(?!\w))", text)
        }
        options.append(sorted(spans))
    return [
        occurrence for occurrence in product(*options) if fits(text, occurrence, constraint, starts)
    ]


def fits(text: str, occurrence: Occurrence, constraint: Constraint, starts: list[int]) -> bool:
    words = [m.start() for m in re.finditer(r"\S+", text) if re.search(r"\w", m[0])]
    for (_, end), (start, _) in pairwise(occurrence):
        between = sum(end < word < start for word in words)
        parted = isinstance(constraint, Gap) and any(end <= s <= start for s in starts)
        if end > start or parted:
            return False
        if constraint.within is not None and between > constraint.within:
            return False
    return True


def longest_row(occurrences: list[Occurrence], after: int = 0) -> int:
    following = [occurrence for occurrence in occurrences if occurrence[0][0] >= after]
    return max(
        (1 + longest_row(occurrences, occurrence[-1][1]) for occurrence in following), default=0
    )


@given(
    TEXTS,
    PARTS.filter(lambda parts: len(parts) <= 3),
    st.sampled_from(["gap", "order"]),
    st.none() | st.integers(0, 2),
    st.integers(1, 3),
)
def test_chains_are_those_of_brute_force(
    text: str, parts: list[tuple[str, ...]], key: str, within: int | None, times: int
) -> None:
    if len(parts) == len(parts[0]) == 1:
        parts = [("a", "b")]
    starts = [0, *(m.end() for m in re.finditer(r"d\. ", text))]
    constraint = replace(chain(key, *parts, within=within), case="exact")
    every = every_chain(text, constraint, starts)
    found = constraint.find(text, times, starts)
    assert all(occurrence in every for occurrence in found)
    assert all(one[-1][1] <= other[0][0] for one, other in pairwise(found))
    assert len(found) == min(times, longest_row(every))


@given(TEXTS, st.lists(FORMS, max_size=4))
def test_phrases_are_counted_as_a_text_search_counts_them(text: str, phrases: list[str]) -> None:
    constraints = [Phrase(((phrase,),), case="exact") for phrase in phrases]
    met = [bool(occurrences) for occurrences in find_all(text, constraints)]
    for number, phrase in enumerate(phrases):
        there = len(re.findall(rf"(?=(?<!\w){re.escape(phrase)}(?!\w))", text))
        assert met[number] == (phrases[: number + 1].count(phrase) <= there)
