"""``lexbeam train``: train a model."""

from __future__ import annotations

from pathlib import Path

import click

from lexbeam import train as training
from lexbeam.cli.terminal import graceful


@click.command("train")
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
def command(config: Path) -> None:
    """Train a model as a TOML file says (extra "train").

    A run that was stopped or killed goes on where it was when it is started again.

    \b
    Examples:
      lexbeam train my-model.toml
      lexbeam translate --model runs/mine/bundle "A sentence." -c Satz
    """
    with graceful():
        folder = training.run(config)
    if folder is not None:
        click.echo(folder)
