"""The command ``lexbeam study``: a thin skin over `lexbeam.study.run`."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lexbeam.cli.model_options import model_option, threads_option
from lexbeam.cli.terminal import StudyBar, graceful
from lexbeam.study import run

_FILE = click.Path(exists=True, dir_okay=False, path_type=Path)


@click.command("study")
@model_option
@click.option("--src", required=True, type=_FILE, help="Text, one sentence per line.")
@click.option("--ref", required=True, type=_FILE, help="Its translation, line by line.")
@click.option(
    "--out",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Report's folder.",
)
@click.option(
    "--only", metavar="PART,…", help="sets, beam, oracle, speed, prune, stop, placement, …"
)
@click.option("--skip", metavar="PART,…", help="Parts to leave out; oracle and speed take longest.")
@click.option("--sets", metavar="SET,…", help="Constraints: none,rand1,…,phr4.  [default: all]")
@click.option("--beams", metavar="K,…", help="Beam sizes.  [default: 5,10,20,30]")
@click.option("--limit", type=click.IntRange(1), help="Use only the first sentences.")
@click.option("--seed", type=int, default=0, show_default=True, help="Other constraints.")
@click.option(
    "--algorithms",
    default="dba,lookahead",
    show_default=True,
    metavar="NAME,…",
    help="The first is studied, the others are compared with it.",
)
@click.option(
    "--lag", type=click.FloatRange(0), default=0.0, show_default=True, help="As translate has it."
)
@click.option("--parallel", type=_FILE, help="Other text for a phrase table: source, tab, target.")
@click.option("--entities", type=_FILE, help="Dictionary of names: source, tab, target.")
@click.option("--terms", type=_FILE, help="Terms with their source words, for the part terms.")
@threads_option
def command(
    model: str | None,
    src: Path,
    ref: Path,
    out: Path,
    only: str | None,
    skip: str | None,
    sets: str | None,
    beams: str | None,
    algorithms: str,
    **more: Any,
) -> None:
    """Repeat the paper's experiments with a model and write a report (extra "study").

    A study that was stopped or killed goes on where it was when it is started again.

    \b
    Examples:
      lexbeam study --model en-pt --src test.en --ref test.pt --out my-study
      lexbeam study --model en-pt --src test.en --ref test.pt --out quick --limit 100 \\
        --only sets,beam --sets none,rand2,phr4 --beams 5,10
    """
    if sets:
        more["sets"] = tuple(_names(sets))
    if beams:
        more["beams"] = _numbers(beams)
        more["usual_beam"] = 10 if 10 in more["beams"] else more["beams"][-1]
    more["algorithms"] = tuple(_names(algorithms))
    parts, skipped = _names(only) if only else None, _names(skip or "")
    with graceful(), StudyBar() as bar:
        page = run(model, src, ref, out, only=parts, skip=skipped, progress=bar.update, **more)
    click.echo(page)


def _names(listed: str) -> list[str]:
    """Return names that were given with commas between them."""
    return [name.strip() for name in listed.split(",") if name.strip()]


def _numbers(listed: str) -> tuple[int, ...]:
    try:
        return tuple(map(int, _names(listed)))
    except ValueError:
        raise click.UsageError(f"--beams takes whole numbers, as in 5,10, not {listed}") from None
