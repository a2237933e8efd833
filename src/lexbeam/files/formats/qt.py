"""Qt Linguist's ``.ts`` files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from lexbeam.files.formats import register
from lexbeam.files.languages import check_language, plural_count, plural_rule
from lexbeam.files.placeholders import DEFAULT
from lexbeam.files.units import CLOSED, Edit, Options, State, Unit
from lexbeam.files.xml_inline import POINT, Inline, read_inline, write_inline
from lexbeam.files.xml_scan import XmlScan
from lexbeam.files.xml_scanner import Token, children
from lexbeam.translation.marked_text import MarkedText

_FINISHED = re.compile(rb"</source>\s*<translation>[^<\s]")


def _is_qt(_name: str, head: bytes) -> bool:
    text = head.replace(b"\0", b"")
    return re.search(rb"<!DOCTYPE\s+TS\b|<TS[\s>]", text) is not None


@dataclass
class Message:
    """A ``<message>`` with the places of its parts."""

    tag: Token
    context: str
    numerus: bool
    source: tuple[int, int] | None = None
    after_source: int = 0
    source_tag: Token | None = None
    translation: Token | None = None
    inside: tuple[int, int] = (0, 0)
    note: str = ""


@register("qt", ".ts", recognise=_is_qt)
class QtScan(XmlScan):
    """A file of Qt Linguist."""

    root = "TS"

    def __init__(self, data: bytes, options: Options) -> None:
        super().__init__(data, options)
        named = self._xml.attributes(self._root)
        self._language = named.get("language", "")
        check_language(self._language, options.target_language, "target")
        check_language(named.get("sourcelanguage"), options.source_language, "source")
        rule = plural_rule(self._language or options.target_language or "")
        self._forms = plural_count(rule) or 2

    def units(self) -> Iterator[Unit]:
        """Yield the messages."""
        xml = self._xml
        context = ""
        first: Token | None = None
        for token in xml.tags("name", "message"):
            if token.kind == "start":
                first = token
            elif token.kind == "end" and first is not None:
                if token.name == "name":
                    context = xml.text(first.end, token.start)
                else:
                    unit = self._message(first, token.start, context)
                    if unit is not None:
                        yield unit

    def _message(self, tag: Token, end: int, context: str) -> Unit | None:
        found = _FINISHED.search(self._xml.data, tag.end, end) if self._options.brief else None
        if found is not None:
            return CLOSED
        attributes = self._xml.attributes(tag)
        message = Message(tag, context, attributes.get("numerus") == "yes")
        self._read(message, end)
        return self._unit(message, attributes) if message.source is not None else None

    def _read(self, message: Message, stop: int) -> None:
        xml = self._xml
        for start, end in children(xml.tokens(message.tag.end, stop)):
            inside = (start.end, end.start) if start.kind == "start" else (start.end, start.end)
            if start.name == "source":
                message.source, message.source_tag = inside, start
                message.after_source = end.end
            elif start.name == "translation":
                message.translation, message.inside = start, inside
            elif start.name in ("comment", "extracomment"):
                message.note += xml.text(*inside) + "\n"

    def _unit(self, message: Message, attributes: Mapping[str, str]) -> Unit:
        xml = self._xml
        source = message.source or (0, 0)
        text = xml.text(*source)
        shown = attributes.get("id") or (text if len(text) < 60 else text[:57] + "…")
        return Unit(
            f"{message.context}: {shown!r}" if message.context else repr(shown),
            lambda: (read_inline(xml, *source, _classify, syntaxes=("mnemonic", *DEFAULT)),),
            lambda targets: self._write(message, targets[0]),
            self._state(message, text),
            tuple(filter(None, [xml.text(*message.inside).strip()])),
            message.note.strip(),
            message.context,
        )

    def _state(self, message: Message, text: str) -> State:
        kind = ""
        if message.translation is not None:
            kind = self._xml.attributes(message.translation).get("type", "")
        if not text.strip() or kind in ("vanished", "obsolete"):
            return "locked"
        if self._xml.text(*message.inside).strip():
            return "fuzzy" if kind == "unfinished" else "translated"
        finished = message.translation is not None and kind != "unfinished"
        return "translated" if finished else "untranslated"

    def _write(self, message: Message, target: MarkedText) -> Iterator[Edit]:
        content = write_inline(target)
        if message.numerus:
            indent = self._xml.indent(message.source_tag.start) if message.source_tag else ""
            inner = f"{indent}    " if indent else ""
            form = f"<numerusform>{content}</numerusform>"
            content = (inner + form) * self._forms + indent
        tag = message.translation
        kind = "" if self._options.final else ' type="unfinished"'
        if tag is None:
            start = message.source_tag.start if message.source_tag else message.after_source
            written = f"{self._xml.indent(start)}<translation{kind}>{content}</translation>"
            yield Edit(message.after_source, message.after_source, written)
            return
        raw = self._xml.raw(tag.start, tag.end)
        opening = re.sub(r"\s*/>$", ">", raw)
        if self._options.final:
            opening = re.sub(r"\s+type\s*=\s*(?:\"[^\"]*\"|'[^']*')", "", opening)
        elif "type=" not in opening:
            opening = f'{opening[:-1]} type="unfinished">'
        if tag.kind == "empty":
            yield Edit(tag.start, tag.end, f"{opening}{content}</translation>")
        else:
            if opening != raw:
                yield Edit(tag.start, tag.end, opening)
            yield Edit(*message.inside, content)

    def header(self) -> Iterator[Edit]:
        """Yield the language of the file if it is missing."""
        language = self._options.target_language
        if not self._language and language:
            yield from self._xml.set_attributes(self._root, language=language.replace("-", "_"))


def _classify(_token: Token, _attributes: Mapping[str, str]) -> Inline:
    return POINT
