from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.translation.keep import compile_patterns, find_kept
from lexbeam.translation.readable_source import Break, ReadableSource

PATTERNS = compile_patterns(["markup", "placeholders"])


def hidden(text: str, others: str = "") -> ReadableSource:
    return ReadableSource.of(text, find_kept(text, PATTERNS), others)


@pytest.mark.parametrize(
    ("given_text", "read"),
    [
        ("Press <b>OK</b>.", "Press OK."),
        ("Press <b> OK </b> now", "Press OK now"),
        ("<b>One</b> <i>two</i>", "One two"),
        ("a<b>b</b>c", "abc"),
        ("one<br>two", "one\ntwo"),
        ("one <br> two", "one \ntwo"),
        ("one<br>\ntwo", "one\ntwo"),
        ("<p>One.</p><p>Two.</p>", "One.\nTwo."),
        ("<br>one<br>", "one"),
        ("<br>", ""),
        ("the file {name}", "the file ID1"),
        ("{a}{b}", "ID1 ID2"),
        ("x{a}y", "x ID1 y"),
        ("one<br>{a}", "one\nID1"),
        ("ID1 {a}", "ID1 KX1"),
        ("see <file> now", "see ID1 now"),
        ("nothing", "nothing"),
    ],
)
def test_tags_are_left_out_and_all_else_is_masked(given_text: str, read: str) -> None:
    assert hidden(given_text).text == read


def test_no_mask_is_among_what_else_is_said() -> None:
    (mask,) = hidden("the {name}", "ID1").masks
    assert mask.mask == "KX1"
    (mask,) = hidden("the {name}", "KX1 ID9").masks
    assert mask.mask == "KX2"


def test_it_is_known_which_tags_end_a_line() -> None:
    source = hidden("<p>One <b>two</b>.</p><p>Three.<br>Four.</p>")
    assert source.text == "One two.\nThree.\nFour."
    assert source.breaks == [Break(0, 3, 5), Break(1, 5, 6)]
    assert hidden("<li>One<li>Two").breaks == [Break(0, 1, 2)]
    assert hidden("<b>One</b><br><i>Two").breaks == [Break(0, 1, 4)]
    assert hidden("a\nb<br>c").breaks == [Break(1, 0, 1)]


def test_stretches_are_found_on_both_sides() -> None:
    text = 'Open <b>the file</b> {name}, then <a href="x">go</a>.'
    source = hidden(text)
    assert source.text == "Open the file ID1, then go."
    for word in ("Open", "the file", "then", "go"):
        start = text.index(word)
        read = source.to_read((start, start + len(word)))
        assert source.text[slice(*read)] == word
        assert source.to_given(read) == (start, start + len(word))
    at = text.index("{name}")
    assert source.text[slice(*source.to_read((at, at + 6)))] == "ID1"
    assert source.to_given(source.masks[0].span) == (at, at + 6)
    assert source.to_read((5, 8)) == (5, 5)  # a tag is nowhere


PARTS = st.sampled_from(
    ["<b>", "</b>", "<br>", "<p>", "</p>", "{a}", " ", "\n", "word", "x", ".", "<!-- c -->"]
)


@given(st.lists(PARTS, max_size=12))
def test_whatever_is_hidden_all_words_are_read(parts: list[str]) -> None:
    text = "".join(parts)
    source = hidden(text)
    words = "".join("" if part.startswith("<") else part for part in parts)
    words = words.replace("{a}", "")
    read = source.text
    for part in source.masks:
        assert source.text[slice(*part.span)] == part.mask
        read = read.replace(part.mask, "", 1)
    assert read.split() == words.split() or "".join(read.split()) == "".join(words.split())
    assert [each.text for each in source.hidden] == [
        each.text for each in find_kept(text, PATTERNS)
    ]
    lines = [at for at, character in enumerate(source.text) if character == "\n"]
    for each in source.breaks:
        before, after = source.text[: lines[each.number]], source.text[lines[each.number] :]
        assert before.strip()
        assert after.strip()
