from __future__ import annotations

import io
import signal
import sys
from pathlib import Path
from typing import Any

import pytest

from lexbeam.cli.stream import Stream
from lexbeam.errors import InputError
from lexbeam.translation.lines import PlainLines
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.results import ConstraintReport, Translation
from lexbeam.translation.translator import Translator


class Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


class Unkind:
    """Leaves a phrase out, another one in, and says so."""

    def translate_each(self, requests: list[TextRequest]) -> list[Translation]:
        report = ConstraintReport("gato", None)
        return [Translation(request.text, 0.0, [report], ["cat"]) for request in requests]


def stream(translator: Any, errors: io.StringIO) -> Stream:
    return Stream(translator, PlainLines(TextRequest("")), 2, errors)


def test_the_bar_is_for_terminals_only(translator: Translator, tmp_path: Path) -> None:
    path = tmp_path / "in.txt"
    path.write_text("one\n" * 20)
    shown = []
    for errors in (Terminal(), io.StringIO()):
        with path.open("rb") as reader:
            writer = io.BytesIO()
            stream(translator, errors).run(reader, writer)
            assert writer.getvalue() == b"one\n" * 20
        shown.append(errors.getvalue())
    assert "100%  20 lines" in shown[0]
    assert shown[1] == ""


def test_lines_are_counted_where_nobody_knows_how_many_there_are(translator: Translator) -> None:
    errors = Terminal()
    stream(translator, errors).run(io.BytesIO(b"one\n" * 20), io.BytesIO())
    assert "20 lines" in errors.getvalue()
    assert "%" not in errors.getvalue()


def test_a_phrase_that_is_missing_is_reported() -> None:
    errors = io.StringIO()
    running = stream(Unkind(), errors)
    running.run(io.BytesIO(b"a\nb\n"), io.BytesIO())
    assert running.failed == 2
    assert 'lexbeam: line 2: the translation lacks "gato"\n' in errors.getvalue()
    assert 'lexbeam: line 2: the translation has "cat"\n' in errors.getvalue()


def test_a_reader_that_fails_is_an_error(translator: Translator) -> None:
    class Broken(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def read(self, _size: int = -1) -> bytes:
            raise OSError("device is gone")

    with pytest.raises(InputError, match="device is gone"):
        stream(translator, io.StringIO()).run(Broken(), io.BytesIO())  # type: ignore[arg-type]


@pytest.mark.skipif(sys.platform == "win32", reason="signals work differently there")
def test_an_interrupt_waits_for_the_line_to_be_written(translator: Translator) -> None:
    class Interrupted(io.BytesIO):
        def write(self, data: Any) -> int:
            super().write(data[:2])
            signal.raise_signal(signal.SIGINT)
            return super().write(data[2:])

    writer = Interrupted()
    with pytest.raises(KeyboardInterrupt):
        stream(translator, io.StringIO()).run(io.BytesIO(b"one\ntwo\nsix\n" * 9), writer)
    assert writer.getvalue().endswith(b"\n")
    assert writer.getvalue().startswith(b"one\ntwo\n")
