"""Word documents (``.docx``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.files.docx_paragraph import Stretch, read_paragraph, stretches, write_paragraph
from lexbeam.files.formats import register
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.files.xml_scanner import XmlFile
from lexbeam.files.zip_archive import Archive
from lexbeam.translation.marked_text import MarkedText, is_translatable

_PART = re.compile(r"word/(?:document\d*|header\d*|footer\d*|footnotes|endnotes)\.xml")


@register("docx", ".docx", ".docm", ".dotx")
class DocxScan:
    """A document: the paragraphs of its body, headers, footers and notes."""

    def __init__(self, data: bytes, options: Options) -> None:
        del options
        self._data = data
        self._archive = Archive(data)
        names = [info.filename for info in self._archive.infos]
        if "word/document.xml" not in names:
            raise InputError("the archive has no word/document.xml: not a Word document")
        self._parts: list[tuple[str, XmlFile, int]] = []
        base = 0
        for name in names:
            if _PART.fullmatch(name):
                try:
                    xml = XmlFile(self._archive.read(name))
                except InputError as error:
                    raise InputError(f"{name}: {error}") from None
                self._parts.append((name, xml, base))
                base += len(xml.data) + 1

    def units(self) -> Iterator[Unit]:
        """Yield the paragraphs that have words."""
        for name, xml, base in self._parts:
            for number, stretch in stretches(xml):
                unit = _unit(stretch, base)
                if unit is not None:
                    unit.id = f"{name.removeprefix('word/')} paragraph {number}"
                    yield unit

    def header(self) -> tuple[Edit, ...]:
        """Return nothing."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the document with edits made."""
        del encoding
        if not edits:
            yield self._data
            return
        changed = {}
        for name, xml, base in self._parts:
            here = [
                Edit(edit.start - base, edit.end - base, edit.text)
                for edit in edits
                if base <= edit.start <= base + len(xml.data)
            ]
            if here:
                changed[name] = b"".join(xml.spliced(here))
        yield self._archive.written(changed)


def _unit(stretch: Stretch, base: int) -> Unit | None:
    source, plain_format = read_paragraph(stretch)
    if not is_translatable(source):
        return None

    def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
        written = write_paragraph(targets[0], plain_format)
        yield Edit(base + stretch.start, base + stretch.end, written)

    return Unit("", (source,), write)
