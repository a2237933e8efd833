"""``lexbeam import``: turn models of other makers into bundles."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from lexbeam.cli.terminal import graceful

_with_shortlist = click.option(
    "--shortlist",
    metavar="PARALLEL",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    help="Make a shortlist from parallel text: source, tab, target in each line (extra train).",
)


@click.group("import")
def command() -> None:
    """Turn models of other makers into bundles, which translate takes."""


def _add_shortlist(folder: Path, parallel: Path | None) -> None:
    """Give a bundle a shortlist, if one is asked for."""
    if parallel is not None:
        from lexbeam.train.shortlist import add_shortlist  # noqa: PLC0415  (slow to import)

        add_shortlist(folder, parallel)


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
@_with_shortlist
def hf(
    checkpoint: Path,
    out: Path,
    float32: bool,
    source_language: str | None,
    target_language: str | None,
    source_prefix: str,
    calibration: Any,
    shortlist: Path | None,
) -> None:
    """Import a Hugging Face checkpoint: Marian, mBART, M2M100, NLLB, T5.

    What comes out is in eight bits and needs neither PyTorch nor transformers.

    \b
    Examples:
      lexbeam import hf opus-mt-en-de en-de
      lexbeam import hf opus-mt-en-de en-de --shortlist text.en-de.tsv.gz
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
        _add_shortlist(folder, shortlist)
    click.echo(folder)


@command.command()
@click.argument("model", metavar="MODEL_DIR", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--precision", type=click.Choice(["int8", "float32"]), help="The model's own if not given."
)
@click.option(
    "--sentencepiece",
    multiple=True,
    metavar="FILE",
    type=click.Path(path_type=Path),
    help="The SentencePiece model, if it is not in the folder; twice for source and target.",
)
@click.option(
    "--source-language", metavar="CODE", help="As the vocabulary writes it: eng_Latn, en, en_XX."
)
@click.option("--target-language", metavar="CODE", help="The same, of the output.")
@click.option(
    "--source-prefix", default="", metavar="TEXT", help="What goes before every source (T5)."
)
@_with_shortlist
def ct2(
    model: Path,
    out: Path,
    precision: str | None,
    sentencepiece: tuple[Path, ...],
    source_language: str | None,
    target_language: str | None,
    source_prefix: str,
    shortlist: Path | None,
) -> None:
    """Import a CTranslate2 model: a folder with model.bin.

    The SentencePiece model has to be in the folder, or named. Models in eight bits keep their
    numbers. A model without several languages need not be imported: translate takes its folder.

    \b
    Examples:
      lexbeam import ct2 ende_ctranslate2 en-de
      lexbeam import ct2 opus-mt-en-de-ct2 en-de \\
        --sentencepiece opus-mt-en-de/source.spm --sentencepiece opus-mt-en-de/target.spm
      lexbeam import ct2 nllb-ct2 en-de \\
        --source-language eng_Latn --target-language deu_Latn
    """
    from lexbeam.models.importers.ctranslate2 import import_model  # noqa: PLC0415  (slow to import)

    if len(sentencepiece) > 2:
        raise click.UsageError("--sentencepiece can be given once, or for source and target")
    with graceful():
        folder = import_model(
            model,
            out,
            precision,
            source_language=source_language,
            target_language=target_language,
            source_prefix=source_prefix,
            sentencepiece=sentencepiece,
        )
        _add_shortlist(folder, shortlist)
    click.echo(folder)


@command.command()
@click.argument("package", metavar="FILE.argosmodel", type=click.Path(path_type=Path))
@click.argument("out", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--precision", type=click.Choice(["int8", "float32"]), help="The model's own if not given."
)
@_with_shortlist
def argos(package: Path, out: Path, precision: str | None, shortlist: Path | None) -> None:
    """Import an Argos Translate package, as LibreTranslate uses them.

    A package need not be imported: translate takes the file, or the folder that it was installed
    to, and imports it into the cache.

    \b
    Examples:
      lexbeam import argos translate-en_de-1_0.argosmodel en-de
      lexbeam translate --model translate-en_de-1_0.argosmodel "The cat sat." -c Katze
    """
    from lexbeam.models.importers.argos import import_package  # noqa: PLC0415  (slow to import)

    with graceful():
        folder = import_package(package, out, precision)
        _add_shortlist(folder, shortlist)
    click.echo(folder)


@command.command()
@click.argument("bundle", metavar="BUNDLE", type=click.Path(path_type=Path, exists=True))
@click.argument("pairs", metavar="PAIRS", type=click.File(encoding="utf-8"))
def heads(bundle: Path, pairs: Any) -> None:
    """Choose the head of attention that aligns, and write it into a bundle (extra "train").

    PAIRS has a source and its translation per line, with a tab between: some hundred or more. Ties
    of terms and alignments use the head that is chosen; without one, the mean of a layer.

    \b
    Example:
      lexbeam import heads en-de parallel.tsv
    """
    from lexbeam.train.heads import keep_head, rank_heads  # noqa: PLC0415  (slow to import)

    read = [tuple(line.rstrip("\n").split("\t")) for line in pairs if line.strip()]
    wrong = next((number for number, pair in enumerate(read, 1) if len(pair) != 2), None)
    if wrong is not None:
        raise click.UsageError(f"{pairs.name}: pair {wrong} is not a source, a tab, a translation")
    with graceful():
        ranked = rank_heads(bundle, [(pair[0], pair[1]) for pair in read])
        keep_head(bundle, ranked[0])
    for each in ranked:
        click.echo(f"layer {each.layer} head {each.head}  {each.share:.3f}")
