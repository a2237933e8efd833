"""XLIFF 1.2, with the dialects of Trados (``.sdlxliff``) and memoQ (``.mqxliff``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

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
from lexbeam.translation.marked_text import Kind, MarkedText

_OPEN_STATES = {"new", "needs-translation"}
_REVIEW_STATES = {
    "needs-adaptation", "needs-l10n", "needs-review-adaptation", "needs-review-l10n",
    "needs-review-translation",
}  # fmt: skip
_HALVES: dict[str, Kind] = {"bpt": "open", "bx": "open", "ept": "close", "ex": "close"}
_ANGULAR = re.compile(r"(START|CLOSE)_(\w+)")
_OPEN_STATE = re.compile(rb"\sstate\s*=\s*[\"'](?:new|needs-translation)[\"']")
_LINE_BREAK = re.compile(r"\s*<?(?:x-)?(?:br|lb|LINE_BREAK)\b", re.IGNORECASE)
_MARKUP = re.compile(r"\s*</?[A-Za-z]")


def recognise_version_1(_name: str, head: bytes) -> bool:
    """Return whether a file is not XLIFF 2."""
    text = head.replace(b"\0", b"")
    return not re.search(rb"<(?:\w+:)?xliff\b[^>]*\sversion\s*=\s*[\"']2\.", text)


@dataclass
class TransUnit:
    """A ``<trans-unit>`` with the places of its parts."""

    start: Token
    attributes: Mapping[str, str]
    locked: bool
    preserve: bool
    file: str
    source: tuple[int, int] | None = None
    """Content of ``<source>``."""
    source_tag: Token | None = None
    after_source: int = 0
    seg_source: tuple[int, int] | None = None
    target_tag: Token | None = None
    target: tuple[int, int] | None = None
    notes: list[str] = field(default_factory=list)


@register("xliff1", ".xlf", ".xliff", ".sdlxliff", ".mqxliff", recognise=recognise_version_1)
class XliffScan(XmlScan):
    """A file of XLIFF 1.2."""

    root = "xliff"

    def __init__(self, data: bytes, options: Options) -> None:
        super().__init__(data, options)
        self._files: list[Token] = []
        for token in self._xml.tags("file", "alt-trans"):
            if token.name == "file" and token.kind != "end":
                self._files.append(token)
                named = self._xml.attributes(token)
                check_language(named.get("source-language"), options.source_language, "source")
                check_language(named.get("target-language"), options.target_language, "target")

    def units(self) -> Iterator[Unit]:
        """Yield the ``<trans-unit>`` elements."""
        xml = self._xml
        inherited: list[tuple[bool, bool]] = [(False, False)]  # locked, preserve
        file = ""
        behind = 0
        for token in xml.tags("xliff", "file", "body", "group", "trans-unit"):
            if token.start < behind or token.kind == "empty":
                continue
            if token.kind == "end":
                if token.name != "trans-unit":
                    inherited.pop()
                continue
            attributes = xml.attributes(token)
            state = inherit(inherited[-1], attributes)
            if token.name == "file":
                file = attributes.get("original", "")
            if token.name != "trans-unit":
                inherited.append(state)
            elif self._options.brief and self._is_finished(token):
                yield CLOSED
            else:
                unit = TransUnit(token, attributes, *state, file)
                behind = self._read(unit)
                if unit.source is not None:
                    yield self._unit(unit)

    def _is_finished(self, token: Token) -> bool:
        """Return whether a unit is seen to be translated at a glance."""
        attributes = finished_target(self._xml, token)
        return attributes is not None and _OPEN_STATE.search(attributes) is None

    def _read(self, unit: TransUnit) -> int:
        """Find the parts of a unit; return where it ends."""
        xml = self._xml
        elements, end = xml.elements(unit.start)
        for tag, inside, after in elements:
            if tag.name == "source":
                unit.source, unit.source_tag, unit.after_source = inside, tag, after
                unit.preserve |= xml.attributes(tag).get("xml:space") == "preserve"
            elif tag.name == "seg-source":
                unit.seg_source, unit.after_source = inside, after
            elif tag.name == "target":
                unit.target_tag, unit.target = tag, inside
            elif tag.name == "note":
                unit.notes.append(xml.text(*inside))
        return end

    def _unit(self, unit: TransUnit) -> Unit:
        attributes = unit.attributes
        identity = attributes.get("id") or attributes.get("resname") or "?"
        target = self._xml.text(*unit.target).strip() if unit.target else ""
        limit = attributes.get("maxwidth", "")
        return Unit(
            f"{unit.file}#{identity}" if len(self._files) > 1 else identity,
            lambda: tuple(each for _, each in self._sources(unit)),
            lambda targets: self._write(unit, targets),
            self._state(unit, target),
            (target,) if target else (),
            "\n".join(unit.notes),
            attributes.get("resname", ""),
            int(limit) if limit.isdigit() and attributes.get("size-unit") == "char" else None,
        )

    def _state(self, unit: TransUnit, target: str) -> State:
        start, end = unit.source or (0, 0)
        if (
            unit.locked
            or unit.attributes.get("approved") == "yes"
            or not self._xml.data[start:end].strip()
        ):
            return "locked"
        if unit.target_tag is None:
            return "untranslated"
        state = self._xml.attributes(unit.target_tag).get("state", "")
        if state in _OPEN_STATES:
            return "untranslated"
        if not target and not self._has_codes(unit):
            return "untranslated"
        return "fuzzy" if state in _REVIEW_STATES else "translated"

    def _has_codes(self, unit: TransUnit) -> bool:
        """Return whether a target without text has codes of its own, not just empty segments."""
        tokens = self._xml.tokens(*unit.target) if unit.target else iter(())
        names = {token.name for token in tokens if token.kind in ("start", "empty")}
        return bool(names) and "mrk" not in names

    # --- sources ---------------------------------------------------------------------------

    def _sources(self, unit: TransUnit) -> list[tuple[tuple[int, int], MarkedText]]:
        """Return the segments of a unit, or its source as one, with their places."""
        spans = self._segments(unit.seg_source) if unit.seg_source else []
        if not spans and unit.source is not None:
            spans = [unit.source]
        return [(span, self._marked(unit, span)) for span in spans]

    def _marked(self, unit: TransUnit, span: tuple[int, int]) -> MarkedText:
        marked = read_inline(self._xml, *span, self._classify)
        return marked if unit.preserve and not unit.seg_source else collapsed(marked)

    def _segments(self, within: tuple[int, int]) -> list[tuple[int, int]]:
        """Return the content of the ``<mrk mtype="seg">`` elements in a stretch."""
        found = []
        tokens = self._xml.tokens(*within)
        for token in tokens:
            is_mark = token.kind == "start" and token.name == "mrk"
            if is_mark and self._xml.attributes(token).get("mtype") == "seg":
                found.append((token.end, self._xml.element_end(tokens).start))
        return found

    def _classify(self, token: Token, attributes: Mapping[str, str]) -> Inline:
        name = token.name
        number = attributes.get("rid") or attributes.get("id", "")
        if name in _HALVES:
            return Inline(_HALVES[name], True, f"b{number}")
        if name == "x":
            return _placeholder(attributes)
        if name == "ph":
            return _standing_for(self._code_text(token), attributes.get("ctype", ""))
        protected = attributes.get("mtype") in ("protected", "x-protected")
        if name == "mrk" and (protected or attributes.get("translate") == "no"):
            return WORD
        return {"g": PAIR, "mrk": PAIR, "it": POINT}.get(name, WORD)

    def _code_text(self, token: Token) -> str:
        if token.kind == "empty":
            return ""
        end = self._xml.data.find(b"</", token.end)
        return self._xml.text(token.end, end)

    # --- writing ---------------------------------------------------------------------------

    def _write(self, unit: TransUnit, targets: Sequence[MarkedText]) -> Iterator[Edit]:
        content = self._content(unit, targets)
        final = self._options.final
        state = "translated" if final else "needs-review-translation"
        qualifier = None if final else "leveraged-mt"
        if unit.target_tag is None or unit.target is None:
            prefix = f"{unit.start.prefix}:" if unit.start.prefix else ""
            attributes = f' state="{state}"' + (
                f' state-qualifier="{qualifier}"' if qualifier else ""
            )
            element = f"<{prefix}target{attributes}>{content}</{prefix}target>"
            indent = self._xml.indent(unit.source_tag.start) if unit.source_tag else ""
            yield Edit(unit.after_source, unit.after_source, indent + element)
            return
        tag = unit.target_tag
        written = self._with_attributes(tag, state, qualifier)
        if tag.kind == "empty":
            yield Edit(tag.start, tag.end, with_content(tag, written, content))
        else:
            yield Edit(tag.start, tag.end, written)
            yield Edit(*unit.target, content)

    def _with_attributes(self, tag: Token, state: str, qualifier: str | None) -> str:
        """Return the start tag of a target with its new state."""
        raw = self._xml.raw(tag.start, tag.end)
        edits = self._xml.set_attributes(tag, state=state, state_qualifier=qualifier)
        for edit in sorted(edits, reverse=True):
            raw = raw[: edit.start - tag.start] + edit.text + raw[edit.end - tag.start :]
        return raw

    def _content(self, unit: TransUnit, targets: Sequence[MarkedText]) -> str:
        """Return what stands in the target: the segments inside a copy of their surroundings."""
        spans = [span for span, _ in self._sources(unit)]
        if unit.seg_source is None or spans == [unit.source]:
            return write_inline(targets[0])
        at, end = unit.seg_source
        pieces = []
        for (start, stop), target in zip(spans, targets, strict=True):
            pieces += [self._xml.raw(at, start), write_inline(target)]
            at = stop
        return "".join([*pieces, self._xml.raw(at, end)])

    def header(self) -> Iterator[Edit]:
        """Yield the target language where it is missing."""
        language = self._options.target_language
        for token in self._files:
            if language and not self._xml.attributes(token).get("target-language"):
                yield from self._xml.set_attributes(token, target_language=language)


def _placeholder(attributes: Mapping[str, str]) -> Inline:
    """Return what ``<x/>`` is: in Angular's files half of a pair, a break, or a value."""
    found = _ANGULAR.match(attributes.get("id", ""))
    if found:
        kind: Kind = "open" if found[1] == "START" else "close"
        return Inline(kind, True, f"x{found[2]}")
    hints = (
        attributes.get("ctype", ""),
        attributes.get("equiv-text", ""),
        attributes.get("id", ""),
    )
    return _standing_for(*hints)


def _standing_for(*hints: str) -> Inline:
    """Return what a code is by what is known of it: a line break, a tag, or a value."""
    if any(_LINE_BREAK.match(hint) for hint in hints):
        return BREAK
    return POINT if any(_MARKUP.match(hint) for hint in hints) else WORD
