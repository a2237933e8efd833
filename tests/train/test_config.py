from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import InputError
from lexbeam.train.config import read_config, to_table

MINIMAL = 'directory = "out"\n[[data.train]]\npath = "a.en-de.tsv.gz"\n'


def write(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "config.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_paths_start_from_the_configuration(tmp_path: Path) -> None:
    config = read_config(write(tmp_path, MINIMAL))
    assert config.directory == str(tmp_path / "out")
    assert config.data.train[0].path == str(tmp_path / "a.en-de.tsv.gz")
    assert config.data.train[0].name == "a"


def test_values_arrive(tmp_path: Path) -> None:
    text = MINIMAL + "weight = 2\n[network]\ndim = 64\n[training]\nbetas = [0.8, 0.9]\n"
    config = read_config(write(tmp_path, text))
    assert config.data.train[0].weight == 2.0
    assert config.network.dim == 64
    assert config.training.betas == (0.8, 0.9)
    assert to_table(config)["network"]["ffn"] == 1024


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "directory: missing"),
        ('directory = "out"\n', "data: missing"),
        (MINIMAL + "[network]\nlayer = 3\n", r"network\.layer: unknown key"),
        (MINIMAL + '[network]\ndim = "big"\n', r"network\.dim: a whole number is needed"),
        (MINIMAL + "[network]\nheads = true\n", r"network\.heads: a whole number is needed"),
        (MINIMAL + '[network]\nkind = "cnn"\n', r"network\.kind: 'cnn' is not one of"),
        (MINIMAL + "[network]\nheads = 7\n", r"network\.heads: must be a divisor"),
        (MINIMAL + "[network]\ndropout = 1.0\n", r"network\.dropout: must be between 0 and 1"),
        (MINIMAL + "[training]\nbetas = [0.9]\n", r"training\.betas: 2 values are needed"),
        (MINIMAL + "[training]\nbatch_tokens = 5\n", r"training\.batch_tokens: must be at least"),
        (MINIMAL + "[training]\nstart_share = 0.4\n", "start_share: must be 0 without a start"),
        (MINIMAL + 'source = "b"\n', "either `path` or both"),
        (MINIMAL + "weight = 0\n", "weight must be above 0"),
        (MINIMAL + '[schedule]\nend = "soon"\n', r"schedule\.end: must be a date and time"),
        (MINIMAL + "[training]\nema = 1.0\n", r"training\.ema: must be between 0 and 1"),
        (MINIMAL + "[alignment]\nweight = -1\n", r"alignment\.weight: must be 0 or above"),
        (MINIMAL + "[alignment]\nhead = 8\n", r"alignment\.head: must be one of the network"),
        (
            MINIMAL + '[network]\nkind = "rnn"\n[alignment]\nhead = 1\n',
            r"alignment\.head: must be one of the network",
        ),
        ("directory = [", "not a TOML file"),
        ('directory = "out"\ndata = 3\n', "data: a table is needed"),
    ],
)
def test_mistakes_are_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        read_config(write(tmp_path, text))


def test_missing_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"none\.toml: can't be read"):
        read_config(tmp_path / "none.toml")
