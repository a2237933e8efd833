"""Collects the constraints of texts that were translated, and finds out what each replaced."""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Protocol

from lexbeam.errors import LexbeamError
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.lines import Line
from lexbeam.translation.reporting.rows import Row, Status, Summary, sort_rows
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import ConstraintReport, Link, Translation
from lexbeam.translation.settings import read_settings

_WINDOW = 256
"""Texts that are translated together to see what the model would have said."""


class Translates(Protocol):
    """What is needed of a translator."""

    def translate_each(self, requests: Iterable[TextRequest]) -> list[Translation | LexbeamError]:
        """Translate texts together; return a translation or an error per text."""
        ...


class Reporter:
    """Collects what became of constraints, text by text."""

    def __init__(self, translator: Translates) -> None:
        self._translator = translator
        self._rows: list[Row] = []
        self._requests: dict[str, TextRequest] = {}
        self._began = time.monotonic()
        self._files: set[str] = set()
        self.summary = Summary()

    def add(
        self, request: TextRequest, result: Translation | str, place: str, file: str = ""
    ) -> None:
        """Add a text: its translation, or the message of why there is none."""
        self.summary.texts += 1
        self._files.add(file)
        if isinstance(result, str):
            self.summary.errors.append((file, place, result))
            return
        self._requests.setdefault(request.text, request)
        for report in result.constraints:
            self._rows.append(_row(request.text, result.text, report, place, file))

    def add_line(self, line: Line, file: str = "") -> None:
        """Add a line that was translated, or that has an error; a blank one has neither."""
        outcome = line.translation or line.error
        if outcome is not None:
            self.add(line.request or TextRequest(""), outcome, str(line.number), file)

    def finish(self) -> list[Row]:
        """Return all rows, what needs a look first; fills in the summary."""
        rows = self._with_replaced()
        self.summary.files = len(self._files - {""})
        self.summary.seconds = time.monotonic() - self._began
        return sort_rows(rows)

    def _with_replaced(self) -> list[Row]:
        """Return the rows with what a translation without constraints says instead of each."""
        tied = list(dict.fromkeys(row.source for row in self._rows if row.source_spans))
        free: dict[str, Translation] = {}
        for start in range(0, len(tied), _WINDOW):
            window = tied[start : start + _WINDOW]
            found = self._translator.translate_each(_free(self._requests[text]) for text in window)
            for text, result in zip(window, found, strict=True):
                if isinstance(result, Translation):
                    free[text] = result
        return [_replacing(row, free.get(row.source)) for row in self._rows]


def _row(source: str, target: str, report: ConstraintReport, place: str, file: str) -> Row:
    status: Status = "met" if report.met else "dropped" if report.dropped else "missing"
    spans = report.spans or ((report.span,) if report.span else ())
    return Row(
        file,
        place,
        source,
        target,
        report.text,
        status,
        report.form or "",
        report.price,
        source_spans=report.sources,
        target_spans=spans,
    )


def _free(request: TextRequest) -> TextRequest:
    """Return a request for the translation of a text without what is asked of it."""
    settings = read_settings(request.settings)
    plain: dict[str, Any] = {"prices": False, "nbest": 1, "alignments": True}
    return TextRequest(request.text, settings=replace(settings, **plain))


def _replacing(row: Row, free: Translation | None) -> Row:
    if free is None or not free.alignment or not row.source_spans:
        return row
    said = _aligned(free.text, free.alignment, row.source_spans)
    return row if said == row.form else replace(row, replaced=said)


def _aligned(text: str, links: Sequence[Link], spans: Sequence[Span]) -> str:
    """Return the words of a translation that translate some spans of its source."""
    words = sorted(
        {
            link.target
            for link in links
            if any(link.source[0] < end and start < link.source[1] for start, end in spans)
        }
    )
    return " ".join(text[slice(*word)] for word in words)
