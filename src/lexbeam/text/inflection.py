"""The forms of a word, and the word of a form: *Haus*, *Hauses*, *Häuser*, *Häusern*.

Both come from the dictionaries of simplemma (extra ``glossary``), which map forms to lemmas. The
map is inverted once per language and kept in memory. The dictionaries do not say parts of
speech, so a term of several words also gets forms that are wrong. That does no harm: the list
only has to include the right forms, and the model chooses among them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import lru_cache
from itertools import islice, product
from typing import Any

from lexbeam.errors import InputError, MissingExtraError, represented
from lexbeam.text.languages import base_language
from lexbeam.text.word_boundaries import is_word_character

MOST_FORMS = 64
"""Forms of a term at most: with their pronouns, verbs of Romance languages have hundreds."""

_ALIASES = {"no": "nb", "hr": "hbs", "sr": "hbs", "bs": "hbs", "sh": "hbs", "iw": "he", "fil": "tl"}

# Languages that write compounds as one word: unknown ones are inflected like their last part.
_COMPOUNDING = frozenset({"de", "lb", "nl", "da", "nb", "nn", "sv", "is"})
_LEAST_HEAD, _LEAST_MODIFIER = 4, 2

# Languages that write nouns with a capital, so that it tells words apart.
_CAPITALISING = frozenset({"de", "lb"})
_ENDINGS = ("e", "em", "en", "er", "es")
FEMININE = ("ung", "heit", "keit", "schaft", "ion", "tät")
"""Endings of German nouns that are feminine, and have no genitive in -s."""

_LACKING = {"Typ": "Typen", "Szenario": "Szenarien"}
"""German plurals that the dictionary lacks, or has for another word."""

# Words after which a term is not inflected: Stand *der Technik*, fim *de semana*, terms *of use*.
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
    """Return the dictionary form of a word, the word itself if it is in no dictionary."""
    return _lemmatizer().lemmatize(word, lang=_code(language)) if word.strip() else word


@lru_cache(maxsize=4096)
def forms(term: str, language: str) -> tuple[str, ...]:
    """Return the inflected forms of a term, itself first; at most `MOST_FORMS`.

    An inflected form has the same forms as its lemma: *Häuser* those of *Haus*. Capitals are
    kept (*Houses*: *House*, *Housed*), and a German noun without one gets it. A word that is in
    no dictionary has itself as its only form; a German noun may have an *s* as well: *Assemblys*.
    In languages that write compounds as one word, an unknown word is inflected like its last part:
    *Testhaus*, *Testhäuser*.

    In a term of several words each word is inflected, up to the first preposition or article:
    *Stand der Technik*, *Stands der Technik*. One that begins with such a word stays as it is:
    *mit der rechten Maustaste*. In English, and in German if the last word is no
    noun, only the last word is inflected: *neu starten*, *neu startet*.

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
    ends = next((i for i, word in enumerate(words) if word.lower() in links), len(words))
    if ends == 0:
        return (" ".join(words),)
    only_last = code == "en" or (code == "de" and words[ends - 1].islower())
    begins = ends - 1 if only_last else 0
    choices = [_moderate(word, code) for word in words[begins:ends]]
    # The shortest forms of each word are combined first, so that a cut falls on rare ones.
    combined = islice(product(*choices), 64 * MOST_FORMS)
    changed = [" ".join((*words[:begins], *choice, *words[ends:])) for choice in combined]
    return _shortened(" ".join(words), changed)


def languages() -> tuple[str, ...]:
    """Return the codes of the languages that have a dictionary."""
    _simplemma()
    from simplemma.strategies.dictionaries.dictionary_factory import (  # noqa: PLC0415
        SUPPORTED_LANGUAGES,
    )

    return tuple(sorted({*SUPPORTED_LANGUAGES, *_ALIASES}))


def _word_forms(word: str, code: str) -> list[str]:
    """Return the forms of one word, in the order of the dictionary."""
    if code == "de":
        word = next((one for one, several in _LACKING.items() if word == several), word)
    found = _known_forms(word, code)
    if found or (len(word) > 1 and word.isupper()):  # IT is not it
        return found or [word]
    if word[0].isupper():
        found = [_capitalised(form) for form in _known_forms(word[0].lower() + word[1:], code)]
    elif code in _CAPITALISING and _capitalised(word) in _inverted(code):
        found = _known_forms(_capitalised(word), code)
    return found or _compound_forms(word, code)


def _known_forms(word: str, code: str) -> list[str]:
    """Return the forms of a word with exactly these capitals; none if it is in no dictionary."""
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
    """Return whether a word is a noun that was written without its capital.

    *haus* is one, though it could also be a form of *hausen*. *künstliche* has the ending of an
    adjective and is none.
    """
    is_noun = code in _CAPITALISING and word.islower() and _capitalised(word) in _inverted(code)
    return is_noun and not word.endswith(_ENDINGS)


def _compound_forms(word: str, code: str) -> list[str]:
    """Return the forms of a compound, inflected like the longest last part that is a known word."""
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
    # Of what German has taken from elsewhere, genitive and plural mostly end in s.
    is_foreign = code == "de" and word[0].isupper() and word[-1] not in "sxzß"
    if not is_foreign or not word[1:].islower():
        return [word]
    return _sensible(word, [word, f"{word}s"], code)


def _sensible(known: str, found: list[str], code: str) -> list[str]:
    """Return the forms without what is none: words with other capitals, parts of contractions."""

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
    kept += [_LACKING[known]] if known in _LACKING else []
    # *Anwendungs* occurs only inside compounds.
    return [form for form in kept if form != known + "s" or not known.endswith(FEMININE)]


def _moderate(word: str, code: str) -> list[str]:
    """Return the forms of a word inside a term, without comparatives and other long forms."""
    basic = lemma(word, code)
    longest = max(len(basic) + 2, len(word) + 1)
    short = [form for form in _word_forms(word, code) if len(form) <= longest]
    if code == "de" and word.islower():  # an adjective before its noun has an ending
        short = [form for form in short if form != basic and form.islower()]
        ending = next((each for each in ("en", *_ENDINGS) if word.endswith(each)), "")
        stem = word.removesuffix(ending)
        short += [stem + each for each in _ENDINGS] if ending and len(short) < len(_ENDINGS) else []
    return list(dict.fromkeys((word, *sorted(short, key=len))))


def _shortened(term: str, found: Sequence[str]) -> tuple[str, ...]:
    """Return the term itself, with corrected capitals, then its shortest other forms."""
    first = term if term in found else next((f for f in found if f.lower() == term.lower()), term)
    others = sorted(set(found) - {first}, key=lambda form: (len(form), form))
    return (first, *others[: MOST_FORMS - 1])


def _capitalised(word: str) -> str:
    return word[:1].upper() + word[1:]


def _code(language: str) -> str:
    """Return the code that simplemma has for a language."""
    if not isinstance(language, str) or not language:
        raise InputError(f"the language must be a code like de, not {represented(language)}")
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
    """Return the forms of each lemma, joined by line breaks.

    Lists of forms, of which there are a million, would take twice the memory.
    """
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
