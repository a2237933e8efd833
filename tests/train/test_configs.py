"""The configurations that come with the project can be read."""

from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.train.config import read_config

CONFIGS = sorted((Path(__file__).parents[2] / "configs").glob("*.toml"))


@pytest.mark.parametrize("path", CONFIGS, ids=lambda path: path.stem)
def test_can_be_read(path: Path) -> None:
    config = read_config(path)
    assert (config.source_language, config.target_language) == ("en", "de")
    assert len(config.data.train) == 5


def test_both_networks_are_there() -> None:
    assert {read_config(path).network.kind for path in CONFIGS} == {"transformer", "rnn"}
