"""Marian, as OPUS-MT has it: two SentencePiece models, and ids in ``vocab.json``."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexbeam.models.file_reading import naming
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.bart_network import bart_network, take_sinusoids
from lexbeam.models.importers.huggingface.family import Family
from lexbeam.models.importers.huggingface.files import read_json_if_there
from lexbeam.models.importers.huggingface.framing import (
    ImportOptions,
    Surroundings,
    unknown_language,
)
from lexbeam.models.importers.huggingface.model_card import CARD, aligned_head
from lexbeam.models.importers.huggingface.pieces import Kind
from lexbeam.models.importers.huggingface.renamed_weights import Network, RenamedWeights
from lexbeam.models.importers.huggingface.vocabularies import (
    Vocabularies,
    read_ids,
    read_pieces,
    special_tokens,
)


class Marian(Family, model_types=("marian",)):
    """A checkpoint of ``MarianMTModel``."""

    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network.

        Its sinusoids are not those of Marian itself: the lowest frequency is a little higher.
        """
        dim = self.settings.number("d_model")
        count = self.settings.number("max_position_embeddings")
        renamed = RenamedWeights(weights)
        frequencies = 10000.0 ** (-2 * np.arange(dim // 2) / dim)
        take_sinusoids(renamed, np.arange(count), frequencies)
        return bart_network(self.settings, renamed)

    def vocabularies(self, source_size: int, target_size: int) -> Vocabularies:
        """Return the vocabularies of both sides, whose ids may be shared or separate."""
        folder = self.folder
        names = special_tokens(folder)
        ids = read_ids(folder / "vocab.json")
        separate = read_json_if_there(folder / "tokenizer_config.json").get("separate_vocabs")
        target_ids = read_ids(folder / "target_vocab.json") if separate else ids
        languages = {token for token in {**ids, **target_ids} if _is_language(token)}
        special = names._replace(control=names.control | languages)
        source, target = (read_pieces(folder / name) for name in ("source.spm", "target.spm"))
        with naming(folder / "vocab.json"):
            return Vocabularies(
                source.renumbered(ids, source_size, special=special),
                target.renumbered(target_ids, target_size, special=special, foreign=Kind.UNUSED),
                ids,
                target_ids,
                special.eos,
            )

    def alignment(self, config: TransformerConfig) -> tuple[int, int] | None:
        """Return the head that Marian's guided alignment trains, if the model card names it."""
        return aligned_head(self.folder / CARD, config.decoder_layers)

    def surroundings(
        self,
        given: Surroundings,
        text: Vocabularies,
        options: ImportOptions,
        eos: int,  # noqa: ARG002
    ) -> Surroundings:
        """Put the target language before the source, if the network has several."""
        codes = [token for token in text.source_ids if token.startswith(">>")]
        if not codes:
            return given
        token = f">>{options.target_language}<<"
        if token not in text.source_ids:
            raise unknown_language("target", options.target_language, codes)
        return given._replace(prefix=(text.source_ids[token],))


def _is_language(token: str) -> bool:
    return token.startswith(">>") and token.endswith("<<")
