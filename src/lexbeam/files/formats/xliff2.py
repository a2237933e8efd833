"""XLIFF 2.0 and later."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lexbeam.files.formats import register
from lexbeam.files.languages import check_language
from lexbeam.files.units import CLOSED, Edit, Options, State, Unit
from lexbeam.files.xliff import finished_target, inherit, with_content
from lexbeam.files.xml_inline import (
    BREAK,
    PAIR,
    POINT,
    WORD,
    Inline,
    collapsed,
    read_inline,
    write_inline,
)
from lexbeam.files.xml_scan import XmlScan
from lexbeam.files.xml_scanner import Token
from lexbeam.translation.marked_text import MarkedText

_LINE_BREAK = re.compile(r"\s*<br\b", re.IGNORECASE)
_MARKUP = re.compile(r"\s*</?[A-Za-z]|\s*$")


def _is_version_2(_name: str, head: bytes) -> bool:
    text = head.replace(b"\0", b"")
    return re.search(rb"<(?:\w+:)?xliff\b[^>]*\sversion\s*=\s*[\"']2\.", text) is not None


@dataclass
class Segment:
    """A ``<segment>`` with the places of its parts."""

    tag: Token
    unit: str
    number: int
    locked: bool
    preserve: bool
    data: Mapping[str, str]
    source_tag: Token | None = None
    source: tuple[int, int] = (0, 0)
    after_source: int = 0
    target_tag: Token | None = None
    target: tuple[int, int] = (0, 0)
    max_length: int | None = None


@register("xliff2", ".xlf", ".xliff", recognise=_is_version_2, rank=1)
class Xliff2Scan(XmlScan):
    """A file of XLIFF 2."""

    root = "xliff"

    def __init__(self, data: bytes, options: Options) -> None:
        super().__init__(data, options)
        named = self._xml.attributes(self._root)
        self._has_language = bool(named.get("trgLang"))
        check_language(named.get("srcLang"), options.source_language, "source")
        check_language(named.get("trgLang"), options.target_language, "target")

    def units(self) -> Iterator[Unit]:
        """Yield the segments of all units."""
        xml = self._xml
        inherited: list[tuple[bool, bool]] = [(False, False)]  # locked, preserve
        identity = file = ""
        segments = behind = 0
        unit_tag = self._root
        for token in xml.tags("xliff", "file", "group", "unit", "segment"):
            if token.start < behind or token.kind == "empty":
                continue
            if token.kind == "end":
                if token.name != "segment":
                    inherited.pop()
                continue
            attributes = xml.attributes(token)
            state = inherit(inherited[-1], attributes)
            if token.name != "segment":
                inherited.append(state)
                if token.name == "file":
                    file = f"{attributes.get('id', '')}/" if attributes.get("id") else ""
                elif token.name == "unit":
                    identity, segments, unit_tag = attributes.get("id", "?"), 0, token
                continue
            segments += 1
            if self._options.brief and self._is_finished(token):
                yield CLOSED
                continue
            segment = Segment(token, f"{file}{identity}", segments, *state, self._data_of(unit_tag))
            limit = xml.attributes(unit_tag).get("slr:sizeRestriction", "").rpartition(",")[2]
            segment.max_length = int(limit) if limit.isdecimal() else None
            behind = self._read(segment)
            if segment.source_tag is not None:
                yield self._unit(segment, attributes)

    def _is_finished(self, token: Token) -> bool:
        """Return whether a segment is seen to be translated at a glance."""
        if b"initial" in self._xml.data[token.start : token.end]:
            return False
        return finished_target(self._xml, token) is not None

    def _data_of(self, unit: Token) -> dict[str, str]:
        """Return the original data of the codes of a unit."""
        xml = self._xml
        end = xml.data.find(b"</", unit.end)
        if b"originalData" not in xml.data[unit.end : max(end, unit.end)]:
            return {}
        data: dict[str, str] = {}
        first: Token | None = None
        for token in xml.tags("data", "originalData", start=unit.end):
            if token.kind == "end" and token.name == "originalData":
                break
            if token.name == "data" and token.kind == "start":
                first = token
            elif token.name == "data" and token.kind == "end" and first is not None:
                key = xml.attributes(first).get("id", "")
                data[key] = xml.text(first.end, token.start)
        return data

    def _read(self, segment: Segment) -> int:
        """Find the parts of a segment; return where it ends."""
        xml = self._xml
        elements, end = xml.elements(segment.tag)
        for tag, inside, after in elements:
            if tag.name == "source":
                segment.source_tag, segment.source, segment.after_source = tag, inside, after
                space = xml.attributes(tag).get("xml:space")
                segment.preserve = space == "preserve" if space else segment.preserve
            elif tag.name == "target":
                segment.target_tag, segment.target = tag, inside
        return end

    def _unit(self, segment: Segment, attributes: Mapping[str, str]) -> Unit:
        target = self._xml.text(*segment.target).strip() if segment.target_tag else ""
        name = attributes.get("id") or str(segment.number)
        return Unit(
            f"{segment.unit}/{name}",
            lambda: (self._source(segment),),
            lambda targets: self._write(segment, targets[0]),
            self._state(segment, attributes, target),
            (target,) if target else (),
            max_length=segment.max_length,
        )

    def _state(self, segment: Segment, attributes: Mapping[str, str], target: str) -> State:
        if segment.locked or not self._xml.data[slice(*segment.source)].strip():
            return "locked"
        if segment.target_tag is None or attributes.get("state") == "initial":
            return "untranslated"
        if not target and not self._xml.data[slice(*segment.target)].strip():
            return "untranslated"
        return "locked" if attributes.get("state") == "final" else "translated"

    def _source(self, segment: Segment) -> MarkedText:
        def classify(token: Token, attributes: Mapping[str, str]) -> Inline:
            return _classify(token, attributes, segment.data)

        marked = read_inline(self._xml, *segment.source, classify)
        return marked if segment.preserve else collapsed(marked)

    def _write(self, segment: Segment, target: MarkedText) -> Iterator[Edit]:
        content = write_inline(target)
        state = "final" if self._options.final else "translated"
        yield from self._xml.set_attributes(segment.tag, state=state)
        tag = segment.target_tag
        if tag is None:
            prefix = f"{segment.tag.prefix}:" if segment.tag.prefix else ""
            start = segment.source_tag.start if segment.source_tag else segment.after_source
            written = f"{self._xml.indent(start)}<{prefix}target>{content}</{prefix}target>"
            yield Edit(segment.after_source, segment.after_source, written)
        elif tag.kind == "empty":
            opening = self._xml.raw(tag.start, tag.end)
            yield Edit(tag.start, tag.end, with_content(tag, opening, content))
        else:
            yield Edit(*segment.target, content)

    def header(self) -> Iterator[Edit]:
        """Yield the target language if it is missing."""
        if not self._has_language and self._options.target_language:
            yield from self._xml.set_attributes(self._root, trgLang=self._options.target_language)


def _classify(token: Token, attributes: Mapping[str, str], data: Mapping[str, str]) -> Inline:
    name = token.name
    identity = attributes.get("startRef") or attributes.get("id", "")
    if name in ("sc", "ec", "sm", "em"):
        return Inline("open" if name[0] == "s" else "close", True, f"{name[1]}{identity}")
    if name in ("pc", "mrk"):
        return WORD if attributes.get("translate") == "no" else PAIR
    if name == "ph":
        original = data.get(attributes.get("dataRef", ""), attributes.get("disp", "value"))
        if attributes.get("subType") == "xlf:lb" or _LINE_BREAK.match(original):
            return BREAK
        is_format = attributes.get("type") == "fmt"
        return POINT if is_format or (original and _MARKUP.match(original)) else WORD
    return POINT
