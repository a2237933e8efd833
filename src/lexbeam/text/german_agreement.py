"""Whether German words before a noun agree with it, and say of it what they said of another.

Articles, pronouns and adjectives show gender, case and number, prepositions the case. Where one
noun takes the place of another in a sentence, case and number stay, and the words before it have
to show the new gender.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexbeam.text.agreement import LIKE_DIESER, LIKE_EIN, is_adjective
from lexbeam.text.german_nouns import (
    ACCUSATIVE,
    ALL,
    DATIVE,
    GENITIVE,
    PLURAL,
    Reading,
    readings_of_noun,
)

_KINDS = "mfnp"


def _table(*rows: str) -> dict[str, frozenset[Reading]]:
    """Return the readings of forms; a row has those of a gender in all cases, "-" for none."""
    found: dict[str, set[Reading]] = {}
    for kind, row in zip(_KINDS, rows, strict=True):
        for case, form in enumerate(row.split()):
            found.setdefault(form.strip("-"), set()).add((case, kind))
    return {form: frozenset(readings) for form, readings in found.items()}


_DER = _table("der den dem des", "die die der der", "das das dem des", "die die den der")
_ENDINGS_OF_DIESER = _table("er en em es", "e e er er", "es es em es", "e e en er")
_ENDINGS_OF_EIN = _table("- en em es", "e e er er", "- - em es", "e e en er")
_STRONG = _table("er en em en", "e e er er", "es es em en", "e e en er")
_WEAK = _table("e en en en", "e e en en", "e e en en", "en en en en")
_MIXED = _table("er en en en", "e e en en", "es es en en", "en en en en")

_JOINED = {
    "im": (DATIVE, "mn"), "am": (DATIVE, "mn"), "vom": (DATIVE, "mn"), "beim": (DATIVE, "mn"),
    "zum": (DATIVE, "mn"), "zur": (DATIVE, "f"), "ins": (ACCUSATIVE, "n"), "ans": (ACCUSATIVE, "n"),
}  # fmt: skip
_GOVERNED = {
    (DATIVE,): ("aus", "bei", "gegenüber", "mit", "nach", "seit", "von", "zu"),
    (ACCUSATIVE,): ("durch", "für", "gegen", "ohne", "um"),
    (ACCUSATIVE, DATIVE): (
        *("an", "auf", "hinter", "in", "neben", "über", "unter", "vor", "zwischen"),
    ),
    (DATIVE, GENITIVE): ("anhand", "außerhalb", "innerhalb", "während", "wegen"),
}
_PREPOSITIONS = {word: cases for cases, words in _GOVERNED.items() for word in words}
"""The cases behind prepositions."""


def agrees(
    words: Sequence[str],
    noun: str,
    old_words: Sequence[str],
    old_noun: str,
    forms: tuple[str, ...] = (),
) -> bool:
    """Return whether words and their noun can say what other words and a noun said before.

    Case and number are the same then. What is not understood is taken to agree. ``forms`` are all
    those of the noun, if they are known.
    """
    was = _readings_before(old_words) & readings_of_noun(old_noun)
    now = _readings_before(words) & readings_of_noun(noun, forms)
    if not was:
        return bool(now)
    return any(
        case == there and (kind == PLURAL) == (other == PLURAL)
        for case, kind in now
        for there, other in was
    )


def is_possible(words: Sequence[str], noun: str, forms: tuple[str, ...] = ()) -> bool:
    """Return whether words that stand before a noun may agree with it at all."""
    return bool(_readings_before(words) & readings_of_noun(noun, forms))


def _readings_before(words: Sequence[str]) -> frozenset[Reading]:
    """Return what words may be that stand right before a noun."""
    lower = [word.lower() for word in words]
    end = len(lower)
    while end and is_adjective(lower[end - 1]) and words[end - 1].islower():
        end -= 1
    adjectives, determiner = lower[end:], _determiner(lower[end - 1]) if end else None
    if determiner is None:
        behind = lower[end - 1] if end else ""
        if adjectives and adjectives[0].endswith("en") and behind not in _PREPOSITIONS:
            return ALL  # It may be a verb.
        return _of_adjectives(adjectives, _STRONG) & _by_preposition(lower[:end])
    readings, endings = determiner
    if lower[end - 1] in _JOINED:
        return readings & _of_adjectives(adjectives, endings)
    return readings & _of_adjectives(adjectives, endings) & _by_preposition(lower[: end - 1])


def _determiner(
    word: str,
) -> tuple[frozenset[Reading], dict[str, frozenset[Reading]]] | None:
    """Return what an article or the like may be, and the endings of adjectives behind it."""
    if word in _DER:
        return _DER[word], _WEAK
    if word in _JOINED:
        case, genders = _JOINED[word]
        return frozenset((case, gender) for gender in genders), _WEAK
    for stem in LIKE_EIN:
        if word.startswith(stem) and word[len(stem) :] in _ENDINGS_OF_EIN:
            readings = _ENDINGS_OF_EIN[word[len(stem) :]]
            if stem == "ein":
                readings = frozenset(each for each in readings if each[1] != PLURAL)
            return readings, _MIXED
    for stem in LIKE_DIESER:
        if word.startswith(stem) and word[len(stem) :] in _ENDINGS_OF_DIESER:
            return _ENDINGS_OF_DIESER[word[len(stem) :]], _WEAK
    return None


def _of_adjectives(
    adjectives: Iterable[str], endings: dict[str, frozenset[Reading]]
) -> frozenset[Reading]:
    found = ALL
    for adjective in adjectives:
        ending = next(e for e in ("en", "er", "es", "em", "e") if adjective.endswith(e))
        found &= endings.get(ending, frozenset())
    return found


def _by_preposition(words: Sequence[str]) -> frozenset[Reading]:
    """Return what may stand behind words of which the last may be a preposition."""
    cases = _PREPOSITIONS.get(words[-1]) if words else None
    return ALL if cases is None else frozenset(each for each in ALL if each[0] in cases)
