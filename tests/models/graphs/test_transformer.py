from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from helpers.networks import TINY, Reference, random_weights
from lexbeam.errors import ModelError
from lexbeam.models.engines.onnx import OnnxEngine
from lexbeam.models.engines.tokens import TokenRules
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.models.graphs.weights import quantise
from lexbeam.models.shortlist import Shortlist

SOURCE = [5, 9, 3, 17, 0]
OUTPUT = [7, 2, 30, 7]

VARIANTS: dict[str, dict[str, Any]] = {
    "as Firefox has it": {},
    "self-attention": {"decoder": "self-attention"},
    "norm first": {"preprocess": "n", "postprocess": "da", "postprocess_top": "n"},
    "swish": {"activation": "swish"},
    "deep feed-forward": {"encoder_ffn_depth": 3, "decoder_ffn_depth": 1},
    "normed embeddings": {"postprocess_embedding": "nd"},
    "tied layers": {"tied_layers": (1, 1)},
    "separate vocabularies": {
        "source_vocabulary": 33,
        "source_embedding": "encoder_Wemb",
        "target_embedding": "decoder_Wemb",
        "output": "decoder_Wemb",
    },
    "separate output": {"output": "decoder_ff_logit_out_W"},
}


def in_int8(weights: dict[str, Any], activation: float | None) -> dict[str, Any]:
    return {
        name: weight
        if 1 in weight.shape
        else (
            quantise(weight.T, activation).T
            if name.endswith("Wemb")
            else quantise(weight, activation)
        )
        for name, weight in weights.items()
    }


def price(engine: OnnxEngine, source: list[int], output: list[int]) -> np.ndarray[Any, Any]:
    """Return the log-probabilities of all tokens after an output, by way of the protocol."""
    everything = np.arange(engine.vocabulary_size)[None]
    none = np.zeros((1, 0), np.int64)
    state: Any = engine.start([source], [list(range(engine.vocabulary_size))])
    for token in [engine.bos, *output]:
        scores = engine.step(state, np.array([token]), np.array([0]), everything, none, 1)
        state = scores.state
    return np.asarray(scores.ask_scores[0])


def engine_of(config: TransformerConfig, weights: Any) -> OnnxEngine:
    graphs = config.build(weights, shortlist=False)
    return OnnxEngine(graphs, TokenRules(config.target_vocabulary, 0))


@pytest.mark.parametrize("variant", VARIANTS)
def test_float_graph_is_the_network(variant: str) -> None:
    config = replace(TINY, **VARIANTS[variant])
    weights = random_weights(config)
    expected = Reference(config, weights).log_probs(SOURCE, OUTPUT)
    found = price(engine_of(config, weights), SOURCE, OUTPUT)
    np.testing.assert_allclose(found, expected, atol=2e-4)


@pytest.mark.parametrize("activation", [None, 24.0])
@pytest.mark.parametrize("variant", ["as Firefox has it", "self-attention", "swish"])
def test_int8_graph_is_close_to_the_network(variant: str, activation: float | None) -> None:
    config = replace(TINY, **VARIANTS[variant])
    weights = random_weights(config)
    rounded = in_int8(weights, activation)
    expected = Reference(config, weights).log_probs(SOURCE, OUTPUT)
    found = price(engine_of(config, rounded), SOURCE, OUTPUT)
    assert np.abs(found - expected).mean() < 0.1
    assert np.argmax(found) == np.argmax(expected)


@pytest.mark.parametrize("activation", [None, 24.0])
@pytest.mark.parametrize("variant", ["separate vocabularies", "separate output"])
def test_candidates_are_priced_as_in_the_whole_vocabulary(
    variant: str, activation: float | None
) -> None:
    config = replace(TINY, **VARIANTS[variant])
    rounded = in_int8(random_weights(config), activation)
    lists = Shortlist(
        np.zeros(config.source_vocabulary + 1, np.int64), np.zeros(0, np.int64), 0, 40
    )
    listed = OnnxEngine(
        config.build(rounded, shortlist=True),
        TokenRules(config.target_vocabulary, 0),
        shortlist=lists,
    )
    expected = price(engine_of(config, rounded), SOURCE, OUTPUT)
    np.testing.assert_allclose(price(listed, SOURCE, OUTPUT), expected, atol=1e-4)


@pytest.mark.parametrize("rounding", ["tensor", "rows"])
@pytest.mark.parametrize("variant", ["separate vocabularies", "separate output"])
def test_a_sample_in_eight_bits_completes_a_list(variant: str, rounding: str) -> None:
    config = replace(TINY, **VARIANTS[variant], rounding=rounding)
    rounded = in_int8(random_weights(config), 24.0 if rounding == "tensor" else None)
    sample = range(config.target_vocabulary)
    none = np.zeros(config.source_vocabulary + 1, np.int64)
    listed = OnnxEngine(
        config.build(rounded, shortlist=True, sample=sample),
        TokenRules(config.target_vocabulary, 0),
        shortlist=Shortlist(none, np.zeros(0, np.int64), 9, config.target_vocabulary, sample),
    )
    asked, nothing, first = np.arange(9)[None], np.zeros((1, 0), np.int64), np.zeros(1, np.int64)
    found, expected = (
        engine.step(engine.start([SOURCE], [[]]), np.array([40]), first, asked, nothing, 1)
        for engine in (listed, engine_of(config, rounded))
    )
    np.testing.assert_allclose(found.ask_scores, expected.ask_scores, atol=1e-4)


def test_a_missing_weight_is_named() -> None:
    weights = random_weights(TINY)
    del weights["encoder_l2_ffn_W1"]
    with pytest.raises(ModelError, match="encoder_l2_ffn_W1"):
        TINY.build(weights, shortlist=False)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"heads": 3}, "3 heads"),
        ({"decoder": "gru"}, "gru"),
        ({"activation": "glu"}, "glu"),
        ({"positions": "rotary"}, "rotary"),
        ({"norm": "batch"}, "batch"),
        ({"postprocess": "dhn"}, '"h"'),
        ({"encoder_layers": 0}, "encoder layers"),
        ({"tied_layers": (1,)}, "tied layers"),
    ],
)
def test_what_can_not_be_built_is_refused(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ModelError, match=named):
        replace(TINY, **change).build(random_weights(TINY), shortlist=False)
