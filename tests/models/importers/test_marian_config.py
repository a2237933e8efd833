from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from helpers.networks import TINY, marian_yaml
from lexbeam.errors import ModelError
from lexbeam.models.importers import marian_config


def test_the_yaml_that_marian_writes() -> None:
    text = """# a comment
type: transformer
dim-vocabs:
  - 32000
  - 31000
empty: []
inline: [1, "two"]
quoted: ""
version: v1.9 2021-04-28 00:28:35 +0100
"""
    assert marian_config.parse(text) == {
        "type": "transformer",
        "dim-vocabs": ["32000", "31000"],
        "empty": [],
        "inline": ["1", "two"],
        "quoted": "",
        "version": "v1.9 2021-04-28 00:28:35 +0100",
    }


@pytest.mark.parametrize(
    "change",
    [
        {},
        {"decoder": "self-attention"},
        {"source_embedding": "encoder_Wemb", "target_embedding": "decoder_Wemb",
         "output": "decoder_Wemb", "source_vocabulary": 50},
        {"output": "decoder_ff_logit_out_W"},
        {"preprocess": "n", "postprocess": "da", "postprocess_top": "n", "activation": "swish"},
    ],
)  # fmt: skip
def test_options_become_the_configuration(change: dict[str, Any]) -> None:
    config = replace(TINY, **change)
    assert marian_config.interpret(marian_yaml(config)) == config


@pytest.mark.parametrize(
    ("old", "new", "named"),
    [
        ("type: transformer", "type: s2s", "type: s2s"),
        ("autoreg: rnn", "autoreg: average-attention", "average-attention"),
        ("dec-cell: ssru", "dec-cell: gru", "gru"),
        ("activation: relu", "activation: gelu", "gelu"),
        ("postprocess: dan", "postprocess: dhn", '"h"'),
        ("dim-emb: 16", "dim-emb: wide", "dim-emb"),
        ("dim-emb: 16", "dim: 16", "dim-emb"),
        ("  - 40\n  - 40\n", "  - 40\n", "dim-vocabs"),
        ("heads: 2", "heads: 3", "3 heads"),
        ("enc-depth: 2", "transformer-train-position-embeddings: true\nenc-depth: 2", "position"),
    ],
)
def test_what_is_not_supported_is_named(old: str, new: str, named: str) -> None:
    text = marian_yaml(TINY)
    assert old in text
    with pytest.raises(ModelError, match=named):
        marian_config.interpret(text.replace(old, new))
