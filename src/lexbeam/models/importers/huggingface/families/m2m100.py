"""M2M100 and NLLB: one network for many languages."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs.weights import Float32
from lexbeam.models.importers.huggingface.bart_network import bart_network, take_sinusoids
from lexbeam.models.importers.huggingface.family import Family
from lexbeam.models.importers.huggingface.files import read_json_if_there
from lexbeam.models.importers.huggingface.framing import ImportOptions, Surroundings, find_language
from lexbeam.models.importers.huggingface.pieces import PieceModel
from lexbeam.models.importers.huggingface.renamed_weights import (
    NORM_FIRST,
    Network,
    RenamedWeights,
)
from lexbeam.models.importers.huggingface.vocabularies import (
    Vocabularies,
    fairseq_ids,
    read_ids,
)

_LANGUAGES = {  # in the order of their ids, which no file of these checkpoints has
    "m2m100": (
        "af am ar ast az ba be bg bn br bs ca ceb cs cy da de el en es et fa ff fi fr fy ga gd gl "
        "gu ha he hi hr ht hu hy id ig ilo is it ja jv ka kk km kn ko lb lg ln lo lt lv mg mk ml "
        "mn mr ms my ne nl no ns oc or pa pl ps pt ro ru sd si sk sl so sq sr ss su sv sw ta th "
        "tl tn tr uk ur uz vi wo xh yi yo zh zu"
    ),
    "wmt21": "en ha is ja cs ru zh de",
}


class M2M100(Family, model_types=("m2m_100",)):
    """A checkpoint of ``M2M100ForConditionalGeneration``; NLLB's are of this class, too."""

    def network(self, weights: Mapping[str, Float32]) -> Network:
        """Return the network.

        Its positions are counted from the id after the padding's, and its sinusoids are
        computed in single precision.
        """
        first = self.settings.number("pad_token_id", 1) + 1
        half = self.settings.number("d_model") // 2
        count = self.settings.number("max_position_embeddings")
        step = np.float32(np.log(10000) / (half - 1))
        frequencies = np.exp(np.arange(half, dtype=np.float32) * -step)
        renamed = RenamedWeights(weights)
        take_sinusoids(renamed, np.arange(first, first + count, dtype=np.float32), frequencies)
        return bart_network(self.settings, renamed, **NORM_FIRST)

    def piece_ids(self, model: PieceModel) -> dict[str, int]:
        """Return the ids of M2M100's ``vocab.json``, or fairseq's, which NLLB has."""
        path = self.folder / "vocab.json"
        return read_ids(path) if path.exists() else fairseq_ids(model)

    def language_ids(self, ids: Mapping[str, int]) -> dict[str, int]:
        """Return the ids of M2M100's languages."""
        if not (self.folder / "vocab.json").exists():
            return {}
        path = self.folder / "tokenizer_config.json"
        name = read_json_if_there(path).get("language_codes", "m2m100")
        if name not in _LANGUAGES:
            raise ModelError(f'{path}: language codes "{name}" are unknown')
        codes = _LANGUAGES[name].split()
        return {f"__{code}__": token_id for token_id, code in enumerate(codes, len(ids))}

    def surroundings(
        self, given: Surroundings, text: Vocabularies, options: ImportOptions, eos: int
    ) -> Surroundings:
        """Add the languages: before the source, or at its end in the first version of NLLB."""
        source = find_language(text.source_ids, "source", options.source_language)
        target = find_language(text.target_ids, "target", options.target_language)
        start = eos if given.start is None else given.start
        tokenizer = read_json_if_there(self.folder / "tokenizer_config.json")
        if tokenizer.get("legacy_behaviour"):
            return Surroundings((), (*given.suffix, source), start, target)
        return Surroundings((source,), given.suffix, start, target)
