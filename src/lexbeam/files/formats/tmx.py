"""TMX: translation memories. A unit without the target language is given one."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lexbeam.files.formats import register
from lexbeam.files.languages import is_same
from lexbeam.files.units import CLOSED, Edit, Options, State, Unit
from lexbeam.files.xml_inline import PAIR, POINT, WORD, Inline, read_inline, write_inline
from lexbeam.files.xml_scan import XmlScan
from lexbeam.files.xml_scanner import Token, children
from lexbeam.translation.marked_text import MarkedText

_VARIANT = re.compile(rb"<tuv\b[^<>]*?\blang\s*=\s*[\"']([\w-]+)[\"'][^<>]*>\s*<seg>\s*[^<\s]")
Variant = tuple[Token, int, Token, tuple[int, int]]
"""The tag of a ``<tuv>``, where it ends, its ``<seg>`` and what is inside."""


@register("tmx", ".tmx")
class TmxScan(XmlScan):
    """A translation memory."""

    root = "tmx"

    def __init__(self, data: bytes, options: Options) -> None:
        super().__init__(data, options)
        tag = next(self._xml.tags("header"), None)
        named = self._xml.attributes(tag).get("srclang", "") if tag else ""
        self._source = named if named and named != "*all*" else options.source_language

    def units(self) -> Iterator[Unit]:
        """Yield the ``<tu>`` elements that have the source language."""
        for number, (first, last) in enumerate(self._tus(), 1):
            unit: Unit | None = CLOSED
            if not (self._options.brief and self._is_finished(first.end, last.start)):
                unit = self._unit(first, last, number)
            if unit is not None:
                yield unit

    def _tus(self) -> Iterator[tuple[Token, Token]]:
        first: Token | None = None
        for token in self._xml.tags("tu"):
            if token.kind == "start":
                first = token
            elif token.kind == "end" and first is not None:
                yield first, token

    def _is_finished(self, start: int, end: int) -> bool:
        """Return whether a unit is seen at a glance to have both languages."""
        inside = self._xml.data[start:end]
        wanted = (self._options.source_language, self._options.target_language)
        if b"<!--" in inside or None in wanted:
            return False
        found = [name.decode("utf-8") for name in _VARIANT.findall(inside)]
        return all(any(is_same(name, each) for name in found) for each in wanted)

    def variants(self, start: int, end: int) -> Iterator[tuple[str, Variant]]:
        """Yield the languages of a unit with their segments."""
        xml = self._xml
        for first, last in children(xml.tokens(start, end)):
            if first.name != "tuv" or first.kind != "start":
                continue
            attributes = xml.attributes(first)
            language = attributes.get("xml:lang") or attributes.get("lang", "")
            for segment, close in children(xml.tokens(first.end, last.start)):
                if segment.name == "seg":
                    inside = (segment.end, close.start)
                    if segment.kind == "empty":
                        inside = (segment.end, segment.end)
                    yield language, (first, last.end, segment, inside)

    def _unit(self, tag: Token, end: Token, number: int) -> Unit | None:
        xml, options = self._xml, self._options
        found = list(self.variants(tag.end, end.start))
        sources = [each for named, each in found if is_same(named, options.source_language)]
        same = [e for n, e in found if n and is_same(n, options.target_language)]
        if not sources or options.target_language is None:
            return None
        source = sources[0]
        target = same[0] if same else None
        text = xml.text(*target[3]).strip() if target else ""
        state: State = "translated" if text else "untranslated"
        if not xml.data[slice(*source[3])].strip():
            state = "locked"
        attributes = xml.attributes(tag)

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            content = write_inline(targets[0])
            if target is None:
                name = "xml:lang" if "xml:lang" in xml.attributes(source[0]) else "lang"
                written = f'<tuv {name}="{options.target_language}"><seg>{content}</seg></tuv>'
                yield Edit(source[1], source[1], xml.indent(source[0].start) + written)
            elif target[2].kind == "empty":
                yield Edit(target[2].start, target[2].end, f"<seg>{content}</seg>")
            else:
                yield Edit(*target[3], content)

        return Unit(
            attributes.get("tuid", f"tu {number}"),
            lambda: (read_inline(xml, *source[3], _classify),),
            write,
            state,
            (text,) if text else (),
        )

    def matches(self) -> Iterator[tuple[str, str]]:
        """Yield source and target of every unit that has both and no inline codes."""
        xml = self._xml
        for first, last in self._tus():
            found = list(self.variants(first.end, last.start))
            sources = [e for n, e in found if is_same(n, self._options.source_language)]
            targets = [e for n, e in found if n and is_same(n, self._options.target_language)]
            if sources and targets and sources[0] is not targets[0]:
                spans = sources[0][3], targets[0][3]
                if not any(b"<" in xml.data[slice(*span)] for span in spans):
                    yield xml.text(*spans[0]), xml.text(*spans[1])


def _classify(token: Token, attributes: Mapping[str, str]) -> Inline:
    if token.name == "bpt":
        return Inline("open", True, attributes.get("i", ""))
    if token.name == "ept":
        return Inline("close", True, attributes.get("i", ""))
    if token.name in ("ph", "ut"):
        return WORD
    return PAIR if token.name == "hi" else POINT
