from __future__ import annotations

import pytest

torch = pytest.importorskip("torch")

from lexbeam.train.average import MovingAverage  # noqa: E402


def test_the_average_follows_and_is_lent_to_the_network() -> None:
    network = torch.nn.Linear(1, 1, bias=False)
    with torch.no_grad():
        network.weight.fill_(1.0)
    average = MovingAverage(network, 0.75)
    with torch.no_grad():
        network.weight.fill_(5.0)
    average.update(network, step=1000)
    assert average.weights["weight"].item() == pytest.approx(2.0)
    with average.instead(network):
        assert network.weight.item() == pytest.approx(2.0)
    assert network.weight.item() == 5.0


def test_the_first_steps_are_soon_forgotten() -> None:
    network = torch.nn.Linear(1, 1, bias=False)
    average = MovingAverage(network, 0.999)
    with torch.no_grad():
        network.weight.fill_(7.0)
    for step in range(100):
        average.update(network, step)
    assert average.weights["weight"].item() == pytest.approx(7.0, abs=0.01)
