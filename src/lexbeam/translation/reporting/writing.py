"""Writes a report: as a table for programs (TSV), or as a page for people (HTML)."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from html import escape
from pathlib import Path
from string import Template

from lexbeam.text.atomic_write import write_file
from lexbeam.translation.reporting.rows import EXPENSIVE, Row, Summary
from lexbeam.translation.results import marked

SUFFIXES = (".html", ".htm", ".tsv")
COLUMNS = (
    "file",
    "place",
    "source",
    "translation",
    "term",
    "source term",
    "form",
    "status",
    "cost",
    "replaced",
)
_PAGE = Path(__file__).parent / "page.html"


def write(path: Path, rows: Sequence[Row], summary: Summary) -> None:
    """Write a report as the ending of its name says."""
    as_table = path.suffix.lower() == ".tsv"
    write_file(path, to_tsv(rows) if as_table else to_html(rows, summary))


def to_tsv(rows: Sequence[Row]) -> str:
    """Return a table with a line per constraint; tabs and line breaks in texts become spaces."""
    written = io.StringIO()
    table = csv.writer(
        written, "excel-tab", lineterminator="\n", quoting=csv.QUOTE_NONE, quotechar=None
    )
    table.writerow(COLUMNS)
    for row in rows:
        cost = "" if row.cost is None else f"{row.cost:.2f}"
        fields = (
            row.file,
            row.place,
            row.source,
            row.target,
            row.term,
            row.source_term,
            row.form,
            row.status,
            cost,
            row.replaced,
        )
        table.writerow([" ".join(each.split()) for each in fields])
    return written.getvalue()


def to_html(rows: Sequence[Row], summary: Summary) -> str:
    """Return a page that needs nothing else."""
    facts = "".join(
        f'<div class="{kind}"><b>{number}</b> {escape(what)}</div>'
        for number, what, kind in _facts(rows, summary)
    )
    errors = "".join(
        f"<li>{escape(' '.join(filter(None, (file, place))))}: {escape(message)}</li>"
        for file, place, message in summary.errors
    )
    return Template(_PAGE.read_text(encoding="utf-8")).substitute(
        facts=facts,
        errors=f"<h2>Not translated</h2><ul>{errors}</ul>" if errors else "",
        rows="\n".join(map(_html_row, rows)),
        expensive=f"{EXPENSIVE:g}",
    )


def _facts(rows: Sequence[Row], summary: Summary) -> list[tuple[str, str, str]]:
    """Return the numbers at the top of the page: number, what it counts, how it is shown."""
    met = sum(row.status == "met" for row in rows)
    dropped = sum(row.status == "dropped" for row in rows)
    missing = len(rows) - met - dropped
    expensive = sum(row.is_expensive for row in rows)
    facts = [
        (f"{summary.texts:,}", "texts", ""),
        (f"{met:,} of {len(rows):,}", "constraints met", "good" if met == len(rows) else ""),
        (f"{expensive:,}", f"cost more than {EXPENSIVE:g}", "look" if expensive else ""),
        (f"{summary.seconds:.1f} s", "in all", ""),
    ]
    optional = [
        (dropped, "dropped", "look"),
        (missing, "missing", "bad"),
        (len(summary.errors), "not translated", "bad"),
        (summary.files, "files", ""),
    ]
    return facts + [(f"{number:,}", what, kind) for number, what, kind in optional if number]


def _html_row(row: Row) -> str:
    cost = "" if row.cost is None else f"{row.cost:.2f}"
    place = " ".join(filter(None, (row.file, row.place)))
    kind = "look" if row.status == "met" and row.is_expensive else row.status
    replaced = f"<s>{escape(row.replaced)}</s>" if row.replaced else ""
    texts = marked(row.source, row.source_spans), marked(row.target, row.target_spans)
    cells = (
        f'<td class="place">{escape(place)}</td>',
        f"<td><b>{escape(row.form or row.term)}</b>{_asked(row)}</td>",
        f"<td>{escape(row.source_term)}</td>",
        f"<td>{replaced}</td>",
        f'<td class="number" data-value="{row.cost or 0}">{cost}</td>',
        f'<td class="status">{row.status}</td>',
        f"<td>{'<br>'.join(texts)}</td>",
    )
    return f'<tr class="{kind}">{"".join(cells)}</tr>'


def _asked(row: Row) -> str:
    """Return what was asked for, where the translation writes it in another way."""
    return f" <i>({escape(row.term)})</i>" if row.form and row.form != row.term else ""
