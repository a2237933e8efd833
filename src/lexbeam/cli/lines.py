"""The ways a line can be written: plain text, with constraints behind tabs, and JSON objects.

Reading any of them gives the same `Line`; writing turns its translation, or what went wrong, into
exactly one line again (n-best lists in plain text apart), so that input and output stay aligned.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from lexbeam.errors import InputError
from lexbeam.translation.results import Translation


@dataclass(frozen=True)
class Asked:
    """What is asked of every line."""

    constraints: tuple[Any, ...] = ()
    avoid: tuple[Any, ...] = ()
    prefix: str | None = None


@dataclass
class Line:
    """One line of input on its way; ``error`` says why it can't be translated.

    A line without anything on it is skipped: there is nothing to place a constraint in.
    """

    number: int
    text: str = ""
    constraints: list[Any] = field(default_factory=list)
    avoid: list[Any] = field(default_factory=list)
    prefix: Any = None
    record: dict[str, Any] = field(default_factory=dict)
    skipped: bool = False
    error: str | None = None
    translation: Translation | None = None


class LineFormat(Protocol):
    """How lines are read and written."""

    def read(self, text: str, line: Line) -> None:
        """Fill in a line from its text; an InputError says that it can't be read."""
        ...

    def write(self, line: Line) -> str:
        """Return what to print for a line, without the line break at its end."""
        ...


class PlainLines:
    """A line is a text; the same is asked of all."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def read(self, text: str, line: Line) -> None:
        """Take the line as it is."""
        line.text = text
        line.skipped = not text.strip()
        line.constraints = list(self._asked.constraints)
        line.avoid = list(self._asked.avoid)
        line.prefix = self._asked.prefix

    def write(self, line: Line) -> str:
        """Return the translation, or its n-best list as ``line ||| text ||| score``."""
        if line.translation is None:
            return ""
        best = line.translation.nbest
        if len(best) < 2:
            return line.translation.text
        return "\n".join(f"{line.number} ||| {each.text} ||| {each.score:.4f}" for each in best)


class TabLines(PlainLines):
    """A line is a text and its phrases, with tabs between them, as fairseq reads it."""

    def __init__(self, asked: Asked, ordered: bool = False) -> None:
        super().__init__(asked)
        self._ordered = ordered

    def read(self, text: str, line: Line) -> None:
        """Take the phrases off; what is asked of every line comes on top."""
        text, *fields = text.split("\t")
        super().read(text, line)
        phrases: list[Any] = [phrase for phrase in fields if phrase.strip()]
        if self._ordered and phrases:
            phrases = [{"order": phrases}]
        line.constraints = phrases + line.constraints


class JsonLines:
    """A line is an object with ``text`` and perhaps ``constraints``, ``avoid``, ``prefix``."""

    def __init__(self, asked: Asked) -> None:
        self._asked = asked

    def read(self, text: str, line: Line) -> None:
        """Read the object; what is asked of every line comes on top of what it asks itself."""
        line.skipped = not text.strip()
        if line.skipped:
            return
        try:
            record = json.loads(text, parse_constant=_refuse_constant)
        except (ValueError, RecursionError) as error:
            raise InputError(f"not valid JSON: {error}") from error
        if not isinstance(record, dict):
            raise InputError(f"not a JSON object but {type(record).__name__}")
        line.record = record
        if not isinstance(record.get("text"), str):
            raise InputError('the JSON object has no "text" that is a string')
        line.text = record["text"]
        line.constraints = [*_phrases(record, "constraints"), *self._asked.constraints]
        line.avoid = [*_phrases(record, "avoid"), *self._asked.avoid]
        prefix = record.get("prefix")
        line.prefix = self._asked.prefix if prefix is None else prefix

    def write(self, line: Line) -> str:
        """Return the object with the translation, or with ``error`` and ``line``."""
        if line.error is not None:
            return _dump({**line.record, "error": line.error, "line": line.number})
        if line.translation is None:
            return ""
        return _dump({**line.record, **line.translation.to_json()})


def _phrases(record: Mapping[str, Any], name: str) -> list[Any]:
    phrases = record.get(name)
    if phrases is None:
        return []
    if not isinstance(phrases, list):
        raise InputError(f'"{name}" must be a list of phrases, not {type(phrases).__name__}')
    return phrases


def _dump(record: Mapping[str, Any]) -> str:
    text = json.dumps(record, ensure_ascii=False)
    try:
        text.encode()
    except UnicodeEncodeError:  # half a surrogate pair in some field: escape it as it came
        return json.dumps(record)
    return text


def _refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
