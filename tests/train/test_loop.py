from __future__ import annotations

import dataclasses
import json
from pathlib import Path

import numpy as np
import pytest

torch = pytest.importorskip("torch")

from helpers.toy_training import write_toy_run  # noqa: E402
from lexbeam.errors import ModelError  # noqa: E402
from lexbeam.train import loop  # noqa: E402
from lexbeam.train.batches import EncodedPairs  # noqa: E402
from lexbeam.train.config import read_config  # noqa: E402
from lexbeam.train.loop import Trainer  # noqa: E402
from lexbeam.train.networks import make_network  # noqa: E402


def make_pairs(_: int = 0) -> EncodedPairs:
    ids = np.random.default_rng(0).integers(2, 30, (40, 5)).tolist()
    return EncodedPairs(ids, ids, 64)


def make_trainer(tmp_path: Path, **schedule: float) -> Trainer:
    config = read_config(write_toy_run(tmp_path, steps=12))
    changed = dataclasses.replace(config.schedule, **schedule)  # type: ignore[arg-type]
    config = dataclasses.replace(config, schedule=changed)
    Path(config.directory).mkdir()
    torch.manual_seed(0)
    network = make_network(config.network, 30)
    return Trainer(config, network, make_pairs, [("dev", make_pairs())])


def test_a_pause_is_not_counted(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    counted = [trainer._without_pause(seconds) for seconds in (1.0, 1.0, 100.0, 1.0)]
    assert counted == pytest.approx([1.0] * 4)


def test_a_run_that_diverges_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "MOST_SKIPPED", 3)
    trainer = make_trainer(tmp_path)
    with torch.no_grad():
        trainer.network.output_bias.fill_(float("nan"))  # type: ignore[operator]
    with pytest.raises(ModelError, match="diverged at step 3"):
        trainer.run()


def test_asked_to_stop_it_leaves_a_checkpoint(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    trainer._ask_to_stop(15, None)
    assert not trainer.run()
    assert trainer.progress.step == 1
    again = Trainer(trainer.config, trainer.network, make_pairs, [])
    again.resume()
    assert again.progress == trainer.progress


def test_only_the_last_checkpoints_are_kept(tmp_path: Path) -> None:
    trainer = make_trainer(tmp_path)
    training = dataclasses.replace(trainer.config.training, validate_every=3, keep=2)
    trainer.config = dataclasses.replace(trainer.config, training=training)
    assert trainer.run()
    names = [path.name for path in loop.kept_checkpoints(trainer.directory)]
    assert names == ["step-00000009.pt", "step-00000012.pt"]


def test_a_torn_line_at_the_end_of_the_log_is_dropped(tmp_path: Path) -> None:
    path = tmp_path / "log.jsonl"
    path.write_text('{"step": 1}\n{"step": 2}\n{"step": 3}\n{"st')
    loop._cut_log(path, 2)
    assert [json.loads(line)["step"] for line in path.read_text().splitlines()] == [1, 2]
