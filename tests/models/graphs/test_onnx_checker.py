"""Every graph that is written here passes the checker of the ``onnx`` package."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import onnx
import pytest

from helpers.networks import TINY, random_weights
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.weights import quantise

VARIANTS: dict[str, dict[str, Any]] = {
    "ssru": {},
    "self-attention": {"decoder": "self-attention"},
    "norm first, swish": {
        "activation": "swish",
        "preprocess": "n",
        "postprocess": "da",
        "postprocess_top": "n",
    },
}


def check(graphs: Graphs) -> None:
    for content in graphs:
        if isinstance(content, bytes):
            onnx.checker.check_model(onnx.load_from_string(content), full_check=False)


@pytest.mark.parametrize("shortlist", [False, True])
@pytest.mark.parametrize("rounded", [False, True])
@pytest.mark.parametrize("variant", VARIANTS)
def test_the_graphs_of_a_transformer(variant: str, rounded: bool, shortlist: bool) -> None:
    config = replace(TINY, **VARIANTS[variant])
    weights: dict[str, Any] = dict(random_weights(config))
    if rounded:
        for name, weight in weights.items():
            if 1 not in weight.shape:
                table = name.endswith("Wemb")
                weights[name] = quantise(weight.T).T if table else quantise(weight)
    check(config.build(weights, shortlist=shortlist))
    sample = [0, 3, 9] if shortlist else []
    check(config.build(weights, shortlist=shortlist, sample=sample))
    draft = config.build_draft(weights, attends=True, shortlist=shortlist, sample=sample)
    onnx.checker.check_model(onnx.load_from_string(draft), full_check=False)


def test_the_checker_finds_what_is_wrong() -> None:
    graphs = TINY.build(random_weights(TINY))
    model = onnx.load_from_string(graphs.encoder)
    model.graph.node[0].input[0] = "nothing of this name"
    with pytest.raises(onnx.checker.ValidationError):
        check(Graphs(model.SerializeToString(), graphs.decoder))


def test_the_graphs_of_a_recurrent_network() -> None:
    torch = pytest.importorskip("torch")
    from lexbeam.models.graphs.rnn import RnnConfig  # noqa: PLC0415
    from lexbeam.train.config import NetworkConfig  # noqa: PLC0415
    from lexbeam.train.rnn import RecurrentNetwork  # noqa: PLC0415

    torch.manual_seed(0)
    options = NetworkConfig(kind="rnn", dim=32, encoder_layers=2, decoder_layers=2)
    check(RnnConfig(40, 40, 32, 2, 2).build(RecurrentNetwork(options, 40).named_weights()))
