"""``{"text": "Fabrik"}``, or in short ``"Fabrik"``: words that stand next to each other."""

from __future__ import annotations

from lexbeam.constraints.constraint import PHRASE_OPTIONS, Constraint, Part, Shape
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_phrase


class Phrase(Constraint):
    """One phrase in one form."""

    key = "text"
    description = "A phrase with more to say about it."
    options = PHRASE_OPTIONS
    is_phrase = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a phrase."""
        return ((clean_phrase(shape.value, shape.where),),)

    @classmethod
    def schemas(cls) -> list[Schema]:
        """Return the schemas of a phrase that may have a limit."""
        return cls.limited_schemas()

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a phrase."""
        return {"$ref": "#/$defs/phrase"}
