"""What glossary files have in common: terms of one meaning, and what is wrong with some.

Every format is read into the same `Concept`. Which languages are wanted is not known then, so a
concept keeps the terms of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Literal

from lexbeam.constraints.phrases import unusable
from lexbeam.errors import quoted

LARGEST_FILE = 1 << 30
"""Bytes of a glossary at most; a larger file is surely something else."""

LONGEST_TERM = 1000
"""Characters of a term at most; services that take glossaries stop at about as many."""

Level = Literal["error", "warning", "note"]
Role = Literal["source", "target", "either"]


@dataclass(frozen=True, slots=True)
class Problem:
    """Something in a file that its author should know.

    An error means that the line is not used, a warning that two lines disagree, a note that
    they meet without harm.
    """

    level: Level
    path: str
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.level}: {self.message}"


@dataclass(frozen=True, slots=True)
class Term:
    """A term, its language where the file says it, and on which side it may stand."""

    text: str
    language: str | None = None
    role: Role = "either"
    forbidden: bool = False


@dataclass(frozen=True, slots=True)
class Concept:
    """Terms that mean the same, and where they stand."""

    path: str
    line: int
    terms: tuple[Term, ...]


@dataclass
class Contents:
    """All of a file: its concepts, the languages it names, and its problems."""

    path: str
    concepts: list[Concept] = field(default_factory=list)
    languages: set[str] = field(default_factory=set)
    problems: list[Problem] = field(default_factory=list)

    def complain(self, line: int, message: str, level: Level = "error") -> None:
        """Note something that is wrong in a line."""
        self.problems.append(Problem(level, self.path, line, message))

    def add(self, line: int, terms: Sequence[Term]) -> None:
        """Take a concept in, if it has anything to translate and a translation."""
        self.languages.update(term.language for term in terms if term.language)
        self.concepts.append(Concept(self.path, line, tuple(terms)))


def clean_term(text: str) -> str:
    """Return a term with single spaces inside and none around it."""
    return " ".join(text.split())


def fault_of(term: str) -> str | None:
    """Name what makes a term unusable, or return None."""
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
    """Tell whether a status means that a term must not be used: deprecatedTerm-admn-sts."""
    lower = status.lower()
    return any(part in lower for part in _FORBIDDING)
