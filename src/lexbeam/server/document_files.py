"""Whole files: which there are, and how they are translated."""

from __future__ import annotations

import mimetypes
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from lexbeam.constraints.glossary import Glossary
from lexbeam.errors import InputError
from lexbeam.files import formats, translate, units
from lexbeam.server.bodies import File
from lexbeam.server.context import Call
from lexbeam.server.errors import bad_request
from lexbeam.server.marked import with_queued
from lexbeam.server.models import ServedModel
from lexbeam.server.queued_translator import QueuedTranslator
from lexbeam.translation.marked_text import plain

FORMATS = sorted({name.lstrip(".") for each in formats().values() for name in each.extensions})
"""The endings of the files that can be translated."""


def extension(name: str) -> str:
    """Return the ending of a file's name, in small letters and without the dot."""
    return Path(name).suffix.lower().lstrip(".")


def content_type(name: str) -> str:
    """Return the media type of a file."""
    return mimetypes.guess_type(f"file.{extension(name)}")[0] or "application/octet-stream"


async def translate_file(
    call: Call, model: ServedModel, file: File, glossary: Glossary | None
) -> bytes:
    """Return the translation of a file, in the same format.

    Raises:
        ApiError: it can't be read.
    """

    def work(translator: QueuedTranslator) -> bytes:
        return translate_content(translator, file, glossary)

    return await with_queued(call, model, work)


def text_of(file: File) -> str:
    """Return what there is to translate in a file.

    Raises:
        ApiError: it can't be read.
    """
    with _written(file) as path:
        texts = [plain(source) for unit in units(path) for source in unit.sources]
    return "\n".join(texts)


def translate_content(translator: QueuedTranslator, file: File, glossary: Glossary | None) -> bytes:
    """Return the translation of a file; the thread waits for it.

    Raises:
        ApiError: it can't be read.
    """
    settings: dict[str, Any] = {} if glossary is None else {"glossary": glossary}
    with _written(file) as source:
        target = source.with_name(f"translated{source.suffix}")
        translate(source, target, translator, **settings)
        return target.read_bytes()


@contextmanager
def _written(file: File) -> Iterator[Path]:
    """Put a file into a folder of its own, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="lexbeam-") as folder:
        path = Path(folder) / f"document.{extension(file.name)}"
        path.write_bytes(file.content)
        try:
            yield path
        except InputError as error:
            reason = str(error).replace(f"{path}: ", "").replace(folder, "")
            raise bad_request(f"Invalid file data: {reason}") from None
