"""``lexbeam models``: the models that were pulled, or that can be."""

from __future__ import annotations

import click

from lexbeam.models import registry


@click.command("models")
@click.option("--available", is_flag=True, help="List what the registry has instead.")
@click.option(
    "--registry",
    "url",
    default=registry.REGISTRY_URL,
    metavar="URL",
    help="Address of a registry; Mozilla's unless given.",
)
def command(available: bool, url: str) -> None:
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
            facts = (model.info.get(name, "") for name in ("architecture", "version"))
            click.echo("\t".join((model.pair, *map(str, facts), str(model.path))))
        return
    for pair, entries in sorted(registry.Registry.fetch(url).models.items()):
        kinds = ", ".join(
            f"{entry.architecture} ({entry.release}, {entry.version})" for entry in entries
        )
        click.echo(f"{pair}\t{kinds}")
