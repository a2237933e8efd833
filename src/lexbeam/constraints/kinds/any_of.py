"""``{"any": ["Fabrik", "Werk"]}``: a phrase in any of several forms."""

from __future__ import annotations

from lexbeam.constraints.constraint import PHRASE_OPTIONS, Constraint, Part, Shape
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import clean_phrase, numbered


class AnyOf(Constraint):
    """One phrase, in any of the forms that are given."""

    key = "any"
    description = "Any of several forms."
    options = PHRASE_OPTIONS
    is_phrase = True

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a list of forms; the same form twice counts once."""
        forms = numbered(shape.value, f"{shape.where}.any", least=1)
        return (tuple(dict.fromkeys(clean_phrase(form, where) for where, form in forms)),)

    @classmethod
    def schemas(cls) -> list[Schema]:
        """Return the schemas of a phrase that may have a limit."""
        return cls.limited_schemas()

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a list of forms."""
        return {"$ref": "#/$defs/phrases"}
