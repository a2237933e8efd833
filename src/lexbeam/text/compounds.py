"""Compounds: where a word is part of a longer one.

The rule can be checked with a text search. A phrase is part of a compound where it is the first
or the last part of a longer word, and what goes on beside it has at least `PART` letters right
there: *Datei* is in *Dateisystem* and in *Konfigurationsdatei*, not in *Dateien*. A linking
letter (*Arbeitsplatz*) is one of those letters; before a hyphen linking letters alone will do
(*Anwendungs-ID*). In the middle of a word a phrase is a part if it has at least `MIDDLE` letters
(*Systemdateiname*). As the first part a phrase may begin with a capital, elsewhere with a small
letter. A phrase of fewer than `PART` letters is no part.
"""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from lexbeam.text.languages import base_language
from lexbeam.text.word_boundaries import Span, are_glued, is_unspaced

PART = 3
"""The fewest letters of a part."""

MIDDLE = 5
"""The fewest letters of a part that others stand on both sides of: *wert* is in *Auswertungen*."""

_ONLY_LAST = ("ungen", "ionen", "heiten", "keiten", "schaften", "täten")
"""Endings of plurals that German has as the last part of a compound only: *Informationsschutz*."""

SHORT, LONG, ENDS = 1, 2, 4
"""What `joining_flags` says of a piece; the search knows the same."""

LANGUAGES = frozenset(
    {"de", "nl", "af", "lb", "fy", "sv", "da", "no", "nb", "nn", "is", "fo", "fi", "et", "hu"}
    | {"deu", "ger", "nld", "dut", "afr", "ltz", "fry", "swe", "dan", "nor", "nob", "nno", "isl"}
    | {"ice", "fao", "fin", "est", "ekk", "hun", "nds", "gsw", "bar", "li", "lim", "se", "sme"}
)
"""Languages that write compounds as one word, by their codes of two and three letters."""


def has_compounds(language: str | None) -> bool:
    """Return whether a language writes compounds as one word; True if it is not known."""
    return language is None or base_language(language) in LANGUAGES


def is_letter(character: str) -> bool:
    """Return whether a character is a letter of a script with spaces between words."""
    return character.isalpha() and not is_unspaced(character)


def may_be_part(phrase: str, fewest: int = PART) -> bool:
    """Return whether a phrase has enough letters to be a part of a compound."""
    return sum(map(is_letter, phrase)) >= fewest


def may_be_first(phrase: str) -> bool:
    """Return whether a phrase can be the first part of a compound, and not only a later one."""
    return may_be_part(phrase) and is_letter(phrase[-1]) and not phrase.endswith(_ONLY_LAST)


def lowered(phrase: str) -> str:
    """Return a phrase with a small first letter: as the last part of a compound has it."""
    small = phrase[:1].lower()
    return small + phrase[1:] if len(small) == 1 else phrase


def goes_on_behind(text: str, end: int) -> bool:
    """Return whether a word goes on at an offset, with enough letters for a part.

    Before a hyphen fewer will do: those link the part to the one behind the hyphen.
    """
    letters, hyphen, _ = text[end : end + PART].partition("-")
    enough = len(letters) == PART or bool(letters and hyphen)
    return enough and is_letter(text[end - 1]) and all(map(is_letter, letters))


def goes_on_before(text: str, start: int) -> bool:
    """Return whether a word goes on before an offset, with enough letters for a part."""
    letters = text[max(start - PART, 0) : start]
    return is_letter(text[start]) and len(letters) == PART and all(map(is_letter, letters))


def begins_word(text: str, start: int) -> bool:
    """Return whether no word goes on before an offset."""
    return start == 0 or not are_glued(text[start - 1], text[start])


def ends_word(text: str, end: int) -> bool:
    """Return whether no word goes on at an offset."""
    return end == len(text) or not are_glued(text[end - 1], text[end])


def word_around(text: str, span: Span) -> Span:
    """Return the span of the words that a span lies in."""
    start, end = span
    while not begins_word(text, start):
        start -= 1
    while not ends_word(text, end):
        end += 1
    return start, end


def compound_around(text: str, part: Span) -> Span:
    """Return the span of the word that a part lies in, and of a hyphen that makes it a compound.

    Without the hyphen, *Anwendungs* is no compound.
    """
    start, end = word_around(text, part)
    is_linked = 0 < end - part[1] < PART and text[end : end + 1] == "-"
    return start, end + is_linked


def joining_flags(written: Iterable[str], vocabulary_size: int) -> NDArray[np.uint8]:
    """Return how each token joins parts of a compound. # shape: (vocabulary,).

    ``written`` is what each token adds to a text, its space included. `SHORT`: less than a part,
    nothing but letters. `LONG`: it begins with the letters of a part. `ENDS`: it ends with them.
    """
    flags = np.zeros(vocabulary_size, np.uint8)
    for token, text in enumerate(written):
        first, last = text[:PART], text[-PART:]
        if first and all(map(is_letter, first)):
            flags[token] = SHORT if len(text) < PART else LONG
        if len(last) == PART and all(map(is_letter, last)):
            flags[token] |= ENDS
    return flags


def stem_of_infinitive(word: str) -> str:
    """Return what German puts into compounds of an infinitive that is a noun: *Debug*, *Lade*.

    Nothing if a word can't be one. The last *e* is left out: *Druckauftrag*, *Ladevorgang*.
    """
    if not word.endswith("en") or not word[:1].isupper() or not word[1:].islower():
        return ""
    stem = word[:-2]
    if len(stem) > 2 and stem[-1] == stem[-2] and stem[-1] not in "ls":
        stem = stem[:-1]
    return stem if len(stem) > 2 else ""
