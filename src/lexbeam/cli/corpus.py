"""``lexbeam corpus``: translate a corpus in several processes, or on a Ray cluster."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import click

from lexbeam.cli.line_options import NAMES, check_line_format, line_options, read_asked
from lexbeam.cli.report_options import report_option, write_rows
from lexbeam.cli.start import INTERRUPTED
from lexbeam.cli.terminal import graceful
from lexbeam.corpus.formats import Writing
from lexbeam.corpus.reporting import read_reports
from lexbeam.corpus.run import SHARD_ROWS, Corpus, translate_corpus

_HELP = """Translate a corpus: text, JSON lines or Parquet, by the names of the files.

\b
Into a folder, in four processes:
  lexbeam corpus news.txt -o out --processes 4
  cat out/part-*.txt > news.de.txt

\b
With a glossary, constraints for each record, and other fields kept:
  lexbeam corpus crawl-*.jsonl.gz -o out --glossary terms.csv --processes 8
  lexbeam corpus data/*.parquet -o out --text sentence

\b
With a report on every term, once all is done:
  lexbeam corpus news.txt -o out --glossary terms.csv --report terms.html

\b
On a Ray cluster whose machines share the files (extra "ray"):
  lexbeam corpus data/*.parquet -o /shared/out --model /shared/en-de --ray auto

The rows of each file are cut into shards; each becomes one part-00000 of the output, in order,
which is there whole or not at all. A run that was stopped or killed goes on where it was when the
same command is given again. manifest.json says what made the parts, and which rows have failed;
these are empty lines, or have "error", and the exit status is 1. See docs/scale.md.
"""

_MOST_SHOWN = 20  # rows that have failed; the manifest has all of them


@click.command("corpus", help=_HELP)
@click.argument("inputs", nargs=-1, required=True, metavar="IN…")
@click.option(
    "-o",
    "--output",
    required=True,
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for the parts and the manifest.",
)
@click.option("--processes", type=click.IntRange(1), help="Processes to work in.  [default: 1]")
@click.option(
    "--ray",
    metavar="ADDRESS",
    help='Work on a Ray cluster: "auto", "local", or HOST:PORT; --processes says how much of it. '
    " [default: all CPUs but one]",
)
@click.option(
    "--shard",
    type=click.IntRange(1),
    default=SHARD_ROWS,
    show_default=True,
    help="Rows per part: what a crash can cost each process.",
)
@click.option(
    "--text",
    default="text",
    show_default=True,
    metavar="NAME",
    help="Field or column that has the text.",
)
@click.option(
    "--max-chars",
    type=click.IntRange(1),
    help="Take longer texts for errors.",
)
@line_options
@report_option
def command(
    inputs: tuple[str, ...],
    output: Path,
    processes: int | None,
    ray: str | None,
    shard: int,
    text: str,
    max_chars: int | None,
    model: str | None,
    threads: int,
    as_json: bool,
    signature: bool,
    tabs: bool,
    ordered: bool,
    report: Path | None,
    **options: Any,
) -> None:
    """Translate files into a folder."""
    check_line_format(as_json, tabs, ordered)
    options["prices"] |= report is not None
    corpus = Corpus(
        inputs=inputs,
        output=output,
        model=model,
        threads=threads,
        asked=read_asked(options),
        writing=Writing(text, tabs, ordered, signature, max_chars),
        lines="jsonl" if as_json else "text" if tabs else None,
        shard_rows=shard,
        names=NAMES,
        report=report is not None,
    )
    several = None if processes == 1 and ray is None else processes
    with graceful(), CorpusProgress() as progress:
        try:
            counts = translate_corpus(corpus, progress, processes=several, ray=ray)
        except KeyboardInterrupt:
            progress.end()
            click.echo(
                f"lexbeam: stopped with {progress.done} of {progress.total} rows done: the same "
                "command goes on, with the parts that are there",
                err=True,
            )
            sys.exit(INTERRUPTED)
    if report:
        parts = sorted(path.name for path in output.glob("part-*"))
        write_rows(report, *read_reports(output, parts))
    if counts["failed"] > _MOST_SHOWN:
        _say(f"{counts['failed']} rows have failed: see {output / 'manifest.json'}")
    sys.exit(1 if counts["failed"] else 0)


def _say(message: str) -> None:
    line = " ".join(f"lexbeam: {message}".splitlines())
    click.echo(line.encode("utf-8", "backslashreplace").decode(), err=True)


class CorpusProgress:
    """One line on a terminal: rows, rows per second, and how long it will take; else nothing."""

    def __init__(self) -> None:
        self.total = self.done = 0
        self._before = 0
        self._failures = 0
        self._start = self._shown = 0.0
        self._is_shown = sys.stderr.isatty()
        self._is_drawn = False

    def __enter__(self) -> CorpusProgress:
        return self

    def __exit__(self, *exception: object) -> None:
        self.end()

    def begin(self, total: int, done: int) -> None:
        """Show how much is done already."""
        self.total = total
        self.done = self._before = done
        self._start = time.monotonic()
        self._draw()

    def rows(self, count: int) -> None:
        """Show that more is done, a few times per second at most."""
        self.done += count
        if time.monotonic() - self._shown > 0.2:
            self._draw()

    def failed(self, where: str, error: str) -> None:
        """Say what is wrong with a row, of the first ones only."""
        self._failures += 1
        if self._failures <= _MOST_SHOWN:
            self._clear()
            _say(f"{where}: {error}")

    def end(self) -> None:
        """Leave the last line as it stands."""
        if self._is_shown and self._start:
            self._draw()
            click.echo(err=True)
        self._is_shown = self._is_drawn = False

    def _draw(self) -> None:
        if not self._is_shown:
            return
        self._shown = time.monotonic()
        self._clear()
        click.echo(self.line(self._shown - self._start), nl=False, err=True)
        self._is_drawn = True

    def _clear(self) -> None:
        if self._is_drawn:
            click.echo("\r\x1b[K", nl=False, err=True)
            self._is_drawn = False

    def line(self, seconds: float) -> str:
        """Return what is shown after some seconds of work."""
        share = self.done / self.total if self.total else 1.0
        shown = f"{self.done:,} of {self.total:,} ({share:.0%})"
        new = self.done - self._before
        if new <= 0 or seconds <= 0:
            return shown
        rate = new / seconds
        left = round((self.total - self.done) / rate)
        hours, minutes = divmod(left // 60, 60)
        return f"{shown}, {rate:.1f} sentences/s, {hours}:{minutes:02}:{left % 60:02} left"
