"""Measure how large the activations of a network get, so that they can be rounded to eight bits.

When the range of the activations is known, a product in eight bits need not look for it first,
and the scores of a sentence do not depend on the other sentences of its batch.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
import onnxruntime as ort  # type: ignore[import-untyped]

from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.onnx_decoder import OnnxDecoder
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.weights import Float32
from lexbeam.search.arrays import IntArray
from lexbeam.search.beam_search import decode

_SPREAD = 3.0  # how many standard deviations above their mean peaks are still represented
_LARGEST = {"peak": 127, "rectified": 255}  # of signed and of unsigned activations


class _ObservedDecoder(OnnxDecoder):
    """A decoder that records the largest activations, which its graphs return."""

    def __init__(self, peaks: dict[str, list[float]], *given: Any) -> None:
        super().__init__(*given)
        self._peaks = peaks
        names = [output.name for output in (self._single_decoder or self._decoder).get_outputs()]
        self._observed = [name for name in names if name.split(".")[0] in _LARGEST]

    def _run(
        self, session: ort.InferenceSession, feed: dict[str, Any], outputs: list[str]
    ) -> tuple[list[Any], list[Any]]:
        results = session.run(outputs + self._observed, feed)
        plain, answers = len(outputs), len(outputs) - len(self._state_shapes)
        for name, peak in zip(self._observed, results[plain:], strict=True):
            self._peaks[name].append(float(peak))
        return results[:answers], results[answers:plain]


class _Observer(OnnxEngine):
    """An engine that records the largest activations."""

    def __init__(
        self, graphs: Graphs, tokens: TokenRules, positions: tuple[Float32, Float32] | None
    ) -> None:
        self.peaks: dict[str, list[float]] = defaultdict(list)
        super().__init__(graphs, tokens, positions=positions)
        self.peaks.clear()  # of the step that the engine took to try itself out
        given = graphs, self._output.answers, positions, 1, None
        self._decoder = _ObservedDecoder(self.peaks, *given)

    def _encode(self, feed: dict[str, Any], lengths: IntArray) -> dict[str, Any]:
        found = super()._encode(feed, lengths)
        for name in [name for name in found if name.split(".")[0] in _LARGEST]:
            self.peaks[name].append(float(found.pop(name)))
        return found


def measure(
    graphs: Graphs,
    sources: Sequence[Sequence[int]],
    tokens: TokenRules,
    positions: tuple[Float32, Float32] | None = None,
) -> dict[str, float]:
    """Return, by the name of each matrix, the multiplier of its activations.

    The graphs are those of `lexbeam.models.graphs.weights.Observed` weights, without a shortlist.
    Every source is translated greedily.
    """
    observer = _Observer(graphs, tokens, positions)
    for source in sources:
        decode(observer, [source], beam_size=1, max_length=2 * len(source) + 5)
    multipliers = {}
    for label, peaks in observer.peaks.items():
        kind, _, name = label.partition(".")
        peak = min(float(np.mean(peaks) + _SPREAD * np.std(peaks)), max(peaks))
        if peak > 0:
            multipliers[name] = _LARGEST[kind] / peak
    return multipliers
