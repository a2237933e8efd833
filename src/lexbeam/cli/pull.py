"""``lexbeam pull``: fetch the model of a language pair."""

from __future__ import annotations

import click

from lexbeam.cli.terminal import DownloadBar, graceful
from lexbeam.models import registry


@click.command("pull")
@click.argument("pair")
@click.option(
    "--registry",
    "url",
    default=registry.REGISTRY_URL,
    metavar="URL",
    help="Address of a registry; Mozilla's unless given.",
)
@click.option("--architecture", help="tiny, base, base-memory, …; the released one unless given.")
@click.option("--version", metavar="VERSION", help="Exactly this one; `lexbeam models` shows it.")
@click.option("--force", is_flag=True, help="Fetch the pair even if it is there already.")
def command(
    pair: str, url: str, architecture: str | None, version: str | None, force: bool
) -> None:
    """Fetch the model of a language pair.

    It goes to your data folder, where translate finds it by the name of the pair. A download
    that was cut goes on where it stopped. With --version a machine gets the model that another
    one has, or an error.

    \b
    Examples:
      lexbeam pull en-de
      lexbeam pull en-de --architecture tiny
      lexbeam pull en-de --version 3f1c09d2ab47
    """
    with graceful(), DownloadBar() as bar:
        path = registry.pull(pair, url, architecture, bar.update, force, version)
    click.echo(path)
