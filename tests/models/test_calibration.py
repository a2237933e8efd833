from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.networks import TINY, VOCABULARY, Reference, random_weights
from lexbeam.models import calibration
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.weights import Observed, quantise

SOURCES = [[5, 9, 3, 0], [8, 22, 0], [11, 30, 2, 7, 7, 21, 0]]


def multipliers(**change: Any) -> dict[str, float]:
    config = replace(TINY, **change)
    graphs = config.build(Observed(random_weights(config)), shortlist=False)
    return calibration.measure(graphs, SOURCES, TokenRules(VOCABULARY, 0))


def first_scores(engine: OnnxEngine, sources: list[list[int]]) -> Any:
    rows = len(sources)
    everything = np.tile(np.arange(VOCABULARY), (rows, 1))
    none = np.zeros((rows, 0), np.int64)
    state = engine.start(sources, [[]] * rows)
    return engine.step(
        state, np.full(rows, engine.bos), np.arange(rows), everything, none, 1
    ).ask_scores


@pytest.mark.parametrize("decoder", ["ssru", "self-attention"])
def test_every_matrix_is_measured(decoder: str) -> None:
    unused = "_self_" if decoder == "ssru" else "_rnn_"
    matrices = {
        name
        for name, weight in random_weights(TINY).items()
        if 1 not in weight.shape and not ("decoder" in name and unused in name)
    }
    assert set(multipliers(decoder=decoder)) == matrices


def test_the_range_is_that_of_the_activations() -> None:
    reference = Reference(TINY, random_weights(TINY))
    table = random_weights(TINY)["Wemb"]
    peaks = [np.abs(reference.embed(table[s], range(len(s)), "encoder")).max() for s in SOURCES]
    found = 127 / multipliers()["encoder_l1_self_Wq"]
    assert np.mean(peaks) < found <= max(peaks) * 1.0001


def test_a_batch_is_its_sentences_to_the_last_digit() -> None:
    known = multipliers()
    rounded = {
        name: weight
        if 1 in weight.shape
        else (
            quantise(weight.T, known[name]).T
            if name == "Wemb"
            else quantise(weight, known.get(name))
        )
        for name, weight in random_weights(TINY).items()
    }
    graphs = TINY.build(rounded, shortlist=False)
    engine = OnnxEngine(graphs, TokenRules(VOCABULARY, 0))
    together = first_scores(engine, SOURCES)
    for row, source in enumerate(SOURCES):
        np.testing.assert_allclose(together[row], first_scores(engine, [source])[0], atol=1e-5)
