from __future__ import annotations

from itertools import combinations_with_replacement

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.translation import tag_placement
from lexbeam.translation.results import Link
from lexbeam.translation.tag_placement import Bounds, LineEnd, PlacedTag, place_tags
from lexbeam.translation.text_edits import Edits


def spans(text: str) -> list[tuple[int, int]]:
    found, at = [], 0
    for word in text.split():
        at = text.index(word, at)
        found.append((at, at + len(word)))
        at += len(word)
    return found


def placed(
    marked: str, output: str, order: list[int] | None = None, bounds: Bounds | None = None
) -> str:
    """Put the tags of a text, ``[`` and ``]`` for a pair, ``|`` for a point, into an output.

    ``order`` says which word of the source each word of the output translates.
    """
    names = {"[": "<b>", "]": "</b>", "(": "<i>", ")": "</i>", "|": "<br/>"}
    tags, source = [], ""
    for character in marked:
        if character in names:
            tags.append(PlacedTag(names[character], len(source)))
        else:
            source += character
    sources, words = spans(source), spans(output)
    order = list(range(len(words))) if order is None else order
    links = [Link(sources[i], word) for i, word in zip(order, words, strict=True) if i >= 0]
    text = Edits(place_tags(tags, source, output, links, bounds or Bounds())).apply(output)
    for short, tag in names.items():
        text = text.replace(tag, short)
    return text


@pytest.mark.parametrize(
    ("marked", "output", "order", "expected"),
    [
        ("press [ok] now", "drücke ok jetzt", None, "drücke [ok] jetzt"),
        ("[one] (two) [three]", "um dois tres", None, "[um] (dois) [tres]"),
        ("[never] came", "kam nie", [1, 0], "kam [nie]"),
        ("a [red car] b", "um carro vermelho dois", [0, 2, 1, 3], "um [carro vermelho] dois"),
        ("one | two", "eins zwei", None, "eins |zwei"),
        ("[all of it]", "das alles", [2, 0], "[das alles]"),
        ("x [new file] y", "x die neue Datei y", [0, -1, 1, 2, 3], "x die [neue Datei] y"),
        ("] a [", "eins", None, "]eins["),
        ("[a] b", "eins", [1], "[]eins"),
        ("[a] (b)", "zwei eins", [1, 0], "zwei [eins]()"),
    ],
)
def test_words_stand_between_the_tags_of_their_source(
    marked: str, output: str, order: list[int] | None, expected: str
) -> None:
    assert placed(marked, output, order) == expected


def test_a_tag_inside_a_word_that_is_copied_stays_inside() -> None:
    assert placed("x[2] + y[3]", "x2 + y3") == "x[2] + y[3]"
    assert placed("w[or]d", "Wort") == "[Wort]"


def test_a_combining_mark_does_not_become_part_of_a_tag() -> None:
    assert placed("a [b]", "eins \u0301") == "eins [ \u0301]"
    assert placed("[a]", "\u0301x") == "[ \u0301x]"
    assert placed("cafe[\u0301]", "cafe\u0301") == "cafe[\u0301]"


def test_without_words_there_are_the_tags() -> None:
    assert placed("[|]", "") == "[|]"


def test_nothing_gets_into_what_stays_as_it_is() -> None:
    assert placed("a [b] c", "eins zwei drei") == "eins [zwei] drei"
    fixed = Bounds(fixed=[(0, 9)])
    assert placed("a [b] c", "eins zwei drei", bounds=fixed) in (
        "[eins zwei] drei",
        "eins zwei []drei",
        "eins zwei[] drei",
    )
    assert placed("[a] b", "eins zwei", bounds=Bounds([(0, 4)], begins=True)) == "eins []zwei"
    assert placed("a [b]", "eins zwei", bounds=Bounds([(5, 9)], ends=True)) == "eins []zwei"


def test_what_ends_a_line_stands_at_the_end_of_the_line() -> None:
    # Without the break the tag would follow the alignment, which is wrong here.
    assert (
        placed("a b| c d", "c d\na b", [2, 3, 0, 1], Bounds(breaks=[LineEnd(3, 0, 1)]))
        == "c d\n|a b"
    )


@st.composite
def problems(draw: st.DrawFn) -> tuple[np.ndarray, np.ndarray]:
    words, segments = draw(st.integers(1, 5)), draw(st.integers(1, 4))
    numbers = st.integers(0, 4).map(float)
    costs = [[draw(numbers) for _ in range(segments)] for _ in range(words)]
    return np.array(costs), np.array([draw(numbers) for _ in range(segments)])


@given(problems())
def test_no_other_way_costs_less(problem: tuple[np.ndarray, np.ndarray]) -> None:
    costs, unfilled = problem

    def cost(way: tuple[int, ...]) -> float:
        left = [segment for segment in range(costs.shape[1]) if segment not in way]
        return float(sum(costs[word, each] for word, each in enumerate(way)) + unfilled[left].sum())

    ways = combinations_with_replacement(range(costs.shape[1]), len(costs))
    found = tuple(tag_placement._best_path(costs, unfilled))
    assert list(found) == sorted(found)
    assert cost(found) == min(map(cost, ways))


def test_a_long_text_is_cut_where_its_source_can_be(monkeypatch: pytest.MonkeyPatch) -> None:
    marked = " ".join(f"[a{i}] b{i}" for i in range(40))
    output = " ".join(f"B{i} A{i}" for i in range(40))
    order = [2 * (i // 2) + 1 - i % 2 for i in range(80)]
    monkeypatch.setattr(tag_placement, "_LEAST_WORDS", 10**6)
    whole = placed(marked, output, order)
    assert whole == " ".join(f"B{i} [A{i}]" for i in range(40))
    for least in (1, 3, 10):
        monkeypatch.setattr(tag_placement, "_LEAST_WORDS", least)
        assert placed(marked, output, order) == whole


@given(st.text("ab []()|", max_size=14), st.text("xy .", max_size=10), st.randoms())
def test_all_tags_are_there_in_their_order(marked: str, output: str, random: object) -> None:
    words, sources = spans(output), spans("".join(c for c in marked if c in "ab "))
    order = [random.randrange(-1, len(sources)) for _ in words]  # type: ignore[attr-defined]
    found = placed(marked, output, order)
    assert [c for c in found if c in "[]()|"] == [c for c in marked if c in "[]()|"]
    assert "".join(c for c in found if c not in "[]()|") == output
