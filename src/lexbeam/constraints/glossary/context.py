"""What the words around a source term say against it: names, verbs, hyphens.

A term that is written in lower case is also found with a capital, as at the beginning of a
sentence. But *directory* is not the word that *Active Directory* has: that is a name. And an
English word whose translation is a noun is not meant where the word is a verb: *process* in *was
processed*, *access* in *to access the file*. Where it is joined to another by a hyphen
(*user-defined*), languages with compounds have one word for both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

Word = tuple[str, int, int]
"""A word of a text, and where it starts and ends."""

CAPITALISING = frozenset({"de", "deu", "ger", "lb", "ltz"})
"""Languages that write all nouns with a capital: it says nothing of names, but shows nouns."""

_ENDS_SENTENCE = frozenset(".!?…")
_MAY_BEGIN = frozenset(":;()[]{}\"'“”„‘’»«>|•–—*#") | _ENDS_SENTENCE
_LEAST = 4  # letters of words that have a capital in titles
_BEFORE_VERBS = "can could may might must shall should will would cannot not you we they i who lets"
_DETERMINERS = (
    "the a an this that these those your its their our my his her all any each every it them "
    "another some"
)
_BEFORE_NOUNS = (
    " of in on at by for from with without to as and or no other more most many several both same "
    "new following"
)
_VERB_FORM = re.compile(r"[a-z](?:ed|ing)", re.IGNORECASE)


class Context:
    """The words of a text, to be asked about those around a term.

    ``words`` are all of them, punctuation included, as they stand in ``text``.
    """

    def __init__(self, text: str, words: Sequence[Word]) -> None:
        self._text = text
        self._words = words

    def cuts_name(self, first: int, end: int) -> bool:
        """Return whether words with capitals are part of a longer name, in a text that is no title.

        ``first`` and ``end`` are the index of the first word and that after the last one.
        """
        if not self._is_capitalised(first) or self._title[first]:
            return False
        after = end < len(self._words) and self._touches(end) and self._is_capitalised(end)
        before = first - 1
        if after or before < 0 or not self._touches(first):
            return after
        word = self._words[before][0]
        if not self._is_capitalised(before) or word.lower() in _DETERMINERS.split():
            return False
        # The first word of a sentence has a capital anyway.
        return not self._first[before] or _is_own_name(word)

    def may_be_name(self, index: int) -> bool:
        """Return whether a word has a capital that no beginning of a sentence gives it."""
        return self._is_capitalised(index) and (not self._begins[index] or self._title[index])

    def is_verb(self, first: int, end: int) -> bool:
        """Return whether English words that could be a noun are seen to be a verb."""
        before = self._words[first - 1][0].lower() if not self._begins[first] else ""
        if before in _BEFORE_VERBS.split():
            return True
        if end == len(self._words) or self._words[end][0].lower() not in _DETERMINERS.split():
            return False
        if before == "to" or self._begins[first]:
            return True
        # A noun goes before *lists the*, *changes a*, nothing that has to go before another noun.
        third_person = self._words[end - 1][0].endswith("s") and before[:1].isalpha()
        return third_person and before not in (_DETERMINERS + _BEFORE_NOUNS).split()

    def is_hyphenated(self, first: int, end: int) -> bool:
        """Return whether words are joined to others by a hyphen: *user* in *user-defined*."""
        start, stop = self._words[first][1], self._words[end - 1][2]
        before, after = self._text[max(start - 2, 0) : start], self._text[stop : stop + 2]
        return (before[1:] == "-" and before[0].isalpha()) or (
            after[:1] == "-" and after[1:].isalpha()
        )

    def _is_capitalised(self, index: int) -> bool:
        return self._words[index][0][:1].isupper()

    def _touches(self, index: int) -> bool:
        """Return whether only a space stands between a word and the one before it."""
        return self._text[self._words[index - 1][2] : self._words[index][1]] == " "

    @cached_property
    def _begins(self) -> list[bool]:
        """Whether a sentence, or something like one, begins with each word."""
        return self._are_behind(_MAY_BEGIN)

    @cached_property
    def _first(self) -> list[bool]:
        """Whether each word is the first of a sentence or line."""
        return self._are_behind(_ENDS_SENTENCE)

    def _are_behind(self, marks: frozenset[str]) -> list[bool]:
        """Return whether each word is the first, of a line or behind some marks."""
        behind, fresh, last = [], True, 0
        for word, start, end in self._words:
            fresh = fresh or "\n" in self._text[last:start]
            behind.append(fresh)
            fresh, last = word in marks or (fresh and not word[0].isalpha()), end
        return behind

    @cached_property
    def _title(self) -> list[bool]:
        """Whether each word is of a sentence in which all words but short ones have capitals."""
        starts = [i for i, first in enumerate(self._first) if first]
        marked: list[bool] = []
        for start, end in zip(starts, [*starts[1:], len(self._words)], strict=True):
            words = [word for word, *_ in self._words[start:end]]
            long = [word for word in words if len(word) >= _LEAST and word[0].isalpha()]
            is_title = all(word[0].isupper() for word in long)
            marked += [is_title] * (end - start)
        return marked


def is_verb_form(word: str, term: str) -> bool:
    """Return whether a word is a form of a verb in English, while its term is not."""
    return bool(_VERB_FORM.search(word, len(word) - 4)) and not term.endswith(("ed", "ing"))


def is_noun(target: str) -> bool:
    """Return whether a term of a language that capitalises nouns is one."""
    return target[:1].isupper()


def _is_own_name(word: str) -> bool:
    """Return whether a word has capitals or digits that no beginning of a sentence gives it."""
    return any(character.isupper() or character.isdigit() for character in word[1:])
