"""The settings of a search. Each is declared once: its default, what may be given, its help.

A field of `Settings` carries its `Declaration`. Whatever offers settings to users (the keyword
arguments of `decode`, those of a translator, options of the command line) reads them from here.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from typing import Any, TypedDict, cast

import numpy as np

from lexbeam import plugins
from lexbeam.arguments import as_list, as_number, as_whole
from lexbeam.errors import SettingError, represented
from lexbeam.plugins import load_plugins
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import IntArray

PAPER: Mapping[str, Any] = {"algorithm": "dba", "stop": "all", "lag": None, "word_end": False}
"""The settings of the paper's search, where its defaults or ours differ."""

_BITS_SHOWN = 128
"""A number of more bits is not written out in errors."""

STOPS = ("all", "first", "likely", "bound", "full", "now")


MOST_SLOTS = 10_000
"""The most hypotheses on a beam, and the most outputs of a sentence."""

MOST_TOKENS = 1_000_000
"""The most tokens that an output may be allowed to have."""

MOST_POWER = 20.0
"""The largest exponent of the length, either way: with it, no score is too large for a float."""

MOST_PENALTY = 1e9
"""The largest penalty of a soft constraint: what is impossible costs as much, and beside a larger
one no score could be read."""


@dataclass(frozen=True)
class Declaration:
    """What is known about a setting, beside its name, type and default."""

    check: Callable[[str, Any], Any]
    """Returns a value as the search uses it, given the setting's name; or raises SettingError."""
    help: str
    """One line for users."""
    choices: Collection[str] = ()
    """The values that may be given; none: see ``least``."""
    least: float | None = None
    """The least number that may be given; None: any number."""
    most: float | None = None
    """The largest number that may be given; None: any number."""


def at_least(least: int, name: str, value: Any, most: int | None = None) -> int:
    """Return the value as a plain integer, or say which setting is out of range."""
    whole = as_whole(value)
    if whole is None:
        raise SettingError(f"{name} must be an integer, not {represented(value)}")
    if whole < least:
        raise SettingError(f"{name} must be at least {least}, not {shown_whole(whole)}")
    if most is not None and whole > most:
        raise SettingError(f"{name} must be at most {most}, not {shown_whole(whole)}")
    return whole


def is_flag(value: Any) -> bool:
    """Return whether a value is true or false; any whole number will do."""
    return isinstance(value, int | np.bool_)


def read_flag(name: str, value: Any) -> bool:
    """Return the value as a plain truth value, or say which setting is none."""
    if not is_flag(value):
        raise SettingError(f"{name} must be True or False, not {represented(value)}")
    return bool(value)


def shown_whole(value: int) -> str:
    """Return a number for an error, or how large it is if it would fill lines."""
    bits = value.bit_length()
    return f"{value}" if bits <= _BITS_SHOWN else f"one of {bits} bits"


def _threshold(name: str, value: Any) -> float | None:
    distance = 0.0 if value is None else _finite(name, value)
    if distance < 0:
        raise SettingError(f"{name} must be at least 0 (0 turns it off), not {represented(value)}")
    return distance or None


def _finite(name: str, value: Any) -> float:
    given = as_number(value)
    if given is None:
        raise SettingError(f"{name} must be a number, not {represented(value)}")
    if not math.isfinite(given):
        what = "finite" if isinstance(value, float) else "a number that a float can hold"
        raise SettingError(f"{name} must be {what}, not {represented(value)}")
    return given


def setting(
    default: Any,
    check: Callable[[str, Any], Any],
    description: str,
    choices: Collection[str] = (),
    least: float | None = None,
    most: float | None = None,
) -> Any:
    """Return a field of a dataclass of settings."""
    declaration = Declaration(check, description, choices, least, most)
    return dataclasses.field(default=default, metadata={"declaration": declaration})


def count(default: int | None, description: str, most: int | None = None) -> Any:
    """Return a field for an integer from 1 to ``most``; if None is the default, it may be given."""

    def check(name: str, value: Any) -> int | None:
        return None if value is default is None else at_least(1, name, value, most)

    return setting(default, check, description, least=1, most=most)


def number(default: float, description: str, most: float) -> Any:
    """Return a field for a number that is at most so far from 0."""

    def check(name: str, value: Any) -> float:
        given = _finite(name, value)
        if abs(given) > most:
            raise SettingError(
                f"{name} must be from {-most:g} to {most:g}, not {represented(value)}"
            )
        return given

    return setting(default, check, description, least=-most, most=most)


def threshold(default: float | None, description: str) -> Any:
    """Return a field for a distance of at least 0; 0 and None stand for no limit."""
    return setting(default, _threshold, description, least=0)


def choice(
    default: str, choices: Collection[str], description: str, group: str | None = None
) -> Any:
    """Return a field for one of several names; plugins of a ``group`` may add to them."""

    def check(name: str, value: Any) -> Any:
        is_name = isinstance(value, str)
        if group is not None and is_name and value not in tuple(choices):
            load_plugins(group)
        if not is_name or value not in tuple(choices):
            raise SettingError(
                f"unknown {name} {represented(value)}; choose one of: {', '.join(choices)}"
            )
        return value

    return setting(default, check, description, choices)


def flag(default: bool, description: str) -> Any:
    """Return a field for something that is done or not."""
    return setting(default, read_flag, description)


def declarations(settings: type[Any]) -> Mapping[str, Declaration]:
    """Return what was declared of each setting, by name, in order.

    A subclass that only gives a setting another default keeps what its base has declared of it.
    """
    declared: dict[str, Declaration] = {}
    for each in reversed(settings.__mro__):
        for name, field in vars(each).get("__dataclass_fields__", {}).items():
            if "declaration" in field.metadata:
                declared[name] = field.metadata["declaration"]
    return {field.name: declared[field.name] for field in dataclasses.fields(settings)}


@cache
def _declared(settings: Hashable) -> Sequence[tuple[str, Declaration]]:
    """Return the same as a list, made once for each class: every search checks its settings."""
    assert isinstance(settings, type)
    return list(declarations(settings).items())


@dataclass(frozen=True)
class Settings:
    """How to search; values are checked when it is made."""

    beam_size: int = count(10, "Hypotheses kept at each step.", MOST_SLOTS)
    """The slots of the beam, at most 10,000; with ``gbs`` and ``cbs``, those of each bank."""
    algorithm: str = choice(
        "dba", POLICIES.keys(), "How the beam is divided among constraints.", plugins.POLICIES
    )
    """``dba`` as in the paper, ``lookahead`` with regard to what is still unmet, ``gbs``,
    ``cbs``, or ``beam`` for not at all (`search.allocation`)."""
    prune: float | None = threshold(
        20.0, "Drop what is this far below the best finished one; 0 keeps all."
    )
    """A hypothesis that is this much worse than the best finished one is dropped (paper, section
    3.3); 0 or None: none is."""
    stop: str = choice(
        "all",
        STOPS,
        "When to stop: none likely to be better, all finished, one finished, none better.",
    )
    """When a sentence is done. ``all``: when all on the beam have finished; ``first``: when one
    has; ``bound``: when nothing on the beam can still get among the ``nbest`` best; ``likely``:
    the same, unless it became much longer than outputs usually are; ``full``: when ``nbest``
    have; ``now``: when they have, and the best hypothesis that has all its phrases would not be
    among them if it ended here."""
    nbest: int = count(1, "Translations given for each text.", MOST_SLOTS)
    """How many outputs to return, where so many have finished; at most 10,000."""
    length_penalty: float = number(
        1.0, "Exponent of the length that scores of finished outputs are divided by.", MOST_POWER
    )
    """The exponent of the length by which finished outputs are normalised, from -20 to 20."""
    lag: float | None = threshold(
        None, "Drop what is this far below the best with as many constraints met; 0 keeps all."
    )
    """A hypothesis that is this much worse than the best unfinished one of its bank is dropped,
    which leaves fewer for the model to score; 0 or None: none is. Not in the paper."""

    word_end: bool = flag(True, "Offer a placed word its best end, even if it is unlikely.")
    """Whether a hypothesis that has just placed a word has, beside its best continuation, the best
    one that ends the word as a candidate; without it, such words may go on for long. Not in the
    paper."""
    paper: bool = flag(False, "Search exactly as the paper does; it fixes what is not in it.")
    """Whether to search as the paper does: see `PAPER`. The beam size, the threshold for pruning
    and the number of outputs can still be chosen."""

    fixed = PAPER
    """What ``paper`` fixes."""

    def __post_init__(self) -> None:
        for name, declaration in _declared(cast("Hashable", type(self))):
            object.__setattr__(self, name, declaration.check(name, getattr(self, name)))
        for name, value in self.fixed.items() if self.paper else ():
            if getattr(self, name) not in (value, getattr(type(self), name)):
                raise SettingError(
                    f"paper fixes {name} at {represented(value)}: leave one of the two out"
                )
            object.__setattr__(self, name, value)


class SettingsArguments(TypedDict, total=False):
    """The fields of `Settings` as keyword arguments, for type checkers."""

    beam_size: int
    algorithm: str
    prune: float | None
    stop: str
    nbest: int
    length_penalty: float
    lag: float | None
    word_end: bool
    paper: bool


def read_limits(max_length: int | Sequence[int], sentences: int) -> IntArray:
    """Return the most tokens of each output, `MOST_TOKENS` at most. # shape: (sentences,)."""
    whole = as_whole(max_length)
    each = as_list(max_length) if whole is None else [whole] * sentences
    if each is None:
        raise SettingError(f"max_length must be an integer, not {represented(max_length)}")
    limits = [at_least(0, "max_length", limit, MOST_TOKENS) for limit in each]
    if len(limits) != sentences:
        raise SettingError(f"max_length has {len(limits)} entries for {sentences} sentences")
    return np.array(limits, dtype=np.int64)
