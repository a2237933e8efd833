"""The command line: a thin skin over `lexbeam.load`, `Translator.translate` and the registry."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from lexbeam.cli.glossary import glossary, glossary_options, load_glossary
from lexbeam.cli.lines import Asked, JsonLines, LineFormat, PlainLines, TabLines
from lexbeam.cli.stream import Stream
from lexbeam.cli.study import study
from lexbeam.cli.terminal import DownloadBar, graceful
from lexbeam.constraints.parsing import Reader, read_argument, read_list
from lexbeam.errors import LexbeamError, quoted
from lexbeam.models import registry
from lexbeam.translation.source_terms import Terms
from lexbeam.translation.tracing import Recorder
from lexbeam.translation.translator import load
from lexbeam.version import __version__

_EXAMPLES = """\b
Examples:
  lexbeam pull en-pt
  lexbeam translate "The cat sat on the mat." -c gato -c "no tapete" --avoid esteira
  lexbeam translate --model en-pt < in.txt > out.txt
  lexbeam translate --model ./my-model --json < in.jsonl > out.jsonl
  lexbeam translate "The cat sat on the mat." -c gato --trace beam.html
  lexbeam info en-pt
"""

_TRANSLATE_HELP = """Translate TEXT, or line by line what comes in on standard input.

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


class _Group(click.Group):
    """Turns whatever lexbeam raises on purpose into one line of error."""

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LexbeamError as error:
            click.echo(f"lexbeam: {error}", err=True)
            ctx.exit(1)


@click.group(cls=_Group, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, prog_name="lexbeam")
def main() -> None:
    """Translate, and say which words must appear."""


main.add_command(glossary)
main.add_command(study)


@main.command(help=_TRANSLATE_HELP)
@click.argument("text", required=False)
@click.option("-m", "--model", metavar="DIR|PAIR", help="Folder, or a pair that was pulled.")
@click.option(
    "-c",
    "--constraint",
    "constraints",
    multiple=True,
    metavar="PHRASE|JSON",
    help="Must appear, as whole words. Repeat for more.",
)
@click.option(
    "--avoid", multiple=True, metavar="PHRASE|JSON", help="Must not appear. Repeat for more."
)
@click.option(
    "--avoid-file",
    "avoid_files",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="What must not appear, one a line.",
)
@click.option(
    "--prefix",
    metavar="TEXT",
    help="What the translation begins with; the last word is open unless a space follows it.",
)
@glossary_options
@click.option("--json", "as_json", is_flag=True, help="Read and write one JSON object a line.")
@click.option("--tabs", is_flag=True, help="Lines are a text and its phrases, with tabs between.")
@click.option("--ordered", is_flag=True, help="With --tabs: the phrases must appear in that order.")
@click.option("--prices", is_flag=True, help="Say what each constraint costs, in log-probability.")
@click.option(
    "-k",
    "--beam-size",
    type=click.IntRange(1),
    default=10,
    show_default=True,
    help="Hypotheses kept at each step.",
)
@click.option(
    "-n",
    "--nbest",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Translations given for each text.",
)
@click.option(
    "--algorithm",
    type=click.Choice(["lookahead", "dba", "gbs", "cbs", "beam"]),
    default="lookahead",
    show_default=True,
    help="How the beam is divided among constraints.",
)
@click.option(
    "--prune",
    type=click.FloatRange(0),
    default=20.0,
    show_default=True,
    help="Drop what is this far below the best finished one; 0 keeps all.",
)
@click.option(
    "--lag",
    type=click.FloatRange(0),
    default=3.0,
    show_default=True,
    help="Drop what is this far below the best with as many constraints met; 0 keeps all.",
)
@click.option(
    "--stop",
    type=click.Choice(["likely", "all", "first", "bound"]),
    default="likely",
    show_default=True,
    help="When to stop: none likely to be better, all finished, one finished, none better.",
)
@click.option("--max-length", type=click.IntRange(1), help="Most tokens in a translated sentence.")
@click.option(
    "--split/--no-split",
    default=True,
    show_default=True,
    help="Cut texts into sentences, or take each as one.",
)
@click.option(
    "-t", "--threads", type=click.IntRange(1), default=1, show_default=True, help="Cores to use."
)
@click.option(
    "-b",
    "--batch-size",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    help="Sentences searched together.",
)
@click.option(
    "--trace",
    type=click.Path(dir_okay=False, path_type=Path),
    metavar="HTML",
    help="Write a page that shows the search of TEXT step by step.",
)
def translate(
    text: str | None,
    model: str | None,
    constraints: tuple[str, ...],
    avoid: tuple[str, ...],
    avoid_files: tuple[Path, ...],
    prefix: str | None,
    as_json: bool,
    tabs: bool,
    ordered: bool,
    threads: int,
    trace: Path | None,
    **settings: Any,
) -> None:
    """Translate the argument or standard input."""
    if (as_json and tabs) or (ordered and not tabs):
        raise click.UsageError("--tabs and --json exclude each other; --ordered goes with --tabs")
    if trace and text is None:
        raise click.UsageError("--trace shows the search of one text: give it as an argument")
    demands = [read_argument(each, f"-c {quoted(each)}") for each in constraints]
    avoided = [read_argument(each, f"--avoid {quoted(each)}") for each in avoid]
    avoided += [phrase for path in avoid_files for phrase in read_list(path)]
    load_glossary(settings)
    translator = load(model, threads)
    Terms(settings.get("glossary"), settings["keep"], translator.info)  # or say what is wrong
    reader = Reader(translator.info.get("target_language"))
    asked = Asked(
        tuple(reader.demands(demands, "-c")), tuple(reader.avoided(avoided, "--avoid")), prefix
    )
    plain: LineFormat = TabLines(asked, ordered) if tabs else PlainLines(asked)
    recorder = Recorder(translator) if trace else None
    translator = recorder.translator if recorder else translator
    stream = Stream(translator, JsonLines(asked) if as_json else plain, settings)
    output = sys.stdout.buffer
    with graceful():
        if text is None:
            stream.run(sys.stdin.buffer, output)
        else:
            stream.run_one(text, plain, output)
    if trace and recorder and recorder.texts:
        recorder.trace().save(trace)
    sys.exit(1 if stream.failed else 0)


@main.command()
@click.argument("model", required=False, metavar="[DIR|PAIR]")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def info(model: str | None, as_json: bool) -> None:
    """Show what a model is.

    \b
    Examples:
      lexbeam info en-pt
      lexbeam info ./my-model --json
    """
    facts = load(model).info
    if as_json:
        click.echo(json.dumps(facts, ensure_ascii=False, default=str))
        return
    _show_facts(facts)


def _show_facts(facts: Mapping[str, Any], indent: str = "") -> None:
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        if isinstance(value, Mapping):
            click.echo(f"{indent}{name}")
            _show_facts(value, indent + "  ")
        else:
            shown = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
            click.echo(f"{indent}{name:{width}}  {shown}".rstrip())


@main.command()
@click.argument("pair")
@click.option(
    "--registry",
    "url",
    default=registry.REGISTRY_URL,
    metavar="URL",
    help="Address of a registry; Mozilla's unless given.",
)
@click.option("--architecture", help="tiny, base, base-memory, …; the released one unless given.")
@click.option("--force", is_flag=True, help="Fetch the pair even if it is there already.")
def pull(pair: str, url: str, architecture: str | None, force: bool) -> None:
    """Fetch the model of a language pair.

    It goes to your data folder, where translate finds it by the name of the pair. A download
    that was cut goes on where it stopped.

    \b
    Examples:
      lexbeam pull en-de
      lexbeam pull en-de --architecture tiny
    """
    with graceful(), DownloadBar() as bar:
        path = registry.pull(pair, url, architecture, bar.update, force)
    click.echo(path)


@main.command()
@click.option("--available", is_flag=True, help="List what the registry has instead.")
@click.option(
    "--registry",
    "url",
    default=registry.REGISTRY_URL,
    metavar="URL",
    help="Address of a registry; Mozilla's unless given.",
)
def models(available: bool, url: str) -> None:
    """List the language pairs that were pulled, or that can be.

    \b
    Examples:
      lexbeam models
      lexbeam models --available
    """
    if not available:
        pulled = registry.installed()
        if not pulled:
            click.echo("no models were pulled yet; try: lexbeam pull en-de", err=True)
        for model in pulled:
            click.echo(f"{model.pair}\t{model.info.get('architecture', '')}\t{model.path}")
        return
    for pair, entries in sorted(registry.Registry.fetch(url).models.items()):
        kinds = ", ".join(f"{entry.architecture} ({entry.release})" for entry in entries)
        click.echo(f"{pair}\t{kinds}")


@main.group(name="import")
def import_() -> None:
    """Turn models of other makers into bundles, which translate takes."""


@import_.command()
@click.argument("checkpoint", metavar="MODEL_DIR", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option("--float32", is_flag=True, help="Keep full precision: larger and slower, exact.")
@click.option(
    "--source-language", metavar="CODE", help="As the checkpoint writes it: eng_Latn, en, en_XX."
)
@click.option("--target-language", metavar="CODE", help="The same, of the output.")
@click.option(
    "--source-prefix", default="", metavar="TEXT", help="What goes before every source (T5)."
)
@click.option(
    "--calibration",
    type=click.File(encoding="utf-8"),
    metavar="FILE",
    help="Source sentences, one a line, to measure activations on.",
)
def hf(
    checkpoint: Path,
    out: Path,
    float32: bool,
    source_language: str | None,
    target_language: str | None,
    source_prefix: str,
    calibration: Any,
) -> None:
    """Import a Hugging Face checkpoint: Marian, mBART, M2M100, NLLB, T5.

    What comes out is in eight bits and needs neither PyTorch nor transformers.

    \b
    Examples:
      lexbeam import hf opus-mt-en-de en-de
      lexbeam import hf nllb-200-distilled-600M en-de \\
        --source-language eng_Latn --target-language deu_Latn
      lexbeam import hf t5-small en-de --source-prefix "translate English to German:"
    """
    from lexbeam.models.importers.huggingface import import_checkpoint  # noqa: PLC0415  (slow to import)

    with graceful():
        folder = import_checkpoint(
            checkpoint,
            out,
            "float32" if float32 else "int8",
            source_language=source_language,
            target_language=target_language,
            source_prefix=source_prefix,
            calibration_text=[line.strip() for line in calibration or [] if line.strip()],
        )
    click.echo(folder)


@main.command()
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--export", is_flag=True, help="Write the bundle of a run as it stands, and stop.")
@click.option(
    "--decay",
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    help="Tell a run that is going on to end in so many minutes, its rate falling to zero.",
)
def train(config: Path, export: bool, decay: float | None) -> None:
    """Train a model as a TOML file says (extra "train").

    A run that was stopped or killed goes on where it was when it is started again.

    \b
    Examples:
      lexbeam train my-model.toml
      lexbeam train my-model.toml --decay 20
      lexbeam translate --model runs/mine/bundle "A sentence." -c Satz
    """
    if export and decay is not None:
        raise click.UsageError("--export and --decay are two commands")
    from lexbeam import train as training  # noqa: PLC0415  (PyTorch is an extra)

    with graceful():
        if decay is not None:
            training.decay(config, decay)
            return
        folder = training.export_bundle(config) if export else training.run(config)
    if folder is not None:
        click.echo(folder)
