"""The forms of a word, and the word of a form: *Haus*, *Hauses*, *Häuser*, *Häusern*.

Both come from the dictionaries that simplemma brings along (extra ``glossary``). It maps forms
to lemmas; here that is turned round, once a language, and kept in memory. Nothing tells parts
of speech apart, so a term of several words gets forms that nobody would say next to the right
ones: it is the model that chooses, the list only has to have what it may choose.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any

from lexbeam.errors import InputError, MissingExtraError
from lexbeam.text.languages import base_language
from lexbeam.text.word_boundaries import is_word_character

MOST_FORMS = 64
"""Forms of a term at most: verbs of Romance languages have hundreds with their pronouns."""

_ALIASES = {"no": "nb", "hr": "hbs", "sr": "hbs", "bs": "hbs", "sh": "hbs", "iw": "he", "fil": "tl"}

# Languages that write compounds as one word: unknown ones are inflected like their last part.
_COMPOUNDING = frozenset({"de", "lb", "nl", "da", "nb", "nn", "sv", "is"})
_LEAST_HEAD, _LEAST_MODIFIER = 4, 2

# Languages that write nouns with a capital, so that it tells words apart.
_CAPITALISING = frozenset({"de", "lb"})
_ENDINGS = ("e", "em", "en", "er", "es")
_FEMININE = ("ung", "heit", "keit", "schaft", "ion", "tät")

# Words that begin what never changes with the head of a term: Stand *der Technik*, fim *de
# semana*, terms *of use*.
_LINKS = {
    "de": "der die das des dem den ein eine einer eines einem einen am an auf aus außer bei beim "
    "durch für gegen im in ins mit nach ohne über um und unter vom von vor zu zum zur zwischen",
    "en": "a an and at by for from in of on or per the to with without",
    "es": "a al con de del el en la las los para por sin y",
    "fr": "à au aux avec d de des du en et la le les par pour sans sous sur",
    "it": "a ad al alla con d da dal dei del dell della delle di e il in la le per senza su",
    "nl": "aan bij de den der door en het in met naar om op te tot uit van voor zonder",
    "pt": "a ao à com da das de do dos e em na no o para pela pelo por sem sob sobre",
}


@lru_cache(maxsize=1 << 16)
def lemma(word: str, language: str) -> str:
    """Return the dictionary form of a word, the word itself where there is none."""
    return _lemmatizer().lemmatize(word, lang=_code(language)) if word.strip() else word


@lru_cache(maxsize=4096)
def forms(term: str, language: str) -> tuple[str, ...]:
    """Return every inflected form of a word, itself first; at most `MOST_FORMS`.

    An inflected form stands for its lemma: *Häuser* gives what *Haus* gives. Capitals are kept
    where they are given (*Houses*: *House*, *Housed*) and put where a German noun lacks one. A
    word that is in no dictionary gives itself, or, in a language of compounds, the forms of its
    last part put in place: *Testhaus*, *Testhäuser*.

    In a term of several words each is inflected, up to a preposition or an article, which
    leads to what doesn't change: *Stand der Technik*, *Stands der Technik*. In English, and in
    German where it is no noun, only the last word changes: *neu starten*, *neu startet*.

    Raises:
        MissingExtraError: simplemma is not installed.
        InputError: there is no dictionary of the language.
    """
    code = _code(language)
    words = term.split()
    if not words:
        return ()
    if len(words) == 1:
        return _shortened(words[0], _word_forms(words[0], code))
    links = _LINKS.get(code, "").split()
    ends = next((i for i, word in enumerate(words) if i and word.lower() in links), len(words))
    only_last = code == "en" or (code == "de" and words[ends - 1].islower())
    begins = ends - 1 if only_last else 0
    choices = [_moderate(word, code) for word in words[begins:ends]]
    # The shortest forms of each word are combined first, so that a cut falls on rare ones.
    combined = islice(product(*choices), 64 * MOST_FORMS)
    changed = [" ".join((*words[:begins], *choice, *words[ends:])) for choice in combined]
    return _shortened(" ".join(words), changed)


def languages() -> tuple[str, ...]:
    """Return the codes of the languages that there are dictionaries of."""
    _simplemma()
    from simplemma.strategies.dictionaries.dictionary_factory import (  # noqa: PLC0415
        SUPPORTED_LANGUAGES,
    )

    return tuple(sorted({*SUPPORTED_LANGUAGES, *_ALIASES}))


def _word_forms(word: str, code: str) -> list[str]:
    """Return the forms of one word, in the order of the dictionary."""
    found = _known_forms(word, code)
    if found or (len(word) > 1 and word.isupper()):  # IT is not it
        return found or [word]
    if word[0].isupper():
        found = [_capitalised(form) for form in _known_forms(word[0].lower() + word[1:], code)]
    elif code in _CAPITALISING and _capitalised(word) in _inverted(code):
        found = _known_forms(_capitalised(word), code)
    return found or _compound_forms(word, code)


def _known_forms(word: str, code: str) -> list[str]:
    """Return the forms of a word as it is written; none if the dictionary lacks it."""
    inverted = _inverted(code)
    known = word if word in inverted else _factory().get_dictionary(code).get(word)
    if known is None or (code in _CAPITALISING and known[0].isupper() != word[0].isupper()):
        return []
    if known not in inverted:
        return [word]
    if known != word and _is_noun_without_capital(word, code):
        return []
    return _sensible(known, inverted[known].split("\n"), code)


def _is_noun_without_capital(word: str, code: str) -> bool:
    """Tell *haus*, written so by mistake, from *künstliche*: it could be of *hausen*, but isn't."""
    is_noun = code in _CAPITALISING and word.islower() and _capitalised(word) in _inverted(code)
    return is_noun and not word.endswith(_ENDINGS)


def _compound_forms(word: str, code: str) -> list[str]:
    """Return the forms of a compound whose last part is in the dictionary, the longest such."""
    before, hyphen, last = word.rpartition("-")
    if hyphen and last:
        return [f"{before}-{form}" for form in _word_forms(last, code)]
    if code not in _COMPOUNDING:
        return [word]
    inverted = _inverted(code)
    for cut in range(_LEAST_MODIFIER, len(word) - _LEAST_HEAD + 1):
        head = word[cut:]
        for known in (_capitalised(head), head) if word[0].isupper() else (head,):
            if known in inverted:
                inflected = _sensible(known, inverted[known].split("\n"), code)
                return [word[:cut] + form.lower() for form in inflected]
    return [word]


def _sensible(known: str, found: list[str], code: str) -> list[str]:
    """Leave out what dictionaries list besides forms: other capitals, scraps of contractions."""

    def is_form(form: str) -> bool:
        return (
            form[0].isupper() == known[0].isupper()
            and form.isupper() == known.isupper()
            and len(form) > 1
            and all(map(is_word_character, form.replace("-", "")))
        )

    kept = [form for form in found if form == known or is_form(form)]
    if code != "de":
        return kept
    if len(kept) == 1 and known.islower():  # a participle has the endings of an adjective
        dictionary = _factory().get_dictionary(code)
        kept += [known + end for end in _ENDINGS if known + end in dictionary]
    # Anwendungs is half of a compound
    return [form for form in kept if form != known + "s" or not known.endswith(_FEMININE)]


def _moderate(word: str, code: str) -> list[str]:
    """Return the forms of a word inside a term: no comparatives, no long tails."""
    basic = lemma(word, code)
    longest = max(len(basic) + 2, len(word) + 1)
    short = [form for form in _word_forms(word, code) if len(form) <= longest]
    if code == "de" and word.islower():  # an adjective before its noun has an ending
        short = [form for form in short if form != basic]
    return list(dict.fromkeys((word, *sorted(short, key=len))))


def _shortened(term: str, found: Sequence[str]) -> tuple[str, ...]:
    """Put the term first as it was given, or as it ought to be; cut off the longest forms."""
    first = term if term in found else next((f for f in found if f.lower() == term.lower()), term)
    others = sorted(set(found) - {first}, key=lambda form: (len(form), form))
    return (first, *others[: MOST_FORMS - 1])


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


def _code(language: str) -> str:
    """Return the code that simplemma knows a language by."""
    if not isinstance(language, str) or not language:
        raise InputError(f"the language must be a code like de, not {language!r}")
    base = base_language(language)
    code = _ALIASES.get(base, base)
    if code not in _codes():
        raise InputError(
            f"there is no dictionary of the language {language!r}: there are "
            + ", ".join(languages())
        )
    return code


@lru_cache(maxsize=1)
def _codes() -> frozenset[str]:
    return frozenset(languages())


@lru_cache(maxsize=4)
def _inverted(code: str) -> Mapping[str, str]:
    """Return the forms of each lemma, a line each: a million lists would take twice the memory."""
    dictionary = _factory().get_dictionary(code)
    lines: dict[str, str] = {}
    for form in dictionary:
        found = dictionary[form]
        known = lines.get(found)
        lines[found] = form if known is None else f"{known}\n{form}"
    return lines


@lru_cache(maxsize=1)
def _factory() -> Any:
    _simplemma()
    from simplemma.strategies import DefaultDictionaryFactory  # noqa: PLC0415

    return DefaultDictionaryFactory()


@lru_cache(maxsize=1)
def _lemmatizer() -> Any:
    strategies = _simplemma().strategies
    strategy = strategies.DefaultStrategy(dictionary_factory=_factory())
    return _simplemma().Lemmatizer(lemmatization_strategy=strategy)


def _simplemma() -> Any:
    try:
        import simplemma  # noqa: PLC0415
        import simplemma.strategies  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("looking up the forms of words", "glossary") from error
    return simplemma
