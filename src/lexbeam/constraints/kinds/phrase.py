"""``{"text": "Fabrik"}``, or in short ``"Fabrik"``: words that stand next to each other."""

from __future__ import annotations

from lexbeam.constraints.constraint import Constraint, Part, Shape
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_phrase


class Phrase(Constraint):
    """One phrase in one form."""

    key = "text"
    description = "A phrase with more to say about it."
    is_phrase = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a phrase."""
        return ((clean_phrase(shape.value, shape.where),),)

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a phrase."""
        return {"$ref": "#/$defs/phrase"}
