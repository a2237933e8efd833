from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.text.word_boundaries import (
    are_glued,
    contains,
    is_unspaced,
    locate,
    needs_boundary,
    occurrences,
    word_end,
)


@pytest.mark.parametrize(
    ("text", "phrase", "expected"),
    [
        ("O gato preto.", "gato", [(2, 6)]),
        ("gato", "gato", [(0, 4)]),
        ("gatos e gato, gato-preto (gato)", "gato", [(8, 12), (14, 18), (26, 30)]),
        ("Die Haustür", "Haus", []),
        ("Das Haus.", "Haus", [(4, 8)]),
        ("O gatogato", "gato", []),
        ("na na na", "na na", [(0, 5), (3, 8)]),
        ("l'été", "été", [(2, 5)]),
        ("a_b a", "a", [(4, 5)]),
        ("10 ou 100", "10", [(0, 2)]),
        ("", "a", []),
        ("a", "", []),
    ],
)
def test_occurrences_are_whole_words(
    text: str, phrase: str, expected: list[tuple[int, int]]
) -> None:
    assert list(occurrences(text, phrase)) == expected


def test_words_end_where_something_else_begins() -> None:
    assert word_end("Haustür, alt", 4) == 7
    assert word_end("Haustür", 4) == 7
    assert word_end("Haus tür", 4) == 4
    assert word_end("Haus", 4) == 4


def test_punctuation_at_the_edge_of_a_phrase_needs_no_boundary() -> None:
    assert contains("U.S.A", "U.S.")
    assert contains("a(b)c", "(b)")
    assert not needs_boundary("U.S.")
    assert needs_boundary("Haus")


def test_scripts_without_spaces_have_boundaries_everywhere() -> None:
    assert list(occurrences("中国的经济", "经济")) == [(3, 5)]
    assert contains("中国GDP增长", "GDP")
    assert not contains("中国GDPS增长", "GDP")
    assert not needs_boundary("经济")
    assert contains("แมวนั่งบนเสื่อ", "นั่ง")


@pytest.mark.parametrize(
    ("text", "phrase"),
    [
        ("cafe\u0301 bom", "cafe"),  # a combining accent belongs to the letter before it
        ("สวยงาม", "สวยง"),  # the vowel written after its consonant
        ("กิน", "ก"),  # the vowel written above it
        ("サーバー", "サ"),  # the mark that makes the vowel long
        ("می\u200cخواهم", "می"),  # a non-joiner holds the word together
    ],
)
def test_no_character_is_cut_from_what_completes_it(text: str, phrase: str) -> None:
    assert not contains(text, phrase)


def test_right_to_left_text_is_searched_in_reading_order() -> None:
    text = "البيت القديم جميل"
    (span,) = occurrences(text, "القديم")
    assert text[slice(*span)] == "القديم"
    assert not contains("والقديم", "القديم")


def test_equal_phrases_get_different_occurrences() -> None:
    assert locate("a b a", ["a", "b", "a", "a"]) == [(0, 1), (2, 3), (4, 5), None]


def test_different_phrases_share_words() -> None:
    assert locate("new york city", ["new york", "york city"]) == [(0, 8), (4, 13)]


def test_a_block_ends_where_it_ends() -> None:
    assert is_unspaced("一")
    assert is_unspaced("\u9fff")
    assert not is_unspaced("\ua000")
    assert not is_unspaced("한")  # Korean has spaces


@given(st.text(alphabet="ab .-é\u0301中國", max_size=12), st.text(alphabet="ab é中", min_size=1))
def test_every_span_is_the_phrase(text: str, phrase: str) -> None:
    spans = list(occurrences(text, phrase))
    assert all(text[start:end] == phrase for start, end in spans)
    assert spans == sorted(set(spans))


@given(st.text(alphabet="ab1_ .-", max_size=14), st.text(alphabet="ab1_", min_size=1, max_size=3))
def test_in_spaced_text_words_are_those_of_regular_expressions(text: str, phrase: str) -> None:
    expected = re.search(rf"(?<!\w){re.escape(phrase)}(?!\w)", text) is not None
    assert contains(text, phrase) == expected


@given(st.characters(), st.characters())
def test_a_space_never_glues(left: str, right: str) -> None:
    assert not are_glued(" ", right)
    assert not are_glued(left, " ")
