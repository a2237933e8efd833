from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.attention import attention_of  # noqa: E402
from lexbeam.models.engines.onnx import OnnxEngine  # noqa: E402
from lexbeam.models.engines.tokens import TokenRules  # noqa: E402
from lexbeam.train.config import NetworkConfig  # noqa: E402
from lexbeam.train.networks import make_network  # noqa: E402

SIZE = 40
SOURCES = [[3, 4, 5, 6, 0], [7, 0], [2, 9, 0]]
OUTPUTS = [[6, 8, 11], [5, 30, 2], [2, 2, 9]]
NETWORKS = {
    "rnn": NetworkConfig(kind="rnn", dim=32, encoder_layers=2, decoder_layers=2),
    "ssru": NetworkConfig(dim=32, ffn=48, heads=4, encoder_layers=2, decoder_layers=2),
    "self-attention": NetworkConfig(
        dim=32, ffn=48, heads=4, encoder_layers=2, decoder_layers=2, decoder="self-attention"
    ),
}


def trained_attention(network: Any, head: int) -> Any:
    """Return the weights that training would teach; shape: (sentences, outputs, source)."""
    width = max(map(len, SOURCES))
    source = torch.tensor([each + [0] * (width - len(each)) for each in SOURCES])
    lengths = torch.tensor([len(each) for each in SOURCES])
    target = torch.tensor([[*output, 0] for output in OUTPUTS])
    guide = torch.zeros(len(SOURCES), target.shape[1], width)
    with torch.no_grad():
        losses = network(
            source, lengths, target, torch.full((3,), target.shape[1]), 0.0, guide, head
        )
    return losses.attention.exp().numpy()


@pytest.mark.parametrize("kind", NETWORKS)
@pytest.mark.parametrize("head", [0, 2, None])
def test_attention_is_that_of_the_trained_network(kind: str, head: int | None) -> None:
    torch.manual_seed(0)
    config = NETWORKS[kind]
    network = make_network(config, SIZE).eval()
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.mul_(2)  # an untrained network looks everywhere
    heads = 1 if kind == "rnn" else config.heads
    one = None if head is None else (network.architecture().aligned_layers_and_heads[0] - 1, head)
    weights = network.named_weights()
    engine = OnnxEngine(
        network.architecture().build(weights),
        TokenRules(SIZE, 0),
        make_attending=lambda single: network.architecture().build_attending(
            weights, single=single, alignment=one
        ),
    )
    used = range(heads) if head is None else [head]
    expected = np.mean([trained_attention(network, each) for each in used], axis=0)
    assert expected.max() > 0.5
    for found, wanted in zip(attention_of(engine, SOURCES, OUTPUTS), expected, strict=True):
        np.testing.assert_allclose(found, wanted, atol=5e-5)
