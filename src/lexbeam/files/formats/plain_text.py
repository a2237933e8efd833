"""Plain text: paragraphs with empty lines between them.

Lines of a paragraph that was wrapped are joined, and the translation is wrapped again. A line
that is much shorter than the others ends a paragraph of its own, as in a list or a poem.
"""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Sequence

from lexbeam.files.encodings import Content, read_text
from lexbeam.files.formats import register
from lexbeam.files.placeholders import is_wordless, mark
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.translation.marked_text import MarkedText, is_translatable, plain

_LINE = re.compile(r"[^\r\n]+")
_MARKER = re.compile(r"\s*(?:(?:[-*+•–—·#>]+|\(?\d{1,3}[.)]|[a-z][.)])\s+)*")
_WRAPPED = 50
"""A line this long may go on in the next one."""


@register("text", ".txt", ".text")
class TextScan:
    """A file of plain text."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content: Content = read_text(data, options.encoding)

    def units(self) -> Iterator[Unit]:
        """Yield the paragraphs that have letters."""
        for number, lines in enumerate(_paragraphs(self._content.text), 1):
            unit = self._unit(number, lines)
            if unit is not None:
                yield unit

    def _unit(self, number: int, lines: Sequence[tuple[int, int]]) -> Unit | None:
        text = self._content.text
        start, end = lines[0][0], lines[-1][1]
        if is_wordless(text, start, end):
            return None
        marker = _MARKER.match(text, start, lines[0][1])
        first = marker.end() if marker else start
        pieces = [text[first : lines[0][1]], *(text[a:b].strip() for a, b in lines[1:])]
        source = mark(" ".join(pieces).strip())
        if not is_translatable(source):
            return None
        last = end - (len(text[start:end]) - len(text[start:end].rstrip()))
        width = max(b - a for a, b in lines)
        indent = _indent(text[slice(*lines[1])]) if len(lines) > 1 else ""
        taken = first - start

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            translated = plain(targets[0])
            if len(lines) > 1:
                joined = textwrap.wrap(
                    translated,
                    max(width, 20),
                    initial_indent=" " * taken,
                    subsequent_indent=indent,
                    break_long_words=False,
                    break_on_hyphens=False,
                )
                translated = self._content.newline.join(joined)[taken:]
            yield Edit(first, last, translated)

        return Unit(f"paragraph {number}", (source,), write)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: plain text has no header."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _indent(line: str) -> str:
    return line[: len(line) - len(line.lstrip())]


def _paragraphs(text: str) -> Iterator[list[tuple[int, int]]]:
    """Yield the spans of the lines of each paragraph."""
    lines: list[tuple[int, int]] = []
    for found in _LINE.finditer(text):
        if lines and not _goes_on(text, lines[-1], found.span()):
            yield lines
            lines = []
        if found[0].strip():
            lines.append(found.span())
    if lines:
        yield lines


def _goes_on(text: str, line: tuple[int, int], following: tuple[int, int]) -> bool:
    """Return whether a line goes on in the next one."""
    between = text[line[1] : following[0]]
    if between.count("\n") > 1 or between.count("\r") > between.count("\n") + 1:
        return False
    shown = text[slice(*following)]
    marker = _MARKER.match(shown)
    if not shown.strip() or (marker and marker[0].strip()):
        return False
    return line[1] - line[0] >= _WRAPPED
