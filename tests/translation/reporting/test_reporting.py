from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import html5lib
import pytest

from lexbeam.errors import InputError, LexbeamError
from lexbeam.translation.reporting import Reporter, Row, Summary, write
from lexbeam.translation.reporting.rows import EXPENSIVE, sort_rows
from lexbeam.translation.reporting.writing import to_html, to_tsv
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import ConstraintReport, Link, Translation

SOURCE, TARGET = "The factory.", "Das Werk."
TERM = ConstraintReport("Werk", (4, 8), ((4, 8),), "Werk", price=2.5, sources=((4, 11),))


class FreeTranslator:
    """Says *Die Fabrik.*, and which words translate which."""

    def __init__(self) -> None:
        self.asked: list[TextRequest] = []

    def translate_each(self, requests: Iterable[TextRequest]) -> list[Translation | LexbeamError]:
        self.asked = list(requests)
        links = [Link((0, 3), (0, 3)), Link((4, 11), (4, 10))]
        return [Translation("Die Fabrik.", -1.0, alignment=links) for _ in self.asked]


def test_a_row_says_what_was_replaced() -> None:
    translator = FreeTranslator()
    reporter = Reporter(translator)
    reporter.add(TextRequest(SOURCE, ["Werk"]), Translation(TARGET, -1.0, [TERM]), "7")
    (row,) = reporter.finish()
    assert (row.place, row.term, row.form, row.status) == ("7", "Werk", "Werk", "met")
    assert (row.source_term, row.cost, row.replaced) == ("factory", 2.5, "Fabrik")
    assert [request.constraints for request in translator.asked] == [None]
    assert reporter.summary.texts == 1


def test_a_term_that_the_model_says_anyway_replaces_nothing() -> None:
    reporter = Reporter(FreeTranslator())
    same = ConstraintReport("Fabrik", (4, 10), ((4, 10),), "Fabrik", sources=((4, 11),))
    reporter.add(TextRequest(SOURCE), Translation("Die Fabrik.", -1.0, [same]), "1")
    assert reporter.finish()[0].replaced == ""


def test_what_is_not_translated_is_in_the_summary() -> None:
    reporter = Reporter(FreeTranslator())
    reporter.add(TextRequest("x"), "it is too long", "3", "a.po")
    assert reporter.finish() == []
    assert reporter.summary.errors == [("a.po", "3", "it is too long")]
    assert reporter.summary.files == 1


def row(term: str, status: str = "met", cost: float | None = None) -> Row:
    return Row("", "1", SOURCE, TARGET, term, status, term, cost)  # type: ignore[arg-type]


def test_what_needs_a_look_comes_first() -> None:
    rows = [row("a", cost=1), row("b", cost=9), row("c", "missing"), row("d"), row("e", "dropped")]
    assert [each.term for each in sort_rows(rows)] == ["c", "e", "b", "a", "d"]
    assert [each.term for each in rows if each.is_expensive] == ["b"]


def test_a_table_has_a_line_for_each() -> None:
    told = Row("f", "1", "a\tb\nc", 'say "x"', "x", "met", "x", 1.234, "y")
    lines = to_tsv([told]).splitlines()
    assert len(lines) == 2
    fields = dict(zip(lines[0].split("\t"), lines[1].split("\t"), strict=True))
    assert fields["source"] == "a b c"
    assert fields["translation"] == 'say "x"'
    assert (fields["cost"], fields["replaced"], fields["status"]) == ("1.23", "y", "met")


def test_a_page_is_html_and_hides_nothing() -> None:
    told = Row("", "1", "<b>", "x & y", "y", "met", "y", EXPENSIVE + 1, "<i>", ((0, 3),), ((4, 5),))
    summary = Summary(2, 1, 3.0, [("f", "4", "<oops>")])
    page = to_html([told, row("gone", "missing")], summary)
    parser = html5lib.HTMLParser(strict=True)
    parser.parse(page)
    assert "<mark>&lt;b&gt;</mark>" in page
    assert "x &amp; <mark>y</mark>" in page
    assert "&lt;oops&gt;" in page
    assert "<s>&lt;i&gt;</s>" in page
    assert "1 of 2" in page
    assert "http" not in page


@pytest.mark.parametrize("name", ["r.html", "r.tsv", "R.HTM"])
def test_the_name_says_the_form(tmp_path: Path, name: str) -> None:
    write(tmp_path / name, [row("a")], Summary())
    is_page = (tmp_path / name).read_text(encoding="utf-8").startswith("<!doctype")
    assert is_page == (not name.endswith("tsv"))


def test_a_source_that_can_not_be_translated_freely_is_no_fault() -> None:
    class Failing(FreeTranslator):
        def translate_each(
            self, requests: Iterable[TextRequest]
        ) -> list[Translation | LexbeamError]:
            return [InputError("no") for _ in requests]

    reporter = Reporter(Failing())
    reporter.add(TextRequest(SOURCE), Translation(TARGET, -1.0, [TERM]), "1")
    assert reporter.finish()[0].replaced == ""
