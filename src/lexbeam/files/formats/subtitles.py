"""Subtitles: SubRip (``.srt``) and WebVTT (``.vtt``)."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.files.encodings import read_text
from lexbeam.files.formats import register
from lexbeam.files.placeholders import is_wordless, mark_parts
from lexbeam.files.units import Edit, Options, Unit
from lexbeam.translation.marked_text import (
    Code,
    MarkedText,
    Part,
    balanced,
    is_translatable,
    plain,
)

_TIME = r"(?:\d{1,4}:)?\d{1,2}:\d{2}[.,]\d{1,3}"
_TIMING = re.compile(rf"^[ \t]*{_TIME}[ \t]*-->[ \t]*{_TIME}[^\r\n]*", re.MULTILINE)
_TAGS = re.compile(r"</?[A-Za-z][^<>]*>|<(?:\d+:)?\d+:\d+\.\d+>|\{\\[^{}]*\}|\{[a-z]:[^{}]*\}")
_LINE = re.compile(r"[^\r\n]*")
_ENDED = re.compile(r"[.!?…][\"'”’»)\]]*\s*(?:</\w+>)*\s*$")
_DIALOGUE = re.compile(r"\s*(?:[-–—]|>>|[A-Z][A-Z ]+:)")


@register("srt", ".srt")
@register("vtt", ".vtt", ".webvtt")
class SubtitleScan:
    """A file of cues; their times, numbers and settings stay."""

    def __init__(self, data: bytes, options: Options) -> None:
        self._content = read_text(data, options.encoding)
        text = self._content.text
        self._is_vtt = text.startswith("WEBVTT")
        if not self._is_vtt and text.strip() and not _TIMING.search(text):
            raise InputError("there are no cues in the file")

    def units(self) -> Iterator[Unit]:
        """Yield the cues that have words."""
        text = self._content.text
        for number, found in enumerate(_TIMING.finditer(text), 1):
            lines = list(self._cue_lines(found.end()))
            if lines:
                unit = self._unit(number, lines)
                if unit is not None:
                    yield unit

    def _cue_lines(self, at: int) -> Iterator[tuple[int, int]]:
        """Yield the lines of a cue, up to an empty line."""
        text = self._content.text
        while at < len(text):
            if text.startswith("\r\n", at):
                at += 2
            elif text[at] in "\r\n":
                at += 1
            found = _LINE.match(text, at)
            if found is None or not found[0].strip() or _TIMING.match(text, at):
                return
            yield found.span()
            at = found.end()

    def _unit(self, number: int, lines: Sequence[tuple[int, int]]) -> Unit | None:
        text = self._content.text
        if is_wordless(text, lines[0][0], lines[-1][1]):
            return None
        shown = [text[start:end] for start, end in lines]
        spoken = sum(bool(_DIALOGUE.match(line)) for line in shown) > 1
        apart = len(shown) > 1 and (spoken or all(_ENDED.search(line) for line in shown[:-1]))
        if apart:
            sources = tuple(_marked(line, self._is_vtt) for line in shown)
        else:
            sources = (_marked(" ".join(line.strip() for line in shown), self._is_vtt),)
        if not any(is_translatable(source) for source in sources):
            return None

        def write(targets: Sequence[MarkedText]) -> Iterator[Edit]:
            if apart:
                for (start, end), target in zip(lines, targets, strict=True):
                    yield Edit(start, end, self._written(target))
                return
            written = _broken(targets[0], len(lines), self._written)
            yield Edit(lines[0][0], lines[-1][1], self._content.newline.join(written))

        return Unit(f"cue {number}", sources, write)

    def _written(self, target: MarkedText) -> str:
        """Return a line; no arrow and no line break may come into it."""
        if not self._is_vtt:
            return plain(target).replace("-->", "->").replace("\n", " ")
        return "".join(
            part.raw
            if isinstance(part, Code)
            else part.replace("\n", " ")
            .replace("&", "&amp;")
            .replace("<", "&lt;")
            .replace(">", "&gt;")
            for part in target
        )

    def header(self) -> tuple[Edit, ...]:
        """Return nothing: subtitles do not name their language."""
        return ()

    def spliced(self, edits: Sequence[Edit], encoding: str | None = None) -> Iterator[bytes]:
        """Yield the file with edits made."""
        return self._content.spliced(edits, encoding)


def _marked(line: str, is_vtt: bool) -> MarkedText:
    parts: list[Part] = []
    opened: dict[str, list[int]] = {}
    at = 0
    for i, found in enumerate(_TAGS.finditer(line), 1):
        parts.append(_decoded(line[at : found.start()], is_vtt))
        parts.append(_tag(found[0], i, opened))
        at = found.end()
    parts.append(_decoded(line[at:], is_vtt))
    shown = [part for part in parts if part != ""]
    return balanced(shown) if is_vtt else mark_parts(shown, ("entities", "urls"))


def _tag(raw: str, number: int, opened: dict[str, list[int]]) -> Code:
    name = re.match(r"</?([A-Za-z]+)", raw)
    if name is None:
        return Code(raw, "point", verbatim=True)
    if raw.startswith("</"):
        stack = opened.get(name[1].lower(), [])
        return Code(raw, "close", stack.pop() if stack else -number, verbatim=True)
    opened.setdefault(name[1].lower(), []).append(number)
    return Code(raw, "open", number, verbatim=True)


def _decoded(text: str, is_vtt: bool) -> str:
    if not is_vtt:
        return text
    for entity, character in (("&lt;", "<"), ("&gt;", ">"), ("&nbsp;", "\u00a0"), ("&amp;", "&")):
        text = text.replace(entity, character)
    return text


def _broken(target: MarkedText, lines: int, written: object) -> list[str]:
    """Return a text over a number of lines of about the same length."""
    assert callable(written)
    whole = str(written(target))
    if lines < 2:
        return [whole]
    spaces = [
        found.start()
        for found in re.finditer(r" (?![^<>]{0,200}>)(?![^{}]{0,200}\})", whole)
        if whole[: found.start()].strip() and whole[found.end() :].strip()
    ]
    result: list[str] = []
    start = 0
    for left in range(lines, 1, -1):
        wanted = start + (len(whole) - start) / left
        choices = [space for space in spaces if space > start]
        if not choices:
            break
        cut = min(choices, key=lambda space: abs(space - wanted))
        result.append(whole[start:cut])
        start = cut + 1
    return [*result, whole[start:]]
