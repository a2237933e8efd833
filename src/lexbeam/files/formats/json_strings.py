"""JSON: flat and nested, i18next, WebExtension messages, ARB, FormatJS."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.icu import Message, is_icu
from lexbeam.files.json_scanner import (
    Path,
    decode_string,
    encode_string,
    scan_json,
    writes_ascii,
)
from lexbeam.files.languages import check_language
from lexbeam.files.placeholders import is_wordless, mark
from lexbeam.files.units import Edit, Options, Sources, Unit
from lexbeam.translation.marked_text import MarkedText, is_translatable, plain

Wanted = Callable[[Path], bool]
_TEXT_KEYS = ("defaultMessage", "string")
"""Keys of a text that stands beside what describes it (FormatJS, Transifex)."""
_DESCRIBED = re.compile(r'"(?:defaultMessage|string)"\s*:\s*"')


class JsonScan:
    """A JSON file whose wanted strings are texts."""

    def __init__(self, data: bytes, options: Options, wanted: Wanted) -> None:
        self.content = read_text(data, options.encoding)
        self._ascii = writes_ascii(self.content.text)
        self.wanted = wanted

    def units(self) -> Iterator[Unit]:
        """Yield the wanted strings that have words."""
        for event in scan_json(self.content.text):
            if event.kind == "string" and self.wanted(event.path):
                unit = self._unit(event.path, event.start, event.end)
                if unit is not None:
                    yield unit

    def _unit(self, path: Path, start: int, end: int) -> Unit | None:
        if is_wordless(self.content.text, start + 1, end - 1):
            return None
        text = decode_string(self.content.text[start:end])
        sources, rebuild = read_message(text)
        if not sources:
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            yield Edit(start, end, encode_string(rebuild(targets), self._ascii))

        return Unit(".".join(map(str, path)), sources, write)

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: such a file does not name its language, or names that of its source."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self.content.spliced(edits, encoding)


def read_message(text: str) -> tuple[Sources, Callable[[Sequence[MarkedText]], str]]:
    """Return the texts of a string, none if it has no words, and what puts them together."""
    if is_icu(text):
        message = Message.parse(text)
        if message is not None:
            return tuple(message.sources), message.write
    marked = mark(text)
    return ((marked,) if is_translatable(marked) else ()), lambda targets: plain(targets[0])


def _is_web_extension(name: str, head: bytes) -> bool:
    if name == "messages.json":
        return re.search(rb'"message"\s*:\s*"', head) is not None
    return (
        re.match(rb'\s*(?:\xef\xbb\xbf)?\{\s*"[^"]+"\s*:\s*\{\s*"message"\s*:\s*"', head)
        is not None
    )


@register("webextension", ".json", recognise=_is_web_extension, rank=1)
def open_web_extension(data: bytes, options: Options) -> JsonScan:
    """Open the messages of a browser extension: only ``message`` is translated."""
    return JsonScan(data, options, lambda path: len(path) == 2 and path[1] == "message")


@register("arb", ".arb")
def open_arb(data: bytes, options: Options) -> JsonScan:
    """Open an application resource bundle: keys that begin with ``@`` are not translated."""
    scan = JsonScan(data, options, _is_arb_text)
    found = re.search(r'"@@locale"\s*:\s*"([^"\\]*)"', scan.content.text)
    if found:
        named = found[1]
        check_language(named, options.source_language, "source")
    return scan


def _is_arb_text(path: Path) -> bool:
    return len(path) == 1 and not str(path[0]).startswith("@")


@register("json", ".json")
def open_json(data: bytes, options: Options) -> JsonScan:
    """Open JSON: every string is a text, except what describes one."""
    scan = JsonScan(data, options, lambda _: True)
    described: set[Path] = set()
    if _DESCRIBED.search(scan.content.text):
        described = {
            event.path[:-1]
            for event in scan_json(scan.content.text)
            if event.kind == "string" and event.path and event.path[-1] in _TEXT_KEYS
        }

    def wanted(path: Path) -> bool:
        if path and path[-1] in ("$schema", "@@locale", "$id"):
            return False
        if any(str(key).startswith("@") and len(str(key)) > 1 for key in path):
            return False
        return path[:-1] not in described or path[-1] in _TEXT_KEYS

    scan.wanted = wanted
    return scan
