"""The command behind `scripts/fuzz`."""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

from fuzz.campaign import Failure, Kind, Tally, run
from fuzz.token_checks import TOKEN

NAMES = ("token", "text", "models", "cli")


def kinds(only: str | None, model: Path | None) -> list[Kind[object]]:
    from fuzz.text_checks import text_kind
    return {"token": [TOKEN], "text": [text_kind(str(model) if model else None)]}[only]


def main() -> int:
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--problems", type=float, default=float("inf"))
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--only", choices=NAMES)
    parser.add_argument("--model", type=Path)
    a = parser.parse_args()
    def report(f: Failure) -> None:
        sys.stdout.write(f.reproduction + "\n")
        sys.stdout.flush()
    ts = [run(k, a.seed, a.seconds, a.problems, a.first, report) for k in kinds(a.only, a.model)]
    for t in ts:
        sys.stdout.write(t.by_promise())
    sys.stdout.write("; ".join(t.summary() for t in ts) + "\n")
    return int(any(t.failures for t in ts))
