"""One constraint, as text: what all kinds of constraints have in common.

Each kind is a class of its own in `lexbeam.constraints.kinds`. The class says how the kind is
read, how it is found in a text, where in an output it may stand, and what its JSON Schema is.
The rest of the package asks the class and never compares kinds by name.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, ClassVar, Protocol, TypeVar

from lexbeam.constraints.matching import Occurrence, find_chains, find_part, words_between
from lexbeam.constraints.options import Schema
from lexbeam.text.casing import Case, matches
from lexbeam.text.word_boundaries import Span

Part = tuple[str, ...]
"""Forms of which any will do."""

SourceSpans = tuple[Span, ...]
"""Where in the source something stands, in characters."""

PHRASE_OPTIONS = ("case", "count", "exactly", "at_most", "soft", "compound", "source")
"""The keys beside the main one that a constraint of one part may have."""

AnyConstraint = TypeVar("AnyConstraint", bound="Constraint")


class PartReader(Protocol):
    """What a kind may need to read its value."""

    @property
    def language(self) -> str | None:
        """The language of the output, None if it is not known."""

    def read_part(self, given: object, where: str) -> Part:
        """Read one part: a phrase, or an object of a kind that is a phrase (`is_phrase`)."""


@dataclass(frozen=True)
class Shape:
    """A constraint as it was given: its kind is known and its keys are checked."""

    value: Any
    """What the main key holds."""
    options: Mapping[str, Any]
    """The other keys."""
    where: str
    """The name by which an error speaks of it: ``constraints[0]``."""
    reader: PartReader


@dataclass(frozen=True)
class Constraint(ABC):
    """One thing that is asked of an output.

    Parts follow one another; each may be written in any of its forms. ``within`` is the most
    words between two neighbouring parts, ``count`` how often the whole must occur, ``at_most``
    how often it may, ``soft`` the log-probability it may cost before it is dropped. ``compound``
    says that it may be part of a compound (`lexbeam.text.compounds`).
    """

    parts: tuple[Part, ...]
    case: Case = "start"
    within: int | None = None
    count: int = 1
    at_most: int | None = None
    soft: float | None = None
    compound: bool = False
    given: Any = field(default=None, compare=False, repr=False)
    """What the caller gave for it: a string, or an object as JSON has it."""
    source: str | Span | None = field(default=None, compare=False)
    """The words of the source that it translates, or where they stand, if the caller says so."""
    source_spans: SourceSpans = field(default=(), compare=False, repr=False)
    """Where its source stands in the text, one span per count; empty if that is not known."""
    part_sources: SourceSpans = field(default=(), compare=False, repr=False)
    """Where the source of each of several parts stands; empty if that is not known."""
    is_from_source: bool = field(default=False, compare=False, repr=False)
    """Whether the source demands it: a glossary's term, or something that is to be kept."""
    may_be_verb: bool = field(default=False, compare=False, repr=False)
    """Whether it is a noun of a glossary and its source could be a verb."""
    is_as_in_glossary: bool = field(default=False, compare=False, repr=False)
    """Whether its sources are written as its glossary has them, and not in another form."""
    left_because: str | None = field(default=None, compare=False, repr=False)
    """Why it was left out, for people: its source is a verb."""

    key: ClassVar[str]
    """The key of a JSON object that says which kind it is."""
    description: ClassVar[str]
    """What the kind asks for, for the JSON Schema."""
    options: ClassVar[tuple[str, ...]] = ("case", "count", "soft", "source")
    """The other keys that its JSON object may have."""
    is_phrase: ClassVar[bool] = False
    """Whether it is one part that may stand anywhere: it can be avoided, or be part of another."""
    at_start: ClassVar[bool] = False
    """Whether it is what the output begins with: forced, so that the search has no choice."""
    at_end: ClassVar[bool] = False
    """Whether it is what the output ends with."""
    may_follow_word: ClassVar[bool] = False
    """Whether a part that begins with punctuation may stand right behind a word, unspaced."""

    @classmethod
    @abstractmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read the value of the main key."""

    @classmethod
    @abstractmethod
    def value_schema(cls) -> Schema:
        """Return the JSON Schema of the value of the main key."""

    @classmethod
    def schemas(cls) -> list[Schema]:
        """Return the JSON Schemas of the objects that this kind can be given as."""
        return [cls.object_schema(cls.options, cls.description)]

    @classmethod
    def limited_schemas(cls) -> list[Schema]:
        """Return the JSON Schemas of one phrase: at least so often, at most, exactly."""
        limits = ("count", "exactly", "at_most", "soft", "compound")
        others = [name for name in cls.options if name not in limits]
        return [
            cls.object_schema([*others, "count", "soft", "compound"], cls.description),
            cls.object_schema([*others, "exactly"], "The same, so many times."),
            cls.object_schema([*others, "count", "at_most"], "The same, not more often than that."),
        ]

    @classmethod
    def object_schema(cls, options: Sequence[str], description: str | None = None) -> Schema:
        """Return the JSON Schema of an object with the main key and some options."""
        about = {"description": description} if description else {}
        refs = {name: {"$ref": f"#/$defs/{name}"} for name in options}
        return {
            **about,
            "type": "object",
            "required": [cls.key],
            "properties": {cls.key: cls.value_schema(), **refs},
            "additionalProperties": False,
        }

    @cached_property
    def once(self: AnyConstraint) -> AnyConstraint:
        """The same constraint with a count of one, and no limit to it."""
        return replace(self, count=1, at_most=None)

    @property
    def is_limited_by_caller(self) -> bool:
        """Whether a caller says how often it may occur in the whole text."""
        return self.at_most is not None and not self.is_from_source

    @property
    def text(self) -> str:
        """The constraint in short, for people: ``fängt … an``, ``Fabrik | Werk``."""
        return " … ".join(" | ".join(part) for part in self.parts)

    def is_source_in(self, text: str) -> bool:
        """Return whether it demands nothing but what its source is in a text: it is kept."""
        sources = {text[start:end] for start, end in self.source_spans}
        return all(form in sources for part in self.parts for form in part)

    def cut(self: AnyConstraint, first: int, last: int) -> AnyConstraint:
        """Return only the parts from ``first`` to before ``last``."""
        return replace(self.once, parts=self.parts[first:last])

    def find(self, text: str, times: int = 1, starts: Sequence[int] = (0,)) -> list[Occurrence]:
        """Return the first occurrences in a text, at most ``times`` of them.

        ``starts`` are the offsets at which the sentences of the text begin.
        """
        spans = [find_part(text, part, self.case, starts, self.compound) for part in self.parts]
        if len(self.parts) == len(self.parts[0]) == 1:
            return [(span,) for span in spans[0][:times]]
        return find_chains(spans, times, lambda end, start: self.are_near(text, end, start, starts))

    def are_near(self, text: str, end: int, start: int, starts: Sequence[int]) -> bool:  # noqa: ARG002
        """Return whether a part may begin at ``start`` if the part before it ends at ``end``."""
        return self.within is None or words_between(text, end, start) <= self.within


def usable_forms(part: Part, avoided: Sequence[Constraint]) -> Part:
    """Return the forms of a part that can be written without anything avoided in them."""
    return tuple(
        form
        for form in part
        if not any(
            (each.case == "any" or each.compound or word in form)
            and matches(form, word, each.case, starts=(), compound=each.compound)
            for each in avoided
            for word in each.parts[0]
        )
    )
