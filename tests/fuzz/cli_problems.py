"""Runs of the command line with something wrong around them, each one a line of shell."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import dataclass, replace
from random import Random

GOOD = (
    b'{"text": "Hello."}', b'{"text": "Yes", "constraints": ["Ja"], "id": 7}',
    b'{"text": "Hello.", "error": "old", "line": 70}', b'{"text": "", "x": 1e308}',
    b'{"text": "Hello.", "x": 123456789012345678901234567890}', b'{"text": "\\ud83d\\ude00"}',
    b'{"text": "Hello.", "x": [[[[[[]]]]]], "\\u0000": "\\udc00"}',
    b'{"text": "Hello.", "translation": 3, "score": "x", "constraints": null}',
)  # fmt: skip
BAD = (
    b'{"text": 3}', b"nonsense", b"[]", b'"x"', b"null", b'{"text": "a"', b"NaN", b"\xff\xfe",
    b'{"text": NaN}', b'{"text": "Hello.", "x": NaN}', b'{"text": "Hello.", "x": -Infinity}',
    b'{"text": "Hello.", "constraints": "x"}', b'{"text": "Hello.", "constraints": [3]}',
    b'{"text": "Hello.", "avoid": [{"suffix": "x"}]}', b'{"text": "\\ud800"}', b"{}",
    b'{"text": "Hello.", "constraints": [{"text": "a", "soft": 1e999}]}', b'{"text": "a\\u0000"}',
    b"[" * 100_000, b'{"text": "Hello.", "prefix": 3}', b"1" * 5000, b"{1: 2}",
)  # fmt: skip
EITHER = (b'{"text": "Hello.", "x": 1e999}', b'{"text": "Hello.", "x": -1e999}')
"""Numbers too large: an error or an answer, but valid JSON."""
PLAIN = (b"Hello.", b"The password is wrong.", b"Yes", b"", b"\xc2\xa0", b"a\tb", b"{", b'{"x"')
OUT = {"pipe": "> out", "full": "> /dev/full", "closed": ">&-", "broken": "| head -n 1 > out"}
ERR = {"pipe": "2> err", "full": "2> /dev/full", "closed": "2>&-"}


@dataclass(frozen=True)
class CliProblem:
    """A run: what comes in, where it goes, and whether it is interrupted."""

    lines: tuple[bytes, ...]
    as_json: bool
    newline: bool = True
    """Whether the last line ends."""
    into: str = "file"
    """``file``, or ``closed``: there is no standard input."""
    out: str = "pipe"
    err: str = "pipe"
    interrupt: float | None = None
    """After how many seconds."""
    argument: str | None = None
    """A text given as an argument instead of lines."""

    @property
    def data(self) -> bytes:
        """What comes in."""
        return b"\n".join(self.lines) + (b"\n" if self.newline and self.lines else b"")


def draw(random: Random) -> CliProblem:
    """Draw a run."""
    as_json = random.random() < 0.7
    pool = (*GOOD, *GOOD, *BAD, *EITHER) if as_json else PLAIN
    lines = tuple(random.choice(pool) for _ in range(random.choice((0, 1, 3, 6))))
    problem = CliProblem(lines, as_json, random.random() < 0.8)
    way = random.random()
    if way < 0.2:
        problem = replace(problem, out=random.choice(("full", "closed", "broken")))
    elif way < 0.45:
        problem = replace(problem, err=random.choice(("full", "closed")))
    elif way < 0.55:
        problem = replace(problem, into="closed")
    elif way < 0.75:
        problem = replace(problem, interrupt=round(random.uniform(0.02, 2.5), 2))
    elif way < 0.85:
        problem = replace(problem, argument=random.choice(("Hello.", "", " ", "-1", "\\ud800")))
        problem = replace(problem, as_json=False, out=random.choice(tuple(OUT)))
    return problem


def command(problem: CliProblem) -> str:
    """Return the run as a line of shell; ``status`` gets its exit status."""
    run = "python -m lexbeam translate --beam-size 2"
    if problem.as_json:
        run += " --json"
    if problem.argument is not None:
        run += " -- " + shlex.quote(problem.argument)
    if problem.interrupt is not None:
        run = f"timeout --foreground --preserve-status -s INT {problem.interrupt} {run}"
    into = "< in" if problem.into == "file" else "<&-"
    return f"{run} {into} {ERR[problem.err]} {OUT[problem.out]}; echo ${{PIPESTATUS[0]}} > status"


def show(problem: CliProblem) -> str:
    """Return a problem as a shell script."""
    data = json.dumps(problem.data.decode("latin-1"))
    if len(data) > 2000:
        head = max(problem.lines, key=len)
        data = f"… {len(head)} times {head[:1]!r} …"
    write = "import sys, json; sys.stdout.buffer.write(json.loads(sys.argv[1]).encode('latin-1'))"
    return (
        f"python -c {shlex.quote(write)} {shlex.quote(data)} > in\n"
        f"{command(problem)}; cat out err status\n"
    )


def simpler(problem: CliProblem) -> Iterator[CliProblem]:
    """Yield runs with fewer lines."""
    for at in range(len(problem.lines)):
        yield replace(problem, lines=problem.lines[:at] + problem.lines[at + 1 :])
    if not problem.newline:
        yield replace(problem, newline=True)
