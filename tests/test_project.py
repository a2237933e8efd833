"""The promises that the project makes about itself."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).parent.parent


def test_ci_runs_the_readmes_test_command() -> None:
    command = (ROOT / ".ci" / "run").read_text().splitlines()[-1]
    assert command in (ROOT / "README.md").read_text().splitlines()


def test_modules_are_short() -> None:
    long = {
        path.name: lines
        for path in (ROOT / "src").rglob("*.py")
        if (lines := len(path.read_text().splitlines())) > 420
    }
    assert not long
