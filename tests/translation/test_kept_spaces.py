from __future__ import annotations

from dataclasses import replace

import pytest

import lexbeam
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.text.word_boundaries import locate
from lexbeam.translation.keep import PATTERNS, Kept, compile_patterns, find_kept
from lexbeam.translation.kept_spaces import respace, restore_white_space
from lexbeam.translation.results import Alternative, ConstraintReport, Translation

ALL = compile_patterns(PATTERNS)


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
        ("100 %s.", "100%%s.", "100% %s."),  # "%%" would be a percent sign
        ("<b>a</b>", "<b> </b>", "<b> </b>"),
        ("nothing", "gar nichts", "gar nichts"),
        ("%s", "", ""),
        # Tags inside of words: the words around them stay two.
        ("The <b>hou</b>se burns.", "Das <b>Haus</b> brennt.", "Das <b>Haus</b> brennt."),
        ("The file<b>s</b> are", "Die Dateien <b></b> sind", "Die Dateien<b></b> sind"),
        ("The <b>f</b>ile is", "Die <b></b> Datei ist", "Die <b></b>Datei ist"),
        ("a<br>b", "c <br> d", "c<br>d"),
    ],
)
def test_spaces_are_put_back(source: str, text: str, expected: str) -> None:
    assert respaced(source, text) == expected


def test_a_tag_inside_of_another_one_is_a_part_of_it() -> None:
    inner, outer = Kept("</b>", 1, 5, "a", " "), Kept('<a x="</b>y">', 6, 19, " ", "z")
    text = 'a</b>c<a x="</b>y">d'
    found = respace(translated(text, []), [inner, outer])
    assert found.text == 'a</b> c <a x="</b>y">d'


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
