"""``lexbeam file``: translate whole files."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import Any

import click

from lexbeam import files
from lexbeam.cli.constraint_options import constraint_options, read_avoided, read_constraints
from lexbeam.cli.glossary_options import glossary_options, load_glossary
from lexbeam.cli.model_options import model_option, threads_option
from lexbeam.cli.report_options import report_option, write_report
from lexbeam.cli.setting_options import setting_options
from lexbeam.cli.terminal import graceful
from lexbeam.constraints.parsing import Reader
from lexbeam.errors import LexbeamError
from lexbeam.files.reporting import FileReporter
from lexbeam.files.units import ONLY
from lexbeam.translation.source_terms import SourceTerms
from lexbeam.translation.translator import Translator, load

_HELP = """Translate whole files: PO, XLIFF, JSON, Markdown, DOCX and more.

\b
What is not translated yet gets a translation that is marked for review; everything else in the
file stays as it is, byte for byte:
  lexbeam file strings.po -o strings.de.po --glossary terms.csv
  lexbeam file docs/*.md -O docs/de
  lexbeam file messages.xlf -o messages.xlf --memory old.tmx
  lexbeam file strings.po --dry-run
  lexbeam file strings.po -o strings.de.po --glossary terms.csv --report terms.html

A run that was stopped goes on where it was when it is started again. A unit that can't be
translated stays open and is reported; the exit status is then 1.
"""


@click.command(name="file", help=_HELP)
@click.argument("paths", nargs=-1, required=True, metavar="IN…", type=click.Path(path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="The translated file.")
@click.option("-O", "--output-dir", type=click.Path(file_okay=False, path_type=Path),
              help="Folder for the translated files, under their own names.")  # fmt: skip
@click.option("--format", "format_", metavar="NAME", help="Format, if the name does not tell.")
@click.option("--only", type=click.Choice(ONLY), default="untranslated", show_default=True,
              help="Which units to translate.")  # fmt: skip
@click.option("--final", is_flag=True, help="Mark translations as finished, not for review.")
@click.option("--encoding", metavar="NAME", help="Encoding to write, e.g. utf-8.")
@click.option("--memory", multiple=True, metavar="TMX", type=click.Path(path_type=Path),
              help="Take exact matches from this file. Repeat for more.")  # fmt: skip
@click.option("--dry-run", is_flag=True, help="Only count units and words.")
@model_option
@constraint_options("Must appear in every text, as whole words. Repeat for more.")
@glossary_options
@setting_options
@report_option
@threads_option
def command(
    paths: tuple[Path, ...],
    output: Path | None,
    output_dir: Path | None,
    format_: str | None,
    dry_run: bool,
    model: str | None,
    threads: int,
    report: Path | None,
    constraints: tuple[str, ...],
    avoid: tuple[str, ...],
    avoid_files: tuple[Path, ...],
    **settings: Any,
) -> None:
    """Translate files one after the other."""
    outputs = _outputs(paths, output, output_dir, dry_run)
    demands = read_constraints(constraints)
    avoided = read_avoided(avoid, avoid_files)
    settings["glossary"] = load_glossary(settings)
    translator = load(model, threads)
    if dry_run:
        sys.exit(_count(paths, translator, format_, settings["only"]))
    SourceTerms(settings["glossary"], settings["keep"], translator.info)  # or say what is wrong
    reader = Reader(translator.info.get("target_language"))
    settings["constraints"] = reader.demands(demands, "-c")
    settings["avoid"] = reader.avoided(avoided, "--avoid")
    failed = False
    reporter = FileReporter(translator, settings) if report else None
    with graceful():
        for path, out in zip(paths, outputs, strict=True):
            if reporter:
                settings["written"] = partial(reporter.add_unit, path.name)
            failed |= _translate(path, out, translator, {**settings, "format": format_})
    if report and reporter:
        write_report(report, reporter.finished())
    sys.exit(1 if failed else 0)


def _outputs(
    paths: Sequence[Path], output: Path | None, folder: Path | None, dry_run: bool
) -> list[Path]:
    """Return where each file goes."""
    if dry_run:
        return list(paths)
    if (output is None) == (folder is None):
        raise click.UsageError("say where to write: -o FILE for one file, or -O DIR")
    if folder is not None:
        outputs = [folder / path.name for path in paths]
        if len(set(outputs)) < len(outputs):
            raise click.UsageError("two files of one name would go to one place in -O")
        folder.mkdir(parents=True, exist_ok=True)
        return outputs
    if len(paths) > 1:
        raise click.UsageError("-o takes one file; for several give a folder with -O")
    assert output is not None
    return [output / paths[0].name if output.is_dir() else output]


def _count(paths: Sequence[Path], translator: Translator, format_: str | None, only: str) -> int:
    failed = False
    for path in paths:
        try:
            report = files.count(path, translator.info, only, format=format_)
        except LexbeamError as error:
            click.echo(f"lexbeam: {error}", err=True)
            failed = True
            continue
        click.echo(
            f"{path}\t{report.format}\t{report.units} units\t{report.open} open\t"
            f"{report.words} words"
        )
    return int(failed)


def _translate(path: Path, out: Path, translator: Translator, settings: dict[str, Any]) -> bool:
    """Translate a file; return whether anything went wrong."""
    try:
        with FileBar(path.name) as bar:
            report = files.translate(path, out, translator, progress=bar.update, **settings)
    except LexbeamError as error:
        _say(str(error))
        return True
    for failure in report.failures:
        _say(f"{path}: {failure.id}: {failure.reason}")
    return bool(report.failures)


def _say(text: str) -> None:
    line = " ".join(text.split("\n"))
    click.echo(f"lexbeam: {line}".encode("utf-8", "backslashreplace").decode(), err=True)


class FileBar:
    """A progress bar in words, with the time that is left; on a terminal only."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._bars = ExitStack()
        self._bar: Any = None

    def __enter__(self) -> FileBar:
        return self

    def __exit__(self, *exception: object) -> None:
        self._bars.close()

    def update(self, done: int, total: int) -> None:
        """Show how many words are translated."""
        if not sys.stderr.isatty() or not total:
            return
        if self._bar is None:
            bar: Any = click.progressbar(
                length=total,
                label=self._name,
                show_pos=True,
                show_eta=True,
                item_show_func=lambda _: "words",
                file=sys.stderr,
            )
            self._bar = self._bars.enter_context(bar)
        self._bar.update(done - self._bar.pos)
