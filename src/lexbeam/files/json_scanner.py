"""Go through a JSON file and say where its strings stand; the file is checked on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from lexbeam.errors import InputError

MAX_DEPTH = 500

_TOKEN = re.compile(
    r"[ \t\r\n]*(?:(?P<string>\"(?:[^\"\\\x00-\x1f]|\\(?:[\"\\/bfnrt]|u[0-9a-fA-F]{4}))*\")"
    r"|(?P<mark>[{}\[\],:])"
    r"|(?P<literal>-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null))"
)
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")

Path = tuple[str | int, ...]


class JsonEvent(NamedTuple):
    """A string value, or where an object or a list opens or closes."""

    kind: str
    """``string``, ``open``, ``close`` or ``literal``."""
    path: Path
    start: int
    end: int


def scan_json(text: str) -> Iterator[JsonEvent]:
    """Yield the values of a JSON text with their paths.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    reader = _Reader()
    at = 0
    while (found := _TOKEN.match(text, at)) is not None:
        kind = found.lastgroup or ""
        event = reader.take(kind, found[kind])
        if event is None:
            raise _wrong(text, found.start(kind))
        at = found.end()
        if event:
            path = tuple(reader.path[:-1] if event == "open" else reader.path)
            yield JsonEvent(event, path, found.start(kind), at)
        if reader.done:
            break
    if not reader.done or text[at:].strip(" \t\r\n"):
        raise _wrong(text, at)


class _Reader:
    """What may come next in a JSON text.

    ``state`` is value, first (a value or the end of a list), key, first key (a key or the end of
    an object), colon or after (a value).
    """

    def __init__(self) -> None:
        self.path: list[str | int] = []
        self._closers: list[str] = []
        self._state = "value"

    @property
    def done(self) -> bool:
        """Whether the outermost value is complete."""
        return self._state == "after" and not self._closers

    def take(self, kind: str, token: str) -> str | None:
        """Take a token; return the event it is, nothing, or None if it can't come here."""
        if self._state in ("value", "first"):
            if token in ("{", "["):
                return self._open(token)
            if kind != "mark":
                self._state = "after"
                return kind
        if self._state in ("key", "first key") and kind == "string":
            self.path[-1] = json.loads(token)
            self._state = "colon"
            return ""
        if self._state == "colon" and token == ":":
            self._state = "value"
            return ""
        if kind == "mark" and self._closers and self._state in ("after", "first", "first key"):
            return self._close_or_go_on(token)
        return None

    def _open(self, token: str) -> str:
        self._closers.append("}" if token == "{" else "]")
        self.path.append("" if token == "{" else 0)
        if len(self._closers) > MAX_DEPTH:
            raise InputError(f"objects are nested more than {MAX_DEPTH} deep")
        self._state = "first key" if token == "{" else "first"
        return "open"

    def _close_or_go_on(self, token: str) -> str | None:
        if token == self._closers[-1]:
            self._closers.pop()
            self.path.pop()
            self._state = "after"
            return "close"
        if token != "," or self._state != "after":
            return None
        self._state = "key" if self._closers[-1] == "}" else "value"
        if self._state == "value":
            self.path[-1] = int(self.path[-1]) + 1
        return ""


def _wrong(text: str, at: int) -> InputError:
    line = text.count("\n", 0, at) + 1
    rest = text[at : at + 20].strip()
    return InputError(
        f"not valid JSON: line {line}, at {rest!r}"
        if rest
        else f"not valid JSON: it ends too early, in line {line}"
    )


def decode_string(literal: str) -> str:
    """Return the text of a string literal."""
    return str(json.loads(literal))


def writes_ascii(text: str) -> bool:
    """Return whether a file spells everything beyond ASCII with escapes."""
    return text.isascii() and _ESCAPED.search(text) is not None


def encode_string(text: str, ascii_only: bool = False) -> str:
    """Return the string literal of a text."""
    return json.dumps(text, ensure_ascii=ascii_only)
