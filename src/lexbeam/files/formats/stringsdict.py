"""Apple's ``.stringsdict``: plural rules in a property list."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lexbeam.files.formats import register
from lexbeam.files.units import Unit
from lexbeam.files.xml_scan import XmlScan

_TEXT_KEY = re.compile(r"zero|one|two|few|many|other|NSStringLocalizedFormatKey|\d+")


@register("stringsdict", ".stringsdict")
class StringsdictScan(XmlScan):
    """A property list of plural rules."""

    root = "plist"

    def units(self) -> Iterator[Unit]:
        """Yield the forms and formats that have words."""
        xml = self._xml
        path: list[str] = []
        key, start = "", 0
        for token in xml.tags("dict", "key", "string"):
            if token.name == "dict":
                if token.kind == "start":
                    path.append(key)
                elif token.kind == "end":
                    key = path.pop()
            elif token.kind == "start":
                start = token.end
            elif token.name == "key":
                key = xml.text(start, token.start)
            elif token.kind == "end" and _TEXT_KEY.fullmatch(key):
                unit = self.string_unit("/".join([*path[1:], key]), (start, token.start))
                if unit is not None:
                    yield unit
