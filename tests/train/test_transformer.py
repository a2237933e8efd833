from __future__ import annotations

import dataclasses

import pytest

torch = pytest.importorskip("torch")

from lexbeam.train.config import NetworkConfig  # noqa: E402
from lexbeam.train.transformer import Ssru, Transformer, positions  # noqa: E402

SMALL = NetworkConfig(dim=16, ffn=32, heads=4, encoder_layers=2, decoder_layers=2, dropout=0.0)
DECODERS = ["ssru", "self-attention"]


def network(decoder: str) -> Transformer:
    torch.manual_seed(0)
    config = dataclasses.replace(SMALL, decoder=decoder)  # type: ignore[arg-type]
    return Transformer(config, 20).eval()


def test_positions_are_sines_then_cosines() -> None:
    table = positions(5, 8)
    torch.testing.assert_close(table[0], torch.tensor([0.0] * 4 + [1.0] * 4))
    torch.testing.assert_close(table[3, 0], torch.sin(torch.tensor(3.0)))
    torch.testing.assert_close(table[3, 7], torch.cos(torch.tensor(3.0 / 10000)))


@pytest.mark.parametrize("decoder", DECODERS)
def test_padding_changes_nothing(decoder: str) -> None:
    net = network(decoder)
    source, target = torch.tensor([[5, 6, 0]]), torch.tensor([[7, 8, 9, 0]])
    lengths = torch.tensor([3]), torch.tensor([4])
    alone = net(source, lengths[0], target, lengths[1], 0.1)[0]
    padded_source = torch.tensor([[5, 6, 0, 0, 0], [1, 2, 3, 4, 0]])
    padded_target = torch.tensor([[7, 8, 9, 0, 0], [1, 2, 3, 4, 0]])
    both = net(padded_source, torch.tensor([3, 5]), padded_target, torch.tensor([4, 5]), 0.1)[0]
    other = net(padded_source[1:], torch.tensor([5]), padded_target[1:], torch.tensor([5]), 0.1)[0]
    torch.testing.assert_close(both, alone + other)


@pytest.mark.parametrize("decoder", DECODERS)
def test_decoder_does_not_see_the_future(decoder: str) -> None:
    net = network(decoder)
    encoded, mask = net.encode(torch.tensor([[5, 6, 0]]), torch.tensor([3]))
    one = net.decode(encoded, mask, torch.tensor([[7, 8, 9, 0]]))
    two = net.decode(encoded, mask, torch.tensor([[7, 8, 3, 1]]))
    torch.testing.assert_close(one[:, :3], two[:, :3])
    assert not torch.allclose(one[:, 3], two[:, 3])


def test_ssru_step_by_step_equals_the_whole() -> None:
    torch.manual_seed(0)
    layer = Ssru(SMALL, 2).eval()
    x = torch.randn(2, 6, 16)
    cell, outputs = torch.zeros(2, 1, 16), []
    for t in range(6):
        output, cell = layer.step(x[:, t : t + 1], cell)
        outputs.append(output)
    torch.testing.assert_close(torch.cat(outputs, 1), layer(x))


@pytest.mark.parametrize("decoder", DECODERS)
def test_named_weights_hold_every_parameter_once(decoder: str) -> None:
    net = network(decoder)
    weights = net.named_weights()
    assert sum(w.size for w in weights.values()) == sum(p.numel() for p in net.parameters())
    assert weights["Wemb"].shape == (20, 16)
    assert weights["encoder_l2_ffn_W1"].shape == (16, 32)
    assert weights["decoder_l1_context_bq"].shape == (1, 16)
    assert ("decoder_l1_rnn_Wf" in weights) == (decoder == "ssru")
    assert {"encoder_l1_self_Wo_ln_scale", "encoder_l1_ffn_ffn_ln_bias"} <= set(weights)


@pytest.mark.parametrize("decoder", DECODERS)
def test_step_by_step_equals_the_whole(decoder: str) -> None:
    net = network(decoder)
    source = torch.tensor([[5, 6, 0, 0], [1, 2, 3, 0]])
    lengths = torch.tensor([3, 4])
    target = torch.tensor([[7, 8, 9], [4, 5, 6]])
    encoded, mask = net.encode(source, lengths)
    whole = net.decode(encoded, mask, target) @ net.embedding.weight.T + net.output_bias
    state, tokens = net.start(source, lengths), None
    order = torch.tensor([1, 0])
    sentences = torch.tensor([0, 1])
    for t in range(3):
        logits, state = net.step(state, tokens, order)
        sentences = sentences[order]
        torch.testing.assert_close(logits, whole[sentences, t])
        tokens = target[sentences, t][order]
