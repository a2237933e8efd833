"""The shapes in which constraints are given, read into ``Constraint``.

A phrase is a string; everything else is an object (a dict) whose one main key says what it is
and whose other keys say more. ``docs/constraints.schema.json`` says the same as a JSON Schema.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from lexbeam.constraints.constraint import (
    Constraint,
    Kind,
    Part,
    clean_phrase,
    clean_prefix,
    kind_of,
)
from lexbeam.errors import ConstraintError, InputError
from lexbeam.text.casing import CASES, Case

MOST_TIMES = 100
"""A count above this is taken for a mistake."""

MOST_BETWEEN = 50
"""Most words between two parts that can be asked for; without a limit there may be more."""

_DEAREST = 1e9  # costs more than any output

_OPTIONS: dict[Kind, tuple[str, ...]] = {
    "text": ("case", "count", "soft"),
    "any": ("case", "count", "soft"),
    "lemma": ("language", "case", "count", "soft"),
    "order": ("case", "count", "soft"),
    "gap": ("within", "case", "count", "soft"),
    "prefix": (),
    "suffix": ("case", "soft"),
}
_AVOIDABLE: dict[Kind, tuple[str, ...]] = {
    "text": ("case",),
    "any": ("case",),
    "lemma": ("language", "case"),
}
_ITEMS: dict[Kind, tuple[str, ...]] = {"text": (), "any": (), "lemma": ("language",)}


class _Shape(NamedTuple):
    """An object, its kind known and its keys checked."""

    kind: Kind
    value: Any
    options: Mapping[str, Any]
    where: str


class Reader:
    """Reads constraints for outputs in one language (None: not known)."""

    def __init__(self, language: str | None = None) -> None:
        self._language = language

    def demands(self, given: object, name: str) -> list[Constraint]:
        """Read a list of what is demanded."""
        return [self._read(each, where, _OPTIONS) for where, each in _entries(given, name)]

    def avoided(self, given: object, name: str) -> list[Constraint]:
        """Read a list of what is avoided."""
        return [self._read(each, where, _AVOIDABLE) for where, each in _entries(given, name)]

    def _read(self, given: object, where: str, kinds: Mapping[Kind, tuple[str, ...]]) -> Constraint:
        if isinstance(given, Constraint) and given.kind in kinds:
            return given
        shape = _shape(given, where, kinds)
        options = shape.options
        if shape.kind == "gap" and "count" in options and "soft" in options:
            raise ConstraintError(f'{where} has "count" and "soft": a gap takes one of them')
        constraint = Constraint(
            parts=self._parts(shape),
            kind=shape.kind,
            case=_case(options.get("case"), f"{where}.case"),
            within=_whole(options.get("within"), 0, MOST_BETWEEN, f"{where}.within"),
            count=_whole(options.get("count"), 1, MOST_TIMES, f"{where}.count") or 1,
            soft=_price(options.get("soft"), f"{where}.soft"),
            asked=given,
        )
        if constraint.soft is None or constraint.count == 1:
            return constraint
        # All or nothing: an order of the same again and again is dropped as a whole.
        again = constraint.parts * constraint.count
        return replace(constraint, kind="order", parts=again, count=1)

    def _parts(self, shape: _Shape) -> tuple[Part, ...]:
        kind, where = shape.kind, f"{shape.where}.{shape.kind}"
        if kind in ("order", "gap"):
            least = 2 if kind == "gap" else 1
            return tuple(self._item(each, at) for at, each in _filled(shape.value, where, least))
        if kind == "prefix":
            return ((clean_prefix(shape.value, where),),)
        return (self._forms(shape),)

    def _item(self, given: object, where: str) -> Part:
        """Read one part of an order or a gap."""
        return self._forms(_shape(given, where, _ITEMS))

    def _forms(self, shape: _Shape) -> Part:
        kind, value, options, where = shape
        if kind == "any":
            forms = [clean_phrase(v, at) for at, v in _filled(value, f"{where}.any", 1)]
            return tuple(dict.fromkeys(forms))
        if kind == "lemma":
            return self._inflect(value, options.get("language"), where)
        return (clean_phrase(value, f"{where}.{kind}" if kind != "text" else where),)

    def _inflect(self, lemma: object, language: object, where: str) -> Part:
        from lexbeam.text.inflection import forms  # noqa: PLC0415  (an extra)

        word = clean_phrase(lemma, f"{where}.lemma")
        code = language if language is not None else self._language
        if not isinstance(code, str) or not code.strip():
            raise ConstraintError(
                f'{where}.lemma: the language of "{word}" is not known: give it as "language"'
            )
        try:
            return tuple(dict.fromkeys((word, *forms(word, code.strip()))))
        except InputError as error:
            raise ConstraintError(f"{where}.lemma: {error}") from error


def read_argument(argument: str, where: str) -> Any:
    """Read a constraint from the command line: an object where it looks like one, else a phrase.

    What begins with a brace and a quotation mark is JSON. ``{name}`` and ``{}`` are phrases.
    """
    inside = argument.strip().removeprefix("{").lstrip()
    if not (argument.strip().startswith("{") and inside.startswith('"')):
        return argument
    try:
        return json.loads(argument)
    except (ValueError, RecursionError) as error:
        raise ConstraintError(f"{where} is not valid JSON: {error}") from error


def read_list(path: Path) -> list[Any]:
    """Read a file of phrases, one a line; objects as JSON. Blank lines say nothing."""
    try:
        lines = path.read_bytes().removeprefix(b"\xef\xbb\xbf").split(b"\n")
    except OSError as error:
        raise InputError(f"{path} can't be read: {error.strerror}") from error
    phrases = []
    for number, line in enumerate(lines, 1):
        where = f"{path}, line {number}"
        try:
            text = line.decode("utf-8").strip()
        except UnicodeDecodeError as error:
            wrong = f"byte {line[error.start]:#04x} at {error.start}"
            raise InputError(f"{where} is not valid UTF-8: {wrong}") from error
        if text:
            phrases.append(read_argument(clean_phrase(text, where), where))
    return phrases


def _shape(given: object, where: str, kinds: Mapping[Kind, tuple[str, ...]]) -> _Shape:
    """Check the keys of an object; a string is its shortest form."""
    if isinstance(given, str) or not isinstance(given, Mapping):
        if not isinstance(given, str):
            raise ConstraintError(
                f"{where} must be text or an object with one of "
                f"{_listed(kinds)}, not {kind_of(given)}"
            )
        return _Shape("text", given, {}, where)
    named = [kind for kind in kinds if kind in given]
    if len(named) != 1:
        problem = f"has {_listed(named)} at once" if named else f"has none of {_listed(kinds)}"
        raise ConstraintError(f"{where} {problem}: give exactly one of them")
    kind = named[0]
    options = {key: value for key, value in given.items() if key != kind}
    for key in options:
        if key not in kinds[kind]:
            allowed = _listed(kinds[kind]) or "no other key"
            raise ConstraintError(
                f'{where} has the unknown key "{key}": "{kind}" takes {allowed} beside it'
            )
    return _Shape(kind, given[kind], options, where)


def _entries(given: object, name: str) -> Iterable[tuple[str, object]]:
    if given is None:
        return []
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise ConstraintError(f"{name} must be a list of phrases, not {kind_of(given)}")
    return [(f"{name}[{i}]", each) for i, each in enumerate(given)]


def _filled(given: object, where: str, least: int) -> Iterable[tuple[str, object]]:
    entries = list(_entries([] if given is None else given, where))
    if len(entries) < least:
        raise ConstraintError(f"{where} has {len(entries)} entries: it needs at least {least}")
    return entries


def _case(value: object, where: str) -> Case:
    if value is None:
        return "start"
    for case in CASES:
        if value == case:
            return case
    raise ConstraintError(f"{where} must be one of {_listed(CASES)}, not {kind_of(value)}")


def _whole(value: object, least: int, most: int, where: str) -> int | None:
    if value is None:
        return None
    number = value if isinstance(value, int | float) and not isinstance(value, bool) else -1
    if number % 1 == 0 and least <= number <= most:
        return int(number)
    raise ConstraintError(
        f"{where} must be a whole number from {least} to {most}, not {kind_of(value)}"
    )


def _price(value: object, where: str) -> float | None:
    if value is None:
        return None
    if isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value < _DEAREST:
        return float(value)
    raise ConstraintError(
        f"{where} must be a price in log-probability, 0 or more, not {kind_of(value)}"
    )


def _listed(names: Iterable[str]) -> str:
    return ", ".join(f'"{name}"' for name in names)
