from __future__ import annotations

import re
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import lexbeam
from helpers.timing import at_most
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.errors import SettingError
from lexbeam.text.word_boundaries import locate
from lexbeam.translation.keep import (
    PATTERNS,
    Kept,
    compile_patterns,
    demands_of,
    find_kept,
    respace,
    restore_white_space,
)
from lexbeam.translation.results import Alternative, ConstraintReport, Translation

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


def translated(text: str, phrases: list[str]) -> Translation:
    reports = [
        ConstraintReport(phrase, span, (span,) if span else ())
        for phrase, span in zip(phrases, locate(text, phrases), strict=True)
    ]
    return Translation(text, -1.0, reports, nbest=[Alternative(text, -1.0, reports)])


def respaced(source: str, text: str, *others: str) -> str:
    found = find_kept(source, ALL)
    result = respace(translated(text, [*(each.text for each in found), *others]), found)
    for report in result.constraints:
        if report.span:
            assert result.text[slice(*report.span)] == report.text
            assert report.spans == (report.span,)
    assert result.nbest[0].text == result.text
    return result.text


@pytest.mark.parametrize(
    ("source", "text", "expected"),
    [
        (
            "Click <b>Save</b> now.",
            "Jetzt <b> Sichern </b> drücken.",
            "Jetzt <b>Sichern</b> drücken.",
        ),
        ("Click <b>Save</b>.", "<b> Sichern </b> .", "<b>Sichern</b>."),
        ("Save %s now.", "Sichern%s jetzt.", "Sichern %s jetzt."),
        ('Save "%s" now.', 'Sichern " %s " jetzt.', 'Sichern "%s" jetzt.'),
        ("Save (%s).", "Sichern %s.", "Sichern %s."),
        ("Save %s.", "%s sichern.", "%s sichern."),
        ("a%s b %s", "x %s y%s", "x%s y %s"),
        ("<b>a</b>", "<b> </b>", "<b> </b>"),
        ("nothing", "gar nichts", "gar nichts"),
        ("%s", "", ""),
    ],
)
def test_spaces_are_put_back(source: str, text: str, expected: str) -> None:
    assert respaced(source, text) == expected


def test_other_constraints_stay_where_they_are() -> None:
    text = "Jetzt <b> Sichern </b> drücken."
    assert respaced("Click <b>Save</b> now.", text, "Sichern", "drücken", "fehlt") != text
    assert (
        respaced("Click <b>Save</b> now.", text, "<b> Sichern") == "Jetzt <b> Sichern</b> drücken."
    )


def test_words_are_never_glued_together() -> None:
    found = [Kept("x1", 1, 3, "a", "b")]
    assert respace(translated("c x1 d", ["x1"]), found).text == "c x1 d"


def test_translations_that_differ_in_spaces_only_are_one() -> None:
    texts = ["x %s.", "x%s.", "%s x."]
    best = [Alternative(text, -1.0) for text in texts]
    result = respace(Translation(texts[0], -1.0, nbest=best), find_kept("Save %s.", ALL))
    assert [each.text for each in result.nbest] == ["x %s.", "%s x."]


def test_a_translation_without_anything_kept_is_itself() -> None:
    translation = translated("a b", [])
    assert respace(translation, []) is translation


def test_all_parts_of_a_constraint_move() -> None:
    text = "<b> Fang </b> jetzt an"
    report = ConstraintReport("Fang … an", (4, 22), spans=((4, 8), (20, 22)))
    found = find_kept("<b>Start</b> now", ALL)
    result = respace(Translation(text, -1.0, [report], nbest=[]), found)
    assert result.text == "<b>Fang</b> jetzt an"
    (moved,) = result.constraints
    assert [result.text[slice(*span)] for span in moved.spans] == ["Fang", "an"]
    assert moved.span == (3, 20)


def test_no_space_is_put_where_words_are_counted() -> None:
    """A space more would be a word more between the parts of a gap."""
    text = "Name{0} ab"
    asked = {"gap": ["Name", "ab"], "within": 0}
    report = ConstraintReport("Name … ab", (0, 10), ((0, 4), (8, 10)), asked=asked)
    found = Translation(text, 0.0, [report], nbest=[])
    there = find_kept("x {0} y", compile_patterns(["placeholders"]))
    assert respace(found, there).text == text
    assert respace(replace(found, constraints=[]), there).text == "Name {0} ab"


def test_spaces_in_a_prefix_stay_as_they_are() -> None:
    there = find_kept("☺ a b", compile_patterns([r"\W"]))
    translation = Translation("☺3 a ☺x", 0.0)
    assert respace(translation, there).text == "☺ 3 a ☺ x"
    asked = Constraints.build(None, None, "☺3 ")
    assert respace(translation, there, asked).text == "☺3 a ☺ x"


def test_spaces_stay_where_something_avoided_or_limited_would_come_about() -> None:
    there = find_kept("x <b> y", compile_patterns(["[<>]"]))
    translation = Translation("u < b > v", 0.0)
    assert respace(translation, there).text == "u <b> v"
    avoid = Constraints.build(None, ["<b>"], None)
    assert respace(translation, there, avoid).text == "u < b > v"
    limit = Constraints.build([{"text": "<b", "at_most": 1}])
    assert respace(translation, there, limit).text == "u <b> v"
    twice = replace(translation, text="u <b v < b > w")
    assert respace(twice, there, limit).text == twice.text


WHITE = "It weighs 10\u00a0kg, {a\tb} or {a  b} and 10 kg."


def spaced(text: str, *reports: ConstraintReport, asked: Constraints | None = None) -> Translation:
    """Restore the white space of `WHITE` in a translation of it."""
    found = find_kept(WHITE, compile_patterns(["quantities", "placeholders"]))
    translation = Translation(text, 0.0, [*reports], nbest=[Alternative(text, 0.0, [*reports])])
    return restore_white_space(translation, WHITE, found, asked or Constraints())


def test_white_space_inside_of_what_is_kept_is_that_of_the_source() -> None:
    found = spaced("10 kg wiegt es, {a b}, {a b} und 10 kg.")
    assert found.text == "10\u00a0kg wiegt es, {a\tb}, {a  b} und 10 kg."
    assert found.nbest[0].text == found.text


def test_reports_speak_of_the_white_space_that_is_there() -> None:
    text = "10 kg, {a b}, {a b} und 10 kg."
    spans = ((7, 12), (14, 19))
    own = ConstraintReport("{a b}", spans[0], spans, form="{a b}")
    behind = ConstraintReport("und", (20, 23), ((20, 23),), form="und")
    found = spaced(text, own, behind)
    assert found.constraints[0].form == "{a\tb}"
    assert [found.text[slice(*span)] for span in found.constraints[0].spans] == [
        "{a\tb}",
        "{a  b}",
    ]
    span = found.constraints[1].span
    assert span is not None
    assert found.text[slice(*span)] == "und"


def test_what_a_caller_asks_for_keeps_its_spaces() -> None:
    asked = Constraints.build(["wiegt 10 kg"])
    report = ConstraintReport("wiegt 10 kg", (3, 14), ((3, 14),), form="wiegt 10 kg")
    text = "Es wiegt 10 kg, {a b} oder {a b} und 10 kg."
    found = spaced(text, report, asked=asked)
    assert "wiegt 10 kg, {a\tb} oder {a  b}" in found.text
    begun = Constraints.build([], prefix="10 kg ")
    assert spaced("10 kg wiegt es.", asked=begun).text == "10 kg wiegt es."


def test_words_that_stood_on_two_lines_stay_on_one() -> None:
    text = "Call foo\nbar now."
    found = lexbeam.load().translate(text, keep=[r"foo\s+bar"])
    assert found.text.count("\n") == 1
    assert "foo bar" in found.text
