"""The text of a study: sentences and their reference translations."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from lexbeam.constraints.phrases import unusable
from lexbeam.errors import InputError


@dataclass
class TestSet:
    """Sentences and their reference translations."""

    __test__ = False  # pytest takes the name for its own

    sources: list[str]
    references: list[str]


def read_test_set(source: Path, reference: Path, limit: int | None) -> TestSet:
    """Read two files with one sentence per line.

    Raises:
        InputError: a file can't be read, the files differ in length, or a line can't be used.
    """
    sources, references = (_read_lines(path) for path in (source, reference))
    if len(sources) != len(references):
        raise InputError(
            f"{source} has {len(sources)} lines, {reference} has {len(references)}: "
            "each line needs its translation"
        )
    sources, references = sources[:limit], references[:limit]
    for number, pair in enumerate(zip(sources, references, strict=True), 1):
        for path, line in zip((source, reference), pair, strict=True):
            fault = "nothing in it" if not line.strip() else unusable(line)
            if fault:
                raise InputError(f"{path}: line {number} has {fault}: drop the pair")
    if not sources:
        raise InputError(f"{source} is empty: a study needs sentences")
    return TestSet(sources, references)


def _read_lines(path: Path) -> list[str]:
    try:
        text = path.read_text(encoding="utf-8-sig")  # this turns all kinds of line ends into \n
    except OSError as error:
        raise InputError(f"{path}: can't be read ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise InputError(f"{path}: not UTF-8 text (byte {error.start})") from error
    # splitlines would also split at rarer characters, which a sentence may contain.
    return text.removesuffix("\n").split("\n") if text else []
