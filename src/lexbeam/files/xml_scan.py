"""What the formats made of XML have in common."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from lexbeam.files.placeholders import DEFAULT
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.files.xml_inline import POINT, Inline, read_inline, write_inline
from lexbeam.files.xml_scanner import Token, XmlFile
from lexbeam.translation.marked_text import MarkedText, is_translatable

_WORDLESS = re.compile(rb"(?:%#@\w+@|%(?:\d\$)?l{0,2}[du@]|[^<&%A-Za-z\x80-\xff])*+")
"""A text that one sees at a glance to have no words."""


class XmlScan:
    """A file of XML; a format says what its outermost element is, and yields the units."""

    root: ClassVar[str]

    def __init__(self, data: bytes, options: Options) -> None:
        self._xml = XmlFile(data)
        self._options = options
        self._root = self._xml.require_root(self.root)

    def string_unit(
        self,
        name: str,
        span: tuple[int, int],
        syntaxes: tuple[str, ...] = DEFAULT,
        note: str = "",
    ) -> Unit | None:
        """Return the unit of a text between two tags, None if it has no words."""
        if _WORDLESS.fullmatch(self._xml.data, *span):
            return None
        source = read_inline(self._xml, *span, _point, syntaxes=syntaxes)
        if not is_translatable(source):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            yield Edit(*span, write_inline(targets[0]))

        return Unit(name, (source,), write, note=note)

    def header(self) -> Iterable[Edit]:
        """Return nothing: most files do not name their language."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._xml.spliced(edits, encoding)


def _point(_token: Token, _attributes: Mapping[str, str]) -> Inline:
    return POINT
