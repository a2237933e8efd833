"""The promises that the project makes about itself."""

from __future__ import annotations

import shlex
from pathlib import Path

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


def test_modules_are_short() -> None:
    long = {
        path.name: lines
        for path in (ROOT / "src").rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 420
    }
    assert not long
