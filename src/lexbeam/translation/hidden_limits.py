"""Limits on words that stand in what is hidden from the model, such as *name* in ``{name}``.

All that is hidden comes back, so that what it has of a limited word is known. The search is given
what is left of the limit, and the text is looked at when all is put back.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.options import MAX_COUNT
from lexbeam.text.casing import matches


@dataclass(frozen=True)
class LeftLimits:
    """What hidden texts leave of the limits on words that are in them."""

    counted: tuple[int, ...] = ()
    """The numbers of the demands that are in hidden texts."""
    demanded: tuple[Constraint, ...] = ()
    """What is still demanded of them elsewhere."""
    avoid: tuple[Constraint, ...] = ()
    """What may not be said elsewhere."""

    @classmethod
    def of(
        cls, demanded: Sequence[Constraint], prefix: str, hidden: Sequence[str]
    ) -> LeftLimits | None:
        """Return what is left; None if that can't be told, or if there is too much already.

        ``hidden`` has a text as often as it is hidden.
        """
        counted, left, avoid = [], [], []
        for number, each in enumerate(demanded):
            if each.at_most is None or not _is_in(each, hidden):
                continue
            inside = sum(len(each.find(text, MAX_COUNT, ())) for text in hidden)
            others = (other for at, other in enumerate(demanded) if at != number)
            if not 0 < inside <= each.at_most or _is_in(each, [prefix]):
                return None
            if any(_shares_words(each, other) for other in others):
                return None
            counted.append(number)
            if inside == each.at_most:
                avoid.append(each.once)
            elif inside < each.count:
                fewer, most = each.count - inside, each.at_most - inside
                left.append(replace(each, count=fewer, at_most=most))
        return cls(tuple(counted), tuple(left), tuple(avoid))


def _is_in(each: Constraint, texts: Sequence[str]) -> bool:
    forms = (form for part in each.parts for form in part)
    return any(matches(text, form, "any", ()) for form in forms for text in texts)


def _shares_words(each: Constraint, other: Constraint) -> bool:
    """Return whether a form of one constraint is in a form of the other."""
    forms = [form for part in each.parts for form in part]
    return _is_in(each, [form for part in other.parts for form in part]) or _is_in(other, forms)
