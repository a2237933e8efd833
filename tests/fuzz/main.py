"""The command behind `scripts/fuzz`."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fuzz.campaign import Failure, Kind, run
from fuzz.cli_checks import CLI
from fuzz.model_checks import MODELS
from fuzz.text_checks import text_kind
from fuzz.time_checks import TIME
from fuzz.token_checks import TOKEN

NAMES = ("token", "text", "models", "cli", "time")


def kinds(only: str | None, model: Path | None) -> list[Kind[Any]]:
    """Return the kinds of problems to check: one of them, or all."""
    text = text_kind(None if model is None else str(model))
    known: list[Kind[Any]] = [TOKEN, text, MODELS, CLI, TIME]
    return [kind for kind in known if only in (None, kind.name)]


def parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    """Read the arguments of the command."""
    parser = argparse.ArgumentParser(
        description="Check random problems against independent truths. The last line is a "
        "summary; the status is 1 if anything was wrong."
    )
    parser.add_argument("--seconds", type=float, default=60.0, help="for each kind of problem")
    parser.add_argument("--problems", type=float, default=float("inf"), help="at most, of a kind")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0, help="number of the first problem")
    parser.add_argument("--only", choices=NAMES, help="one kind of problem")
    parser.add_argument(
        "--model", type=Path, help="model for texts: a folder, or en-de, en-pt, random"
    )
    return parser.parse_args(arguments)


def main(arguments: Sequence[str] | None = None) -> int:
    """Check problems; print what failed, and a summary as the last line."""
    chosen = parse(arguments)

    def report(failure: Failure) -> None:
        sys.stdout.write(failure.reproduction + "\n")
        sys.stdout.flush()

    limits = {"seconds": chosen.seconds, "problems": chosen.problems, "first": chosen.first}
    tallies = [
        run(kind, chosen.seed, **limits, report=report) for kind in kinds(chosen.only, chosen.model)
    ]
    sys.stdout.writelines(tally.by_promise() for tally in tallies)
    sys.stdout.write(f"seed {chosen.seed}: {'; '.join(t.summary() for t in tallies)}\n")
    return int(any(tally.failures for tally in tallies))
