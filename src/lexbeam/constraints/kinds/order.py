"""``{"order": ["zuerst", "dann"]}``: parts in this order, with anything between them."""

from __future__ import annotations

from lexbeam.constraints.constraint import Constraint, Part, Shape
from lexbeam.constraints.options import Schema
from lexbeam.constraints.phrases import numbered


class Order(Constraint):
    """Parts that follow one another, in one sentence or in several."""

    key = "order"
    description = "In this order, with anything between."
    may_follow_word = True
    least_parts = 1

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a list of parts."""
        parts = numbered(shape.value, f"{shape.where}.{cls.key}", cls.least_parts)
        return tuple(shape.reader.read_part(part, at) for at, part in parts)

    @classmethod
    def value_schema(cls) -> Schema:
        """Return the schema of a list of parts."""
        items = {"$ref": "#/$defs/item"}
        return {"type": "array", "minItems": cls.least_parts, "items": items}

    @classmethod
    def repeat(cls, constraint: Constraint) -> Order:
        """Return a constraint that must occur several times as one order of its parts.

        A soft constraint needs this: it is met as often as asked, or dropped as a whole.
        """
        return cls(
            parts=constraint.parts * constraint.count,
            case=constraint.case,
            within=constraint.within,
            soft=constraint.soft,
            compound=constraint.compound,
            given=constraint.given,
            source=constraint.source,
            source_spans=constraint.source_spans,
        )
