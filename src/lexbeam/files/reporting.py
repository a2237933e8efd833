"""The report on the constraints of files, unit by unit."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import fields
from typing import Any

from lexbeam.constraints.constraint_set import Constraints
from lexbeam.constraints.counting import find_met
from lexbeam.errors import LexbeamError
from lexbeam.files.engine import Translates
from lexbeam.translation.readable_source import ReadableSource
from lexbeam.translation.reporting import Reporter
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import ConstraintReport, Translation
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.source_terms import SourceTerms
from lexbeam.translation.spelled import report_on

_WINDOW = 256


class FileReporter:
    """Collects units, and looks for their constraints in what was written.

    The costs come from a translation of the texts as a reader sees them.
    """

    def __init__(self, translator: Translates, settings: Mapping[str, Any]) -> None:
        self._translator = translator
        self._reporter = Reporter(translator)
        self._asked = {name: settings.get(name) for name in ("constraints", "avoid", "keep")}
        self._asked["glossary"] = settings.get("glossary")
        known = {field.name for field in fields(TextSettings)}
        chosen = {name: value for name, value in settings.items() if name in known}
        self._settings = TextSettings(**{**chosen, "prices": True})
        self._terms = SourceTerms(self._asked["glossary"], self._asked["keep"], translator.info)
        self._units: list[tuple[str, str, str, str]] = []

    def add_unit(
        self, file: str, unit: str, sources: Sequence[str], targets: Sequence[str]
    ) -> None:
        """Add a unit that was translated; plural forms are texts of their own."""
        texts = zip(sources, targets, strict=False)
        self._units += [(file, unit, source, target) for source, target in texts]

    def finished(self) -> Reporter:
        """Return the report on all units."""
        for start in range(0, len(self._units), _WINDOW):
            window = self._units[start : start + _WINDOW]
            requests = [
                TextRequest(source, **self._asked, settings=self._settings)
                for _, _, source, _ in window
            ]
            found = self._translator.translate_each(requests)
            for unit, request, result in zip(window, requests, found, strict=True):
                file, place, source, target = unit
                reports = self._reports(source, target, result)
                self._reporter.add(request, Translation(target, 0.0, reports), place, file)
        return self._reporter

    def _reports(
        self, source: str, target: str, result: Translation | LexbeamError
    ) -> list[ConstraintReport]:
        """Return what became of the constraints of a text in what was written for it."""
        asked = Constraints.build(self._asked["constraints"], None, None)
        demanded = self._terms.find(ReadableSource.of(source, [])).added_to(asked).demanded
        priced = result.constraints if isinstance(result, Translation) else []
        costs = {report.text: report.price for report in priced}
        found = find_met(target, demanded)
        return [
            report_on(constraint, target, occurrences, costs.get(constraint.text))
            for constraint, occurrences in zip(demanded, found, strict=True)
        ]
