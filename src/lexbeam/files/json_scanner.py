"""Go through a JSON file and say where its strings stand; the file is checked on the way."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import NamedTuple

from lexbeam.errors import InputError

MAX_DEPTH = 500

_SPACE = r"[ \t\r\n]*+"
_STRING = r'"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+"'
_LITERAL = r"(?:-?(?:0|[1-9][0-9]*+)(?:\.[0-9]++)?(?:[eE][+-]?[0-9]++)?|true|false|null)"
_VALUE = rf"(?:({_STRING})|([{{\[])|{_LITERAL}){_SPACE}()"
_ITEM = re.compile(rf"(?:{_SPACE}{_LITERAL}{_SPACE},)*+{_SPACE}(){_VALUE}")
_MEMBER = re.compile(
    rf"(?:{_SPACE}{_STRING}{_SPACE}:{_SPACE}{_LITERAL}{_SPACE},)*+"
    rf"{_SPACE}({_STRING}){_SPACE}:{_SPACE}{_VALUE}"
)
"""A value of a list or of an object; numbers and the like before it are passed over at once."""
_AFTER = re.compile(rf"{_SPACE}([,}}\]])")
_ESCAPED = re.compile(r"\\u(?!00[01])[0-9a-fA-F]{4}")

Path = tuple[str | int, ...]


class JsonEvent(NamedTuple):
    """A string value, or where an object or a list opens or closes."""

    kind: str
    """``string``, ``open`` or ``close``."""
    path: Path
    start: int
    end: int


def scan_json(text: str) -> Iterator[JsonEvent]:
    """Yield the strings, objects and lists of a JSON text with their paths.

    Raises:
        InputError: it is not JSON, or nested too deeply.
    """
    path: list[str | int] = []
    closers: list[str] = []
    at = 0
    state = "value"
    while state != "after" or closers:
        if state == "after":
            at, closed = _behind_value(text, at, closers, path)
            state = "after" if closed else "next"
            if closed:
                yield JsonEvent("close", tuple(path), at - 1, at)
            continue
        found = (_MEMBER if closers and closers[-1] == "}" else _ITEM).match(text, at)
        if found is None:
            closing = _AFTER.match(text, at) if state == "first" else None
            if closing is None or closing[1] != closers[-1]:
                raise _wrong(text, at)
            state = "after"
            continue
        _take_key(path, closers, found, text)
        string, opening = found.group(2, 3)
        at, state = found.start(4), "after"
        if string:
            yield JsonEvent("string", tuple(path), *found.span(2))
        elif opening:
            yield JsonEvent("open", tuple(path), *found.span(3))
            _open(opening, closers, path)
            at, state = found.end(3), "first"
    if text[at:].strip(" \t\r\n"):
        raise _wrong(text, at)


def _behind_value(
    text: str, at: int, closers: list[str], path: list[str | int]
) -> tuple[int, bool]:
    """Go past the comma or bracket behind a value; return where to go on, whether it closes."""
    after = _AFTER.match(text, at)
    if after is None or after[1] not in (",", closers[-1]):
        raise _wrong(text, at)
    if after[1] != ",":
        closers.pop()
        path.pop()
        return after.end(), True
    if closers[-1] == "]":
        path[-1] = int(path[-1]) + 1
    return after.end(), False


def _take_key(path: list[str | int], closers: list[str], found: re.Match[str], text: str) -> None:
    """Put the key of a member, or the number of an item, at the end of the path."""
    if not closers:
        if found.end(1) > found.start() and text[found.start() : found.end(1)].strip(" \t\r\n"):
            raise _wrong(text, found.start())  # several values at the top
    elif closers[-1] == "}":
        key = found[1]
        path[-1] = json.loads(key) if "\\" in key else key[1:-1]
    else:
        path[-1] = int(path[-1]) + text.count(",", found.start(), found.end(1))


def _open(token: str, closers: list[str], path: list[str | int]) -> None:
    closers.append("}" if token == "{" else "]")
    path.append("" if token == "{" else 0)
    if len(closers) > MAX_DEPTH:
        raise InputError(f"objects are nested more than {MAX_DEPTH} deep")


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
