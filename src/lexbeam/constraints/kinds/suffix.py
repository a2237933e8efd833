"""``{"suffix": "ist gut."}``: what the translation ends with."""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.constraints.constraint import Constraint, Part, Shape
from lexbeam.constraints.matching import Occurrence, find_part
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_phrase


class Suffix(Constraint):
    """The end of the output."""

    key = "suffix"
    description = "What the translation ends with."
    options = ("case", "soft", "source")
    at_end = True
    may_follow_word = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a phrase."""
        return ((clean_phrase(shape.value, f"{shape.where}.suffix"),),)

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a phrase."""
        return {"$ref": "#/$defs/phrase"}

    def find(self, text: str, times: int = 1, starts: Sequence[int] = (0,)) -> list[Occurrence]:
        """Return the end of the text, ``times`` times, if it is this suffix."""
        spans = find_part(text, self.parts[0], self.case, starts)
        at_end: list[Occurrence] = [(span,) for span in spans if span[1] == len(text)]
        return at_end[:1] * times
