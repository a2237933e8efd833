"""``lexbeam serve``: a server that translators' tools already speak to."""

from __future__ import annotations

from pathlib import Path

import click

from lexbeam.errors import MissingExtraError

_HELP = """Serve DeepL's and LibreTranslate's API, and a page (extra "server").

\b
The page for trying constraints, on http://127.0.0.1:5000/:
  lexbeam serve

\b
Several language pairs, with keys, for a network:
  lexbeam serve --model en-pt --model pt-en --host 0.0.0.0 --keys keys.txt

A file of keys has one per line, and behind it a quota of characters per month if there is one;
the environment variable LEXBEAM_KEYS holds the same.
"""


@click.command("serve", help=_HELP)
@click.option(
    "-m",
    "--model",
    "models",
    multiple=True,
    metavar="DIR|PAIR",
    help="Folder, or a pair that was pulled. Repeat for more.",
)
@click.option("--host", default="127.0.0.1", show_default=True, help="Address to listen on.")
@click.option(
    "--port", type=click.IntRange(0, 65535), default=5000, show_default=True, help="Port."
)
@click.option(
    "--allow-host",
    "names",
    multiple=True,
    metavar="NAME",
    help="Name by which a proxy calls the server, * for any. Repeat for more.",
)
@click.option(
    "--keys",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Keys, one per line; without any, nobody needs one.",
)
@click.option(
    "--data",
    type=click.Path(file_okay=False, path_type=Path),
    help="Folder for glossaries and documents.",
)
@click.option(
    "--glossary",
    "glossaries",
    multiple=True,
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Terms for every request: CSV, TSV or TBX. Repeat for more.",
)
@click.option(
    "-t", "--threads", type=click.IntRange(1), help="Searches at a time; one per core if not given."
)
def command(
    models: tuple[str, ...],
    host: str,
    port: int,
    names: tuple[str, ...],
    keys: Path | None,
    data: Path | None,
    glossaries: tuple[Path, ...],
    threads: int | None,
) -> None:
    """Serve until told to stop."""
    try:
        from lexbeam.server.serve import ServerOptions, run  # noqa: PLC0415  (an extra)
    except ModuleNotFoundError as error:
        if (error.name or "").startswith("lexbeam"):
            raise
        raise MissingExtraError("serve", "server") from None
    options = ServerOptions(models, host, port, names, keys, data, glossaries, threads)
    run(options, lambda text: click.echo(text, err=True))
