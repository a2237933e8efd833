from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from lexbeam.train import parts  # noqa: E402


def test_ssru_scan_is_the_recurrence() -> None:
    torch.manual_seed(0)
    forget, candidate = torch.rand(3, 7, 4), torch.randn(3, 7, 4)
    cell, expected = torch.zeros(3, 4), []
    for t in range(7):
        cell = forget[:, t] * cell + (1 - forget[:, t]) * candidate[:, t]
        expected.append(cell)
    torch.testing.assert_close(parts.ssru_scan(forget, candidate), torch.stack(expected, 1))


def test_ssru_scan_gradient() -> None:
    torch.manual_seed(0)
    forget = torch.rand(2, 5, 3, dtype=torch.float64, requires_grad=True)
    candidate = torch.randn(2, 5, 3, dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(parts.ssru_scan, (forget, candidate))


@pytest.mark.parametrize("smoothing", [0.0, 0.1])
def test_smoothed_loss_equals_pytorch_in_slices(
    smoothing: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(parts, "LOSS_ROWS", 3)
    torch.manual_seed(0)
    hidden = torch.randn(8, 5, requires_grad=True)
    weight = torch.randn(11, 5, requires_grad=True)
    bias = torch.randn(11, requires_grad=True)
    gold = torch.randint(11, (8,))
    loss, plain = parts.smoothed_loss(hidden, weight, bias, gold, smoothing)
    torch.autograd.backward(loss * 0.5)
    ours = [x.grad for x in (hidden, weight, bias)]
    for x in (hidden, weight, bias):
        x.grad = None
    logits = hidden @ weight.T + bias
    expected = torch.nn.functional.cross_entropy(
        logits, gold, reduction="sum", label_smoothing=smoothing
    )
    torch.autograd.backward(expected * 0.5)
    torch.testing.assert_close(loss, expected)
    torch.testing.assert_close(
        plain, torch.nn.functional.cross_entropy(logits, gold, reduction="sum")
    )
    for grad, x in zip(ours, (hidden, weight, bias), strict=True):
        torch.testing.assert_close(grad, x.grad)


def test_dropout_keeps_the_mean_and_rests_in_evaluation() -> None:
    torch.manual_seed(0)
    layer, x = parts.Dropout(0.25), torch.ones(400, 3, 50)
    dropped = layer(x)
    assert abs(dropped.mean().item() - 1) < 0.02
    assert bool((dropped == dropped[:, :1]).all())
    assert layer.eval()(x) is x
