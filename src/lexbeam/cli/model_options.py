"""The options by which a command chooses a model, and how many batches run at a time."""

from __future__ import annotations

import click

model_option = click.option(
    "-m", "--model", metavar="DIR|PAIR", help="Folder, or a pair that was pulled."
)

threads_option = click.option(
    "-t",
    "--threads",
    type=click.IntRange(1),
    default=1,
    show_default=True,
    help="Batches searched at a time.",
)
