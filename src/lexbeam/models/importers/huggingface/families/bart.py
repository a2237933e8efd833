"""BART with a SentencePiece vocabulary."""

from __future__ import annotations

from collections.abc import Mapping

from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.bart_network import bart_network, take_learned_positions
from lexbeam.models.importers.huggingface.family import Family
from lexbeam.models.importers.huggingface.framing import ImportOptions, Surroundings, find_token
from lexbeam.models.importers.huggingface.pieces import PieceModel
from lexbeam.models.importers.huggingface.renamed_weights import Network, RenamedWeights
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies, fairseq_ids


class Bart(Family, model_types=("bart",)):
    """A checkpoint of ``BartForConditionalGeneration``."""

    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network."""
        renamed = RenamedWeights(weights)
        take_learned_positions(renamed)
        return bart_network(self.settings, renamed, postprocess_embedding="n")

    def piece_ids(self, model: PieceModel) -> dict[str, int]:
        """Return fairseq's ids."""
        return fairseq_ids(model)

    def surroundings(
        self,
        given: Surroundings,
        text: Vocabularies,
        options: ImportOptions,  # noqa: ARG002
        eos: int,  # noqa: ARG002
    ) -> Surroundings:
        """Put the start of sentence before the source."""
        return given._replace(prefix=(find_token(text, "<s>"),))
