"""The kinds of constraints, a module each.

A new kind is a subclass of `lexbeam.constraints.constraint.Constraint` in a module here, and an
entry in `KINDS`. A package of its own registers it with `register`.
"""

from __future__ import annotations

from typing import TypeVar

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.kinds.any_of import AnyOf
from lexbeam.constraints.kinds.gap import Gap
from lexbeam.constraints.kinds.lemma import Lemma
from lexbeam.constraints.kinds.order import Order
from lexbeam.constraints.kinds.phrase import Phrase
from lexbeam.constraints.kinds.prefix import Prefix
from lexbeam.constraints.kinds.suffix import Suffix

__all__ = ["KINDS", "AnyOf", "Gap", "Lemma", "Order", "Phrase", "Prefix", "Suffix", "register"]

KINDS: list[type[Constraint]] = [Phrase, AnyOf, Lemma, Order, Gap, Prefix, Suffix]
"""All kinds, in the order in which messages and the JSON Schema list them."""

_Class = TypeVar("_Class", bound=type[Constraint])


def register(kind: _Class) -> _Class:
    """Make a kind known by its key; one that was known by it is replaced."""
    KINDS[:] = [each for each in KINDS if each.key != kind.key] + [kind]
    return kind
