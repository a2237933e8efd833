"""The settings of a search, checked once; a result can carry them to say what made it."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from operator import index
from typing import Any

import numpy as np

from lexbeam.errors import SettingError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import IntArray

STOPS = ("all", "first", "likely", "bound", "full", "now")


@dataclass(frozen=True)
class Settings:
    """How to search; see `lexbeam.search.beam_search.decode` for what each setting means."""

    beam_size: int = 10
    algorithm: str = "dba"
    prune: float | None = 20.0
    stop: str = "all"
    nbest: int = 1
    length_penalty: float = 1.0
    lag: float | None = None

    def __post_init__(self) -> None:
        for name in ("beam_size", "nbest"):
            object.__setattr__(self, name, at_least(1, name, getattr(self, name)))
        if self.algorithm not in POLICIES:
            raise SettingError(_choose("algorithm", self.algorithm, POLICIES))
        if self.stop not in STOPS:
            raise SettingError(_choose("stop", self.stop, STOPS))
        for name in ("prune", "lag"):
            object.__setattr__(self, name, _threshold(name, getattr(self, name)))
        object.__setattr__(self, "length_penalty", _number("length_penalty", self.length_penalty))


def at_least(least: int, name: str, value: Any) -> int:
    """Return the value as a plain integer, or say which setting is out of range."""
    try:
        number = index(value)
    except TypeError:
        raise SettingError(f"{name} must be an integer, not {value!r}") from None
    if number < least:
        raise SettingError(f"{name} must be at least {least}, not {number}")
    return number


def read_limits(max_length: int | Sequence[int], sentences: int) -> IntArray:
    """Return the most tokens of each output. # shape: (sentences,)."""
    each = [max_length] * sentences if isinstance(max_length, int | np.integer) else max_length
    try:
        limits = [at_least(0, "max_length", limit) for limit in each]
    except TypeError:
        raise SettingError(f"max_length must be an integer, not {max_length!r}") from None
    if len(limits) != sentences:
        raise SettingError(f"max_length has {len(limits)} entries for {sentences} sentences")
    return np.array(limits, dtype=np.int64)


def _threshold(name: str, value: Any) -> float | None:
    """Return a distance from the best; None where there is no limit to it."""
    threshold = 0.0 if value is None else _number(name, value)
    if threshold < 0:
        raise SettingError(f"{name} must be at least 0 (0 turns it off), not {value!r}")
    return threshold or None


def _number(name: str, value: Any) -> float:
    try:
        number = float(value)
    except (TypeError, ValueError):
        raise SettingError(f"{name} must be a number, not {value!r}") from None
    if not math.isfinite(number):
        raise SettingError(f"{name} must be finite, not {value!r}")
    return number


def _choose(name: str, value: Any, choices: Any) -> str:
    return f"unknown {name} {value!r}; choose one of: {', '.join(choices)}"
