"""Markdown, with front matter, tables, footnotes and the admonitions of MkDocs."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

from lexbeam.errors import MissingExtraError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.html_text import html_units
from lexbeam.files.markdown_inline import label, read_markdown, write_markdown
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.translation.marked_text import Code, MarkedText, Part, is_translatable, plain

_FRONT = re.compile(r"(---|\+\+\+)[ \t]*\r?\n(.*?)\r?\n\1[ \t]*(?:\r?\n|\Z)", re.DOTALL)
_FIELD = re.compile(
    r"^(?:title|linktitle|linkTitle|description|summary|subtitle|excerpt|caption)[ \t]*[:=][ \t]*"
    r"(?P<quote>[\"']?)(?P<text>[^\r\n]*?)(?P=quote)[ \t]*\r?$",
    re.MULTILINE,
)
_ADMONITION = re.compile(
    r"([ \t]*)(?:!!!|\?\?\?\+?|===)[ \t]+(?:[\w-]+(?:[ \t]+[\w-]+)*)?[ \t]*(?:\"(.*)\")?[ \t]*$"
)
_FOOTNOTE = re.compile(r"([ \t]{0,3}\[\^[^\]\s]+\]:[ \t]+)(?=\S)")
_DEFINITION = re.compile(r"^[ \t]{0,3}\[((?!\^)(?:[^\]\\]|\\.)+)\]:", re.MULTILINE)
_TASK = re.compile(r"\[[ xX]\][ \t]+")
_CHUNK = 200_000
_BLOCK_START = re.compile(r"(?:[-+*>]|#{1,6}|\d{1,9}[.)]|=+|-+|\||~{3,}|`{3,}|:)(?:\s|$)")


class Line(NamedTuple):
    """A line of the file without its line break."""

    start: int
    text: str


class Chunk(NamedTuple):
    """Some blocks of a file: the number of their first line, and the titles of admonitions."""

    line: int
    lines: list[Line]
    titles: list[tuple[int, int, str]]
    length: int


@register("markdown", ".md", ".markdown", ".mdown", ".mdx", ".qmd", ".rmd")
class MarkdownScan:
    """A document: its paragraphs, headings, cells and the titles of its front matter."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = read_text(data, options.encoding)
        self._parser = _parser()
        text = self._content.text
        self._labels = frozenset(label(found[1]) for found in _DEFINITION.finditer(text))

    def units(self) -> Iterator[Unit]:
        """Yield the blocks that have words."""
        front = _FRONT.match(self._content.text)
        if front:
            yield from self._front_matter(front)
        at = front.end() if front else 0
        line = self._content.text.count("\n", 0, at) + 1
        while at < len(self._content.text):
            chunk, tokens = self._chunk(at, line)
            yield from self._units_of(chunk, tokens)
            at += chunk.length
            line += len(chunk.lines)

    def _chunk(self, at: int, line: int) -> tuple[Chunk, list[Any]]:
        """Parse the file from the beginning of a block on, up to that of another.

        A large file is not parsed as a whole: that would take very much memory.
        """
        text, size = self._content.text, _CHUNK
        while True:
            end = text.find("\n", at + size) + 1 if at + size < len(text) else 0
            end = end or len(text)
            lines = list(_lines(text, at, end))
            seen = [each.text for each in lines]
            titles, inside = _unwrapped(seen)
            tokens = self._parser.parse("\n".join(seen))
            if end == len(text):
                return Chunk(line, lines, titles, end - at), tokens
            starts = [t.map[0] for t in tokens if t.map and not t.level and t.nesting >= 0]
            cut = max((start for start in starts if start not in inside), default=0)
            if cut:
                length = lines[cut].start - at
                titles = [title for title in titles if title[0] < cut]
                kept = [token for token in tokens if token.map and token.map[0] < cut]
                return Chunk(line, lines[:cut], titles, length), kept
            size *= 2

    def _units_of(self, chunk: Chunk, tokens: Sequence[Any]) -> Iterator[Unit]:
        for number, start, text in chunk.titles:
            yield self._title(chunk, number, start, text)
        cells: dict[int, int] = {}
        for token in tokens:
            if token.map is None:
                continue
            if token.type == "inline":
                yield from self._inline(chunk, token, cells)
            elif token.type == "html_block":
                yield from self._html(chunk, token.map)

    def _front_matter(self, front: re.Match[str]) -> Iterator[Unit]:
        for found in _FIELD.finditer(self._content.text, front.start(2), front.end(2)):
            source = read_markdown(found["text"])
            if is_translatable(source):
                yield self._field(found, source)

    def _field(self, found: re.Match[str], source: MarkedText) -> Unit:
        quote = found["quote"]
        start, end = found.span("text")

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            text = plain(targets[0])
            if quote == '"':
                text = text.replace('"', '\\"') if '\\"' in found["text"] or '"' in text else text
            elif quote == "'":
                text = text.replace("''", "'").replace("'", "''")
            elif re.search(r": |[ ]#|^[-?:,\[\]{}#&*!|>'\"%@`]", text):
                text = '"' + text.replace("\\", "\\\\").replace('"', '\\"') + '"'
            yield Edit(start, end, text)

        return Unit(
            f"front matter {found[0].split(':')[0].split('=')[0].strip()}", (source,), write
        )

    def _title(self, chunk: Chunk, number: int, start: int, text: str) -> Unit:
        source = read_markdown(text, self._labels)
        at = chunk.lines[number].start + start

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            yield Edit(at, at + len(text), plain(targets[0]).replace('"', "'"))

        return Unit(f"line {chunk.line + number}", (source,), write)

    def _html(self, chunk: Chunk, span: Sequence[int]) -> Iterator[Unit]:
        start = chunk.lines[span[0]].start
        last = chunk.lines[min(span[1], len(chunk.lines)) - 1]
        end, line = last.start + len(last.text), chunk.line + span[0]
        yield from html_units(self._content.text, start, end, "html ", line)

    def _inline(self, chunk: Chunk, token: Any, cells: dict[int, int]) -> Iterator[Unit]:
        """Yield the unit of a block, if its text is found where the parser saw it."""
        places = _places(chunk.lines, token, cells)
        if not places:
            return
        first, last = places[0], places[-1]
        raw = "\n".join(self._content.text[a:b] for a, b in places)
        task = _TASK.match(raw)
        skipped = task.end() if task else 0
        source = _soft(read_markdown(raw[skipped:], self._labels))
        if not is_translatable(source):
            return
        start, end = first[0] + skipped, last[1]
        line = chunk.line + token.map[0]

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            text = write_markdown(targets[0], source)
            yield Edit(start, end, self._laid_out(text, places, "|" in raw and len(places) == 1))

        yield Unit(f"line {line}", (source,), write)

    def _laid_out(self, text: str, places: Sequence[tuple[int, int]], in_table: bool) -> str:
        """Return a translation over as many columns as its source took."""
        newline = self._content.newline
        if in_table:
            text = re.sub(r"(?<!\\)\|", r"\\|", text)
        if len(places) == 1:
            return _guarded(text.replace("\n", " "))
        second = places[1][0]
        line_start = self._content.text.rfind("\n", 0, second) + 1
        prefix = self._content.text[line_start:second]
        width = max(b - a for a, b in places)
        lines: list[str] = []
        for piece in re.split(r"(?<=  )\n|(?<=\\)\n", text):
            hard = piece[len(piece.rstrip()) :] if lines or piece != text else ""
            lines += _wrapped(piece.rstrip(), width)
            lines[-1] += hard
        return (newline + prefix).join(_guarded(line) for line in lines)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the document with edits made."""
        return self._content.spliced(edits, encoding)


def _parser() -> Any:
    try:
        from markdown_it import MarkdownIt  # noqa: PLC0415  (an extra)
    except ImportError:
        raise MissingExtraError("Markdown", "files") from None
    parser = MarkdownIt("commonmark", {"maxNesting": 100}).enable("table")
    parser.core.ruler.enableOnly(["normalize", "block"])
    return parser


def _lines(text: str, at: int, end: int) -> Iterator[Line]:
    for line in text[at:end].removesuffix("\n").split("\n"):
        yield Line(at, line.removesuffix("\r"))
        at += len(line) + 1


def _places(lines: Sequence[Line], token: Any, cells: dict[int, int]) -> list[tuple[int, int]]:
    """Return where the lines of a block stand in the file."""
    places = []
    last = token.content.count("\n")
    for offset, content in enumerate(token.content.split("\n")):
        number = token.map[0] + offset
        if number >= len(lines):
            return []
        line = lines[number]
        shown = content.strip()
        at = line.text.find(shown, cells.get(number, 0))
        if at < 0 and "|" in shown:
            shown = shown.replace("|", "\\|")
            at = line.text.find(shown, cells.get(number, 0))
        if at < 0 or not shown:
            return []
        cells[number] = at + len(shown)
        end = line.start + at + len(shown)
        if offset < last and line.text.endswith("  "):  # a line break that is meant
            end = line.start + len(line.text)
        places.append((line.start + at, end))
    return places


def _unwrapped(lines: list[str]) -> tuple[list[tuple[int, int, str]], set[int]]:
    """Take admonitions and footnotes off their contents.

    Return the titles of admonitions, and the numbers of the lines inside of them.
    """
    titles = []
    within: set[int] = set()
    inside = 0  # columns to take off
    for i, line in enumerate(lines):
        indent = len(line) - len(line.lstrip(" "))
        if inside and line.strip() and indent < inside:
            inside = 0
        found = _ADMONITION.match(line)
        if found and (found[2] or line.strip() not in ("===",)):
            inside = len(found[1]) + 4
            if found[2] and any(c.isalpha() for c in found[2]):
                titles.append((i, found.start(2), found[2]))
            lines[i] = ""
            continue
        footnote = _FOOTNOTE.match(line)
        if line.startswith((": ", ":\t")):  # a definition, which interrupts its term
            lines[i] = "-" + line[1:]
        elif footnote:
            lines[i] = line[footnote.end() :]
            inside = 0
        elif inside:
            lines[i] = line[inside:]
        if inside:
            within.add(i)
    return titles, within


def _soft(marked: MarkedText) -> MarkedText:
    """Return a text with a space for every line break that is not meant."""
    parts: list[Part] = [
        re.sub(r"(?<![ \t])[ \t]*\n[ \t]*", " ", part) if isinstance(part, str) else part
        for part in marked
    ]
    return tuple(
        Code(re.sub(r"\n[ \t]*", "\n", part.raw), part.kind, part.pair, verbatim=True)
        if isinstance(part, Code) and "\n" in part.raw and part.kind == "break"
        else part
        for part in parts
    )


def _wrapped(text: str, width: int) -> list[str]:
    """Wrap a text; no line begins like a block."""
    lines = [""]
    for word in re.findall(r"\S+", text) or [""]:
        if lines[-1] and len(lines[-1]) + 1 + len(word) > width and not _BLOCK_START.match(word):
            lines.append(word)
        else:
            lines[-1] = f"{lines[-1]} {word}" if lines[-1] else word
    return lines


def _guarded(line: str) -> str:
    """Escape what would turn a line into another kind of block."""
    found = _BLOCK_START.match(line)
    if found is None:
        return line
    number = re.match(r"\d+", line)
    at = number.end() if number else 0
    return line[:at] + "\\" + line[at:]
