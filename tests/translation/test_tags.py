from __future__ import annotations

import pytest

from lexbeam.translation.tags import find_pairs, is_tag, parts_words, stands_for_word


@pytest.mark.parametrize(
    "tag", ["<b>", "</b>", "<br/>", '<a href="x > y">', "<!-- x -->", "<co<b>de>", "<a<b<i>>>"]
)
def test_a_tag_is_one_tag(tag: str) -> None:
    assert is_tag(tag)


@pytest.mark.parametrize("text", ["<b>x</b>", "b", "<5>", "&amp;", "< b>", "<b", "<b><i>", "<b<i>"])
def test_all_else_is_none(text: str) -> None:
    assert not is_tag(text)


@pytest.mark.parametrize(
    ("tags", "pairs"),
    [
        (["<b>", "</b>"], [(0, 1)]),
        (["<b>", "<i>", "</i>", "</b>"], [(0, 3), (1, 2)]),
        (["<b>", "<b>", "</b>", "</b>"], [(0, 3), (1, 2)]),
        (["<b>", "<i>", "</b>", "</i>"], [(0, 2)]),
        (["</b>", "<br/>", "<i>", "<!-- x -->"], []),
        (["<b>", "<br>", "</b>", "</b>"], [(0, 2)]),
        (["<B>", "</b>"], [(0, 1)]),
        (["<co<b>de>", "<b>", "</c<i>ode>"], [(0, 2)]),
    ],
)
def test_pairs_are_nested(tags: list[str], pairs: list[tuple[int, int]]) -> None:
    assert find_pairs(tags) == pairs


def test_a_single_tag_may_stand_for_a_word() -> None:
    assert stands_for_word(["<file>"])
    assert stands_for_word(['<x id="1"/>'])
    for tags in (["<b>"], ["<br>"], ["</file>"], ["<file>", "<name>"], ["<!-- x -->"], []):
        assert not stands_for_word(tags)


@pytest.mark.parametrize(
    ("tag", "parts"),
    [("<br/>", True), ("</p>", True), ("<LI>", True), ("<b>", False), ("<!-- p -->", False)],
)
def test_some_tags_part_words(tag: str, parts: bool) -> None:
    assert parts_words(tag) == parts
