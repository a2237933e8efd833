"""The command ``lexbeam``: its sub-commands are loaded when they are used."""

from __future__ import annotations

import signal
from importlib import import_module
from keyword import iskeyword
from typing import Any

import click

from lexbeam.cli.start import INTERRUPTED
from lexbeam.errors import LexbeamError
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

COMMANDS = {
    "corpus": "Translate a corpus: text, JSON lines or Parquet, by the names of the files.",
    "file": "Translate whole files: PO, XLIFF, JSON, Markdown, DOCX and more.",
    "glossary": "Look into glossary files: CSV, TSV and TBX.",
    "import": "Turn models of other makers into bundles, which translate takes.",
    "info": "Show what a model is.",
    "models": "List the language pairs that were pulled, or that can be.",
    "pull": "Fetch the model of a language pair.",
    "serve": "Serve DeepL's and LibreTranslate's API, and a page (extra \"server\").",
    "study": 'Repeat the paper\'s experiments with a model and write a report (extra "study").',
    "train": 'Train a model as a TOML file says (extra "train").',
    "translate": "Translate TEXT, or line by line what comes in on standard input.",
}
"""Each command and what it says of itself in short; it is in the module of the same name."""


class _LazyGroup(click.Group):
    """Loads a command when it is used; turns whatever lexbeam raises on purpose into one line."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = import_module(f"lexbeam.cli.{cmd_name}{'_' if iskeyword(cmd_name) else ''}")
        if signal.getsignal(signal.SIGINT) is signal.SIG_DFL:
            # Most is imported: from here on an interrupt is an exception, which commands clean up
            # after.
            signal.signal(signal.SIGINT, signal.default_int_handler)
        command: click.Command = module.command
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def invoke(self, ctx: click.Context) -> Any:
        try:
            return super().invoke(ctx)
        except LexbeamError as error:
            click.echo(f"lexbeam: {error}", err=True)
            ctx.exit(1)
        except KeyboardInterrupt:
            ctx.exit(INTERRUPTED)
        except Exception as error:
            if not _is_interrupt(error):
                raise
            ctx.exit(INTERRUPTED)


def _is_interrupt(error: BaseException | None) -> bool:
    """Return whether an error comes from an interrupt: compiled modules turn it into their own."""
    while error is not None and not isinstance(error, KeyboardInterrupt):
        error = error.__cause__ or error.__context__
    return error is not None


@click.group(
    cls=_LazyGroup, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="lexbeam")
def main() -> None:
    """Translate, and say which words must appear."""
