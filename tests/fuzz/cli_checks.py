"""The command line loses no output, shows no traceback, and says by its status how it went."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NoReturn

from fuzz.campaign import Failure, Kind
from fuzz.cli_problems import BAD, EITHER, CliProblem, command, draw, show, simpler

MOST_SECONDS = 120.0
INTERRUPTED = 130
_OURS = re.compile(r"lexbeam[/\\]\w")


@dataclass(frozen=True)
class Outcome:
    """What a run left behind."""

    out: bytes
    err: str
    status: int


def run(problem: CliProblem) -> Outcome | None:
    """Run the command line; None if it does not end."""
    with tempfile.TemporaryDirectory() as home:
        Path(home, "in").write_bytes(problem.data)
        paths = [str(Path(sys.executable).parent), os.environ.get("PATH", "")]
        python = [path for path in sys.path if path.endswith("src")]
        environment = {**os.environ, "PATH": os.pathsep.join(paths)}
        environment |= {"PYTHONPATH": os.pathsep.join(python), "OMP_NUM_THREADS": "1"}
        try:
            subprocess.run(
                ["bash", "-c", command(problem)],
                cwd=home,
                timeout=MOST_SECONDS,
                check=False,
                env=environment,
            )
        except subprocess.TimeoutExpired:
            return None

        def read(name: str) -> bytes:
            path = Path(home, name)
            return path.read_bytes() if path.exists() else b""

        status = int(read("status") or -1)
        return Outcome(read("out"), read("err").decode(errors="replace"), status)


def check(problem: CliProblem) -> Iterator[Failure]:
    """Yield the promises that a run breaks."""
    outcome = run(problem)
    if outcome is None:
        yield Failure("nothing hangs", f"not done after {MOST_SECONDS:.0f} s")
        return
    said = f"status {outcome.status}, out {outcome.out[-300:]!r}, err {outcome.err[-700:]!r}"
    where = f"stdin {problem.into}, stdout {problem.out}, stderr {problem.err}"
    if problem.interrupt is not None:
        where = "an interrupt"
    if _shows_traceback(problem, outcome):
        yield Failure(f"no traceback: {where}", said)
    if "lost sys.std" in outcome.err:
        yield Failure(f"no noise from Python: {where}", said)
    for fault in _faults(problem, outcome):
        yield Failure(f"{fault}: {where}", said)


def _shows_traceback(problem: CliProblem, outcome: Outcome) -> bool:
    """Say whether Python speaks; what it says while it starts itself is not ours."""
    spoken = "Traceback" in outcome.err or "Exception ignored" in outcome.err
    return spoken and (problem.interrupt is None or bool(_OURS.search(outcome.err)))


def _faults(problem: CliProblem, outcome: Outcome) -> Iterator[str]:
    if problem.interrupt is not None:
        yield from _faults_of_interrupted(outcome)
        return
    if outcome.status not in (0, 1, 2):
        yield "the exit status is 0, 1 or 2"
    if problem.argument is None and problem.into == "file" and problem.out == "pipe":
        yield from _faults_of_lines(problem, outcome)
    writes = problem.argument == "Hello." or any(line.strip() for line in problem.lines)
    if problem.out in ("full", "closed") and problem.argument is None and writes:
        if outcome.status == 0:
            yield "output that can't be written is no success"
        if problem.out == "full" and not outcome.err:
            yield "output that can't be written is an error in words"


def _faults_of_interrupted(outcome: Outcome) -> Iterator[str]:
    if outcome.status not in (0, 1, INTERRUPTED):
        yield "an interrupted run ends with status 130"
    if outcome.out and not outcome.out.endswith(b"\n"):
        yield "an interrupted run leaves whole lines"


def _faults_of_lines(problem: CliProblem, outcome: Outcome) -> Iterator[str]:
    given = problem.data.split(b"\n")
    count = len(given) - (not given[-1])
    lines = outcome.out.split(b"\n")
    if lines.pop() or len(lines) != count:
        yield "a line comes out for each that goes in"
        return
    surely_bad = problem.as_json and any(line in BAD for line in problem.lines)
    may_be_bad = problem.as_json and any(line in EITHER for line in problem.lines)
    if surely_bad != (outcome.status == 1) and not (may_be_bad and not surely_bad):
        yield "the status says whether all lines were right"
    if problem.as_json:
        for before, after in zip(given, lines, strict=False):
            yield from _faults_of_record(before, after)


def _faults_of_record(before: bytes, after: bytes) -> Iterator[str]:
    if not before.strip():
        if after:
            yield "a blank line stays blank"
        return
    try:
        record = json.loads(after, parse_constant=_refuse)
    except ValueError:
        yield "what comes out is JSON"
        return
    translated = isinstance(record.get("translation"), str)
    if before in BAD and "error" not in record:
        yield "a line that is wrong has an error"
    if before not in BAD and before not in EITHER:
        if not translated or not isinstance(record.get("score"), float):
            yield "a line that is right is translated"
        elif "error" in record:
            yield "a line that is right has no error"


def _refuse(name: str) -> NoReturn:
    raise ValueError(name)


CLI: Kind[Any] = Kind("cli", draw, check, show, simpler)
