from __future__ import annotations

import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from helpers.timing import at_most
from lexbeam.errors import SettingError
from lexbeam.translation.keep import (
    PATTERNS,
    compile_patterns,
    demands_of,
    find_kept,
)

ALL = compile_patterns(PATTERNS)


def kept(text: str, *patterns: str) -> list[str]:
    return [each.text for each in find_kept(text, compile_patterns(patterns))]


@pytest.mark.parametrize(
    ("name", "text", "expected"),
    [
        (
            "placeholders",
            "%s of %d, %1$s, %(count)d, %.2f, %@",
            ["%s", "%d", "%1$s", "%(count)d", "%.2f", "%@"],
        ),
        (
            "placeholders",
            "%(name)sSelect, %1$sor, %2$(x)dof, %{count}files, %1$.2fkm, %(n)ddays",
            ["%(name)s", "%1$s", "%2$(x)d", "%{count}", "%1$.2f", "%(n)d"],
        ),
        ("placeholders", "100 %discount, 5 %s, %sold", ["%s"]),
        (
            "placeholders",
            "Hello {name}, {0} {} {{x y}} ${var} $HOME %{n} %1!",
            ["{name}", "{0}", "{}", "{{x y}}", "${var}", "$HOME", "%{n}", "%1"],
        ),
        ("placeholders", "100 % sure, 5%, 50 % discount, {not\nclosed", []),
        (
            "markup",
            'Click <b>OK</b><br/> <a href="x > y" id=z>here</a>',
            ["<b>", "</b>", "<br/>", '<a href="x > y" id=z>', "</a>"],
        ),
        (
            "markup",
            "a < b and c > d, 3 <5> x; <!-- no --> &nbsp; &#160; AT&T;",
            ["<!-- no -->", "&nbsp;", "&#160;"],
        ),
        (
            "urls",
            "See https://a.org/x?y=z#w, (http://b.de/c_(d)) or www.x.com.",
            ["https://a.org/x?y=z#w", "http://b.de/c_(d)", "www.x.com"],
        ),
        (
            "emails",
            "Write to me.you+x@mail.example.org. Not @me or a@b.",
            ["me.you+x@mail.example.org"],
        ),
        (
            "quantities",
            "10 km, 5GB, 3.5 MHz, 1,000 kg, 20 %, −5 °C, $5, €3.50",
            ["10 km", "5GB", "3.5 MHz", "1,000 kg", "20 %", "−5 °C", "$5", "€3.50"],
        ),
        ("quantities", "5 \u2126 and 4 k\u03a9", ["5 \u2126", "4 k\u03a9"]),
        ("quantities", "5 in the 3 kittens 7 minutes A4 v2.0 s", []),
        ("numbers", "1 2.5 1,000 A4 3rd 10%", ["1", "2.5", "1,000", "10"]),
    ],
)
def test_patterns_with_names(name: str, text: str, expected: list[str]) -> None:
    assert kept(text, name) == expected


def test_names_have_other_names() -> None:
    assert kept("<b>", "Tags") == ["<b>"]
    assert kept("x@y.de", "email") == ["x@y.de"]


def test_regular_expressions() -> None:
    assert kept("Release ABC-12 of Lexbeam", r"[A-Z]+-\d+", "Lexbeam") == ["ABC-12", "Lexbeam"]
    assert [k.text for k in find_kept("aXb", compile_patterns([re.compile("x", re.I)]))] == ["X"]  # type: ignore[list-item]


def test_what_overlaps_is_kept_as_one() -> None:
    assert kept('<a href="https://x.org/{id}">', *PATTERNS) == ['<a href="https://x.org/{id}">']
    assert kept("abc", "a", "ab", "bc") == ["abc"]
    assert kept("14${var}", "quantities", "placeholders") == ["14${var}"]
    assert kept("{a}{b}<b>", *PATTERNS) == ["{a}", "{b}", "<b>"]


def test_what_touches_inside_a_word_is_kept_as_one() -> None:
    assert kept("The cat.", ".") == ["The", "cat", "."]
    assert kept("v1b 2", "[a-z]", "[0-9]") == ["v1b", "2"]


def test_empty_matches_and_spaces_are_nothing() -> None:
    assert kept("a  b", "x*", r"\s+") == []
    assert kept("a\n b c", r"a\s+b ") == ["a b"]


def test_each_occurrence_counts() -> None:
    assert kept("%s and %s", "placeholders") == ["%s", "%s"]


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (["("], "neither a regular expression"),
        (["(" * 5000 + ")" * 5000], "neither a regular expression"),
        (["x{99999999999999999999}"], "neither a regular expression"),
        (["(?a)(?u)a"], "neither a regular expression"),
        ([r"(\w+\s?)+$"], r"keep '(\\w+\\s?)+$' may take forever"),
        ([re.compile("(a+)+b")], "keep '(a+)+b' may take forever"),
        (["placholders"], "did you mean 'placeholders'"),
        ("urls", "must be a list"),
        ([""], "must list names"),
        ([5], "must list names"),
        (5, "must be a list"),
    ],
)
def test_what_is_no_pattern_is_an_error(given: object, reason: str) -> None:
    with pytest.raises(SettingError, match=re.escape(reason)):
        compile_patterns(given)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    "text",
    [
        "<a " * 5000,
        "{" * 20000,
        "a@" * 10000,
        "1," * 10000,
        "%" * 20000,
        "<!--" * 5000,
        "&a" * 10000,
        "https://" * 3000,
        "a.b-" * 5000,
        "<a b='" * 3000,
        "<a" + " b=c" * 5000,
    ],
)
def test_patterns_are_never_slow(text: str) -> None:
    with at_most(seconds=2):
        found = find_kept(text, ALL)
    assert all(each.text for each in found)


@given(st.text(alphabet="ab1 .%{}<>/@$&;:kms", max_size=40))
def test_what_is_kept_stands_in_the_text(text: str) -> None:
    end = 0
    for each in find_kept(text, ALL):
        assert each.start >= end
        assert each.text == " ".join(text[each.start : each.end].split())
        end = each.end


def exactly(text: str, times: int) -> dict[str, Any]:
    return {"text": text, "case": "exact", "exactly": times}


def test_tags_keep_their_order() -> None:
    tags = ["<b>", "<i>", "</i>", "</b>"]
    text = "<b>a <i>%s</i></b> x@y.de"
    order, *others = demands_of(text, find_kept(text, ALL))
    spans = ((0, 3), (5, 8), (10, 14), (14, 18))
    assert order == ({"order": tags, "case": "exact"}, spans)
    assert others == [
        (exactly("<b>", 1), ((0, 3),)),
        (exactly("<i>", 1), ((5, 8),)),
        (exactly("%s", 1), ((8, 10),)),
        (exactly("</i>", 1), ((10, 14),)),
        (exactly("</b>", 1), ((14, 18),)),
        (exactly("x@y.de", 1), ((19, 25),)),
    ]
    assert demands_of("a<br>b", find_kept("a<br>b", ALL)) == [(exactly("<br>", 1), ((1, 5),))]


def test_what_is_kept_is_demanded_as_often_as_it_occurs() -> None:
    text = "%s and %s"
    assert demands_of(text, find_kept(text, ALL)) == [(exactly("%s", 2), ((0, 2), (7, 9)))]
    inside = "%s in <a href=%s>"
    demanded = demands_of(inside, find_kept(inside, ALL))
    assert (exactly("%s", 2), ((0, 2), (14, 16))) in demanded  # it is in the tag once more
    many = "%s " * 101
    assert len(demands_of(many, find_kept(many, ALL))) == 101
