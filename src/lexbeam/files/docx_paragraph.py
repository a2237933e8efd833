"""The paragraphs of a Word document as marked texts, and back.

A paragraph is made of runs, each with its own format. Runs of the format that most of the text
has become text; those of another format become text between two codes.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field

from lexbeam.files.placeholders import mark_parts
from lexbeam.files.xml_scanner import Token, XmlFile, children, escape
from lexbeam.translation.marked_text import Code, Kind, MarkedText, Part

_AROUND = {"hyperlink", "ins", "smartTag", "moveTo", "customXml"}
_ALONE = {"del", "moveFrom"}
_NOISE = re.compile(r"<w:(?:lang|noProof|rFonts w:hint)\b[^>]*/>")
_NESTED = re.compile(rb"<w:p[\s>]")
_PARAGRAPH = re.compile(rb"<w:p(?=[\s/>])")
_WITHOUT_NESTED = re.compile(
    rb"<w:p(?:\s(?:[^<>\"']++|\"[^\"]*+\"|'[^']*+')*+)?(?<!/)>"
    rb"(?:[^<]++|<(?!w:p[\s>/]|/w:p>|!))*+</w:p>"
)
"""A paragraph that holds no others, nor comments."""
_WORDS = re.compile(rb"<w:t(?:\s[^<>]*)?>[^<]*?[A-Za-z\x80-\xff]")
_FORMAT = "\x02"
"""What the raw text of a code begins with that is a format and nothing else."""


@dataclass
class Stretch:
    """A part of a paragraph that can be translated as one, and where it stands."""

    start: int = -1
    end: int = -1
    pieces: list[tuple[str, str] | Code] = field(default_factory=list)
    """Texts with their formats, and codes."""

    def add(self, piece: tuple[str, str] | Code, start: int, end: int) -> None:
        """Add a piece that stands in the file from ``start`` to ``end``."""
        if not self.pieces and isinstance(piece, Code) and piece.kind in ("point", "break"):
            return  # what stands before the text stays where it is
        self.start = start if self.start < 0 else self.start
        self.pieces.append(piece)
        if not isinstance(piece, Code) or piece.kind not in ("point", "break"):
            self.end = end
            self._solid = len(self.pieces)

    _solid: int = 0

    def finished(self) -> bool:
        """Leave out what stands behind the text; return whether any text is left."""
        del self.pieces[self._solid :]
        return any(isinstance(piece, tuple) for piece in self.pieces)


def stretches(xml: XmlFile) -> Iterator[tuple[int, Stretch]]:
    """Yield the stretches of all paragraphs of a part that have words, each with a number."""
    number = 0
    start = _PARAGRAPH.search(xml.data)
    while start is not None:
        number += 1
        whole = _WITHOUT_NESTED.match(xml.data, start.start())
        if whole is None:
            tag = next(xml.tokens(start.start()))
            end = tag.end if tag.kind == "empty" else _end_of(xml, tag)
        else:
            end = whole.end()
        if whole is None or _WORDS.search(xml.data, start.end(), end):
            reader = _Reader(xml)
            tokens = xml.tokens(start.start(), end)
            for token in tokens:
                for stretch in reader.take(token, tokens):
                    yield number, stretch
        start = _PARAGRAPH.search(xml.data, end)


class _Reader:
    """Goes through a part and gathers stretches."""

    def __init__(self, xml: XmlFile) -> None:
        self._xml = xml
        self._stretch = Stretch()
        self._depth = 0
        self._numbers = 0
        self._open: list[int] = []
        self._field: tuple[int, int] | None = None  # where a field begins, how deep it is

    def take(self, token: Token, tokens: Iterator[Token]) -> Iterator[Stretch]:
        """Take a token, and those of the element it begins."""
        if token.name == "p" and token.prefix == "w" and token.kind in ("start", "end"):
            self._depth += 1 if token.kind == "start" else -1
            yield from self._flush()
        elif not self._depth or token.kind in ("text", "comment", "pi", "cdata"):
            return
        elif token.kind == "end":
            if token.name in _AROUND and self._open:
                raw = self._xml.raw(token.start, token.end)
                self._add(
                    Code(raw, "close", self._open.pop(), verbatim=True), token.start, token.end
                )
        elif token.kind == "empty":
            self._add(
                Code(self._xml.raw(token.start, token.end), "point", verbatim=True),
                token.start,
                token.end,
            )
        else:
            yield from self._element(token, tokens)

    def _element(self, token: Token, tokens: Iterator[Token]) -> Iterator[Stretch]:
        if token.name in _AROUND and token.prefix == "w":
            self._numbers += 1
            self._open.append(self._numbers)
            raw = self._xml.raw(token.start, token.end)
            self._add(Code(raw, "open", self._numbers, verbatim=True), token.start, token.end)
            return
        end = _end_of(self._xml, token)
        if _NESTED.search(self._xml.data, token.start, end):
            yield from self._flush()  # a text box: its paragraphs are units of their own
            return
        self._xml.element_end(tokens)
        if token.name == "pPr":
            return
        if token.name == "r" and token.prefix == "w":
            self._run(token, end)
        else:
            kind: Kind = "point" if token.name in _ALONE else "word"
            self._add(Code(self._xml.raw(token.start, end), kind, verbatim=True), token.start, end)

    def _flush(self) -> Iterator[Stretch]:
        stretch, self._stretch = self._stretch, Stretch()
        self._open, self._field = [], None
        if stretch.finished():
            yield stretch

    def _add(self, piece: tuple[str, str] | Code, start: int, end: int) -> None:
        if self._field is None:
            self._stretch.add(piece, start, end)

    def _run(self, token: Token, end: int) -> None:
        """Take a run: its texts with its format, and each other thing in it as a code."""
        xml = self._xml
        format_, pieces = "", []
        for first, last in children(xml.tokens(token.end, end - len("</w:r>"))):
            raw = xml.raw(first.start, last.end)
            if first.name == "rPr":
                format_ = raw
            else:
                pieces.append((first.name, raw, xml.text(first.end, last.start)))
        for name, raw, text in pieces:
            if name == "fldChar":
                self._field_mark(raw, token.start, end)
            elif name == "t":
                self._add((text, format_), token.start, end)
            elif name != "lastRenderedPageBreak":
                whole = f"<w:r>{format_}{raw}</w:r>"
                self._add(Code(whole, _kind(name), verbatim=True), token.start, end)

    def _field_mark(self, raw: str, start: int, end: int) -> None:
        """Take a field from its beginning to its end as one code."""
        if 'fldCharType="begin"' in raw:
            self._field = (
                (start, 1) if self._field is None else (self._field[0], self._field[1] + 1)
            )
        elif 'fldCharType="end"' in raw and self._field is not None:
            begin, depth = self._field
            if depth > 1:
                self._field = (begin, depth - 1)
                return
            self._field = None
            self._add(Code(self._xml.raw(begin, end), "word", verbatim=True), begin, end)


def _end_of(xml: XmlFile, token: Token) -> int:
    """Return where an element ends."""
    if token.kind == "empty":
        return token.end
    return xml.element_end(xml.tokens(token.end)).end


def _kind(name: str) -> Kind:
    if name in ("tab", "br", "cr", "ptab"):
        return "break"
    return "word" if name in ("drawing", "pict", "object", "sym") else "point"


def read_paragraph(stretch: Stretch) -> tuple[MarkedText, str]:
    """Return a stretch as a marked text, and the format of its plain text."""
    lengths: Counter[str] = Counter()
    for piece in stretch.pieces:
        if isinstance(piece, tuple):
            lengths[_NOISE.sub("", piece[1])] += len(piece[0])
    base = lengths.most_common(1)[0][0]
    written = next(
        p[1] for p in stretch.pieces if isinstance(p, tuple) and _NOISE.sub("", p[1]) == base
    )
    parts: list[Part] = []
    number = 100_000
    current: tuple[str, int] | None = None
    for piece in stretch.pieces:
        shown = _NOISE.sub("", piece[1]) if isinstance(piece, tuple) else None
        blank = isinstance(piece, tuple) and not piece[0].strip()
        if current and shown != current[0]:
            parts.append(Code(_FORMAT, "close", current[1], verbatim=True))
            current = None
        if isinstance(piece, Code):
            parts.append(piece)
            continue
        if shown != base and current is None and not blank:
            number += 1
            current = (shown or "", number)
            parts.append(Code(_FORMAT + piece[1], "open", number, verbatim=True))
        if parts and isinstance(parts[-1], str):
            parts[-1] += piece[0]
        else:
            parts.append(piece[0])
    if current:
        parts.append(Code(_FORMAT, "close", current[1], verbatim=True))
    return mark_parts([part for part in parts if part != ""], ("urls", "braces")), written


def write_paragraph(target: MarkedText, base: str) -> str:
    """Return a marked text as runs."""
    pieces: list[str] = []
    formats: list[str] = []
    text = ""

    def end_run() -> None:
        nonlocal text
        if text:
            format_ = formats[-1] if formats else base
            pieces.append(f'<w:r>{format_}<w:t xml:space="preserve">{escape(text)}</w:t></w:r>')
        text = ""

    for part in target:
        if isinstance(part, str) or not part.verbatim:
            text += part if isinstance(part, str) else part.raw
            continue
        end_run()
        if not part.raw.startswith(_FORMAT):
            pieces.append(part.raw)
        elif part.kind == "open":
            formats.append(part.raw[len(_FORMAT) :])
        elif part.kind == "close" and formats:
            formats.pop()
    end_run()
    return "".join(pieces)
