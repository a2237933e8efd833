"""The options that a constraint may have beside its main key: how each is read, and its schema."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

from lexbeam.constraints.phrases import clean_phrase, describe_value, listed
from lexbeam.errors import ConstraintError
from lexbeam.text.casing import CASES, Case
from lexbeam.text.word_boundaries import Span

Schema = dict[str, Any]
"""A JSON Schema, or a piece of one."""

MAX_COUNT = 100
"""A count above this is taken for a mistake."""

MAX_WITHIN = 50
"""The largest ``within``; a constraint without the option has no limit."""

_SOFT_LIMIT = 10**9  # above the cost of any output


@dataclass(frozen=True)
class Option:
    """One option: how its value is read into a field of `Constraint`, and its JSON Schema.

    An option without ``read`` is read by the kind that takes it.
    """

    schema: Schema
    read: Callable[[object, str], Any] | None = None


def _read_case(value: object, where: str) -> Case:
    for case in CASES:
        if value == case:
            return case
    raise ConstraintError(f"{where} must be one of {listed(CASES)}, not {describe_value(value)}")


def _read_whole_number(value: object, where: str, least: int, most: int) -> int:
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if number % 1 == 0 and least <= number <= most:
        return int(number)
    raise ConstraintError(
        f"{where} must be a whole number from {least} to {most}, not {describe_value(value)}"
    )


def _read_soft(value: object, where: str) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _SOFT_LIMIT:
        return float(value)
    raise ConstraintError(
        f"{where} must be a penalty in log-probability, 0 or more and less than {_SOFT_LIMIT:,}, "
        f"not {describe_value(value)}"
    )


def _read_compound(value: object, where: str) -> bool:
    if isinstance(value, bool):
        return value
    raise ConstraintError(f"{where} must be true or false, not {describe_value(value)}")


def _read_source(value: object, where: str) -> str | Span:
    """Read the words of the source that a constraint translates, or their span."""
    if isinstance(value, str):
        return clean_phrase(value, where)
    whole = isinstance(value, Sequence) and all(
        isinstance(each, int) and not isinstance(each, bool) and each >= 0 for each in value
    )
    if whole and isinstance(value, Sequence) and len(value) == 2 and value[0] < value[1]:
        return value[0], value[1]
    raise ConstraintError(
        f"{where} must be words of the source, or [start, end] in characters, "
        f"not {describe_value(value)}"
    )


OPTIONS = {
    "language": Option(
        {
            "description": "Language of a lemma, where it is not that of the model's output.",
            "anyOf": [{"$ref": "#/$defs/phrase"}, {"type": "null"}],
        }
    ),
    "case": Option(
        {
            "description": "exact: as written. start: a phrase written small may be capitalised "
            "as the first word of a sentence. any: case does not matter.",
            "enum": [*CASES, None],
            "default": "start",
        },
        _read_case,
    ),
    "within": Option(
        {
            "description": "At most so many words between two neighbouring parts.",
            "type": ["integer", "null"],
            "minimum": 0,
            "maximum": MAX_WITHIN,
        },
        partial(_read_whole_number, least=0, most=MAX_WITHIN),
    ),
    "count": Option(
        {
            "description": "At least so many times.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MAX_COUNT,
            "default": 1,
        },
        partial(_read_whole_number, least=1, most=MAX_COUNT),
    ),
    "exactly": Option(
        {
            "description": "So many times, neither more nor less.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MAX_COUNT,
        },
        partial(_read_whole_number, least=1, most=MAX_COUNT),
    ),
    "at_most": Option(
        {
            "description": "Not more often than this; not less than `count`.",
            "type": ["integer", "null"],
            "minimum": 1,
            "maximum": MAX_COUNT,
        },
        partial(_read_whole_number, least=1, most=MAX_COUNT),
    ),
    "soft": Option(
        {
            "description": "Dropped if it costs more log-probability than this.",
            "type": ["number", "null"],
            "minimum": 0,
            "exclusiveMaximum": _SOFT_LIMIT,
        },
        _read_soft,
    ),
    "compound": Option(
        {
            "description": "Whether it may be the first or the last part of a compound.",
            "type": ["boolean", "null"],
            "default": False,
        },
        _read_compound,
    ),
    "source": Option(
        {
            "description": "The words of the source that it translates, or where they stand: "
            "the first character and the one after the last.",
            "anyOf": [
                {"$ref": "#/$defs/phrase"},
                {
                    "type": "array",
                    "items": {"type": "integer", "minimum": 0},
                    "minItems": 2,
                    "maxItems": 2,
                },
                {"type": "null"},
            ],
        },
        _read_source,
    ),
}
"""All options by name, in the order in which they are read."""


_EXCLUSIVE = (
    ("exactly", "count"),
    ("exactly", "at_most"),
    ("exactly", "soft"),
    ("at_most", "soft"),
    ("exactly", "compound"),
    ("at_most", "compound"),
)
"""Options that can't be given together."""


def read_options(given: Mapping[str, Any], where: str) -> dict[str, Any]:
    """Return the fields of a `Constraint` that options set; None leaves a field as it is."""
    fields = {
        name: option.read(given[name], f"{where}.{name}")
        for name, option in OPTIONS.items()
        if option.read is not None and given.get(name) is not None
    }
    for one, other in _EXCLUSIVE:
        if one in fields and fields.get(other, False) is not False:
            raise ConstraintError(f'{where} has "{one}" and "{other}": give one of them')
    if "exactly" in fields:
        fields["count"] = fields["at_most"] = fields.pop("exactly")
    if fields.get("at_most", MAX_COUNT) < fields.get("count", 1):
        raise ConstraintError(
            f"{where}.at_most is {fields['at_most']}, but count is {fields['count']}: "
            "lower the count"
        )
    return fields
