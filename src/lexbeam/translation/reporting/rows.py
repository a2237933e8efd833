"""What a report says of a constraint, and of all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lexbeam.text.word_boundaries import Span

Status = Literal["met", "dropped", "missing"]

EXPENSIVE = 5.0
"""A constraint that costs more, in log-probability, is worth a look: it may not fit its text."""


@dataclass(frozen=True)
class Row:
    """One constraint of one text."""

    file: str
    place: str
    """The number of the line, or the name of the unit."""
    source: str
    target: str
    term: str
    """What was asked for."""
    status: Status
    form: str = ""
    """How the translation writes it."""
    cost: float | None = None
    """The log-probability that the text loses by it; None: not known."""
    replaced: str = ""
    """What the model would have said there; empty: the same, or not known."""
    source_spans: tuple[Span, ...] = ()
    target_spans: tuple[Span, ...] = ()

    @property
    def source_term(self) -> str:
        """The words of the source that it translates; empty if that is not known."""
        return " … ".join(self.source[slice(*span)] for span in self.source_spans)

    @property
    def is_expensive(self) -> bool:
        """Whether it costs so much that it is worth a look."""
        return self.cost is not None and self.cost > EXPENSIVE


@dataclass
class Summary:
    """What was translated, in numbers."""

    texts: int = 0
    files: int = 0
    seconds: float = 0.0
    errors: list[tuple[str, str, str]] = field(default_factory=list)
    """File, place and message of what could not be translated."""


def sort_rows(rows: Sequence[Row]) -> list[Row]:
    """Return the rows with what is missing first, then the most expensive ones."""
    order = {"missing": 0, "dropped": 1, "met": 2}
    return sorted(rows, key=lambda row: (order[row.status], -(row.cost or 0.0)))
