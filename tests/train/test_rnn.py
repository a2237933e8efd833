from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from lexbeam.train.config import NetworkConfig  # noqa: E402
from lexbeam.train.rnn import RecurrentNetwork  # noqa: E402


@pytest.fixture
def network() -> RecurrentNetwork:
    torch.manual_seed(0)
    config = NetworkConfig(kind="rnn", dim=16, encoder_layers=4, decoder_layers=4, dropout=0.0)
    return RecurrentNetwork(config, 20).eval()


def test_padding_changes_nothing(network: RecurrentNetwork) -> None:
    sources, targets = [[5, 6, 0], [1, 2, 3, 4, 0]], [[7, 8, 9, 0], [1, 2, 3, 4, 0]]
    apart = sum(
        network(
            torch.tensor([s]), torch.tensor([len(s)]), torch.tensor([t]), torch.tensor([len(t)]), 0
        )[0]
        for s, t in zip(sources, targets, strict=True)
    )
    padded = [
        torch.tensor([ids + [0] * (5 - len(ids)) for ids in side]) for side in (sources, targets)
    ]
    together = network(padded[0], torch.tensor([3, 5]), padded[1], torch.tensor([4, 5]), 0)[0]
    torch.testing.assert_close(together, apart)


def test_step_by_step_equals_the_whole(network: RecurrentNetwork) -> None:
    source, target = torch.tensor([[5, 6, 0]]), torch.tensor([[7, 8, 0]])
    whole = network(source, torch.tensor([3]), target, torch.tensor([3]), 0)[1]
    state, total = network.start(source, torch.tensor([3])), torch.zeros(())
    tokens = None
    for gold in target[0]:
        logits, state = network.step(state, tokens, torch.tensor([0]))
        total -= torch.log_softmax(logits, 1)[0, gold]
        tokens = gold[None]
    torch.testing.assert_close(whole, total)


def test_named_weights_hold_everything(network: RecurrentNetwork) -> None:
    weights = network.named_weights()
    parameters = dict(network.named_parameters())
    merged = sum(p.numel() for name, p in parameters.items() if "bias_hh" in name)
    total = sum(p.numel() for p in parameters.values())
    assert sum(w.size for w in weights.values()) == total - merged
    assert weights["decoder_l2_W"].shape == (32, 64)
