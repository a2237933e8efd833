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
    path: list[str | int] = []
    closers: list[str] = []
    state = "value"  # value, first (value or "]"), key, first key (key or "}"), colon, after
    at = 0
    while True:
        found = _TOKEN.match(text, at)
        if found is None:
            break
        at = found.end()
        kind = found.lastgroup or ""
        start = found.start(kind)
        mark = found["mark"]
        if state in ("key", "first key") and kind == "string":
            path[-1] = json.loads(found["string"])
            state = "colon"
        elif state == "colon" and mark == ":":
            state = "value"
        elif state in ("value", "first") and mark in ("{", "["):
            yield JsonEvent("open", tuple(path), start, at)
            closers.append("}" if mark == "{" else "]")
            path.append("" if mark == "{" else 0)
            if len(closers) > MAX_DEPTH:
                raise InputError(f"objects are nested more than {MAX_DEPTH} deep")
            state = "first key" if mark == "{" else "first"
        elif state in ("value", "first") and not mark:
            yield JsonEvent(kind, tuple(path), start, at)
            state = "after"
        elif mark and closers and mark == closers[-1] and state in ("after", "first key", "first"):
            closers.pop()
            path.pop()
            yield JsonEvent("close", tuple(path), start, at)
            state = "after"
        elif state == "after" and mark == "," and closers:
            if closers[-1] == "}":
                state = "key"
            else:
                path[-1] = int(path[-1]) + 1
                state = "value"
        else:
            raise _wrong(text, start)
        if state == "after" and not closers:
            break
    if closers or state != "after" or text[at:].strip(" \t\r\n"):
        raise _wrong(text, at)


def _wrong(text: str, at: int) -> InputError:
    line = text.count("\n", 0, at) + 1
    rest = text[at : at + 20].strip()
    return InputError(f"not valid JSON: line {line}, at {rest!r}" if rest else
                      f"not valid JSON: it ends too early, in line {line}")


def decode_string(literal: str) -> str:
    """Return the text of a string literal."""
    return str(json.loads(literal))


def writes_ascii(text: str) -> bool:
    """Return whether a file spells everything beyond ASCII with escapes."""
    return text.isascii() and _ESCAPED.search(text) is not None


def encode_string(text: str, ascii_only: bool = False) -> str:
    """Return the string literal of a text."""
    return json.dumps(text, ensure_ascii=ascii_only)
