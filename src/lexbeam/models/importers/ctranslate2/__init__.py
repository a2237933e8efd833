"""CTranslate2 models: Transformers that translate, in any of its precisions.

A folder holds the network (``model.bin``), lists of tokens and, since version 6, settings in
``config.json``. The SentencePiece model that cuts text into the tokens has to be beside them.
"""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.errors import ModelError
from lexbeam.models import bundle, formats
from lexbeam.models.file_reading import naming, refusing_unreadable
from lexbeam.models.import_cache import load_imported
from lexbeam.models.importers.ctranslate2 import binary
from lexbeam.models.importers.ctranslate2.framing import Wishes, make_framing
from lexbeam.models.importers.ctranslate2.network import read_network
from lexbeam.models.importers.ctranslate2.settings import read_settings
from lexbeam.models.importers.ctranslate2.vocabularies import is_vocabulary, read_vocabularies
from lexbeam.models.model import Model

__all__ = ["import_model", "is_ctranslate2_model", "load"]

MODEL = "model.bin"
_LONGEST_SOURCE = 512


def is_ctranslate2_model(path: str | Path) -> bool:
    """Return whether a folder holds a CTranslate2 model."""
    folder = Path(path)
    if not (folder / MODEL).is_file():
        return False
    return any(is_vocabulary(file.name) for file in folder.iterdir())


@refusing_unreadable()
def import_model(
    path: str | Path,
    out: str | Path,
    precision: str | None = None,
    *,
    source_language: str | None = None,
    target_language: str | None = None,
    source_prefix: str = "",
    output_prefix: Sequence[str] | None = None,
    sentencepiece: Sequence[str | Path] = (),
    origin: str | None = None,
) -> Path:
    """Write a CTranslate2 model as a bundle that `lexbeam.load` takes; return its folder.

    Args:
        path: the folder of the model.
        out: the folder of the bundle; made if it does not exist.
        precision: "int8", "float32", or None for that of the model.
        source_language: as the model's vocabulary writes it (``eng_Latn``, ``en``, ``en_XX``),
            where it has several languages.
        target_language: the same; also for Marian models with several target languages.
        source_prefix: text that goes before every source, as T5 expects it.
        output_prefix: the tokens that every output begins with (CTranslate2's target prefix);
            None is the target language, where the model has several.
        sentencepiece: the SentencePiece model, or those of source and target; without any they
            are looked for in the folder.
        origin: where the model comes from, for people to read.
    """
    folder = Path(path)
    if not folder.is_dir():
        raise ModelError(f"{folder}: no such folder")
    bundle.check_precision(precision or "int8")
    model = binary.read(folder / MODEL)
    settings = read_settings(folder, model)
    with naming(folder / MODEL):
        network = read_network(model, settings.epsilon, precision)
    config = network.config
    sizes = config.source_vocabulary, config.target_vocabulary
    begun = None if output_prefix is None else tuple(output_prefix)
    wishes = Wishes(source_language, target_language, source_prefix, begun)
    with naming(folder):
        text = read_vocabularies(folder, settings, sizes, list(map(Path, sentencepiece)))
        framing = make_framing(text, settings, network, wishes)
    with naming(folder / MODEL):  # weights that don't fit together
        bundle.write(
            config,
            network.weights,
            text.source,
            out,
            target_spm=text.target,
            source_language=source_language,
            target_language=target_language,
            max_source_length=min(network.max_positions, _LONGEST_SOURCE),
            framing=framing,
            precision=network.precision,
            alignment=network.alignment,
            sets_aside=True,
            origin=origin or f"CTranslate2: {folder.resolve().name}",
        )
    return Path(out)


def load(path: str | Path, threads: int = 1) -> Model:
    """Load a model from its folder; it is imported into the cache when it is first loaded."""
    folder = Path(path)
    files = sorted(file for file in folder.iterdir() if file.is_file())
    return load_imported(files, "ctranslate2", lambda out: import_model(folder, out), threads)


formats.register("a CTranslate2 model", MODEL, is_ctranslate2_model, load)
