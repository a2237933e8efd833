"""Changes to a finished translation, after which its report still says where everything stands."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable
from dataclasses import replace
from itertools import accumulate
from typing import NamedTuple, TypeVar

from lexbeam.text.word_boundaries import Span
from lexbeam.translation.results import Alternative, ConstraintReport

AnyAlternative = TypeVar("AnyAlternative", bound=Alternative)


class Edit(NamedTuple):
    """An offset, how many characters are removed there, and what is inserted instead."""

    at: int
    removed: int
    new: str


class Edits:
    """Changes to one text that do not overlap; those at one offset are made in their order."""

    def __init__(self, edits: Iterable[Edit] = ()) -> None:
        self._edits = sorted(edits, key=lambda each: (each.at, each.removed))
        self._starts = [each.at for each in self._edits]
        self._ends = [each.at + each.removed for each in self._edits]
        grown = (len(each.new) - each.removed for each in self._edits)
        self._grown = list(accumulate(grown, initial=0))

    def __bool__(self) -> bool:
        return bool(self._edits)

    def apply(self, text: str) -> str:
        """Return a text with the changes made."""
        written, at = [], 0
        for each in self._edits:
            written += [text[at : each.at], each.new]
            at = each.at + each.removed
        return "".join([*written, text[at:]])

    def inverse(self, text: str) -> Edits:
        """Return the changes that make the old text of the new one."""
        return Edits(
            Edit(each.at + grown, len(each.new), text[each.at : each.at + each.removed])
            for each, grown in zip(self._edits, self._grown, strict=False)
        )

    def moved(self, span: Span) -> Span:
        """Return where a stretch of the old text stands in the new one.

        What is inserted beside it stays outside.
        """
        start, end = span
        before = bisect_right(self._ends, start)
        first = min([start, *self._starts[before : before + 1]])
        behind = max(bisect_left(self._starts, end), before)
        last = max([end, *self._ends[max(behind - 1, 0) : behind]])
        return first + self._grown[before], last + self._grown[behind]


def edited(alternative: AnyAlternative, edits: Edits) -> AnyAlternative:
    """Return a translation with its text changed, and its report and alignment moved along."""
    if not edits:
        return alternative

    def report_moved(report: ConstraintReport) -> ConstraintReport:
        if not report.span:
            return report
        spans = tuple(map(edits.moved, report.spans))
        return replace(report, span=edits.moved(report.span), spans=spans)

    links = alternative.alignment
    return replace(
        alternative,
        text=edits.apply(alternative.text),
        constraints=[report_moved(each) for each in alternative.constraints],
        alignment=links and [replace(each, target=edits.moved(each.target)) for each in links],
    )
