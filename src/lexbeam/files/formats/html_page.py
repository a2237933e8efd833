"""HTML pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.html_text import html_units
from lexbeam.files.units import Edit, Options, Unit

_CHARSET = re.compile(rb"<meta[^>]+charset\s*=\s*[\"']?\s*([\w.:-]+)", re.IGNORECASE)

_CHARSET_TEXT = re.compile(_CHARSET.pattern.decode(), re.IGNORECASE)


@register("html", ".html", ".htm", ".xhtml")
class HtmlScan:
    """A page: its blocks with their inline tags, and attributes such as ``alt`` and ``title``."""

    def __init__(self, data: bytes, options: Options) -> None:
        found = _CHARSET.search(data[:2048])
        declared = found[1].decode("ascii", "replace") if found else None
        if declared and declared.lower().startswith("utf-16"):
            declared = "utf-8"
        if declared and declared.lower() in ("iso-8859-1", "latin1", "us-ascii", "ascii"):
            declared = "cp1252" if _fits(data, "cp1252") else "iso-8859-1"
        self._content = read_text(data, options.encoding or declared)

    def units(self) -> Iterator[Unit]:
        """Yield the blocks and attributes that have words."""
        return html_units(self._content.text)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the page with edits made; what its encoding lacks becomes a reference.

        A new encoding is named where the old one was.
        """
        if encoding is None and self._content.encoding != "utf-8":
            name = self._content.encoding
            edits = [
                edit._replace(text=edit.text.encode(name, "xmlcharrefreplace").decode(name))
                for edit in edits
            ]
        named = _CHARSET_TEXT.search(self._content.text, 0, 2048) if encoding else None
        if encoding and named and not any(e.start < named.end(1) <= e.end for e in edits):
            edits = [*edits, Edit(named.start(1), named.end(1), encoding.lower())]
        return self._content.spliced(edits, encoding)


def _fits(data: bytes, name: str) -> bool:
    try:
        return data.decode(name).encode(name) == data
    except UnicodeError:
        return False
