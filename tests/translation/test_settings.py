from __future__ import annotations

from typing import Any, get_type_hints

import pytest

from lexbeam.errors import SettingError
from lexbeam.search.settings import Settings
from lexbeam.translation.settings import SettingsArguments, TextSettings, read_settings


@pytest.mark.parametrize(
    "given",
    [
        {"batch_size": 0},
        {"batch_size": "3"},
        {"max_length": 0},
        {"beam_size": -1},
        {"split": "no"},
        {"prices": None},
    ],
)
def test_settings_are_checked(given: dict[str, Any]) -> None:
    (name,) = given
    with pytest.raises(SettingError, match=name):
        read_settings(given)


def test_keyword_arguments_are_the_fields() -> None:
    hints = get_type_hints(SettingsArguments)
    assert hints.keys() == TextSettings.__dataclass_fields__.keys()


def test_the_settings_of_the_search_alone() -> None:
    settings = TextSettings(beam_size=7, split=False, batch_size=3)
    assert settings.of_search == TextSettings(beam_size=7).of_search
    assert type(settings.of_search) is Settings
    assert settings.of_search.lag == TextSettings.lag
    assert settings.of_drafts.beam_size < 7


@pytest.mark.parametrize("given", [7, "beam_size", [1]])
def test_settings_have_names(given: Any) -> None:
    with pytest.raises(SettingError, match="by their names"):
        read_settings(given)
