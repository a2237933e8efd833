"""RESX: resources of .NET."""

from __future__ import annotations

import re
from collections.abc import Iterator

from lexbeam.files.formats import register
from lexbeam.files.placeholders import DEFAULT
from lexbeam.files.units import Unit
from lexbeam.files.xml_scan import XmlScan
from lexbeam.files.xml_scanner import Token

_SETTING = re.compile(
    r"(?:>>.*|\$this\.(?:Name|Type|Icon|Font|Language|Localizable))$|.*\.(?:Name|Type)$"
)


@register("resx", ".resx", ".resw")
class ResxScan(XmlScan):
    """A file of resources; only texts are translated."""

    root = "root"

    def units(self) -> Iterator[Unit]:
        """Yield the texts: data without a type."""
        for token in self._xml.tags("data"):
            if token.kind != "start":
                continue
            attributes = self._xml.attributes(token)
            name = attributes.get("name", "?")
            if "type" in attributes or "mimetype" in attributes or _SETTING.match(name):
                continue
            unit = self._unit(name, token)
            if unit is not None:
                yield unit

    def _unit(self, name: str, tag: Token) -> Unit | None:
        note = ""
        span: tuple[int, int] | None = None
        for first, inside, _ in self._xml.elements(tag)[0]:
            if first.name == "value":
                span = inside
            elif first.name == "comment":
                note = self._xml.text(*inside)
        return self.string_unit(name, span, ("mnemonic", *DEFAULT), note) if span else None
