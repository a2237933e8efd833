"""What all glossary formats are read into: concepts with their terms, and problems.

A file is read before it is known which languages are wanted, so a concept keeps the terms of
all languages.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lexbeam.constraints.phrases import unusable
from lexbeam.errors import quoted

LARGEST_FILE = 1 << 30
"""Bytes of a glossary at most; a larger file is surely something else."""

LONGEST_TERM = 1024
"""Characters of a term at most; translation services have about the same limit."""

Level = Literal["error", "warning", "note"]
Role = Literal["source", "target", "either"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that its author should know.

    An error means that the line is not used, a warning that two lines contradict each other, a
    note that they repeat each other or overlap.
    """

    level: Level
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.level}: {self.message}"


@dataclass(frozen=True, slots=True)
class Term:
    """A term, its language if the file says it, and its role: source, target or either."""

    text: str
    language: str | None = None
    role: Role = "either"
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """Terms that mean the same, with their file and line."""

    path: str
    line: int
    terms: tuple[Term, ...]
    compound: bool = False
    """Whether a target may be part of a compound, or may not even there if it is forbidden."""


@dataclass
class Contents:
    """All of a file: its concepts, the languages it names, and its problems."""

    path: str
    concepts: list[Concept] = field(default_factory=list)
    languages: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def complain(self, line: int, message: str, level: Level = "error") -> None:
        """Add a problem of a line."""
        self.problems.append(Problem(level, self.path, line, message))

    def add(self, line: int, terms: Sequence[Term], compound: bool = False) -> None:
        """Add a concept with its terms."""
        self.languages.update(term.language for term in terms if term.language)
        self.concepts.append(Concept(self.path, line, tuple(terms), compound))


def clean_term(text: str) -> str:
    """Return a term with single spaces inside and none around it."""
    return " ".join(text.split())


def fault_of(term: str) -> str | None:
    """Return what makes a term unusable, None if nothing does."""
    if len(term) > LONGEST_TERM:
        return (
            f"{quoted(term)} is longer than {LONGEST_TERM} characters: "
            "is a separator or a quotation mark missing?"
        )
    fault = unusable(term)
    return f"{quoted(term)} contains {fault}" if fault else None


# Parts of the words by which files say that a term must not be used.
_FORBIDDING = (
    "forbid", "deprecat", "supersed", "obsolete", "prohibit", "reject", "avoid", "not",
)  # fmt: skip


def forbids(status: str) -> bool:
    """Return whether a status means that a term must not be used: deprecatedTerm-admn-sts."""
    lower = status.lower()
    return any(part in lower for part in _FORBIDDING)
