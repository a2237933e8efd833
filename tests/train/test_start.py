from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.toy_training import write_toy_run  # noqa: E402
from lexbeam.errors import InputError, ModelError  # noqa: E402
from lexbeam.models.bundle import read_network  # noqa: E402
from lexbeam.train.config import RunConfig, read_config  # noqa: E402
from lexbeam.train.export import export  # noqa: E402
from lexbeam.train.networks import make_network  # noqa: E402
from lexbeam.train.parts import TiedNetwork  # noqa: E402
from lexbeam.train.pipeline import prepare, run_file  # noqa: E402
from lexbeam.train.start import load_weights, mix_with_start  # noqa: E402


def start_from(config: RunConfig, bundle: Path, directory: Path) -> RunConfig:
    training = dataclasses.replace(config.training, start=str(bundle))
    return dataclasses.replace(config, training=training, directory=str(directory))


def make_bundle(tmp_path: Path, kind: str) -> tuple[RunConfig, TiedNetwork]:
    config = read_config(write_toy_run(tmp_path, steps=1, kind=kind))
    torch.manual_seed(1)
    network = make_network(config.network, 510)
    with torch.no_grad():
        for parameter in network.parameters():
            parameter.add_(torch.randn(parameter.shape), alpha=0.01)
    export(config, network, prepare(config).vocabulary, tmp_path / "bundle", [])
    return config, network


@pytest.mark.parametrize("kind", ["transformer", "rnn"])
def test_weights_and_vocabulary_come_back_from_eight_bits(tmp_path: Path, kind: str) -> None:
    config, network = make_bundle(tmp_path, kind)
    config = start_from(config, tmp_path / "bundle", tmp_path / "other")
    vocabulary = prepare(config).vocabulary
    other = make_network(config.network, vocabulary.size)
    load_weights(config, other)
    mine, theirs = network.named_weights(), other.named_weights()
    assert mine.keys() == theirs.keys()
    for name, weight in mine.items():
        rounding = np.abs(weight).max() / 100 if 1 not in weight.shape else 1e-6
        np.testing.assert_allclose(theirs[name], weight, atol=rounding)
    assert (tmp_path / "other" / "vocabulary.model").read_bytes() == (
        tmp_path / "bundle" / "source.spm"
    ).read_bytes()


@pytest.mark.parametrize("share", [0.25, 0.5])
def test_weights_are_mixed_with_those_of_the_start(tmp_path: Path, share: float) -> None:
    config, _ = make_bundle(tmp_path, "transformer")
    config = start_from(config, tmp_path / "bundle", tmp_path / "other")
    training = dataclasses.replace(config.training, start_share=share)
    config = dataclasses.replace(config, training=training)
    start, network = (make_network(config.network, 510) for _ in range(2))
    load_weights(config, start)
    trained = {name: weight.clone() for name, weight in network.state_dict().items()}
    mix_with_start(config, network)
    for name, weight in network.state_dict().items():
        expected = share * start.state_dict()[name] + (1 - share) * trained[name]
        torch.testing.assert_close(weight, expected)


@pytest.mark.parametrize("share", [0.0, 0.999])
def test_what_is_exported_has_its_share_of_the_start(tmp_path: Path, share: float) -> None:
    path = write_toy_run(tmp_path, steps=1)
    start = run_file(path)
    assert start is not None
    text = path.read_text(encoding="utf-8").replace('directory = "run"', 'directory = "other"')
    text += f'start = "{start}"\nstart_share = {share}\n'
    path.write_text(text.replace("max_steps = 1\n", "max_steps = 12\n"), encoding="utf-8")
    bundle = run_file(path)
    assert bundle is not None
    (_, before), (_, after) = read_network(start), read_network(bundle)
    moved = max(float(np.abs(after[name] - before[name]).max()) for name in before)
    assert (moved < 0.01) == (share > 0.5)


def test_a_network_of_another_shape_is_refused(tmp_path: Path) -> None:
    config, _ = make_bundle(tmp_path, "transformer")
    config = start_from(config, tmp_path / "bundle", tmp_path / "other")
    larger = dataclasses.replace(config.network, decoder_layers=3)
    config = dataclasses.replace(config, network=larger)
    with pytest.raises(InputError, match="another shape"):
        load_weights(config, make_network(larger, 510))


def test_a_folder_that_is_no_bundle_is_refused(tmp_path: Path) -> None:
    config = read_config(write_toy_run(tmp_path, steps=1))
    with pytest.raises(InputError, match=r"training\.start: .*nowhere is no bundle"):
        prepare(start_from(config, tmp_path / "nowhere", tmp_path / "run"))


def test_a_missing_weight_is_named(tmp_path: Path) -> None:
    config = read_config(write_toy_run(tmp_path, steps=1))
    network = make_network(config.network, 20)
    weights = network.named_weights()
    del weights["decoder_l1_context_Wq"]
    with pytest.raises(ModelError, match="decoder_l1_context_Wq"):
        network.load_named_weights(weights)
