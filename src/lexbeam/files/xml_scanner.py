"""Cut an XML file into tokens with their byte offsets, after making sure that it is well-formed.

Expat judges the file: whether it is well-formed, and that it declares no entities. What it has
passed is cut with one regular expression. Offsets count bytes of UTF-8; a file in another
encoding is turned into UTF-8 first and back at the end.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from typing import NamedTuple
from xml.parsers import expat

from lexbeam.errors import InputError
from lexbeam.files.encodings import Content, codec_name, in_order, read_text
from lexbeam.files.units import Edit

MAX_DEPTH = 500

_DECLARED = re.compile(rb"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)[\"']")
_DECLARED_TEXT = re.compile(r"<\?xml[^>]*?encoding\s*=\s*[\"']([^\"']+)[\"']")
_TOKEN = re.compile(
    rb"(?P<comment><!--.*?-->)|(?P<cdata><!\[CDATA\[.*?\]\]>)|(?P<pi><\?.*?\?>)"
    rb"|(?P<doctype><!DOCTYPE(?:[^\[>\"']|\"[^\"]*\"|'[^']*')*(?:\[[^\]]*\]\s*)?>)"
    rb"|</(?P<end>[^\s>]+)\s*>"
    rb"|<(?P<start>[^\s/>!?]+)(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>|(?P<text>[^<]+)",
    re.DOTALL,
)
_ATTRIBUTE = re.compile(rb"([^\s=/<>\"']+)\s*=\s*(?:\"([^\"]*)\"|'([^']*)')")
_REFERENCE = re.compile(r"&(#[xX][0-9a-fA-F]+|#[0-9]+|amp|lt|gt|quot|apos);")
_NAMED = {"amp": "&", "lt": "<", "gt": ">", "quot": '"', "apos": "'"}
_CHUNK = 1 << 20


class Token(NamedTuple):
    """A piece of an XML file.

    ``kind`` is start, empty, end, text, cdata, comment, pi or doctype; ``name`` is the local name
    of an element.
    """

    kind: str
    start: int
    end: int
    name: str = ""
    prefix: str = ""


class Element(NamedTuple):
    """An element: its start tag, what is inside, and where it ends."""

    tag: Token
    inside: tuple[int, int]
    end: int


class XmlFile:
    """A well-formed XML file; ``data`` is UTF-8."""

    def __init__(self, raw: bytes) -> None:
        self.content: Content | None = None
        self._mark = b""
        data = raw
        declared = _DECLARED.search(raw[:500])
        name = codec_name(declared[1].decode("ascii", "replace")) if declared else "utf-8"
        if raw.startswith(b"\xef\xbb\xbf"):
            self._mark, data = raw[:3], raw[3:]
        elif (
            name not in ("utf-8", "ascii")
            or b"\0" in raw[:4]
            or raw[:2] in (b"\xfe\xff", b"\xff\xfe")
        ):
            self.content = _decoded(raw, name if declared else None)
            data = self.content.text.encode("utf-8")
        if b"\0" in data:
            raise InputError(f"there is a NUL byte at {data.index(0)}: not an XML file")
        self.data = data
        self._ascii = name == "ascii"
        _judge(data)

    @property
    def root(self) -> Token:
        """The tag of the outermost element."""
        return next(token for token in self.tokens() if token.kind in ("start", "empty"))

    def require_root(self, name: str) -> Token:
        """Return the tag of the outermost element.

        Raises:
            InputError: it is another than it should be.
        """
        root = self.root
        if root.name != name:
            raise InputError(f"the root element of the file is not <{name}>")
        return root

    @property
    def newline(self) -> str:
        """The line end of the file: that of its first line."""
        at = self.data.find(b"\n", 0, 100_000)
        return "\r\n" if at > 0 and self.data[at - 1 : at] == b"\r" else "\n"

    def tokens(self, start: int = 0, end: int | None = None) -> Iterator[Token]:
        """Yield the tokens of a stretch of the file."""
        stop = len(self.data) if end is None else end
        for found in _TOKEN.finditer(self.data, start, stop):
            kind = found.lastgroup or "text"
            if kind not in ("start", "end"):
                yield Token(kind, found.start(), found.end())
                continue
            prefix, _, name = found[kind].decode("utf-8").rpartition(":")
            if kind == "start" and self.data[found.end() - 2] == 0x2F:  # "/>"
                kind = "empty"
            yield Token(kind, found.start(), found.end(), name, prefix)

    def tags(self, *names: str, start: int = 0, end: int | None = None) -> Iterator[Token]:
        """Yield the tags of some elements only: much faster than all tokens of a large file."""
        pattern = _tags_pattern(names)
        stop = len(self.data) if end is None else end
        for found in pattern.finditer(self.data, start, stop):
            if found["name"] is None:
                continue  # a comment or the like
            prefix = found["prefix"] or b""
            kind = "end" if found["slash"] else "start"
            if kind == "start" and self.data[found.end() - 2] == 0x2F:
                kind = "empty"
            name = found["name"].decode("utf-8")
            yield Token(kind, *found.span(), name, prefix[:-1].decode("utf-8"))

    def attributes(self, token: Token) -> dict[str, str]:
        """Return the attributes of a start tag, by their names with prefixes."""
        return {
            name.decode("utf-8"): unescape((double or single).decode("utf-8"))
            for name, double, single in _ATTRIBUTE.findall(self._inside(token))
        }

    def _inside(self, token: Token) -> bytes:
        raw = self.data[token.start : token.end]
        return raw[1 + len(token.name) + (len(token.prefix) + 1 if token.prefix else 0) :]

    def attribute_span(self, token: Token, name: str) -> tuple[int, int] | None:
        """Return where the value of an attribute stands, without its quotation marks."""
        inside = self._inside(token)
        offset = token.end - len(inside)
        for found in _ATTRIBUTE.finditer(inside):
            if found[1].decode("utf-8") == name:
                group = 2 if found[2] is not None else 3
                return offset + found.start(group), offset + found.end(group)
        return None

    def set_attributes(self, token: Token, **values: str | None) -> Iterator[Edit]:
        """Yield the edits that give a start tag attributes; None leaves one as it is.

        Underscores in a name stand for hyphens.
        """
        added = ""
        for key, value in values.items():
            if value is None:
                continue
            name = key.replace("_", "-")
            span = self.attribute_span(token, name)
            if span is None:
                added += f' {name}="{escape_attribute(value)}"'
            elif self.data[span[0] : span[1]].decode("utf-8") != value:
                yield Edit(*span, escape_attribute(value))
        if added:
            close = 2 if token.kind == "empty" else 1
            at = token.end - close
            while self.data[at - 1 : at].isspace():
                at -= 1
            yield Edit(at, at, added)

    def raw(self, start: int, end: int) -> str:
        """Return a stretch of the file as it is written."""
        return self.data[start:end].decode("utf-8")

    def elements(self, tag: Token) -> tuple[list[Element], int]:
        """Return the elements right below one, and where it ends."""
        found: list[Element] = []
        tokens = self.tokens(tag.end)
        for token in tokens:
            if token.kind == "end":
                return found, token.end
            if token.kind == "empty":
                found.append(Element(token, (token.end, token.end), token.end))
            elif token.kind == "start":
                end = self.element_end(tokens)
                found.append(Element(token, (token.end, end.start), end.end))
        raise InputError("the XML ends too early")

    def element_end(self, tokens: Iterator[Token]) -> Token:
        """Go on to the end tag of an element whose start tag was the last token."""
        depth = 1
        for token in tokens:
            depth += (token.kind == "start") - (token.kind == "end")
            if not depth:
                return token
        raise InputError("the XML ends too early")

    def text(self, start: int, end: int) -> str:
        """Return the text of a stretch: references resolved, tags left out."""
        if self.data.find(b"<", start, end) < 0:
            return unescape(self.raw(start, end))
        return "".join(
            unescape(self.raw(token.start, token.end))
            if token.kind == "text"
            else self.raw(token.start + 9, token.end - 3)
            for token in self.tokens(start, end)
            if token.kind in ("text", "cdata")
        )

    def indent(self, at: int) -> str:
        """Return the line break and the spaces before an offset; nothing if there is other text."""
        start = self.data.rfind(b"\n", 0, at) + 1
        before = self.data[start:at]
        if before.strip() or not start:
            return ""
        return self.newline + before.decode("utf-8")

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with stretches of its bytes replaced, in its own encoding."""
        edits = self._with_encoding(edits, encoding)
        pieces = self._pieces(edits)
        if encoding or self.content is None:
            name = codec_name(encoding) if encoding else "utf-8"
            if name != "utf-8":
                raise InputError("an XML file can be written in its own encoding or in utf-8")
            yield self._mark
            for piece in pieces:
                yield piece if not self._ascii else _as_references(piece, "ascii")
            return
        yield self.content.mark
        for piece in pieces:
            yield _as_references(piece, self.content.encoding)

    def _pieces(self, edits: Sequence[Edit]) -> Iterator[bytes]:
        at = 0
        for edit in in_order(edits):
            yield self.data[at : edit.start]
            yield edit.text.encode("utf-8")
            at = edit.end
        yield self.data[at:]

    def _with_encoding(self, edits: Sequence[Edit], encoding: str | None) -> Sequence[Edit]:
        found = _DECLARED.search(self.data[:500])
        if encoding and found and self.content is not None:
            return [*edits, Edit(found.start(1), found.end(1), "UTF-8")]
        return edits


@cache
def _tags_pattern(names: tuple[str, ...]) -> re.Pattern[bytes]:
    wanted = "|".join(map(re.escape, names)).encode()
    return re.compile(
        rb"<!--.*?-->|<!\[CDATA\[.*?\]\]>|<\?.*?\?>"
        rb"|<(?P<slash>/?)(?P<prefix>[^\s/>!?:\"'=<]+:)?(?P<name>" + wanted + rb")(?=[\s/>])"
        rb"(?:[^\"'>]|\"[^\"]*\"|'[^']*')*>",
        re.DOTALL,
    )


def _as_references(piece: bytes, encoding: str) -> bytes:
    """Encode a piece; what the encoding lacks becomes a character reference."""
    return piece.decode("utf-8").encode(encoding, "xmlcharrefreplace")


def _decoded(raw: bytes, name: str | None) -> Content:
    """Decode a file that is not UTF-8; a mark or the look of its bytes wins over the name."""
    if name and name.startswith("utf-16"):
        name = None if raw[:2] in (b"\xfe\xff", b"\xff\xfe") or b"\0" in raw[:4] else name
    content = read_text(raw, name, guess=True)
    declared = _DECLARED_TEXT.search(content.text[:500])
    if declared and content.encoding.startswith("utf-16"):
        named = codec_name(declared[1])
        if not named.startswith("utf-16"):
            raise InputError(f"the file says it is {declared[1]}, but it is UTF-16")
    return content


def _judge(data: bytes) -> None:
    """Let expat read the file.

    Raises:
        InputError: it is not well-formed, declares entities, or is nested too deeply.
    """
    parser = expat.ParserCreate("utf-8")
    depth = 0

    def refuse(*_given: object) -> None:
        raise InputError("entities are not allowed in a file")

    def begin(_name: str, _attributes: object) -> None:
        nonlocal depth
        depth += 1
        if depth > MAX_DEPTH:
            raise InputError(f"elements are nested more than {MAX_DEPTH} deep")

    def end(_name: str) -> None:
        nonlocal depth
        depth -= 1

    parser.EntityDeclHandler = refuse
    parser.UnparsedEntityDeclHandler = refuse
    parser.NotationDeclHandler = refuse
    parser.SkippedEntityHandler = refuse
    parser.AttlistDeclHandler = refuse
    parser.ElementDeclHandler = refuse
    parser.StartElementHandler = begin
    parser.EndElementHandler = end
    try:
        for at in range(0, len(data), _CHUNK):
            parser.Parse(data[at : at + _CHUNK], False)
        parser.Parse(b"", True)
    except expat.ExpatError as error:
        raise InputError(f"not well-formed XML: {error}") from None


def unescape(text: str) -> str:
    """Return text with the references of XML resolved, and a line feed at the end of every line."""
    text = text.replace("\r\n", "\n")
    if "&" not in text:
        return text
    return _REFERENCE.sub(_resolved, text)


def _resolved(found: re.Match[str]) -> str:
    name = found[1]
    if name in _NAMED:
        return _NAMED[name]
    return chr(int(name[2:], 16) if name[1] in "xX" else int(name[1:]))


def escape(text: str) -> str:
    """Return text as it is written between tags."""
    text = text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
    return "".join(c for c in text if c >= " " or c in "\t\n\r").replace("\r", "&#13;")


def escape_attribute(text: str) -> str:
    """Return text as it is written in an attribute with double quotation marks."""
    return escape(text).replace('"', "&quot;").replace("\n", "&#10;").replace("\t", "&#9;")


def children(tokens: Iterable[Token]) -> Iterator[tuple[Token, Token]]:
    """Yield the start and end tags of the elements right below, given the tokens inside one."""
    depth = 0
    first: Token | None = None
    for token in tokens:
        if token.kind == "empty" and not depth:
            yield token, token
        elif token.kind == "start":
            first = token if not depth else first
            depth += 1
        elif token.kind == "end":
            depth -= 1
            if not depth and first is not None:
                yield first, token
