"""``lexbeam train``: train a model."""

from __future__ import annotations

from pathlib import Path

import click

from lexbeam import train as training
from lexbeam.cli.terminal import graceful


@click.command("train")
@click.argument("config", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--export", is_flag=True, help="Write the bundle of a run as it stands, and stop.")
@click.option(
    "--decay",
    type=click.FloatRange(min=0),
    metavar="MINUTES",
    help="Tell a run that is going on to end in so many minutes, its rate falling to zero.",
)
def command(config: Path, export: bool, decay: float | None) -> None:
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
    with graceful():
        if decay is not None:
            training.decay(config, decay)
            return
        folder = training.export_bundle(config) if export else training.run(config)
    if folder is not None:
        click.echo(folder)
