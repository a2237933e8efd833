"""Type-check the Python blocks of the documentation: ``python docs/type_check.py``.

Every ``python`` block, and the ``pycon`` blocks of a page together, become a module that mypy
reads with the project's own strict settings. Blocks may use the names of `PREAMBLE` without
defining them. Errors are printed with the page and the line; the exit status is mypy's.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from contextlib import chdir
from doctest import DocTestParser
from pathlib import Path
from tempfile import TemporaryDirectory

from mypy import api

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md")))

PREAMBLE = "; ".join(
    (
        "from typing import Any",
        "import lexbeam",
        "from lexbeam.search import Scorer",
        "translator: lexbeam.Translator",
        "model: Any",
        "tokenizer: Any",
        "inputs: dict[str, Any]",
        "scorer: Scorer",
        "sources: list[Any]",
        "weights: dict[str, Any]",
        "some_source_sentences: list[str]",
    )
)
"""What a block may use: it stands in line 1, so that all other lines are those of the page."""

_BLOCK = re.compile(r"(?<=^```python\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_SESSION = re.compile(r"(?<=^```pycon\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)


def modules(page: str) -> Iterator[str]:
    """Yield the modules of a page. Line n of a module is line n of the page, or blank."""
    for block in _BLOCK.finditer(page):
        line = page.count("\n", 0, block.start())
        yield _module({line + i: text for i, text in enumerate(block[0].splitlines())})
    session: dict[int, str] = {}
    for block in _SESSION.finditer(page):
        line = page.count("\n", 0, block.start())
        for example in DocTestParser().get_examples(block[0]):
            for i, text in enumerate(example.source.splitlines()):
                session[line + example.lineno + i] = text
    if session:
        yield _module(session)


def _module(lines: dict[int, str]) -> str:
    """Return a module with lines of code at some indices, which begin after the preamble."""
    code = [PREAMBLE, *(lines.get(i, "") for i in range(1, max(lines) + 1))]
    return "\n".join(code) + "\n"


def main() -> int:
    """Check all pages and return the exit status."""
    with TemporaryDirectory() as folder, chdir(ROOT):
        names = {}
        for page in PAGES:
            for i, code in enumerate(modules(page.read_text(encoding="utf-8"))):
                path = Path(folder) / f"{page.parent.name}_{page.stem}_{i}.py".replace("-", "_")
                path.write_text(code, encoding="utf-8")
                names[str(path)] = str(page.relative_to(ROOT))
        printed, complaints, status = api.run([*names, "--no-error-summary"])
    for module_path, page_name in names.items():
        printed = printed.replace(module_path, page_name)
    print(printed + complaints, end="")
    return status


if __name__ == "__main__":
    sys.exit(main())
