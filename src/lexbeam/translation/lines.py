"""The ways a line can be written: plain text, with constraints behind tabs, and JSON objects.

Reading any of them gives the same `Line`; writing turns its translation, or what went wrong, into
exactly one line again (n-best lists in plain text apart), so that input and output stay aligned.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Protocol

from lexbeam.translation.alignment import pharaoh
from lexbeam.translation.records import (
    Record,
    dump_record,
    parse_record,
    read_request,
    write_error,
    write_translation,
)
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import Alternative, Translation
from lexbeam.translation.settings import read_settings


@dataclass
class Line:
    """One line of input on its way; ``error`` says why it can't be translated.

    A line without anything on it has no request: there is nothing to place a constraint in.
    """

    number: int
    request: TextRequest | None = None
    record: Record = field(default_factory=dict)
    error: str | None = None
    translation: Translation | None = None

    @property
    def faults(self) -> list[str]:
        """What is wrong with it: why it can't be translated, or what its translation breaks."""
        faults = [self.error] if self.error else []
        if self.translation:
            reports = self.translation.constraints
            missing = [report.text for report in reports if not (report.met or report.dropped)]
            faults += [f'the translation lacks "{phrase}"' for phrase in missing]
            faults += [f'the translation has "{each}"' for each in self.translation.unavoided]
        return faults


class LineFormat(Protocol):
    """How lines are read and written."""

    def read(self, text: str, line: Line) -> None:
        """Fill in a line from its text; an InputError says that it can't be read."""
        ...

    def write(self, line: Line) -> str:
        """Return what to print for a line, without the line break at its end."""
        ...


class PlainLines:
    """A line is a text; the same is asked of all."""

    def __init__(self, common: TextRequest) -> None:
        self._common = common

    def request(self, text: str) -> TextRequest:
        """Return what is asked of a text."""
        return replace(self._common, text=text)

    def read(self, text: str, line: Line) -> None:
        """Read the request of a line, if there is anything on it."""
        request = self.request(text)
        if request.text.strip():
            line.request = request

    def write(self, line: Line) -> str:
        """Return the translation, or its n-best list as ``line ||| text ||| score``.

        Whoever asks for several gets that shape even if there is one. Alignments stand at the
        end: ``||| 0-0 1-2``, by words with white space between them.
        """
        if line.translation is None:
            return ""
        if read_settings(self._common.settings).nbest == 1:
            return line.translation.text + _alignment(line, line.translation)
        return "\n".join(
            f"{line.number} ||| {each.text} ||| {each.score:.4f}{_alignment(line, each)}"
            for each in line.translation.nbest
        )


class TabLines(PlainLines):
    """A line is a text and its phrases, with tabs between them, as fairseq reads it."""

    def __init__(self, common: TextRequest, ordered: bool = False) -> None:
        super().__init__(common)
        self._ordered = ordered

    def request(self, text: str) -> TextRequest:
        """Take the phrases off; what is asked of every line comes on top."""
        text, *fields = text.split("\t")
        phrases: list[Any] = [phrase for phrase in fields if phrase.strip()]
        if self._ordered and phrases:
            phrases = [{"order": phrases}]
        constraints = [*phrases, *(self._common.constraints or ())]
        return replace(self._common, text=text, constraints=constraints)


def _alignment(line: Line, translation: Alternative) -> str:
    """Return how a line ends that says which words translate which; nothing if not asked."""
    if translation.alignment is None or line.request is None:
        return ""
    return f" ||| {pharaoh(line.request.text, translation.text, translation.alignment)}".rstrip()


class JsonLines:
    """A line is a record (see `lexbeam.translation.records`)."""

    def __init__(self, common: TextRequest, signature: bool = False) -> None:
        self._common = common
        self._signature = signature

    def read(self, text: str, line: Line) -> None:
        """Read the record; what is asked of every line comes on top of what it asks itself."""
        if text.strip():
            line.record = parse_record(text)
            line.request = read_request(line.record, self._common)

    def write(self, line: Line) -> str:
        """Return the record with the translation, or with ``error`` and ``line``."""
        if line.error is not None:
            return dump_record(write_error(line.record, line.error, line.number))
        if line.translation is None:
            return ""
        return dump_record(write_translation(line.record, line.translation, self._signature))
