from __future__ import annotations

import json
import subprocess
import sys
from typing import Any

import pytest

from helpers.networks import TINY
from lexbeam.errors import ModelError
from lexbeam.models.graphs.architecture import read_architecture
from lexbeam.models.graphs.rnn import RnnConfig


@pytest.mark.parametrize("config", [TINY, RnnConfig(40, 30, dim=32)])
def test_read_back_from_json(config: Any) -> None:
    assert read_architecture(json.loads(json.dumps(config.to_dict()))) == config


def test_every_kind_is_found_without_being_imported_before() -> None:
    program = (
        "import sys\n"
        "from lexbeam.models.graphs.architecture import read_architecture\n"
        "assert 'lexbeam.models.graphs.rnn' not in sys.modules\n"
        "values = {'type': 'rnn', 'source_vocabulary': 4, 'target_vocabulary': 5}\n"
        "print(read_architecture(values).target_vocabulary)\n"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, check=True)
    assert done.stdout.strip() == b"5"


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"type": "organ"}, "networks of type organ are not supported"),
        ({"type": ["rnn"]}, "are not supported"),
        ({"colour": 1}, "colour"),
        ({"dim": "wide"}, "\"dim\" must be a whole number, not 'wide'"),
        ({"dim": True}, '"dim" must be a whole number'),
        ({"dim": 0}, "the dimension is 0, it must be at least 1"),
        ({"decoder_layers": -1}, "number of decoder layers is -1"),
        ({"target_vocabulary": 0}, "target_vocabulary is 0"),
        ({"target_vocabulary": None}, '"target_vocabulary" must be a whole number'),
    ],
)
@pytest.mark.parametrize("config", [TINY, RnnConfig(40, 40, dim=32)])
def test_what_makes_no_sense_is_named(config: Any, change: dict[str, Any], named: str) -> None:
    with pytest.raises(ModelError, match=named):
        read_architecture(config.to_dict() | change)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        ({"tied_layers": "12"}, "tied_layers"),
        ({"tied_layers": [1, "2"]}, "tied_layers"),
        ({"epsilon": "small"}, '"epsilon" must be a number'),
        ({"biases": 1}, '"biases" must be true or false'),
        ({"decoder": None}, '"decoder" must be a text'),
    ],
)
def test_options_of_a_transformer(change: dict[str, Any], named: str) -> None:
    with pytest.raises(ModelError, match=named):
        read_architecture(TINY.to_dict() | change)
    assert read_architecture(TINY.to_dict() | {"epsilon": 1}) is not None
