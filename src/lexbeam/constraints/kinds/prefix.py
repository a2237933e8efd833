"""``{"prefix": "Die Fab"}``: what the translation begins with."""

from __future__ import annotations

from collections.abc import Sequence

from lexbeam.constraints.constraint import Constraint, Part, Shape
from lexbeam.constraints.matching import Occurrence
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_prefix
from lexbeam.text.word_boundaries import are_glued


class Prefix(Constraint):
    """The beginning of the output; its last word may go on unless a space follows it."""

    key = "prefix"
    description = "What the translation begins with; like the field `prefix`, but reported."
    options = ()
    at_start = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a prefix; a space at its end is kept."""
        return ((clean_prefix(shape.value, f"{shape.where}.prefix"),),)

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a phrase."""
        return {"$ref": "#/$defs/phrase"}

    def find(
        self,
        text: str,
        times: int = 1,
        starts: Sequence[int] = (0,),  # noqa: ARG002
    ) -> list[Occurrence]:
        """Return the beginning of the text, ``times`` times, if it is this prefix."""
        prefix = self.parts[0][0]
        words = prefix.rstrip()
        if not text.startswith(words):
            return []
        goes_on = len(text) > len(words) and are_glued(words[-1], text[len(words)])
        if goes_on and prefix != words:
            return []
        return [((0, len(words)),)] * times
