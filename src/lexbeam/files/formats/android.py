"""Android's ``strings.xml``: strings, arrays and plurals."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lexbeam.files.formats import register
from lexbeam.files.units import Edit, Unit
from lexbeam.files.xml_inline import PAIR, POINT, WORD, Inline, read_inline, write_inline
from lexbeam.files.xml_scan import XmlScan
from lexbeam.files.xml_scanner import Token, escape, unescape
from lexbeam.translation.marked_text import Code, MarkedText, Part, is_translatable

_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|(.))", re.DOTALL)
_SPECIAL = {"n": "\n", "t": "\t"}
_REFERENCE = re.compile(r"\s*[@?](?:\+?\w+:)?\w+/[\w.]+\s*|\s*@null\s*")
_SPACES = re.compile(r"[ \t\r\n]+")


def _is_android(_name: str, head: bytes) -> bool:
    return re.search(rb"<resources[\s>]", head.replace(b"\0", b"")) is not None


@register("android", ".xml", recognise=_is_android)
class AndroidScan(XmlScan):
    """A file of Android resources."""

    root = "resources"

    def units(self) -> Iterator[Unit]:
        """Yield the strings, the items of arrays and the forms of plurals."""
        xml = self._xml
        group, locked, count = "", False, 0
        name, start = "", -1
        for token in xml.tags("string", "string-array", "plurals", "array", "item"):
            text = token.name == "string" or (token.name == "item" and bool(group))
            if token.kind == "end":
                if not text:
                    group, locked = "", False
                elif start >= 0:
                    unit = self._unit(name, start, token.start)
                    if unit is not None:
                        yield unit
                start = -1
            elif token.kind == "start":
                attributes = xml.attributes(token)
                fixed = attributes.get("translatable") == "false"
                name = attributes.get("name", "?")
                if token.name == "item":
                    name = f"{group}[{attributes.get('quantity', count)}]"
                    count += 1
                elif not text:
                    group, locked, count = name, fixed, 0
                start = token.end if text and not (fixed or locked) else -1

    def _unit(self, name: str, start: int, end: int) -> Unit | None:
        raw = self._xml.raw(start, end)
        if _REFERENCE.fullmatch(raw):
            return None
        quoted = _is_quoted(raw)
        if quoted:
            start, end = start + raw.index('"') + 1, start + len(raw[: raw.rindex('"')].encode())

        def decode(text: str) -> str:
            text = unescape(text)
            return _unescaped(text if quoted else _SPACES.sub(" ", text))

        source = _with_plain_cdata(read_inline(self._xml, start, end, _classify, decode))
        if not is_translatable(source):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            written = write_inline(targets[0], lambda text: escape(_escaped(text)))
            if not quoted and written[:1] in ("@", "?"):
                written = "\\" + written
            yield Edit(start, end, written)

        return Unit(name, (source,), write)


def _is_quoted(raw: str) -> bool:
    text = raw.strip()
    return len(text) > 1 and text[0] == text[-1] == '"' and text[-2] != "\\" and "<" not in text


def _classify(token: Token, _attributes: Mapping[str, str]) -> Inline:
    if token.prefix == "xliff" and token.name == "g":
        return WORD
    return POINT if token.kind == "empty" else PAIR


def _with_plain_cdata(marked: MarkedText) -> MarkedText:
    """Undo the escapes of Android inside CDATA, which the XML reader leaves as they are."""
    parts: list[Part] = []
    inside = False
    for part in marked:
        if isinstance(part, Code) and part.verbatim:
            inside = part.raw == "<![CDATA[" or (inside and part.raw != "]]>")
        if inside and isinstance(part, str) and "\\" in part:
            for i, piece in enumerate(re.split(r"(\\.)", part)):
                parts += (
                    [Code(piece, mask=piece[1:] if piece[1:] in "'\"" else None)]
                    if (i % 2)
                    else [piece]
                )
        else:
            parts.append(part)
    return tuple(part for part in parts if part != "")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return _ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else _SPECIAL.get(m[2], m[2]), text)


def _escaped(text: str) -> str:
    text = text.replace("\\", "\\\\").replace("'", "\\'").replace('"', '\\"')
    return text.replace("\n", "\\n").replace("\t", "\\t")
