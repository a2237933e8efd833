from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
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
        ({"length_penalty": 400}, "length_penalty must be from -20 to 20, not 400"),
        ({"length_penalty": -1e4}, "length_penalty must be from -20 to 20"),
        ({"length_penalty": 10**400}, "length_penalty must be a number that a float can hold"),
        ({"prune": 10**400}, "prune must be a number that a float can hold"),
        ({"beam_size": 10**9}, "beam_size must be at most 10000, not 1000000000"),
        ({"beam_size": 2**62}, "beam_size must be at most 10000"),
        ({"nbest": 10**30}, "nbest must be at most 10000"),
        ({"nbest": 10**5000}, "nbest must be at most 10000, not one of 16610 bits"),
        ({"nbest": -(10**5000)}, "nbest must be at least 1, not one of 16610 bits"),
        ({"stop": np.array(["all", "now"])}, "unknown stop"),
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


@pytest.mark.parametrize("limit", [10**6 + 1, 2**63, 10**400])
def test_limits_beyond_a_million_tokens_are_refused(limit: int) -> None:
    scorer = HistoryScorer(4)
    for given in (limit, [limit]):
        with pytest.raises(SettingError, match="max_length must be at most 1000000, not"):
            decode(scorer, ["s"], max_length=given)


@pytest.mark.parametrize("power", [-20, 20])
@pytest.mark.parametrize("stop", ["all", "bound", "likely", "now"])
def test_the_largest_values_can_be_used(power: float, stop: str) -> None:
    scorer = HistoryScorer(4, seed=1)
    largest: dict[str, Any] = {"nbest": 10**4, "length_penalty": power, "stop": stop}
    found = decode(scorer, ["s"], [[[2]]], max_length=10**6, beam_size=2, **largest)[0]
    assert 2 in found[0].tokens
    assert np.isfinite([each.score for each in found]).all()
    assert decode(scorer, ["s"], [[[2]]], max_length=3, beam_size=10**4)[0]
