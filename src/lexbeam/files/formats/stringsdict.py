"""Apple's ``.stringsdict``: plural rules in a property list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence

from lexbeam.files.formats import register
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.files.xml_inline import POINT, Inline, read_inline, write_inline
from lexbeam.files.xml_scanner import Token, XmlFile
from lexbeam.translation.marked_text import MarkedText, is_translatable

_TEXT_KEY = re.compile(r"zero|one|two|few|many|other|NSStringLocalizedFormatKey|\d+")


@register("stringsdict", ".stringsdict")
class StringsdictScan:
    """A property list of plural rules."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._xml = XmlFile(data)
        self._options = options
        self._xml.require_root("plist")

    def units(self) -> Iterator[Unit]:
        """Yield the forms and formats that have words."""
        xml = self._xml
        path: list[str] = []
        key = ""
        tokens = xml.tokens()
        for token in tokens:
            if token.kind == "end" and token.name == "dict":
                key = path.pop()
            if token.kind != "start":
                continue
            if token.name == "dict":
                path.append(key)
            elif token.name == "key":
                key = xml.text(token.end, xml.element_end(tokens).start)
            elif token.name == "string":
                end = xml.element_end(tokens)
                if _TEXT_KEY.fullmatch(key):
                    unit = self._unit("/".join([*path[1:], key]), token.end, end.start)
                    if unit is not None:
                        yield unit

    def _unit(self, name: str, start: int, end: int) -> Unit | None:
        source = read_inline(self._xml, start, end, _classify)
        if not is_translatable(source):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            yield Edit(start, end, write_inline(targets[0]))

        return Unit(name, (source,), write)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: the language is in the name of the folder."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._xml.spliced(edits, encoding)


def _classify(_token: Token, _attributes: Mapping[str, str]) -> Inline:
    return POINT
