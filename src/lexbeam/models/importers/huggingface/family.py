"""What a family of checkpoints has to provide, and the families that there are.

A family is one class in one module of `lexbeam.models.importers.huggingface.families`. It
registers itself for the ``model_type`` of its checkpoints' ``config.json``.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path

from lexbeam.errors import ModelError
from lexbeam.models.discovery import register_all
from lexbeam.models.file_reading import naming
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.framing import (
    ImportOptions,
    Surroundings,
    cut_prefix,
    excluded_tokens,
    find_eos,
    generation_file,
    read_generation,
)
from lexbeam.models.importers.huggingface.pieces import PieceModel
from lexbeam.models.importers.huggingface.renamed_weights import Network
from lexbeam.models.importers.huggingface.settings import Settings
from lexbeam.models.importers.huggingface.tokenizer_json import read_tokenizer_json
from lexbeam.models.importers.huggingface.vocabularies import (
    Vocabularies,
    added_tokens,
    find_sentencepiece,
    own_ids,
    renumber,
)
from lexbeam.models.model import Framing

_FAMILIES: dict[str, type[Family]] = {}
_PACKAGE = "lexbeam.models.importers.huggingface.families"


class Family(ABC):
    """A checkpoint of one family: ``class Marian(Family, model_types=("marian",))``.

    The vocabulary is that of T5, one SentencePiece model with its own ids, and the end of
    sentence alone is around the source. A family overrides what is different.
    """

    def __init_subclass__(cls, *, model_types: tuple[str, ...]) -> None:
        super().__init_subclass__()
        _FAMILIES.update(dict.fromkeys(model_types, cls))

    def __init__(self, folder: Path, settings: Settings) -> None:
        self.folder = folder
        self.settings = settings
        self.model_type = settings.text("model_type")

    @abstractmethod
    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network; what can't be done is named in the error."""

    def vocabularies(self, source_size: int, target_size: int) -> Vocabularies:  # noqa: ARG002
        """Return the vocabularies of both sides, with the network's ids."""
        model = find_sentencepiece(self.folder)
        if model is None:
            model, ids = read_tokenizer_json(self.folder, self.model_type)
        else:
            ids = self.piece_ids(model)
        added = {**self.language_ids(ids), **added_tokens(self.folder, ids)}
        return renumber(self.folder, model, ids, added, source_size)

    def piece_ids(self, model: PieceModel) -> dict[str, int]:
        """Return the network's ids of the pieces of a SentencePiece model."""
        return own_ids(model)

    def language_ids(self, ids: Mapping[str, int]) -> dict[str, int]:  # noqa: ARG002
        """Return the ids of language codes that no file lists."""
        return {}

    def framing(self, text: Vocabularies, options: ImportOptions) -> Framing:
        """Return the tokens around source and output, as transformers adds them."""
        generation = read_generation(self.folder, self.settings)
        with naming(generation_file(self.folder, "eos_token_id")):
            eos = find_eos(generation, text)
        around = self.surroundings(
            Surroundings(
                (),
                (text.source_ids[text.eos],),
                generation.get("decoder_start_token_id"),
                generation.get("forced_bos_token_id"),
            ),
            text,
            options,
            eos,
        )
        if around.start is None:
            path = self.folder / "config.json"
            raise ModelError(f'{path}: "decoder_start_token_id" is missing')
        forced = () if around.forced is None else (around.forced,)
        return Framing(
            source_prefix=around.prefix + cut_prefix(text, options.source_prefix),
            source_suffix=around.suffix,
            output_start=(around.start, *forced),
            never=excluded_tokens(self.folder, generation),
        )

    def alignment(self, config: TransformerConfig) -> tuple[int, int] | None:  # noqa: ARG002
        """Return the decoder layer and head that were trained to align, if it is known."""
        return None

    def surroundings(
        self,
        given: Surroundings,
        text: Vocabularies,  # noqa: ARG002
        options: ImportOptions,  # noqa: ARG002
        eos: int,  # noqa: ARG002
    ) -> Surroundings:
        """Return the tokens around source and output, from those that all families have."""
        return given


def find_family(folder: Path, settings: Settings) -> Family:
    """Return the checkpoint in a folder as one of its family."""
    register_all(_PACKAGE)
    model_type = settings.text("model_type")
    if model_type not in _FAMILIES:
        known = ", ".join(sorted(_FAMILIES))
        raise ModelError(f'models of type "{model_type}" can\'t be imported, only {known}')
    return _FAMILIES[model_type](folder, settings)
