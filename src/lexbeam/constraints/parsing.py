"""The shapes in which constraints are given, read into `Constraint`.

A phrase is a string. Everything else is an object (a dict): one main key says of which kind it
is (`lexbeam.constraints.kinds`), the other keys are options. `lexbeam.constraints.schema` says
the same as a JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from lexbeam.arguments import as_pairs, read_json_integer
from lexbeam.constraints.constraint import Constraint, Part, Shape
from lexbeam.constraints.kinds import KINDS, Order, Phrase
from lexbeam.constraints.options import read_options
from lexbeam.constraints.phrases import clean_phrase, describe_value, listed, numbered
from lexbeam.errors import ConstraintError, quoted, represented
from lexbeam.plugins import CONSTRAINT_KINDS, load_plugins
from lexbeam.text.compounds import has_compounds
from lexbeam.text.files import read_lines

AllowedKinds = Mapping[str, tuple[type[Constraint], tuple[str, ...]]]
"""Kinds that may be given somewhere, by key, each with the options that it may have there."""


def demanded_kinds() -> AllowedKinds:
    """Return the kinds that may be demanded."""
    return {kind.key: (kind, kind.options) for kind in KINDS}


def avoided_kinds() -> AllowedKinds:
    """Return the kinds that may be avoided."""
    return _phrases(without=_OF_DEMANDS)


def part_kinds() -> AllowedKinds:
    """Return the kinds that may be a part of a constraint."""
    return _phrases(without=("case", "compound", *_OF_DEMANDS))


_OF_DEMANDS = ("count", "exactly", "at_most", "soft", "source")


def _phrases(without: tuple[str, ...]) -> AllowedKinds:
    """Return the kinds that are phrases, each without some of its options."""
    return {
        kind.key: (kind, tuple(option for option in kind.options if option not in without))
        for kind in KINDS
        if kind.is_phrase
    }


class Reader:
    """Reads constraints for outputs in one language (None: not known)."""

    def __init__(self, language: str | None = None) -> None:
        self.language = language

    def demands(self, given: object, name: str) -> list[Constraint]:
        """Read a list of what is demanded."""
        return [self._read(each, where, demanded_kinds) for where, each in numbered(given, name)]

    def avoided(self, given: object, name: str) -> list[Constraint]:
        """Read a list of what is avoided."""
        return [self._read(each, where, avoided_kinds) for where, each in numbered(given, name)]

    def read_part(self, given: object, where: str) -> Part:
        """Read one part of a constraint that has several."""
        kind, shape = self._shape(given, where, part_kinds)
        (part,) = kind.read_parts(shape)
        return part

    def _read(
        self, given: object, where: str, find_kinds: Callable[[], AllowedKinds]
    ) -> Constraint:
        if isinstance(given, Constraint) and given.key in find_kinds():
            return given
        kind, shape = self._shape(given, where, find_kinds)
        parts = kind.read_parts(shape)
        constraint = kind(parts, **read_options(shape.options, where), given=given)
        if constraint.compound and not has_compounds(self.language):
            raise ConstraintError(
                f"{where}.compound: {self.language} does not write compounds as one word; "
                "leave it out"
            )
        if constraint.soft is None or constraint.count == 1:
            return constraint
        return Order.repeat(constraint)

    def _shape(
        self, given: object, where: str, find_kinds: Callable[[], AllowedKinds]
    ) -> tuple[type[Constraint], Shape]:
        """Check which kind an object is and that it has no unknown keys; a string is a phrase."""
        if isinstance(given, str):
            return Phrase, Shape(given, {}, where, self)
        kinds, pairs = find_kinds(), as_pairs(given)
        if pairs is None:
            raise ConstraintError(
                f"{where} must be text or an object with one of "
                f"{listed(kinds)}, not {describe_value(given)}"
            )
        given = dict(pairs)
        if not kinds.keys() & given.keys():
            load_plugins(CONSTRAINT_KINDS)
            kinds = find_kinds()
        keys = [key for key in kinds if key in given]
        if len(keys) != 1:
            problem = f"has {listed(keys)} at once" if keys else f"has none of {listed(kinds)}"
            raise ConstraintError(f"{where} {problem}: give exactly one of them")
        kind, allowed = kinds[keys[0]]
        options = {key: value for key, value in given.items() if key != kind.key}
        for key in options:
            if key not in allowed:
                others = listed(allowed) or "no other key"
                name = quoted(key) if isinstance(key, str) else represented(key)
                raise ConstraintError(
                    f'{where} has the unknown key {name}: "{kind.key}" takes {others} beside it'
                )
        return kind, Shape(given[kind.key], options, where, self)


def read_argument(argument: str, where: str) -> Any:
    """Read a constraint from the command line: JSON if it looks like an object, else a phrase.

    What begins with a brace and a quotation mark is JSON. ``{name}`` and ``{}`` are phrases.
    """
    inside = argument.strip().removeprefix("{").lstrip()
    if not (argument.strip().startswith("{") and inside.startswith('"')):
        return argument
    try:
        return json.loads(argument, parse_int=read_json_integer)
    except (ValueError, RecursionError) as error:
        raise ConstraintError(f"{where} is not valid JSON: {error}") from error


def read_list(path: Path) -> list[Any]:
    """Read a file of phrases, one per line; objects as JSON. Blank lines are left out."""
    phrases = []
    for number, line in enumerate(read_lines(path), 1):
        where = f"{path}, line {number}"
        if line.strip():
            phrases.append(read_argument(clean_phrase(line, where), where))
    return phrases
