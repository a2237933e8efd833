"""Which gender, case and number the form of a German noun may have.

``german_nouns.txt`` has the genders of some nouns as they were found beside articles in the texts
that the bundled model was trained on (``scripts/german_nouns``): m, f, n, and b for what is either
masculine or neuter; behind it stands e if the plural has this ending. A compound has the gender of
its last part, so it is listed only where that would be wrong.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from importlib.resources import files
from typing import NamedTuple

Reading = tuple[int, str]
"""A case, and a gender or the plural."""

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = CASES = range(4)
PLURAL = "p"
ALL: frozenset[Reading] = frozenset((case, kind) for case in CASES for kind in "mfnp")

_PART = 4
"""The fewest letters of a last part that tells the gender."""

_LONG = 6
"""Of a last part in -er, which many names of persons and tools end with."""

_FEMININE = ("ung", "heit", "keit", "schaft", "ion", "tät", "enz", "anz", "ik")
_LIKE_SINGULAR = ("er", "el", "en")
"""Endings of masculine and neuter nouns that have the same form in the plural."""
_UMLAUTS = str.maketrans("äöü", "aou")


class _Noun(NamedTuple):
    """What is known of a noun."""

    genders: str
    has_e: bool
    """Whether its plural ends in -e."""


@lru_cache(maxsize=1)
def _nouns() -> dict[str, _Noun]:
    text = files("lexbeam.text").joinpath("german_nouns.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        kind, *words = line.split()
        known = _Noun("mn" if kind[0] == "b" else kind[0], kind.endswith("e"))
        found.update(dict.fromkeys(words, known))
    return found


@lru_cache(maxsize=4096)
def readings_of_noun(noun: str) -> frozenset[Reading]:
    """Return what a form may be; all that its ending allows, if the noun is not known."""
    form = noun.rsplit("-", 1)[-1].casefold()
    found = frozenset(_readings(form))
    if found:
        return found
    return frozenset(
        (case, kind) for case, kind in ALL if form[-1:] in "ns" or (case, kind) != (DATIVE, PLURAL)
    )


def _readings(form: str) -> Iterator[Reading]:
    """Yield what a form of a known noun may be, in the singular, in the genitive, in the plural."""
    noun = _find(form)
    if noun is not None:
        yield from _singular(form, noun.genders)
    for ending in ("s", "es", "ses"):
        base = _find(form.removesuffix(ending)) if form.endswith(ending) else None
        if base is not None:
            yield from ((GENITIVE, gender) for gender in base.genders if gender != "f")
            if ending == "s" and not base.has_e and not form.endswith(("ers", "els", "ens")):
                yield from ((case, PLURAL) for case in CASES)
    if noun is None:
        yield from _plural(form)


def _singular(form: str, genders: str) -> Iterator[Reading]:
    for gender in genders:
        for case in CASES:
            if case != GENITIVE or gender == "f":
                yield case, gender
    if form.endswith(_LIKE_SINGULAR) and genders != "f":
        has_n = form.endswith("n")
        yield from ((case, PLURAL) for case in CASES if case != DATIVE or has_n)


def _plural(form: str) -> Iterator[Reading]:
    for ending in ("e", "se", "er", "n", "en", "sen", "ern", "nen"):
        stem = form.removesuffix(ending)
        if stem == form:
            continue
        base, has_umlaut = _find(stem), False
        if base is None:
            last = max(map(stem.rfind, "äöü"))
            base = _find(stem[:last] + stem[last:].translate(_UMLAUTS)) if last > 0 else None
            has_umlaut = base is not None
        if base is None:
            continue
        only_dative = ending in ("sen", "ern") or (ending == "en" and (base.has_e or has_umlaut))
        only_dative |= ending == "n" and base.genders != "f" and stem.endswith(_LIKE_SINGULAR)
        if only_dative:
            yield DATIVE, PLURAL
        else:
            has_n = ending.endswith("n")
            yield from ((case, PLURAL) for case in CASES if case != DATIVE or has_n)


def _find(noun: str) -> _Noun | None:
    """Return what is known of a noun, or of its last part."""
    nouns = _nouns()
    if noun in nouns:
        return nouns[noun]
    for start in range(1, len(noun) - _PART + 1):
        last = nouns.get(noun[start:])
        if last is not None and noun.endswith("er") and len(noun) - start < _LONG:
            return last._replace(
                genders="".join({*last.genders, "m"})
            )  # *Verwalter* has no *Alter*
        if last is not None:
            return last
    if noun.endswith(_FEMININE) and len(noun) > _PART:
        return _Noun("f", has_e=False)
    return None
