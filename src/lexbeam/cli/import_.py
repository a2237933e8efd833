"""``lexbeam import``: turn models of other makers into bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lexbeam.cli.terminal import graceful


@click.group("import")
def command() -> None:
    """Turn models of other makers into bundles, which translate takes."""


@command.command()
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
    help="Source sentences, one per line, to measure activations on.",
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
