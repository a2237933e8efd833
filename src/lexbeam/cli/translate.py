"""``lexbeam translate``: a text, or standard input line by line."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import click

from lexbeam.cli.constraint_options import constraint_options, read_avoided, read_constraints
from lexbeam.cli.glossary_options import glossary_options, load_glossary
from lexbeam.cli.lines import JsonLines, PlainLines, TabLines
from lexbeam.cli.setting_options import setting_options
from lexbeam.cli.stream import Stream
from lexbeam.cli.terminal import graceful
from lexbeam.constraints.parsing import Reader
from lexbeam.translation.requests import TextRequest
from lexbeam.translation.settings import TextSettings
from lexbeam.translation.source_terms import SourceTerms
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
Terms of a glossary, and what must survive unchanged:
  lexbeam translate --glossary terms.csv --keep placeholders "Hello {name}!"

A blank line stays blank. A line that can't be translated is reported on standard error with its
number and gives an empty line (with --json, a record with "error"); the rest goes on, and the
exit status is 1.
"""


@click.command("translate", help=_HELP)
@click.argument("text", required=False)
@click.option("-m", "--model", metavar="DIR|PAIR", help="Folder, or a pair that was pulled.")
@constraint_options("Must appear, as whole words. Repeat for more.")
@click.option(
    "--prefix",
    metavar="TEXT",
    help="What the translation begins with; the last word is open unless a space follows it.",
)
@glossary_options
@click.option("--json", "as_json", is_flag=True, help="Read and write one JSON object per line.")
@click.option(
    "--signature", is_flag=True, help="With --json: add which model and settings were used."
)
@click.option("--tabs", is_flag=True, help="Lines are a text and its phrases, with tabs between.")
@click.option("--ordered", is_flag=True, help="With --tabs: the phrases must appear in that order.")
@setting_options
@click.option(
    "-t",
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Batches searched at a time.",
)
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="HTML",
    help="Write a page that shows the search of TEXT step by step.",
)
def command(
    text: str | None,
    model: str | None,
    constraints: tuple[str, ...],
    avoid: tuple[str, ...],
    avoid_files: tuple[Path, ...],
    prefix: str | None,
    as_json: bool,
    signature: bool,
    tabs: bool,
    ordered: bool,
    threads: int,
    trace: Path | None,
    **settings: Any,
) -> None:
    """Translate the argument or standard input."""
    if (as_json and tabs) or (ordered and not tabs):
        raise click.UsageError("--tabs and --json exclude each other; --ordered goes with --tabs")
    if signature and not as_json:
        raise click.UsageError("--signature goes with --json")
    if trace and text is None:
        raise click.UsageError("--trace shows the search of one text: give it as an argument")
    if text is not None:
        _refuse_file_name(text)
    phrases = read_constraints(constraints)
    avoided = read_avoided(avoid, avoid_files)
    glossary, keep = load_glossary(settings), settings.pop("keep")
    translator = load(model, threads)
    SourceTerms(glossary, keep, translator.info)  # or say what is wrong
    reader = Reader(translator.info.get("target_language"))
    common = TextRequest(
        text="",
        constraints=reader.demands(phrases, "-c"),
        avoid=reader.avoided(avoided, "--avoid"),
        prefix=prefix,
        glossary=glossary,
        keep=keep,
        settings=TextSettings(**settings),
    )
    plain = TabLines(common, ordered) if tabs else PlainLines(common)
    recorder = Recorder(translator) if trace else None
    stream = Stream(
        recorder.translator if recorder else translator,
        JsonLines(common, signature) if as_json else plain,
        settings["batch_size"] * threads,
    )
    with graceful():
        if text is None:
            stream.run(sys.stdin.buffer, sys.stdout.buffer)
        else:
            stream.run_one(text, plain, sys.stdout.buffer)
    if trace and recorder and recorder.texts:
        recorder.trace().save(trace)
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
