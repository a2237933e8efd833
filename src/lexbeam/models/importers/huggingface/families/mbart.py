"""mBART and mBART-50: one network for many languages."""

from __future__ import annotations

from collections.abc import Mapping

from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.bart_network import bart_network, take_learned_positions
from lexbeam.models.importers.huggingface.family import Family
from lexbeam.models.importers.huggingface.files import read_json_if_there
from lexbeam.models.importers.huggingface.framing import ImportOptions, Surroundings, find_language
from lexbeam.models.importers.huggingface.pieces import PieceModel
from lexbeam.models.importers.huggingface.renamed_weights import (
    NORM_FIRST,
    Network,
    RenamedWeights,
)
from lexbeam.models.importers.huggingface.vocabularies import Vocabularies, fairseq_ids


class MBart(Family, model_types=("mbart",)):
    """A checkpoint of ``MBartForConditionalGeneration``."""

    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network."""
        renamed = RenamedWeights(weights)
        take_learned_positions(renamed)
        return bart_network(self.settings, renamed, postprocess_embedding="n", **NORM_FIRST)

    def piece_ids(self, model: PieceModel) -> dict[str, int]:
        """Return fairseq's ids."""
        return fairseq_ids(model)

    def surroundings(
        self, given: Surroundings, text: Vocabularies, options: ImportOptions, eos: int
    ) -> Surroundings:
        """Add the languages: at the end of the source in the first mBART, before it in mBART-50."""
        source = find_language(text.source_ids, "source", options.source_language)
        target = find_language(text.target_ids, "target", options.target_language)
        if self._is_first_version(given.start, eos):
            return Surroundings((), (*given.suffix, source), target, None)
        start = eos if given.start is None else given.start
        return Surroundings((source,), given.suffix, start, target)

    def _is_first_version(self, start: int | None, eos: int) -> bool:
        tokenizer = read_json_if_there(self.folder / "tokenizer_config.json")
        name = str(tokenizer.get("tokenizer_class") or "")
        return not name.startswith("MBart50") if name else start != eos
