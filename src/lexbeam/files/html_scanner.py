"""Cut HTML into tags, texts and what is neither, with offsets."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

_TOKEN = re.compile(
    r"(?P<comment><!--.*?(?:-->|\Z)|<![^>]*>|<\?[^>]*>|<%.{0,5000}?%>)"
    r"|</(?P<end>[A-Za-z][^\s/<>]*)[^<>]*>"
    r"|<(?P<start>[A-Za-z][^\s/<>]*)(?:[^\"'<>]++|\"[^\"]*+\"|'[^']*+')*+>",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(
    r"([^\s=/<>\"']+)(?:\s*=\s*(?:\"([^\"]*)\"|'([^']*)'|([^\s\"'<>=`]+)))?", re.DOTALL
)
RAW = {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "noframes"}
"""Elements whose content has no tags."""
VOID = {
    "area", "base", "br", "col", "embed", "hr", "img", "input", "link", "meta", "param",
    "source", "track", "wbr",
}  # fmt: skip


class HtmlToken(NamedTuple):
    """A piece of HTML: ``kind`` is start, void, end, text or comment."""

    kind: str
    start: int
    end: int
    name: str = ""


class Attribute(NamedTuple):
    """An attribute of a tag, and where its value stands in the file."""

    name: str
    value: str
    start: int
    end: int


def scan_html(text: str, start: int = 0, end: int | None = None) -> Iterator[HtmlToken]:
    """Yield the tokens of a stretch of HTML; every character is in one of them."""
    stop = len(text) if end is None else end
    at = start
    while at < stop:
        found = _TOKEN.search(text, at, stop)
        if found is None:
            yield HtmlToken("text", at, stop)
            return
        if found.start() > at:
            yield HtmlToken("text", at, found.start())
        kind = found.lastgroup or "comment"
        name = found[kind].lower() if kind != "comment" else ""
        first, at = found.span()
        if kind == "start" and (name in VOID or text[at - 2] == "/"):
            kind = "void"
        yield HtmlToken(kind, first, at, name)
        if kind == "start" and name in RAW:
            closing = re.compile(rf"</{re.escape(name)}\b", re.IGNORECASE).search(text, at, stop)
            inside = closing.start() if closing else stop
            if inside > at:
                yield HtmlToken("text", at, inside)
            at = inside


def attributes(text: str, token: HtmlToken) -> list[Attribute]:
    """Return the attributes of a start tag."""
    first = token.start + 1 + len(token.name)
    found = []
    for each in _ATTRIBUTE.finditer(text, first, token.end - 1):
        group = next((g for g in (2, 3, 4) if each[g] is not None), 0)
        if group:
            found.append(
                Attribute(each[1].lower(), each[group], each.start(group), each.end(group))
            )
        else:
            found.append(Attribute(each[1].lower(), "", each.end(), each.end()))
    return found
