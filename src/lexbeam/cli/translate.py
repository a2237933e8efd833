"""``lexbeam translate``: a text, or standard input line by line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lexbeam.cli.line_options import NAMES, check_line_format, line_options, read_asked
from lexbeam.cli.report_options import report_option, write_report
from lexbeam.cli.stream import Stream
from lexbeam.cli.terminal import graceful
from lexbeam.translation.lines import JsonLines, PlainLines, TabLines
from lexbeam.translation.reporting import Reporter
from lexbeam.translation.tracing import Recorder
from lexbeam.translation.translator import load

_HELP = """Translate TEXT, or line by line what comes in on standard input.

\b
A sentence, with words that must and must not appear in its translation:
  lexbeam translate --model en-pt "The cat sat." -c gato --avoid gata

\b
A file: line in, line out, in order; -c and --avoid then apply to every line:
  lexbeam translate --model en-pt < in.txt > out.txt

\b
Constraints for each line, as JSON; other fields are kept:
  echo '{"text": "The cat sat.", "constraints": ["gato"], "id": 7}' |
    lexbeam translate --model en-pt --json
  {"text": "The cat sat.", "constraints": [{"text": "gato", "met": true,
   "start": 2, "end": 6}], "id": 7, "translation": "O gato …", "score": -0.4}

\b
Terms of a glossary, what must survive unchanged, and a report on every term:
  lexbeam translate --glossary terms.csv --keep placeholders "Hello {name}!"
  lexbeam translate --glossary terms.csv --report terms.html < in.txt > out.txt

A blank line stays blank. A line that can't be translated is reported on standard error with its
number and gives an empty line (with --json, a record with "error"); the rest goes on, and the
exit status is 1.
"""


@click.command("translate", help=_HELP)
@click.argument("text", required=False)
@line_options
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="HTML",
    help="Write a page that shows the search of TEXT step by step.",
)
@report_option
def command(
    text: str | None,
    model: str | None,
    as_json: bool,
    signature: bool,
    tabs: bool,
    ordered: bool,
    threads: int,
    trace: Path | None,
    report: Path | None,
    **options: Any,
) -> None:
    """Translate the argument or standard input."""
    check_line_format(as_json, tabs, ordered)
    if signature and not as_json:
        raise click.UsageError("--signature goes with --json")
    if trace and text is None:
        raise click.UsageError("--trace shows the search of one text: give it as an argument")
    if text is not None:
        _refuse_file_name(text)
    options["prices"] |= report is not None
    asked = read_asked(options)
    translator = load(model, threads)
    common = asked.request(translator.info, NAMES)
    plain = TabLines(common, ordered) if tabs else PlainLines(common)
    recorder = Recorder(translator) if trace else None
    reporter = Reporter(translator) if report else None
    stream = Stream(
        recorder.translator if recorder else translator,
        JsonLines(common, signature) if as_json else plain,
        asked.settings.batch_size * threads,
        reporter=reporter,
    )
    with graceful():
        if text is None:
            stream.run(sys.stdin.buffer, sys.stdout.buffer)
        else:
            stream.run_one(text, plain, sys.stdout.buffer)
    if trace and recorder and recorder.texts:
        recorder.trace().save(trace)
    if report and reporter:
        write_report(report, reporter)
    sys.exit(1 if stream.failed else 0)


def _refuse_file_name(text: str) -> None:
    """Refuse the name of a file where a text is wanted: who gives one wants what is in it."""
    try:
        is_file = Path(text).is_file()
    except (OSError, ValueError):  # too long for a name, or a NUL
        return
    if is_file:
        raise click.UsageError(
            f"{text} is a file. To translate its lines: lexbeam translate < {text}; "
            f"to translate it whole: lexbeam file {text} -o OUT"
        )
