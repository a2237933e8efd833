from __future__ import annotations

from pathlib import Path

import pytest

from lexbeam.errors import ModelError
from lexbeam.models.discovery import module_names
from lexbeam.models.importers.huggingface.family import find_family
from lexbeam.models.importers.huggingface.settings import Settings

FAMILIES = "lexbeam.models.importers.huggingface.families"
TYPES = {
    "bart": "bart",
    "m2m_100": "m2m100",
    "marian": "marian",
    "mbart": "mbart",
    "mt5": "t5",
    "t5": "t5",
}


@pytest.mark.parametrize("model_type", TYPES)
def test_each_type_has_its_family(model_type: str) -> None:
    family = find_family(Path(), Settings({"model_type": model_type}))
    assert type(family).__module__ == f"{FAMILIES}.{TYPES[model_type]}"
    assert family.model_type == model_type


def test_every_module_is_a_family() -> None:
    assert set(module_names(FAMILIES)) == {f"{FAMILIES}.{name}" for name in TYPES.values()}


def test_an_unknown_type_names_those_that_are_known() -> None:
    with pytest.raises(ModelError, match='"bert" can\'t be imported, only bart, m2m_100, marian'):
        find_family(Path(), Settings({"model_type": "bert"}))
