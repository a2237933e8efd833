"""How lists that a caller passes are read."""

from __future__ import annotations

from collections.abc import Mapping, Set
from typing import Any

from lexbeam.errors import InputError, represented

NO_LISTS = str, bytes, Mapping, Set
"""What can be gone through, but is no list."""


def count_sources(sources: Any) -> int:
    """Return how many sources there are, or say that they are no list."""
    try:
        if not isinstance(sources, Mapping | Set):
            return len(sources)
    except TypeError:
        pass
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
    try:
        entries = None if isinstance(given, NO_LISTS) else list(given)
    except TypeError:
        entries = None
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
