"""How lists and numbers that a caller passes are read.

Classes of the caller's own may raise anything: then they are no list and no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Set
from operator import index
from typing import Any

from lexbeam.errors import InputError, represented

NO_LISTS = str, bytes, Mapping, Set
"""What can be gone through, but is no list."""

MOST_SOURCES = 10_000_000
"""More sentences at a time would not fit into memory; a list may claim to have more."""

_MOST_DIGITS = 309
"""A float has no more."""


def as_items(given: Any) -> list[Any] | None:
    """Return what is in anything that can be gone through; None if it can't be.

    A range may claim to have more than would fit into memory.
    """
    length = as_length(given)
    if length is not None and length > MOST_SOURCES:
        return None
    try:
        return list(given)
    except Exception:
        return None


def as_list(given: Any) -> list[Any] | None:
    """Return what is in a list, or None if it is none; a text is none either."""
    return None if isinstance(given, NO_LISTS) else as_items(given)


def as_length(given: Any) -> int | None:
    """Return how much is in a list, of whatever kind; None if it has no length."""
    try:
        return len(given)
    except Exception:
        return None


def as_pairs(given: Any) -> list[tuple[Any, Any]] | None:
    """Return the keys of a mapping with their values; None if it is none."""
    try:
        return list(given.items()) if isinstance(given, Mapping) else None
    except Exception:
        return None


def as_whole(given: Any) -> int | None:
    """Return a whole number as a plain integer; None if it is none."""
    try:
        return index(given)
    except Exception:
        return None


def as_number(given: Any) -> float | None:
    """Return a number as a plain float, infinite if it is too large; None if it is none."""
    try:
        return float(given)
    except OverflowError:
        return float("inf")
    except Exception:
        return None


def read_json_integer(digits: str) -> int | float:
    """Return a whole number of a JSON text, infinity if it has too many digits to be one."""
    return int(digits) if len(digits) <= _MOST_DIGITS else float("inf")


def count_sources(sources: Any) -> int:
    """Return how many sources there are, or say that they are no list."""
    length = None if isinstance(sources, Mapping | Set) else as_length(sources)
    if length is not None and length > MOST_SOURCES:
        raise InputError(f"sources has {length:,} entries, more than {MOST_SOURCES:,} at a time")
    if length is not None:
        return length
    raise InputError(
        f"sources must be a list with one entry a sentence, not {represented(sources)}"
    )


def per_sentence(name: str, given: Any, sentences: int) -> list[Any]:
    """Return a list with an entry for each sentence; None stands for a list of None.

    Raises:
        InputError: it is no list, or has more or fewer entries.
    """
    if given is None:
        return [None] * sentences
    entries = as_list(given)
    if entries is None:
        raise InputError(
            f"{name} must be a list with one entry a sentence, not {represented(given)}"
        )
    if len(entries) != sentences:
        raise InputError(
            f"{name} has {len(entries)} entries for {sentences} sentences; "
            "give one list a sentence, an empty one for none"
        )
    return entries
