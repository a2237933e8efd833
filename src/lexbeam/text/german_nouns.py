"""Which gender, case and number the form of a German noun may have.

``german_nouns.txt`` has the genders of some nouns as they were found beside articles in the texts
that the bundled model was trained on (``scripts/german_nouns``): m, f, n, and b for what is either
masculine or neuter; behind it stands e if the plural has this ending, u if it has -er or an umlaut.
A compound has the gender of its last part, so it is listed only where that would be wrong.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache, partial
from importlib.resources import files
from typing import NamedTuple

from lexbeam.text.inflection import FEMININE

Reading = tuple[int, str]
"""A case, and a gender or the plural."""

NOMINATIVE, ACCUSATIVE, DATIVE, GENITIVE = CASES = range(4)
PLURAL = "p"
ALL: frozenset[Reading] = frozenset((case, kind) for case in CASES for kind in "mfnp")

_PART = 3
"""The fewest letters of a last part that tells the gender."""

_LONG = 6
"""Of a last part in -er, which many names of persons and tools end with."""

ALL_FEMININE = (*FEMININE, "enz", "anz", "ik")
"""Endings of nouns that need not be listed."""

_LIKE_SINGULAR = ("er", "el", "en")
"""Endings of masculine and neuter nouns that have the same form in the plural."""
_UMLAUTS = str.maketrans("äöü", "aou")


class _Noun(NamedTuple):
    """What is known of a noun."""

    genders: str
    has_e: bool = False
    """Whether its plural ends in -e."""
    changes: bool = False
    """Whether its plural ends in -er, or has an umlaut."""
    letters: int = 0
    """How many of its last letters are known."""


@lru_cache(maxsize=1)
def _nouns() -> dict[str, _Noun]:
    text = files("lexbeam.text").joinpath("german_nouns.txt").read_text(encoding="utf-8")
    found = {}
    for line in text.splitlines():
        kind, *words = line.split()
        genders = "mn" if kind[0] == "b" else kind[0]
        for word in words:
            found[word] = _Noun(genders, kind.endswith("e"), kind.endswith("u"), len(word))
    return found


@lru_cache(maxsize=4096)
def readings_of_noun(noun: str, forms: tuple[str, ...] = ()) -> frozenset[Reading]:
    """Return what a form may be; all that its ending allows, if the noun is not known.

    ``forms`` are all those of the noun, or of the last part of a compound, if they are known. They
    tell whether it is feminine: then there is no genitive in -s.
    """
    form = noun.rsplit("-", 1)[-1].casefold()
    found = list(_readings(form, _find)) or list(_readings(form, partial(_infer, forms)))
    if found:
        most = max(letters for letters, _ in found)  # *Dokumente* has no *Ente*
        return frozenset(reading for letters, reading in found if letters == most)
    return frozenset(
        (case, kind) for case, kind in ALL if form[-1:] in "ns" or (case, kind) != (DATIVE, PLURAL)
    )


def _infer(forms: Sequence[str], noun: str) -> _Noun | None:
    """Return what the forms of a noun show, if it is one that ends with the shortest of them."""
    known = [each.rsplit("-", 1)[-1].casefold() for each in forms]
    base = min(known, key=len, default="")
    if len(known) < 2 or not noun.endswith(base):
        return None
    has_s = any(base + ending in known for ending in ("s", "es", "ses"))
    is_feminine = not has_s and any(base + ending in known for ending in ("n", "en", "nen"))
    changes = any(not each.startswith(base) for each in known) or base + "er" in known
    return _Noun("f" if is_feminine else "mn", base + "e" in known, changes, len(base))


def _readings(form: str, find: Callable[[str], _Noun | None]) -> Iterator[tuple[int, Reading]]:
    """Yield what a form may be, and how many of its letters are known for that."""
    noun = find(form)
    if noun is not None:
        yield from ((noun.letters, each) for each in _singular(form, noun.genders))
    for ending in ("s", "es", "ses"):
        base = find(form.removesuffix(ending)) if form.endswith(ending) else None
        if base is not None:
            letters = base.letters + len(ending)
            yield from ((letters, each) for each in _with_s(form, base, ending))
    for ending in ("e", "se", "er", "n", "en", "sen", "ern", "nen"):
        stem = form.removesuffix(ending)
        base = find(stem) if stem != form else None
        has_umlaut = False
        if base is None and stem != form:
            last = max(map(stem.rfind, "äöü"))
            base = find(stem[:last] + stem[last:].translate(_UMLAUTS)) if last > 0 else None
            has_umlaut = base is not None
        if base is not None:
            letters = base.letters + len(ending)
            yield from ((letters, each) for each in _plural(stem, ending, base, has_umlaut))


def _singular(form: str, genders: str) -> Iterator[Reading]:
    for gender in genders:
        for case in CASES:
            if case != GENITIVE or gender == "f":
                yield case, gender
    if form.endswith(_LIKE_SINGULAR) and genders != "f":
        has_n = form.endswith("n")
        yield from ((case, PLURAL) for case in CASES if case != DATIVE or has_n)


def _with_s(form: str, base: _Noun, ending: str) -> Iterator[Reading]:
    """Yield what a form with -s may be: a genitive, or the plural of a noun that has no other."""
    yield from ((GENITIVE, gender) for gender in base.genders if gender != "f")
    has_other = base.has_e or base.changes or form.endswith(("ers", "els", "ens"))
    if ending == "s" and not has_other:
        yield from ((case, PLURAL) for case in CASES)


def _plural(stem: str, ending: str, base: _Noun, has_umlaut: bool) -> Iterator[Reading]:
    only_dative = ending in ("sen", "ern") or (ending == "en" and (base.has_e or has_umlaut))
    only_dative |= ending == "n" and base.genders != "f" and stem.endswith(_LIKE_SINGULAR)
    if ending == "e" and not base.has_e and not has_umlaut:  # *dem Falle*, but *die Fälle*
        yield from ((DATIVE, gender) for gender in base.genders)
    elif only_dative:
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
        if last is not None and noun.endswith("er") and last.letters < _LONG:
            return last._replace(
                genders="".join({*last.genders, "m"})
            )  # *Verwalter* has no *Alter*
        if last is not None:
            return last
    ending = next((each for each in ALL_FEMININE if noun.endswith(each)), "")
    return _Noun("f", letters=len(ending)) if ending and len(noun) > _PART else None
