"""The forms that words beside a noun may take where another noun takes its place, in German.

Articles, pronouns and adjectives agree with their noun in gender, case and number. Which of the
forms is right is for a model to say.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from lexbeam.text.german_nouns import PLURAL, readings_of_noun
from lexbeam.text.languages import base_language

_ARTICLES = ("der", "die", "das", "den", "dem", "des")
_RELATIVES = (
    *(("der", "die", "das"), ("den", "die", "das"), ("dem", "der"), ("dessen", "deren")),
    *(("die", "der", "das", "den"), ("das", "der", "die", "den"), ("deren", "dessen")),
)
"""Pronouns that begin clauses, each with what may take its place."""
_RELATIVES_OF = {
    "m": ("der", "den", "dem", "dessen"),
    "f": ("die", "der", "deren"),
    "n": ("das", "dem", "dessen"),
    "p": ("die", "denen", "deren"),
}
_ENDINGS = ("e", "en", "er", "es", "em")
LIKE_EIN = ("ein", "kein", "mein", "dein", "sein", "ihr", "unser")
LIKE_DIESER = ("dies", "jen", "jed", "welch", "manch", "solch", "all")
"""Words before nouns, without their endings."""
_JOINED = (
    ("im", "in der", "in den"),
    ("ins", "in die", "in den"),
    ("am", "an der", "an den"),
    ("ans", "an die", "an den"),
    ("zum", "zur", "zu den"),
    ("vom", "von der", "von den"),
    ("beim", "bei der", "bei den"),
)
"""Prepositions with an article."""

_LEAST = 4
"""Letters of an adjective with its ending, at least."""

_NO_ADJECTIVES = frozenset(
    [
        "aber",
        "oder",
        "über",
        "unter",
        "hinter",
        "ohne",
        "eine",
        "eben",
        "gegen",
        "neben",
        "zwischen",
    ]
)


def has_agreement(language: str | None) -> bool:
    """Return whether the forms of a language are known here."""
    return language is not None and base_language(language) in ("de", "deu", "ger")


def is_determiner(word: str) -> bool:
    """Return whether a word is an article or a pronoun that stands before nouns."""
    return len(_forms_of_determiner(word.lower())) > 1


def forms_before_noun(words: Sequence[str]) -> list[list[str]]:
    """Return words that stand right before a noun in all their forms, as they are first.

    Several adjectives have the same ending.
    """
    first = len(words)
    while first and is_adjective(words[first - 1]):
        first -= 1
    before, adjectives = words[:first], list(words[first:])
    stems = [_stem(word) for word in adjectives]
    endings = [[stem + ending for stem in stems] for ending in _ENDINGS] if stems else []
    found = [
        [*each, *others]
        for each in _forms_with_determiner(before)
        for others in (adjectives, *endings)
    ]
    is_capital = bool(words) and words[0][:1].isupper()
    if is_capital:
        found = [[each[0][:1].upper() + each[0][1:], *each[1:]] for each in found]
    return _unique([list(words), *found])


def forms_in_number(forms: Sequence[str], is_other: bool) -> list[str]:
    """Return the forms of a noun that are in the number of the first, or in the other one.

    All if there is none: *Anwender* is both. Only endings are looked at.
    """
    first = forms[0]
    numbers = _numbers(first)
    if len(numbers) == 1:
        (is_plural,) = numbers
        known = [form for form in forms if (is_plural != is_other) in _numbers(form)]
        return known or list(forms)
    same = {first, first + "s", first + "es"}
    if any(not form.startswith(first) for form in forms):
        same.add(first + "e")  # *Abläufe* is the plural, *Ablaufe* an old dative
    weak = first + "n"
    if weak in forms and not first.endswith("e"):
        return list(forms)  # one word for both numbers
    found = [form for form in forms if (form in same) != is_other]
    return found or list(forms)


def _numbers(noun: str) -> set[bool]:
    """Return whether a form may be a plural, and whether it may be none."""
    return {kind == PLURAL for _, kind in readings_of_noun(noun)}


def forms_of_relative(word: str, nouns: Iterable[str]) -> list[str]:
    """Return the forms of a pronoun that begins a clause about one of some nouns.

    None of another word.
    """
    forms = dict.fromkeys(form for group in _RELATIVES if group[0] == word for form in group)
    kinds = {kind for noun in nouns for _, kind in readings_of_noun(noun)}
    fitting = [form for form in forms if any(form in _RELATIVES_OF[kind] for kind in kinds)]
    return fitting or list(forms)


def _forms_with_determiner(words: Sequence[str]) -> list[list[str]]:
    """Return words of which the last may be an article or the like, in its forms."""
    found = [list(words)]
    for count in (1, 2):
        last = " ".join(words[-count:]).lower()
        if len(words) >= count:
            found += [[*words[:-count], *form.split()] for form in _forms_of_determiner(last)]
    return _unique(found)


def _forms_of_determiner(word: str) -> list[str]:
    """Return the forms of a determiner, or of a preposition with an article; else the word."""
    found = [word]
    if word in _ARTICLES:
        found += _ARTICLES
    for stem in LIKE_EIN:
        if word == stem or (word.startswith(stem) and word[len(stem) :] in _ENDINGS):
            found += [stem, *(stem + ending for ending in _ENDINGS)]
    for stem in LIKE_DIESER:
        if word.startswith(stem) and word[len(stem) :] in _ENDINGS:
            found += [stem + ending for ending in _ENDINGS]
    for group in _JOINED:
        if word in group:
            found += group
    return list(dict.fromkeys(found))


def is_adjective(word: str) -> bool:
    """Return whether a word looks like an adjective with an ending."""
    long = len(word) >= _LEAST and word.isalpha() and word.islower()
    ends = long and word.endswith(_ENDINGS) and word not in _NO_ADJECTIVES
    return ends and not is_determiner(word)


def _stem(adjective: str) -> str:
    """Return an adjective without its ending."""
    return adjective[:-1] if adjective.endswith("e") else adjective[:-2]


def _unique(found: Iterable[list[str]]) -> list[list[str]]:
    return [list(each) for each in dict.fromkeys(map(tuple, found))]
