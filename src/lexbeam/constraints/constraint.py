"""One constraint, as text: what it is made of, and what makes a phrase usable at all."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

from lexbeam.errors import ConstraintError, quoted
from lexbeam.text.casing import Case, matches

Kind = Literal["text", "any", "lemma", "order", "gap", "prefix", "suffix"]
Part = tuple[str, ...]
"""Forms of which any will do."""

Places = tuple[int, ...]
"""Where in the source something stands, in characters."""


@dataclass(frozen=True)
class Constraint:
    """One thing that is asked of an output.

    Parts follow one another; each may be written in any of its forms. ``within`` is the most
    words between two neighbouring parts, ``count`` how often the whole must occur, ``soft``
    the log-probability it may cost before it is dropped.
    """

    parts: tuple[Part, ...]
    kind: Kind = "text"
    case: Case = "start"
    within: int | None = None
    count: int = 1
    soft: float | None = None
    asked: Any = field(default=None, compare=False, repr=False)
    """The shape it came in, as JSON."""
    places: Places = field(default=(), compare=False, repr=False)
    """Where its source stands in the text, once for each time it is asked for; none: unknown."""

    @cached_property
    def once(self) -> Constraint:
        """The same, asked for once."""
        return self if self.count == 1 else replace(self, count=1)

    @property
    def text(self) -> str:
        """The constraint in short, for people: ``fängt … an``, ``Fabrik | Werk``."""
        return " … ".join(" | ".join(part) for part in self.parts)

    def cut(self, first: int, last: int) -> Constraint:
        """Return only the parts from ``first`` to before ``last``."""
        return replace(self.once, parts=self.parts[first:last])


def usable_forms(part: Part, avoided: Sequence[Constraint]) -> Part:
    """Return the forms of a part that can be written without anything avoided in them."""
    return tuple(
        form
        for form in part
        if not any(
            (each.case == "any" or word in form) and matches(form, word, each.case, starts=())
            for each in avoided
            for word in each.parts[0]
        )
    )


def clean_phrase(phrase: object, where: str) -> str:
    """Return a phrase with single spaces inside and none around it."""
    if not isinstance(phrase, str):
        raise ConstraintError(f"{where} must be text, not {kind_of(phrase)}")
    fault = unusable(phrase)
    if fault:
        raise ConstraintError(f"{where} {quoted(phrase)} contains {fault}")
    cleaned = " ".join(phrase.split())
    if not cleaned:
        raise ConstraintError(f"{where} is empty or only spaces: leave it out or give a phrase")
    return cleaned


def clean_prefix(prefix: object, where: str) -> str:
    """Return the beginning of an output; a space at its end says that its last word is whole."""
    cleaned = clean_phrase(prefix, where)
    return cleaned + " " if isinstance(prefix, str) and prefix[-1].isspace() else cleaned


def unusable(text: str) -> str | None:
    """Name what makes a text impossible to hand to a tokeniser, or return None."""
    if "\0" in text:
        return "a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "half a surrogate pair (text that was decoded wrongly)"
    return None


def kind_of(value: object) -> str:
    """Name a value that should have been something else, for an error message."""
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    try:
        shown = quoted(str(value))
    except ValueError:  # a number of many thousand digits
        shown = ""
    return f"{type(value).__name__} {shown}".rstrip()
