from __future__ import annotations

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from lexbeam.errors import ModelError  # noqa: E402
from lexbeam.models.engines.onnx import OnnxEngine  # noqa: E402
from lexbeam.models.engines.tokens import TokenRules  # noqa: E402
from lexbeam.models.graphs.rnn import RnnConfig  # noqa: E402
from lexbeam.models.graphs.weights import Weights, quantise  # noqa: E402
from lexbeam.search.beam_search import decode  # noqa: E402
from lexbeam.train.config import NetworkConfig  # noqa: E402
from lexbeam.train.rnn import RecurrentNetwork  # noqa: E402
from lexbeam.train.scorer import NetworkScorer  # noqa: E402

SIZE = 40
CONFIG = RnnConfig(SIZE, SIZE, dim=32)
SOURCES = [[3, 4, 5, 6, 0], [7, 0], [2, 9, 0]]
PHRASES = [[[6, 8]], [], [[2]]]


@pytest.fixture(scope="module")
def network() -> RecurrentNetwork:
    torch.manual_seed(0)
    shape = NetworkConfig(kind="rnn", dim=32, encoder_layers=4, decoder_layers=4)
    network = RecurrentNetwork(shape, SIZE).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(3)  # an untrained network has no opinion
    return network


def search(weights: Weights | None, network: RecurrentNetwork) -> list[tuple[list[int], float]]:
    if weights is None:
        found = decode(NetworkScorer(network, SIZE), SOURCES, PHRASES, beam_size=5, max_length=9)
    else:
        engine = OnnxEngine(CONFIG.build(weights), TokenRules(SIZE, 0))
        found = decode(engine, SOURCES, PHRASES, beam_size=5, max_length=9)
    return [(best[0].tokens, best[0].log_prob) for best in found]


def test_float_graph_equals_the_trained_network(network: RecurrentNetwork) -> None:
    ours = search(network.named_weights(), network)
    for (tokens, score), (expected, expected_score) in zip(
        ours, search(None, network), strict=True
    ):
        assert tokens == expected
        assert score == pytest.approx(expected_score, abs=1e-3)


def test_int8_graph_stays_close(network: RecurrentNetwork) -> None:
    rounded: Weights = {
        name: weight
        if 1 in weight.shape
        else (quantise(weight.T).T if name == "Wemb" else quantise(weight))
        for name, weight in network.named_weights().items()
    }
    scores = [score for _, score in search(rounded, network)]
    expected = [score for _, score in search(None, network)]
    np.testing.assert_allclose(scores, expected, atol=1.0)


def test_what_is_missing_is_named(network: RecurrentNetwork) -> None:
    weights = network.named_weights()
    del weights["decoder_l3_U"]
    with pytest.raises(ModelError, match="decoder_l3_U"):
        CONFIG.build(weights)
    with pytest.raises(ModelError, match="shortlist"):
        CONFIG.build(network.named_weights(), shortlist=True)
    with pytest.raises(ModelError, match="layers"):
        RnnConfig.from_dict({"source_vocabulary": 2, "target_vocabulary": 2, "layers": 3})
