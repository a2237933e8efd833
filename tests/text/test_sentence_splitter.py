from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.timing import at_most
from lexbeam.text.sentence_splitter import inner_starts, split_text


def always(_: str) -> bool:
    return True


def texts(text: str) -> list[str]:
    return [part.text for part in split_text(text, always)]


@pytest.mark.parametrize(
    "sentences",
    [
        ["The cat sat.", "The dog ran!", "Did it?", "Yes."],
        ["Dr. Smith met Mr. J. Doe in the U.S. Senate.", "He left."],
        ["Am 3. Oktober war z. B. Prof. Meyer da.", "Dann ging er."],
        ["Il a dit « non. »", "Puis rien."],
        ['He said "no."', "She left."],
        ["Wait... what?", "Yes…", "No."],
        ["It was 1999.", "Then came 2000."],
        ["Es war das 165. Fest für 3 Mrd. Euro von Nathaniel P. Morris.", "Ja."],
        ["See no. 5 and p. 7 there.", "He said no.", "She left."],
        ['Er sagte: "Nein." "'],
        ["¿Qué?", "¡No!", "Vale."],
        ["О. И. Иванов жил на ул. Ленина.", "Он умер."],
        ["هل هذا صحيح؟", "نعم."],
        ["यह एक वाक्य है।", "यह दूसरा है।"],
    ],
)
def test_splits_after_sentences_only(sentences: list[str]) -> None:
    assert texts(" ".join(sentences)) == sentences


def test_chinese_needs_no_space() -> None:
    assert texts("我们看到了猫。它很快！「好吗？」她说。") == [
        "我们看到了猫。",
        "它很快！",
        "「好吗？」",
        "她说。",
    ]


def test_sentences_begin_behind_others_of_their_line() -> None:
    assert inner_starts("One.\nTwo, e.g. Three! Four. 我。它") == [21, 27, 30]
    assert inner_starts("") == []


def test_lines_are_kept_apart() -> None:
    parts = split_text("Title\n\nFirst one. Second one.\n", always)
    expected = [("Title", "\n\n", 0), ("First one.", " ", 7), ("Second one.", "", 18)]
    assert [part[:3] for part in parts] == expected


@pytest.mark.parametrize("text", ["", " ", "\n \n"])
def test_nothing_has_no_parts(text: str) -> None:
    assert split_text(text, always) == []


def short(text: str) -> bool:
    return len(text) <= 20


def test_long_sentences_are_cut_after_clauses_first() -> None:
    parts = split_text("one two three, four five six seven", short)
    assert [part.text for part in parts] == ["one two three,", "four five six seven"]


def test_the_later_parts_of_a_sentence_go_on_with_it() -> None:
    parts = split_text("One. Two three four, five six seven.\neight nine ten eleven", short)
    assert [part.text for part in parts if part.goes_on] == ["five six seven.", "ten eleven"]
    assert len(parts) == 5


def test_then_at_spaces_and_at_last_anywhere() -> None:
    parts = split_text("one two three four five six", short)
    assert [part.text for part in parts] == ["one two three", "four five six"]
    assert [part.text for part in split_text("x" * 40, short)] == ["x" * 20, "x" * 20]


def test_a_cut_never_parts_a_letter_from_its_accent() -> None:
    for part in split_text("e\u0301" * 41, short):
        assert part.text[0] == "e"


def test_what_can_never_fit_is_cut_to_characters() -> None:
    assert [part.text for part in split_text("ab c", lambda _: False)] == ["a", "b", "c"]


def test_a_huge_text_is_cut_in_no_time() -> None:
    for text in ("a. " * 33_000, "1. " * 33_000, "x" * 100_000, "字" * 100_000):
        with at_most(seconds=10):
            parts = split_text(text, lambda part: len(part) <= 100)
        assert len(parts) >= 990
        assert max(len(part.text) for part in parts) <= 100


@given(st.text(alphabet="aB1.,;!? \n。e\u0301", max_size=60), st.integers(1, 10))
def test_parts_put_together_are_the_text(text: str, limit: int) -> None:
    parts = split_text(text, lambda part: len(part) <= limit)
    assert "".join(part.text + part.separator for part in parts) == text.strip()
    assert all(part.text == part.text.strip() != "" for part in parts)
    assert all(not part.separator.strip() for part in parts)


def test_lines_are_taken_whole_where_they_fit() -> None:
    text = "A b. C d.\nThe first one. The second one. The third."
    whole = [part.text for part in split_text(text, always, sentences=False)]
    assert whole == text.splitlines()
    cut = [part.text for part in split_text(text, short, sentences=False)]
    assert cut == ["A b. C d.", "The first one.", "The second one.", "The third."]
