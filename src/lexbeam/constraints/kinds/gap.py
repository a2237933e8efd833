"""``{"gap": ["fängt", "an"], "within": 3}``: one phrase with other words inside it."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence

from lexbeam.constraints.constraint import Part, Shape
from lexbeam.constraints.kinds.order import Order
from lexbeam.constraints.options import Schema
from lexbeam.errors import ConstraintError


class Gap(Order):
    """Parts that follow one another in one sentence."""

    key = "gap"
    description = (
        "A phrase in parts that stand in one sentence, with at most `within` words between two "
        "neighbours."
    )
    options = ("within", *Order.options)
    may_follow_word = False
    least_parts = 2

    @classmethod
    def read_parts(cls, shape: Shape) -> tuple[Part, ...]:
        """Read a list of parts; count with soft is refused.

        A soft constraint that must occur several times becomes one order, which has no
        ``within``.
        """
        if "count" in shape.options and "soft" in shape.options:
            raise ConstraintError(f'{shape.where} has "count" and "soft": a gap takes one of them')
        return super().read_parts(shape)

    @classmethod
    def schemas(cls) -> list[Schema]:
        """Return two schemas: one has no count, the other is not soft."""
        once = [name for name in cls.options if name != "count"]
        firm = [name for name in cls.options if name != "soft"]
        return [
            cls.object_schema(once, cls.description),
            cls.object_schema(firm, "The same, several times."),
        ]

    def are_near(self, text: str, end: int, start: int, starts: Sequence[int]) -> bool:
        """Return whether two parts stand in the same sentence, near enough to each other."""
        same_sentence = bisect_right(starts, end - 1) == bisect_right(starts, start)
        return same_sentence and super().are_near(text, end, start, starts)
