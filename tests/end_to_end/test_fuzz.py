"""A short share of what `scripts/fuzz` does for as long as one likes."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from fuzz.campaign import Failure, Kind, run
from fuzz.cli_checks import CLI
from fuzz.main import main
from fuzz.model_checks import MODELS
from fuzz.text_checks import text_kind
from fuzz.time_checks import TIME
from fuzz.token_checks import TOKEN, check
from fuzz.token_problems import Marks, Problem, Sentence
from lexbeam.search import Form, Pattern

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("kind", "problems"),
    [(TOKEN, 40), (text_kind(), 24), (MODELS, 8), (CLI, 6), (TIME, 6)],
    ids=lambda value: getattr(value, "name", ""),
)
def test_every_promise_is_kept(kind: Kind[Any], problems: int) -> None:
    tally = run(kind, seed=14, problems=problems)
    assert tally.problems == problems
    assert not tally.failures, "\n".join(failure.reproduction for failure in tally.failures)


def test_a_broken_promise_is_shown_as_small_as_it_gets() -> None:
    def check(problem: int) -> list[Failure]:
        return [Failure("numbers are small", f"{problem}")] if problem > 10 else []

    kind = Kind("number", lambda random: random.randrange(100), check, str, lambda n: [n - 1])
    tally = run(kind, seed=1, problems=50)
    assert 0 < len(tally.failures) < 50
    assert tally.failures[0].reproduction.splitlines()[-1] == "11"
    assert "--seed 1 --first" in tally.failures[0].reproduction
    assert run(kind, seed=1, problems=50) == tally


def test_forms_that_are_avoided_share_no_tokens() -> None:
    """Of *0* and *0 3* without *3*, only *0* is left: its occurrences have nothing to share."""
    forms = Form((0,), goes_on=True), Form((0, 3), inside=True, goes_on=True)
    marks = Marks(
        (False, False, True, False), (False,) * 4, (False,) * 4, (7, 1, 0, 7), (False,) * 4
    )
    sentence = Sentence((Pattern((forms,)),) * 2, avoid=((3,),), limit=2)
    given = 4, 2, 1, False, False, marks, (sentence,), {"prune": 0, "beam_size": 62}, True
    assert not list(check(Problem(*given)))


def test_the_last_line_is_a_summary(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--only", "token", "--problems", "3", "--seed", "5"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "seed 5: token: 3 problems, 0 failed"


def test_the_script_runs_from_anywhere(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "scripts" / "fuzz"), "--only", "cli", "--problems", "0"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout == "seed 1: cli: 0 problems, 0 failed\n"
