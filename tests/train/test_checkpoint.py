from __future__ import annotations

from pathlib import Path

import pytest

torch = pytest.importorskip("torch")

from lexbeam.errors import ModelError  # noqa: E402
from lexbeam.train import checkpoint  # noqa: E402
from lexbeam.train.checkpoint import Progress  # noqa: E402


def test_everything_comes_back(tmp_path: Path) -> None:
    network = torch.nn.Linear(3, 2)
    optimizer = torch.optim.AdamW(network.parameters())
    torch.autograd.backward(network(torch.ones(1, 3)).sum())
    optimizer.step()
    progress = Progress(step=7, tokens=99, window=[1.0, 2.0, 3.0])
    checkpoint.save(tmp_path / "a.pt", checkpoint.pack(progress, network, optimizer))
    other = torch.nn.Linear(3, 2)
    fresh = torch.optim.AdamW(other.parameters())
    assert checkpoint.unpack(checkpoint.load(tmp_path / "a.pt"), other, fresh) == progress
    torch.testing.assert_close(other.weight, network.weight)
    moments = fresh.state_dict()["state"][0]["exp_avg"]
    torch.testing.assert_close(moments, optimizer.state_dict()["state"][0]["exp_avg"])


def test_a_damaged_file_is_named(tmp_path: Path) -> None:
    (tmp_path / "bad.pt").write_bytes(b"nonsense")
    with pytest.raises(ModelError, match=r"bad\.pt"):
        checkpoint.load(tmp_path / "bad.pt")


def test_average(tmp_path: Path) -> None:
    paths = []
    for value in (1.0, 4.0):
        paths.append(tmp_path / f"{value}.pt")
        checkpoint.save(paths[-1], {"network": {"w": torch.full((2,), value)}})
    assert checkpoint.average(paths)["w"].tolist() == [2.5, 2.5]
    with pytest.raises(ModelError, match="no checkpoint"):
        checkpoint.average([])
