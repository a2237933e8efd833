"""The promises that the project makes about itself."""

from __future__ import annotations

import ast
import re
import shlex
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from lexbeam.cli.main import main

ROOT = Path(__file__).parents[2]


def test_ci_runs_the_readmes_test_command() -> None:
    command = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert command in (ROOT / "README.md").read_text().splitlines()


def test_the_readmes_first_command_says_what_it_shows() -> None:
    lines = (ROOT / "README.md").read_text(encoding="utf-8").splitlines()
    command = next(line for line in lines if line.startswith("pip install . && lexbeam "))
    shown = lines[lines.index("```console") + 1]
    arguments = shlex.split(command.split("&&")[1])[1:]
    result = CliRunner().invoke(main, arguments)
    assert result.exit_code == 0
    assert result.output.strip() == shown


MOST_LINES = {ast.Module: 400, ast.ClassDef: 250, ast.FunctionDef: 60, ast.AsyncFunctionDef: 60}


def too_long(code: str) -> Iterator[tuple[str, int]]:
    """Yield the name and the lines of everything in a module that is longer than it may be."""
    for node in ast.walk(ast.parse(code)):
        if isinstance(node, ast.Module):
            lines = len(code.splitlines())
        elif isinstance(node, ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            lines = (node.end_lineno or node.lineno) - node.lineno + 1
        else:
            continue
        if lines > MOST_LINES[type(node)]:
            yield getattr(node, "name", "module"), lines


def test_modules_classes_and_functions_are_short() -> None:
    long = {
        f"{path.relative_to(ROOT)}: {name}": lines
        for path in sorted((ROOT / "src").rglob("*.py"))
        for name, lines in too_long(path.read_text(encoding="utf-8"))
    }
    assert not long


def test_what_is_too_long_is_found() -> None:
    function = "def f():\n" + "    1\n" * 60
    assert dict(too_long(function)) == {"f": 61}
    assert not dict(too_long(function.removesuffix("    1\n")))
    assert dict(too_long("class C:\n" + "    a = 1\n" * 250)) == {"C": 251}
    assert dict(too_long("a = 1\n" * 401)) == {"module": 401}


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "docs/architecture.md"])
def test_paths_that_contributors_are_sent_to_exist(page: str) -> None:
    named = re.findall(r"`([\w./]+(?:\.py|/))`", (ROOT / page).read_text(encoding="utf-8"))
    roots = (ROOT, ROOT / "src" / "lexbeam")
    missing = [path for path in named if not any((root / path).exists() for root in roots)]
    assert len(named) > 10
    assert not missing
