"""The text inside an XML element as a marked text, and back."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import NamedTuple

from lexbeam.files.placeholders import DEFAULT, mark_parts
from lexbeam.files.xml_scanner import Token, XmlFile, escape, unescape
from lexbeam.translation.marked_text import Code, Kind, MarkedText, Part, join_texts


class Inline(NamedTuple):
    """How an inline element is dealt with.

    ``whole`` takes it with all that is inside as one code. ``key`` pairs an opening with a
    closing code that are elements of their own.
    """

    kind: Kind
    whole: bool = False
    key: str = ""


Classify = Callable[[Token, Mapping[str, str]], Inline]
PAIR = Inline("open")
WORD = Inline("word", whole=True)
POINT = Inline("point", whole=True)
BREAK = Inline("break", whole=True)


def read_inline(
    xml: XmlFile,
    start: int,
    end: int,
    classify: Classify,
    decode: Callable[[str], str] = unescape,
    syntaxes: tuple[str, ...] = DEFAULT,
) -> MarkedText:
    """Return the stretch of a file between two tags as a marked text."""
    parts: list[Part] = []
    opened: list[int] = []
    keys: dict[str, int] = {}
    number = 0
    tokens = xml.tokens(start, end)
    for token in tokens:
        raw = xml.raw(token.start, token.end)
        if token.kind == "text":
            parts.append(decode(raw))
        elif token.kind == "cdata":
            number += 1
            inside = raw[9:-3]
            parts += [Code("<![CDATA[", "open", number, verbatim=True), inside]
            parts.append(Code("]]>", "close", number, verbatim=True))
        elif token.kind == "end":
            parts.append(Code(raw, "close", opened.pop(), verbatim=True))
        elif token.kind in ("start", "empty"):
            rule = classify(token, xml.attributes(token))
            number += 1
            if rule.whole or token.kind == "empty":
                if token.kind == "start":
                    raw = xml.raw(token.start, xml.element_end(tokens).end)
                pair = keys.setdefault(rule.key, number) if rule.key else 0
                kind = "point" if rule.kind == "open" and not rule.key else rule.kind
                parts.append(Code(raw, kind, pair, verbatim=True))
            else:
                opened.append(number)
                parts.append(Code(raw, "open", number, verbatim=True))
        else:
            parts.append(Code(raw, "point", verbatim=True))
    return mark_parts(join_texts(parts), syntaxes)


def write_inline(marked: MarkedText, encode: Callable[[str], str] = escape) -> str:
    """Return a marked text as it is written between two tags."""
    pieces: list[str] = []
    in_cdata = False
    for part in marked:
        if isinstance(part, Code) and part.verbatim:
            in_cdata = part.raw == "<![CDATA[" or (in_cdata and part.raw != "]]>")
            pieces.append(part.raw)
            continue
        text = part if isinstance(part, str) else part.raw
        pieces.append(text.replace("]]>", "]] >") if in_cdata else encode(text))
    return "".join(pieces)


_SPACES = re.compile(r"[ \t\r\n]+")


def collapsed(marked: MarkedText) -> MarkedText:
    """Return a marked text with every run of white space in its strings as one space."""
    return tuple(_SPACES.sub(" ", part) if isinstance(part, str) else part for part in marked)
