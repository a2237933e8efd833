"""Checkpoints of Hugging Face as bundles: Marian, BART and mBART, M2M100 and NLLB, T5.

A bundle needs neither PyTorch nor transformers to translate; nor does the import, unless the
weights are in a ``pytorch_model.bin``.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from lexbeam.errors import ModelError
from lexbeam.models import bundle
from lexbeam.models.bundle_manifest import read_framing
from lexbeam.models.file_reading import naming, refusing_damage, refusing_unreadable
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.importers.huggingface.family import find_family
from lexbeam.models.importers.huggingface.files import read_json, read_weights
from lexbeam.models.importers.huggingface.framing import (
    ImportOptions,
    generation_file,
    language_codes,
)
from lexbeam.models.importers.huggingface.settings import Settings
from lexbeam.models.importers.huggingface.vocabularies import vocabulary_file
from lexbeam.models.model import Framing
from lexbeam.models.sentencepiece_files import load_vocabulary

__all__ = ["import_checkpoint"]

_HUB_NAME = re.compile(r"[\w.-]+/[\w.-]+")


@refusing_unreadable()
def import_checkpoint(
    path: str | Path,
    out: str | Path,
    precision: str = "int8",
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    source_prefix: str = "",
    calibration_text: Sequence[str] = (),
) -> Path:
    """Write a checkpoint as a bundle that `lexbeam.load` takes; return the bundle's folder.

    Args:
        path: the folder that ``save_pretrained`` wrote, or one from the Hub.
        out: the folder of the bundle; made if it does not exist.
        precision: "int8", or "float32", in which outputs are those of ``generate``.
        source_language: as the checkpoint's tokenizer writes it (``eng_Latn``, ``en``,
            ``en_XX``), where it has several languages.
        target_language: the same; also for Marian models with several target languages.
        source_prefix: text that goes before every source, as T5 expects it.
        calibration_text: some dozens of source sentences; see `lexbeam.models.bundle.write`.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder")
    bundle.check_precision(precision)
    settings = Settings(read_json(config := folder / "config.json"))
    with refusing_damage(config):
        family = find_family(folder, settings)
    options = ImportOptions(source_language, target_language, source_prefix)
    with naming(folder):
        weights = read_weights(folder)
    with refusing_damage(config):
        network = family.network(weights)
    sizes = network.config.source_vocabulary, network.config.target_vocabulary
    with refusing_damage(folder / "tokenizer_config.json"):
        text = family.vocabularies(*sizes)
        codes = language_codes(folder, settings, options)
    _check_vocabularies(folder, text[:2], sizes)
    name = _name(settings.get("_name_or_path"), folder)
    with refusing_damage(config):
        framing = family.framing(text, options)
        with naming(generation_file(folder, "decoder_start_token_id")):
            _check_framing(framing, network.config)
        bundle.write(
            network.config,
            network.weights,
            text.source,
            out,
            target_spm=text.target,
            source_language=codes[0],
            target_language=codes[1],
            max_source_length=network.max_positions,
            calibration_text=calibration_text,
            framing=framing,
            precision=precision,
            alignment=family.alignment(network.config),
            origin=f"Hugging Face, {family.model_type}: {name}",
        )
    return Path(out)


def _check_vocabularies(
    folder: Path, contents: Sequence[bytes | None], sizes: Sequence[int]
) -> None:
    for data, name, size in zip(contents, ("source.spm", "target.spm"), sizes, strict=True):
        if data is not None:
            load_vocabulary(data, vocabulary_file(folder, name), size)


def _check_framing(framing: Framing, config: Architecture) -> None:
    as_lists = {k: v if v is None else list(v) for k, v in vars(framing).items()}
    read_framing(as_lists, config)


def _name(given: object, folder: Path) -> str:
    """Return the name of a checkpoint on the Hub, or of its folder."""
    from_hub = isinstance(given, str) and _HUB_NAME.fullmatch(given)
    return str(given) if from_hub else folder.resolve().name
