"""RESX: resources of .NET."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lexbeam.files.formats import register
from lexbeam.files.placeholders import DEFAULT
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.files.xml_inline import POINT, Inline, read_inline, write_inline
from lexbeam.files.xml_scanner import Token, XmlFile, children
from lexbeam.translation.marked_text import MarkedText, is_translatable

_SETTING = re.compile(
    r"(?:>>.*|\$this\.(?:Name|Type|Icon|Font|Language|Localizable))$|.*\.(?:Name|Type)$"
)


@register("resx", ".resx", ".resw")
class ResxScan:
    """A file of resources; only texts are translated."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._xml = XmlFile(data)
        self._options = options
        self._xml.require_root("root")

    def units(self) -> Iterator[Unit]:
        """Yield the texts: data without a type."""
        xml = self._xml
        tokens = xml.tokens()
        for token in tokens:
            if token.kind != "start" or token.name != "data":
                continue
            attributes = xml.attributes(token)
            end = xml.element_end(tokens)
            name = attributes.get("name", "?")
            if "type" in attributes or "mimetype" in attributes or name.startswith(">>"):
                continue
            if _SETTING.match(name):
                continue
            unit = self._unit(name, token.end, end.start)
            if unit is not None:
                yield unit

    def _unit(self, name: str, start: int, end: int) -> Unit | None:
        xml = self._xml
        note = ""
        span: tuple[int, int] | None = None
        for first, last in children(xml.tokens(start, end)):
            if first.name == "value" and first.kind == "start":
                span = first.end, last.start
            elif first.name == "comment" and first.kind == "start":
                note = xml.text(first.end, last.start)
        if span is None:
            return None
        place = span
        source = read_inline(xml, *place, _classify, syntaxes=("mnemonic", *DEFAULT))
        if not is_translatable(source):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            yield Edit(*place, write_inline(targets[0]))

        return Unit(name, (source,), write, note=note)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: the language is in the name of the file."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._xml.spliced(edits, encoding)


def _classify(_token: Token, _attributes: Mapping[str, str]) -> Inline:
    return POINT
