from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from helpers.networks import TINY, random_weights, vocabulary_file
from lexbeam.models import bundle
from lexbeam.models.model import Model


@pytest.fixture
def model(tmp_path: Path) -> Model:
    bundle.write(TINY, random_weights(TINY), vocabulary_file(), tmp_path)
    return bundle.load(tmp_path)


def test_both_sides_of_the_text_are_made_once(model: Model) -> None:
    """They cache spellings: what one translator has spelled, the next need not spell again."""
    assert model.source_text is model.source_text
    assert model.target_text is model.target_text


def test_a_changed_model_has_texts_of_its_own(model: Model) -> None:
    before = model.target_text
    german = replace(model, info={**model.info, "target_language": "de"})
    assert german.target_text is not before
    assert german != model
