from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import pytest

from lexbeam.errors import SettingError
from lexbeam.search import Settings, decode
from lexbeam.search.allocation import POLICIES
from lexbeam.search.settings import SettingsArguments, count, declarations, flag
from lexbeam.testing import HistoryScorer


@dataclass(frozen=True)
class MoreSettings(Settings):
    """Settings with another default and two more."""

    algorithm: str = "beam"
    batch_size: int | None = count(None, "How many at once.")
    quick: bool = flag(False, "Hurry.")


def test_every_setting_is_declared_and_known_to_type_checkers() -> None:
    names = [field.name for field in fields(Settings)]
    assert list(declarations(Settings)) == names == list(SettingsArguments.__annotations__)
    assert all(declaration.help.endswith(".") for declaration in declarations(Settings).values())
    assert list(declarations(Settings)["algorithm"].choices) == list(POLICIES)


def test_another_default_keeps_the_declaration() -> None:
    declared = declarations(MoreSettings)
    assert declared["algorithm"] is declarations(Settings)["algorithm"]
    assert declared["batch_size"].least == 1
    assert MoreSettings().algorithm == "beam"
    assert MoreSettings(batch_size=None).batch_size is None


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ({"algorithm": "magic"}, "unknown algorithm 'magic'; choose one of: dba"),
        ({"algorithm": ["dba"]}, "unknown algorithm"),
        ({"batch_size": 0}, "batch_size must be at least 1, not 0"),
        ({"beam_size": None}, "beam_size must be an integer, not None"),
        ({"lag": -1}, "lag must be at least 0"),
        ({"length_penalty": float("nan")}, "length_penalty must be finite"),
    ],
)
def test_what_is_out_of_range_is_refused(given: dict[str, Any], says: str) -> None:
    with pytest.raises(SettingError, match=says):
        MoreSettings(**given)


def test_decode_takes_settings_and_changes_to_them() -> None:
    scorer = HistoryScorer(6, bos=0, eos=1, seed=5)
    request: dict[str, Any] = {"phrases": [[[2, 3]]], "max_length": 6}
    settings = Settings(beam_size=3, nbest=2, stop="first")
    by_name = decode(scorer, ["s"], beam_size=3, nbest=2, stop="first", **request)
    assert decode(scorer, ["s"], settings=settings, **request) == by_name
    changed = decode(scorer, ["s"], settings=settings, nbest=1, **request)
    assert [len(found) for found in changed] == [1]
    with pytest.raises(TypeError, match="beam_width"):
        decode(scorer, ["s"], **{**request, "beam_width": 3})
