"""Measure how large the activations of a network get, so that they can be rounded to eight bits.

With ranges that are known beforehand a product in eight bits needs no pass to find them, and
what one sentence computes does not depend on the others of its batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]

from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.graphs import Graphs
from lexbeam.search.beam_search import decode

_SPREAD = 3.0  # standard deviations of the peaks that are kept from being cut off
_LARGEST = {"peak": 127, "rectified": 255}  # where zero lies in the middle, and at the bottom


class _Observer(OnnxEngine):
    """An engine that takes down the peaks its graphs give out."""

    def __init__(self, graphs: Graphs, vocabulary_size: int, eos: int, **settings: Any) -> None:
        self.peaks: dict[str, list[float]] = defaultdict(list)
        self._observed: list[str] = []
        super().__init__(graphs, vocabulary_size=vocabulary_size, eos=eos, **settings)
        self.peaks.clear()  # of the engine's own first try
        names = [output.name for output in (self._alone or self._decoder).get_outputs()]
        self._observed = [name for name in names if name.split(".")[0] in _LARGEST]

    def _encode(self, feed: dict[str, Any]) -> dict[str, Any]:
        found = super()._encode(feed)
        for name in [name for name in found if name.split(".")[0] in _LARGEST]:
            self.peaks[name].append(float(found.pop(name)))
        return found

    def _run(self, session: ort.InferenceSession, feed: dict[str, Any]) -> list[Any]:
        results = session.run(self._outputs + self._observed, feed)
        plain = len(self._outputs)
        for name, peak in zip(self._observed, results[plain:], strict=True):
            self.peaks[name].append(float(peak))
        return list(results[:plain])


def measure(
    graphs: Graphs,
    sources: Sequence[Sequence[int]],
    vocabulary_size: int,
    eos: int,
    **settings: Any,
) -> dict[str, float]:
    """Return, by the name of each matrix, what its activations are to be multiplied with.

    The graphs are those of `lexbeam.models.graphs.weights.Observed` weights, without a shortlist;
    every source is translated greedily. The settings are further ones of the engine.
    """
    observer = _Observer(graphs, vocabulary_size, eos, **settings)
    for source in sources:
        decode(observer, [source], beam_size=1, max_length=2 * len(source) + 5)
    multipliers = {}
    for label, peaks in observer.peaks.items():
        kind, _, name = label.partition(".")
        peak = min(float(np.mean(peaks) + _SPREAD * np.std(peaks)), max(peaks))
        if peak > 0:
            multipliers[name] = _LARGEST[kind] / peak
    return multipliers
