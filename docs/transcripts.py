"""Rerun the examples of the documentation: ``python docs/transcripts.py [FILE ...]``.

What a page shows in ``console`` and ``pycon`` blocks is what lexbeam says: everything is run with
the model that comes along, and what it prints is put in its place. With ``--check`` nothing is
written, and the exit status is 1 if something has changed. Without files, all pages that have such
examples are gone through.

In a console, understood are ``lexbeam … [< FILE] [> FILE]``, ``echo '…' | lexbeam …``, ``echo $?``
and ``cat FILE``; the last shows what a command has written, and otherwise says what is in the file
from then on. Everything else, and what needs another model or the network, is left as it stands.
"""

from __future__ import annotations

import re
import shlex
import sys
from collections.abc import Iterator
from contextlib import chdir, contextmanager, redirect_stdout
from doctest import DocTestParser
from functools import cache
from io import StringIO
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any
from unittest.mock import patch

from click.testing import CliRunner

from lexbeam.cli.main import main as lexbeam_command
from lexbeam.translation import translator

ROOT = Path(__file__).parent.parent
PAGES = tuple(
    ROOT / name
    for name in (
        "README.md",
        "docs/guide.md",
        "docs/constraints.md",
        "docs/glossaries.md",
        "docs/terms.md",
    )
)

_BLOCK = re.compile(r"(?<=^```console\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_SESSION = re.compile(r"(?<=^```pycon\n).*?(?=^```$)", re.MULTILINE | re.DOTALL)
_EXAMPLE = re.compile(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", re.MULTILINE)
_NUMBER = re.compile(r"-?\d+\.\d{2,}")
_ELSEWHERE = ("--model", "-m", "pull", "models", "train", "study", "import", "--trace")
"""Commands with one of these words need another model or the network, or take too long."""


class Console:
    """Runs commands in the current folder, one after the other."""

    def __init__(self) -> None:
        self._status = 0
        self._written: set[str] = set()

    def run(self, command: str, shown: str) -> str:
        """Return what a command prints, or what is shown of it if it is not run."""
        words = shlex.split(command.replace("\\\n", " "), comments=True)
        match words:
            case ["cat", name] if name not in self._written:
                Path(name).write_text(shown, encoding="utf-8")
                return shown
            case ["cat", name]:
                return Path(name).read_text(encoding="utf-8")
            case ["echo", "$?"]:
                return f"{self._status}\n"
            case ["echo", text, "|", "lexbeam", *arguments]:
                return self._lexbeam(arguments, text + "\n", shown)
            case ["lexbeam", *arguments]:
                return self._lexbeam(arguments, None, shown)
        return shown

    def _lexbeam(self, arguments: list[str], text: str | None, shown: str) -> str:
        if any(word in _ELSEWHERE for word in arguments):
            return shown
        arguments, source = _cut(arguments, "<")
        arguments, target = _cut(arguments, ">")
        if source:
            text = Path(source).read_text(encoding="utf-8")
        result = CliRunner().invoke(lexbeam_command, arguments, input=text)
        if result.exception and not isinstance(result.exception, SystemExit):
            raise result.exception
        self._status = result.exit_code
        if not target:
            return result.stderr + result.stdout
        Path(target).write_text(result.stdout, encoding="utf-8")
        self._written.add(target)
        return result.stderr


def _cut(arguments: list[str], mark: str) -> tuple[list[str], str | None]:
    """Take a redirection off."""
    if mark not in arguments:
        return arguments, None
    at = arguments.index(mark)
    return arguments[:at] + arguments[at + 2 :], arguments[at + 1]


def rerun(text: str) -> str:
    """Return a page with what its commands print today; scores may differ in their last digits."""
    console = Console()

    def example(match: re.Match[str]) -> str:
        command, shown = match.groups()
        printed = console.run(command, shown)
        return f"$ {command}\n{shown if _alike(shown, printed) else printed}"

    with TemporaryDirectory() as folder, chdir(folder), _one_model():
        text = _BLOCK.sub(lambda block: _EXAMPLE.sub(example, block[0]), text)
        names: dict[str, Any] = {}
        return _SESSION.sub(lambda session: _rerun_session(session[0], names), text)


def _rerun_session(session: str, names: dict[str, Any]) -> str:
    """Return a Python session with what it prints today."""
    lines = []
    for example in DocTestParser().get_examples(session):
        printed = StringIO()
        with redirect_stdout(printed):
            exec(compile(example.source, "session", "single"), names)
        first, *more = example.source.splitlines()
        lines += [f">>> {first}", *(f"... {line}" for line in more)]
        shown = example.want
        lines += (shown if _alike(shown, printed.getvalue()) else printed.getvalue()).splitlines()
    return "\n".join(lines) + "\n"


def _alike(shown: str, printed: str) -> bool:
    """Return whether two outputs are the same but for the last digits of numbers."""
    if _NUMBER.sub("#", shown) != _NUMBER.sub("#", printed):
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(printed), strict=True)
    return all(abs(float(a) - float(b)) < 0.015 for a, b in pairs)


@contextmanager
def _one_model() -> Iterator[None]:
    """Load the model once for all commands."""
    load = cache(translator.load)
    with patch("lexbeam.cli.translate.load", load), patch("lexbeam.cli.info.load", load):
        yield


def main(arguments: list[str]) -> int:
    """Go through the pages; return the exit status."""
    check = "--check" in arguments
    names = [Path(name) for name in arguments if name != "--check"]
    changed = 0
    for page in names or PAGES:
        text = page.read_text(encoding="utf-8")
        today = rerun(text)
        if today != text:
            changed += 1
            print(f"{page}: {'says' if check else 'said'} something else")
            if not check:
                page.write_text(today, encoding="utf-8")
    return 1 if check and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
