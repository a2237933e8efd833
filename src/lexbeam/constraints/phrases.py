"""Phrases and lists as a caller passes them: cleaned, or refused by an error that names them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexbeam.errors import ConstraintError, quoted

MAX_CHARACTERS = 4000
"""The most characters of a phrase; a longer one is taken for a mistake."""


def clean_phrase(phrase: object, where: str) -> str:
    """Return a phrase with single spaces inside and none around it.

    ``where`` names it in the error that is raised if it is no usable phrase.
    """
    if not isinstance(phrase, str):
        raise ConstraintError(f"{where} must be text, not {describe_value(phrase)}")
    if len(phrase) > MAX_CHARACTERS:
        raise ConstraintError(
            f"{where} {quoted(phrase)} has {len(phrase)} characters: "
            f"at most {MAX_CHARACTERS} are possible"
        )
    fault = unusable(phrase)
    if fault:
        raise ConstraintError(f"{where} {quoted(phrase)} contains {fault}")
    cleaned = " ".join(phrase.split())
    if not cleaned:
        raise ConstraintError(f"{where} is empty or only spaces: leave it out or give a phrase")
    return cleaned


def clean_prefix(prefix: object, where: str) -> str:
    """Return a cleaned prefix; a space at its end is kept: it says that the last word is whole."""
    cleaned = clean_phrase(prefix, where)
    return cleaned + " " if isinstance(prefix, str) and prefix[-1].isspace() else cleaned


def unusable(text: str) -> str | None:
    """Name the characters of a text that no tokeniser can take; None if there are none."""
    if "\0" in text:
        return "a NUL character"
    if any("\ud800" <= character <= "\udfff" for character in text):
        return "half a surrogate pair (text that was decoded wrongly)"
    return None


def numbered(given: object, where: str, least: int = 0) -> list[tuple[str, object]]:
    """Return the entries of a list, each with the name by which an error speaks of it.

    None is a list without entries. What is no list, or has fewer entries than ``least``, is
    refused.
    """
    entries = [] if given is None else given
    if isinstance(entries, str | bytes | range) or not isinstance(entries, Sequence):
        raise ConstraintError(f"{where} must be a list of phrases, not {describe_value(entries)}")
    if len(entries) < least:
        raise ConstraintError(f"{where} has {len(entries)} entries: it needs at least {least}")
    return [(f"{where}[{index}]", entry) for index, entry in enumerate(entries)]


def describe_value(value: object) -> str:
    """Describe a value of the wrong type for an error message."""
    if isinstance(value, str):
        return f"the text {quoted(value)}"
    try:
        shown = quoted(str(value))
    except Exception:  # a number of many thousand digits, or a class of the caller's own
        shown = ""
    return f"{type(value).__name__} {shown}".rstrip()


def listed(names: Iterable[str]) -> str:
    """Return names in quotation marks, separated by commas."""
    return ", ".join(f'"{name}"' for name in names)
