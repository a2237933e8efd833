from __future__ import annotations

import re
from types import SimpleNamespace
from typing import Any

import pytest

import lexbeam
from lexbeam.constraints.constraint_set import Constraints
from lexbeam.translation.restoring import Restoring, _keeps_near, _parting
from lexbeam.translation.results import ConstraintReport


@pytest.fixture(scope="module")
def model() -> lexbeam.Translator:
    return lexbeam.load()


@pytest.mark.parametrize("phrase", ["<b>", "<b>Hund</b>", "der <b>Hund", "</b> schläft"])
def test_phrases_with_tags_are_met(model: lexbeam.Translator, phrase: str) -> None:
    found = model.translate("The <b>dog</b> sleeps.", [phrase, "schläft"], keep=["markup"])
    assert found.text == "Der <b>Hund</b> schläft."
    assert all(report.met for report in found.constraints)
    assert found.constraints[0].form is not None
    assert found.constraints[0].form.casefold() == phrase.casefold()
    assert found.constraints[1].form == "schläft"


def test_a_combining_mark_behind_a_line_does_not_become_part_of_a_tag(
    model: lexbeam.Translator,
) -> None:
    asked = [{"text": "\u0301x", "source": "x"}]
    found = model.translate("Hello.<br>x", asked, keep=["markup"])
    assert found.text.endswith("<br> \u0301x")
    shown = [found.text[slice(*report.span)] for report in found.constraints if report.span]
    assert shown == ["\u0301x", "<br>"]


@pytest.mark.parametrize(
    ("text", "is_near"),
    [("a {0} x b", True), ("a {x y} x b", False), ("a {x y} b", True), ("a b {0 1 2} a b", True)],
)
def test_what_is_put_back_may_part_words_that_have_to_be_near(text: str, is_near: bool) -> None:
    (gap,) = Constraints.build([{"gap": ["a", "b"], "within": 2}]).demanded
    spans = tuple(found.span() for found in re.finditer(r"\b[ab]\b", text))
    report = ConstraintReport("a … b", (0, len(text)), spans)
    assert _keeps_near(gap, report, text) == is_near
    (anywhere,) = Constraints.build([{"order": ["a", "b"]}]).demanded
    assert _keeps_near(anywhere, report, text)


def test_what_hiding_does_not_give_is_searched_for(model: lexbeam.Translator) -> None:
    text = "The <b>dog</b> sleeps."
    found = model.translate(text, ["<b> gut"], keep=["markup"])
    assert "<b> gut" in found.text
    assert all(report.met for report in found.constraints)
    found = model.translate(text, avoid=["<b>Hund"], keep=["markup"])
    assert "<b>Hund" not in found.text
    assert not found.unavoided
    twice = model.translate(text, ["<b>", "<b>"], keep=["markup"])
    assert twice.text.count("<b>") == 2
    assert all(report.met for report in twice.constraints[:2])


def test_tags_inside_tags_come_back(model: lexbeam.Translator) -> None:
    text = "The <co<b>de>dog</co<b>de> sleeps."
    found = model.translate(text, keep=["markup"])
    assert found.text == "Der <co<b>de>Hund</co<b>de> schläft."
    assert all(report.met for report in found.constraints)


def test_a_tag_inside_a_tag_stays_as_it_is(model: lexbeam.Translator) -> None:
    text = 'Press <b>Save</b> to continu<a href="</b>x">e</a>.'
    found = model.translate(text, keep=["markup"])
    assert '<a href="</b>x">' in found.text
    assert all(report.met for report in found.constraints)


def test_everything_is_reported_where_it_stands(model: lexbeam.Translator) -> None:
    text = 'Open the <b>file</b> and the <a href="x?file=1">settings</a> page.'
    glossary = lexbeam.Glossary.from_terms({"file": "Datei"})
    asked = [{"text": "Seite", "source": "page"}]
    found = model.translate(
        text, asked, glossary=glossary, keep=["markup"], alignments=True, nbest=4, beam_size=20
    )
    assert len(found.nbest) > 1
    for each in found.nbest:
        assert re.findall(r"<[^>]*>", each.text) == re.findall(r"<[^>]*>", text)
        page, order, *tags, term = each.constraints
        assert all(report.met for report in each.constraints)
        assert [each.text[slice(*span)] for span in order.spans] == re.findall(r"<[^>]*>", text)
        for report in (page, *tags, term):
            assert report.span is not None
            assert each.text[slice(*report.span)] == report.form
        assert [text[slice(*span)] for span in page.sources] == ["page"]
        assert [text[slice(*span)] for span in term.sources] == ["file"]
        assert each.alignment is not None
        words = {
            text[slice(*link.source)]: each.text[slice(*link.target)] for link in each.alignment
        }
        assert words["file"] == "Datei"
    assert found.text == found.nbest[0].text
    assert found.source == text
    assert model.translate(text, keep=["markup"]).alignment is None


def test_a_phrase_is_not_torn_by_a_tag(model: lexbeam.Translator) -> None:
    text = "The new <b>file</b> is here."
    found = model.translate(text, ["neue Datei"], keep=["markup"])
    assert found.constraints[0].met
    assert "neue Datei" in found.text
    assert all(report.met for report in found.constraints)


@pytest.mark.parametrize("asked", [{"prefix": "Die "}, {"constraints": [{"suffix": "hier."}]}])
def test_no_tag_stands_before_the_beginning_nor_behind_the_end(
    model: lexbeam.Translator, asked: dict[str, Any]
) -> None:
    found = model.translate("<b>The file is here.</b>", keep=["markup"], **asked)
    assert found.text.startswith("Die ") if "prefix" in asked else found.text.endswith("hier.")
    assert re.findall(r"<[^>]*>", found.text) == ["<b>", "</b>"]
    assert all(report.met for report in found.constraints)


@pytest.mark.parametrize("text", ["<br/>", "<b></b>", "{a}", "<b>{a}</b>", " <b> </b> "])
def test_a_text_without_words_is_kept(model: lexbeam.Translator, text: str) -> None:
    found = model.translate(text, keep=["markup", "placeholders"])
    assert "".join(found.text.split()) == "".join(text.split())
    assert all(report.met for report in found.constraints)


def test_each_of_many_texts_gets_its_own_tags_back(model: lexbeam.Translator) -> None:
    texts = ["The <b>dog</b> sleeps.", "No tags.", "A <i>cat</i>.<br>A dog."]
    together = model.translate(texts, keep=["markup"])
    alone = [model.translate(text, keep=["markup"]) for text in texts]
    assert [each.text for each in together] == [each.text for each in alone]
    assert "<br>" in together[2].text
    assert "\n" not in together[2].text


def test_a_source_in_a_tag_is_no_tie(model: lexbeam.Translator) -> None:
    text = "The <b>dog</b> sleeps."
    found = model.translate(text, [{"text": "Hund", "source": [4, 7]}], keep=["markup"])
    assert found.text == "Der <b>Hund</b> schläft."
    found = model.translate(text, [{"text": "Köter", "source": [7, 10]}], keep=["markup"])
    assert found.text == "Der <b>Köter</b> schläft."
    with pytest.raises(lexbeam.LexbeamError, match="outside the text"):
        model.translate(text, [{"text": "Hund", "source": [20, 40]}], keep=["markup"])


@pytest.mark.parametrize(
    ("text", "tags", "parting"),
    [("lo\nCa", {2}, ""), ("lo\nCa", {3}, ""), ("lo\nCa", {0}, " "), ("lo\n\u0301", {2}, " ")],
)
def test_lines_stay_apart_where_no_tag_stands_between_them(
    text: str, tags: set[int], parting: str
) -> None:
    assert _parting(text, 2, tags) == parting


@pytest.mark.parametrize(("span", "keeps"), [((3, 6), True), (None, False)])
def test_a_translation_without_a_mask_is_not_taken(span: Any, keeps: bool) -> None:
    asked = SimpleNamespace(demanded=[SimpleNamespace(within=None)], avoid=())
    hiding = SimpleNamespace(later=(), asked=asked)
    restoring: Any = SimpleNamespace(hiding=hiding, asked=asked, hidden=["{1}"])
    reports = [SimpleNamespace(met=True, span=None), SimpleNamespace(met=False, span=span)]
    found: Any = SimpleNamespace(constraints=reports, text="ID2s")
    assert Restoring._keeps_to_asked(restoring, found) == keeps


@pytest.mark.parametrize(
    ("after", "adds"),
    [("a H<b>ell</b>o", True), ("<b>a Hello</b>", False), ("o Hell<b>o</b>", True)],
)
def test_tags_inside_words_may_make_what_is_avoided(after: str, adds: bool) -> None:
    asked = Constraints.build(None, ["o"], None)
    restoring: Any = SimpleNamespace(asked=asked)
    before = re.sub(r"<.*?>", "", after)
    assert Restoring._adds_avoided(restoring, before, after) == adds


def test_a_tag_does_not_cut_a_word_where_that_would_make_what_is_avoided(
    model: lexbeam.Translator,
) -> None:
    text = "Mr. Th<i>o</i>msen is here."
    assert "<i>o</i>" in model.translate(text, keep=["markup"]).text
    found = model.translate(text, avoid=["o"], keep=["markup"])
    assert found.text == "Herr <i></i>Thomsen ist hier."
    assert not found.unavoided
