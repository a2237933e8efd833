"""Apple's ``.strings`` files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.placeholders import is_wordless, mark
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.translation.marked_text import MarkedText, is_translatable, plain

_COMMENT = re.compile(r"/\*((?:[^*]++|\*(?!/))*+)\*/|//([^\r\n]*+)")
_BLANK = rf"((?:\s++|{_COMMENT.pattern})*+)"
_TEXT = r"(\"(?:[^\"\\]++|\\.)*+\"|'(?:[^'\\]++|\\.)*+'|[\w.$/:-]++)"
_PAIR = re.compile(rf"(?:{_TEXT}{_BLANK}(?:={_BLANK}{_TEXT}{_BLANK})?;)", re.DOTALL)
_VALUE = 8
"""The group of the text in a pair: behind those of the key and of comments."""
_BLANKS = re.compile(_BLANK)
_ESCAPE = re.compile(r"\\(?:[Uu]([0-9a-fA-F]{4})|([0-7]{1,3})|(.))", re.DOTALL)
_SPECIAL = {"n": "\n", "t": "\t", "r": "\r", "a": "\a", "b": "\b", "f": "\f", "v": "\v"}


@register("strings", ".strings")
class StringsScan:
    """A file of strings: pairs of key and text."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = read_text(data, options.encoding, guess=True)

    def units(self) -> Iterator[Unit]:
        """Yield the texts that have words."""
        for key, note, start, end in self._pairs():
            unit = self._unit(key, note, start, end)
            if unit is not None:
                yield unit

    def _unit(self, key: str, note: str, start: int, end: int) -> Unit | None:
        if is_wordless(self._content.text, start, end):
            return None
        raw = self._content.text[start:end]
        quote = raw[0] if raw[0] in "\"'" else ""
        source = mark(_text_of(raw))
        if not is_translatable(source):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            mark_used = quote or '"'
            text = plain(targets[0]).replace("\\", "\\\\").replace(mark_used, "\\" + mark_used)
            if "\n" not in raw:
                text = text.replace("\n", "\\n")
            text = text.replace("\t", "\\t").replace("\r", "\\r")
            yield Edit(start, end, f"{mark_used}{text}{mark_used}")

        return Unit(key, (source,), write, note=note)

    def _pairs(self) -> Iterator[tuple[str, str, int, int]]:
        """Yield key, comment and place of every text.

        Raises:
            InputError: the file is not made of pairs.
        """
        text = self._content.text
        at = 0
        while True:
            blank = _BLANKS.match(text, at)
            at = blank.end() if blank else at
            if at == len(text):
                return
            found = _PAIR.match(text, at)
            if found is None:
                raise self._wrong(at)
            notes = [] if blank is None else _COMMENT.findall(blank[0])
            if found[_VALUE] is not None:
                note = "".join(notes[-1]).strip() if notes else ""
                yield _text_of(found[1]), note, *found.span(_VALUE)
            at = found.end()

    def _wrong(self, at: int) -> InputError:
        line = self._content.text.count("\n", 0, at) + 1
        return InputError(f"line {line}: not a pair of key and text")

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: the language is in the name of the folder."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _text_of(raw: str) -> str:
    if raw[0] not in "\"'":
        return raw
    return _ESCAPE.sub(_unescaped, raw[1:-1])


def _unescaped(found: re.Match[str]) -> str:
    if found[1]:
        return chr(int(found[1], 16))
    if found[2]:
        return chr(int(found[2], 8))
    return _SPECIAL.get(found[3], found[3])
