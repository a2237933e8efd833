"""What the words around a source term say against it: names, addresses, verbs, hyphens.

A term that is written in lower case is also found with a capital, as at the beginning of a
sentence. But *directory* is not the word that *Active Directory* has: that is a name, and so is
*USER*. An English word whose translation is a noun is not meant where the word is a verb
(`english`): *process* in *was processed*, *access* in *to access the file*. Where it is joined to
another by a hyphen (*user-defined*), languages with compounds have one word for both.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cached_property

from lexbeam.constraints.glossary import english

Word = tuple[str, int, int]
"""A word of a text, and where it starts and ends."""

CAPITALISING = frozenset({"de", "deu", "ger", "lb", "ltz"})
"""Languages that write all nouns with a capital: it says nothing of names, but shows nouns."""

_ENDS_SENTENCE = frozenset(".!?…")
_MAY_BEGIN = frozenset(":;()[]{}\"'“”„‘’»«>|•–—*#") | _ENDS_SENTENCE
_ENCLOSING = frozenset("()[]{}\"'“”„‘’»«>")
_LONGEST = 200  # characters on each side that are looked at, of what has no space in it
_UP_TO_SPACE, _FROM_WORD = re.compile(r"[^\s<>]*\Z"), re.compile(r"[^\s<>]*")
_LEAST = 4  # letters of words that have a capital in titles
_ADDRESS = re.compile(
    r"::|://|[@$]\w|\w@\w|\w=\W?\w|^\W*/|/.*/|\w_|_\w|%\w+%|\{\w+\}|\w\(\)|^\W*--\w"
    r"|\\(?![nrt]\b)\w"  # a path, but no line break in a string of a program
    r"|\w\.[A-Za-z_]\w*(?=[.,;:!?/()\[\]{}\"@&|=\\]|#\w|$)"  # a name, as "Don't" is none
)
_PLACEHOLDER = re.compile(r"%\d+\$\w")
_APART = re.compile(rf"{_PLACEHOLDER.pattern}|(?:https?|ftp)://")  # belongs to no word before it
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
        if not self._is_capitalised(before) or word.lower() in english.DETERMINERS:
            return False
        # The first word of a sentence has a capital anyway.
        return not self._first[before] or _is_own_name(word)

    def may_be_name(self, index: int) -> bool:
        """Return whether a word has a capital that no beginning of a sentence gives it.

        Brackets and quotation marks begin none: *(Windows and Mac)*.
        """
        return self._is_capitalised(index) and (not self._opens[index] or self._title[index])

    def is_all_capitals(self, first: int, end: int) -> bool:
        """Return whether a word has nothing but capitals, in a text that has other letters, too."""
        words = [word for word, _, _ in self._words[first:end]]
        return any(len(word) >= _LEAST and word.isupper() for word in words) and not self._is_upper

    def is_in_address(self, first: int, end: int) -> bool:
        """Return whether words are part of an address, a path, or a name of a program's source."""
        start, stop = self._words[first][1], self._words[end - 1][2]
        before, after = self._text[max(start - _LONGEST, 0) : start], self._text[stop:]
        left, right = _UP_TO_SPACE.search(before), _FROM_WORD.match(after, 0, _LONGEST)
        assert left is not None
        assert right is not None
        own = _PLACEHOLDER.split(left[0])[-1] + self._text[start:stop] + _APART.split(right[0])[0]
        return bool(_ADDRESS.search(own))

    def is_verb(self, first: int, end: int) -> bool:
        """Return whether English words that could be a noun are seen to be a verb."""
        return english.is_verb(self._lower, first, end, self._begins[first])

    def may_be_verb(self, first: int, end: int) -> bool:
        """Return whether English words that are taken for a noun could be a verb."""
        return english.may_be_verb(self._lower, first, end, self._begins[first])

    def is_in_set_expression(self, first: int, end: int) -> bool:
        """Return whether English words are part of a set expression: *for example*."""
        return english.is_in_set_expression(self._lower, first, end)

    def is_identifier(self, first: int, end: int) -> bool:
        """Return whether English words name something in a program: *the Process class*."""
        inside = self.may_be_name(first) and not self._title[first]
        return inside and self._touches(end) and english.is_named_before(self._lower, end)

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
        here = self._words[index : index + 1]
        return bool(here) and self._text[self._words[index - 1][2] : here[0][1]] == " "

    @cached_property
    def _lower(self) -> list[str]:
        return [word.lower() for word, _, _ in self._words]

    @cached_property
    def _begins(self) -> list[bool]:
        """Whether a sentence, or something like one, begins with each word."""
        return self._are_behind(_MAY_BEGIN)

    @cached_property
    def _opens(self) -> list[bool]:
        """Whether a sentence, an item of a list or the like begins with each word."""
        return self._are_behind(_MAY_BEGIN - _ENCLOSING)

    @cached_property
    def _is_upper(self) -> bool:
        """Whether the whole text is written in capitals."""
        return self._text.isupper()

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
