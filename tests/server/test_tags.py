from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lexbeam.server.tags import TagOptions, read_tagged, write_tagged
from lexbeam.translation.marked_text import Code

XML, HTML = TagOptions(), TagOptions(is_html=True)


def kinds(text: str, options: TagOptions = XML) -> list[str]:
    return [
        f"{part.kind} {part.raw}" if isinstance(part, Code) else part
        for part in read_tagged(text, options)
    ]


def test_pairs_stand_around_words() -> None:
    assert kinds("a <b>bold</b> word") == ["a ", "open <b>", "bold", "close </b>", " word"]


@pytest.mark.parametrize("empty", ['<x id="7"></x>', '<x id="7"/>'])
def test_empty_elements_stand_for_words(empty: str) -> None:
    assert kinds(f"Delete {empty} now") == ["Delete ", f"word {empty}", " now"]


def test_ignored_elements_are_one_code() -> None:
    options = TagOptions(ignored=frozenset({"k"}))
    assert kinds("a <k>b <i>c</i></k> d", options) == ["a ", "word <k>b <i>c</i></k>", " d"]


def test_blocks_cut_a_text() -> None:
    assert kinds("<p>One</p><p>Two<br>three</p>", HTML) == [
        "break <p>", "One", "break </p>", "break <p>", "Two", "break <br>", "three", "break </p>",
    ]  # fmt: skip
    splitting = TagOptions(splitting=frozenset({"par"}))
    assert kinds("<par>One</par>", splitting) == ["break <par>", "One", "break </par>"]


def test_elements_that_hold_only_elements_are_structure() -> None:
    text = "<doc><title>One</title><par>Two <b>three</b></par></doc>"
    found = kinds(text)
    assert "break <title>" in found
    assert "open <b>" in found
    whole = kinds(text, TagOptions(outline=False))
    assert "open <title>" in whole


def test_references_are_text() -> None:
    assert read_tagged("a &lt; b &amp; c", XML) == ("a < b & c",)
    assert write_tagged(("a < b & c",)) == "a &lt; b &amp; c"


def test_what_is_not_to_be_translated_in_html() -> None:
    text = '<span translate="no">Word</span> and <code>x = 1</code><script>var a;</script>'
    found = kinds(text, HTML)
    assert [part.split(" ")[0] for part in found if "<" in part] == ["word", "word", "word"]


def test_tags_without_partner_stand_between_words() -> None:
    assert kinds("a </b> c <i> d") == ["a ", "point </b>", " c ", "point <i>", " d"]


pieces = st.lists(
    st.sampled_from(
        ["<b>", "</b>", "<i>", "</i>", "<x/>", "<p>", "</p>", "word ", " & ", "<", "&amp;", "\n"]
    ),
    max_size=30,
)


@given(pieces, st.booleans())
def test_no_tag_is_lost_or_doubled(parts: list[str], is_html: bool) -> None:
    text = "".join(parts)
    marked = read_tagged(text, TagOptions(is_html=is_html, one_line=False))
    tags = re.findall(r"</?[bipx]/?>", text)
    assert re.findall(r"</?[bipx]/?>", write_tagged(marked)) == tags
    opened: list[int] = []
    for part in marked:
        if isinstance(part, Code) and part.kind == "open":
            opened.append(part.pair)
        elif isinstance(part, Code) and part.kind == "close":
            assert opened.pop() == part.pair


@pytest.mark.parametrize("text", ["<" * 20_000, "<b>" * 20_000, "<a b='" * 5_000, "</b>" * 20_000])
def test_hostile_texts_are_read_in_time(text: str) -> None:
    read_tagged(text, XML)
