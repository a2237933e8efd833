"""Java properties."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.files.encodings import Content, read_text
from lexbeam.files.formats import register
from lexbeam.files.icu import Message, is_icu
from lexbeam.files.placeholders import is_wordless, mark
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.translation.marked_text import Code, MarkedText, is_translatable

_LOGICAL = re.compile(r"(?:[^\\\r\n]++|\\(?:\r\n|[^\r]|\r))*+(?:\r\n|\r|\n|\Z)", re.DOTALL)
_COMMENT = re.compile(r"[ \t\f]*[#!]([^\r\n]*)(?:\r\n|\r|\n|\Z)")
_KEY = re.compile(
    r"[ \t\f]*((?:[^\\=: \t\f\r\n]|\\(?:\r\n[ \t\f]*|.))*)[ \t\f]*[=:]?[ \t\f]*", re.DOTALL
)
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|\r?\n[ \t\f]*|\r[ \t\f]*|(.))", re.DOTALL)
_BAD_ESCAPE = re.compile(r"(?<!\\)(?:\\\\)*\\u(?![0-9a-fA-F]{4})")
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r", "f": "\f"}
_CONTINUED = re.compile(r"\\(\r\n|\n|\r)([ \t\f]*)")
_ARGUMENT = re.compile(r"\{\d+[^{}]*")


@register("properties", ".properties")
class PropertiesScan:
    """A file of properties; what goes beyond ASCII is escaped where the file does so."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = _read(data, options.encoding)
        text = self._content.text
        self._escapes = text.isascii() or self._content.encoding == "iso8859-1"
        if _BAD_ESCAPE.search(text):
            at = _BAD_ESCAPE.search(text)
            line = text.count("\n", 0, at.start() if at else 0) + 1
            raise InputError(f"line {line}: \\u without four digits")

    def units(self) -> Iterator[Unit]:
        """Yield the values that have words."""
        text = self._content.text
        note: list[str] = []
        at = 0
        while at < len(text):
            comment = _COMMENT.match(text, at)
            if comment is not None:
                note.append(comment[1].strip())
                at = comment.end()
                continue
            found = _LOGICAL.match(text, at)
            if found is None or found.end() == at:
                break
            if not found[0].isspace():
                unit = self._unit(at, found.end(), note)
                if unit is not None:
                    yield unit
            note = []
            at = found.end()

    def _unit(self, start: int, end: int, note: Sequence[str]) -> Unit | None:
        text = self._content.text
        key = _KEY.match(text, start, end)
        assert key is not None
        first = key.end()
        last = first + len(text[first:end].rstrip("\r\n"))
        if is_wordless(text, first, last):
            return None
        raw = text[first:last]
        value = _unescaped(raw)
        message = _ARGUMENT.search(value) is not None or "''" in value
        branched = Message.parse(value, doubled=True) if is_icu(value) else None
        sources = (_marked(value, message),) if branched is None else tuple(branched.sources)
        if not any(is_translatable(source) for source in sources):
            return None
        continued = _CONTINUED.search(raw)

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            if branched is None:
                written = self._written(targets[0], message, continued)
            else:
                written = self._written((branched.write(targets),), False, continued)
            yield Edit(first, last, written)

        return Unit(_unescaped(key[1]), sources, write, note="\n".join(note))

    def _written(self, target: MarkedText, message: bool, continued: re.Match[str] | None) -> str:
        pieces = []
        for part in target:
            text = part if isinstance(part, str) else part.raw
            if message and isinstance(part, str):
                text = text.replace("'", "''")
            pieces.append(self._escaped(text))
        written = "".join(pieces)
        if continued:
            return _wrapped(written, "\\" + continued[0][1:], continued.start() == 0)
        return "\\" + written if written[:1] == " " else written

    def _escaped(self, text: str) -> str:
        text = text.replace("\\", "\\\\").replace("\n", "\\n").replace("\t", "\\t")
        text = text.replace("\r", "\\r").replace("\f", "\\f")
        if not self._escapes:
            return text
        latin = self._content.encoding == "iso8859-1" and not self._content.text.isascii()
        limit = 0xFF if latin else 0x7F
        return "".join(c if ord(c) <= limit else _as_units(c) for c in text)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: the language is in the name of the file."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _read(data: bytes, encoding: str | None) -> Content:
    """Decode a file: UTF-8 as since Java 9, or Latin-1 as before."""
    try:
        return read_text(data, encoding)
    except InputError:
        if encoding or data[:2] in (b"\xff\xfe", b"\xfe\xff") or b"\0" in data:
            raise
        return read_text(data, "iso8859-1")


def _unescaped(text: str) -> str:
    if "\\" not in text:
        return text
    return (
        _ESCAPE.sub(_one_unescaped, text)
        .encode("utf-16", "surrogatepass")
        .decode("utf-16", "replace")
    )


def _one_unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    return _SPECIAL.get(found[2], found[2]) if found[2] else ""


def _as_units(character: str) -> str:
    data = character.encode("utf-16-be")
    return "".join(f"\\u{data[i]:02x}{data[i + 1]:02x}" for i in range(0, len(data), 2))


def _marked(value: str, message: bool) -> MarkedText:
    """Return a value as marked text; in a message two apostrophes stand for one."""
    if not message:
        return mark(value)
    quoted = re.split(r"('(?:[^']*[{}][^']*)')", value.replace("''", "\x01"))
    parts: list[str | Code] = []
    for i, piece in enumerate(quoted):
        if i % 2:
            parts.append(Code(piece.replace("\x01", "''")))
        elif piece:
            parts += mark(piece.replace("\x01", "'"))
    return tuple(parts)


def _wrapped(text: str, joint: str, from_start: bool) -> str:
    """Return a value over several lines, as its source was."""
    lines = [""]
    for word in re.findall(r"\S+\s*|\s+", text):
        if lines[-1] and len(lines[-1]) + len(word) > 80:
            lines.append("")
        lines[-1] += word
    if lines[0][:1] == " ":
        lines[0] = "\\" + lines[0]
    return (joint if from_start else "") + joint.join(lines)
