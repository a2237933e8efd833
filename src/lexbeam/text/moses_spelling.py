"""The target side of a model whose words are joined by Moses.

Where Moses puts spaces depends on the whole sentence: quotation marks are opened and closed in
turn, and words that were split at a slash or an ampersand stay split. But a demanded phrase must
look as it was asked for. Where Moses would write its words otherwise, they are joined to one
unit first, and Moses joins only the words around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from lexbeam.text.literals import Placed
from lexbeam.text.moses_vocabulary import INVISIBLE, MosesBpe
from lexbeam.text.phrases import Spelling
from lexbeam.text.prefixes import completions
from lexbeam.text.spelling import TargetText
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character

_MARK = "\ufdd0"  # not a character: stands for a unit while the words around it are joined


class Unit(NamedTuple):
    """Words that are written as one."""

    end: int
    """The index of the word after it."""
    shown: str
    """How it is written."""


Units = dict[int, Unit]
"""Units by the index of their first word."""


class MosesText(TargetText):
    """Spells phrases as tokens and writes tokens as text, with the words joined by Moses."""

    def __init__(self, vocabulary: MosesBpe, language: str | None = None) -> None:
        super().__init__(vocabulary, language)
        self._moses = vocabulary
        self._wordwise = vocabulary.wordwise

    def spell_beginnings(self, prefix: str) -> list[Spelling]:
        """Return the spellings of a prefix whose last word may go on, as far as one token more."""
        spelling = self.spell_prefix(prefix)
        if spelling.pieces:
            return [spelling]
        words = self._moses.words(spelling.ids)
        found = completions(self._wordwise, " ".join(words), spelling.ids)
        return [replace(spelling, ids=ids) for ids, _ in found]

    def _literal_word(self, ids: Sequence[int], pieces: Sequence[str], word: str) -> Sequence[int]:  # noqa: ARG002
        """Return the tokens of a word, of which the unknown ones are replaced.

        How words are joined comes later, when all are known.
        """
        return self._literal_pieces(ids, pieces)

    def _write(
        self, pieces: list[str], placed: Sequence[Placed], phrases: Sequence[Spelling]
    ) -> str:
        written = _with_literals(pieces, placed)
        words = self._moses.words([piece for piece in written if piece])
        units: Units = {}
        while True:
            text = self._join(words, units)
            more = self._unite(words, units, text, phrases)
            if more == units:
                return text
            units = more

    def _ends(
        self, pieces: list[str], placed: Sequence[Placed], phrases: Sequence[Spelling]
    ) -> list[int]:
        text = self._write(pieces, placed, phrases)
        shown = _with_literals(pieces, placed)
        written = ["".join(self._moses.words([piece])) for piece in shown]
        return [end for _, end in _follow(text, written)]

    def _join(self, words: Sequence[str], units: Units) -> str:
        """Return words as a text with each unit written as it is to be shown."""
        inside = _inside(units)
        marked = [_MARK if i in units else word for i, word in enumerate(words) if i not in inside]
        first, *others = self._moses.join(marked).split(_MARK)
        shown = (units[index].shown for index in sorted(units))
        return first + "".join(map("".join, zip(shown, others, strict=True)))

    def _unite(
        self, words: Sequence[str], units: Units, text: str, spellings: Sequence[Spelling]
    ) -> Units:
        """Return the units, with those added that phrases need to look as they were asked for.

        Each of several phrases of the same words gets an occurrence; one that looks right
        already keeps it.
        """
        spans = _follow(text, words)
        found = dict(units)
        for made_of, alike in self._by_words(spellings):
            asked = [spelling.surface for spelling in alike]
            wrong = []
            for first in _occurrences(words, made_of, begins=alike[0].begins):
                end = first + len(made_of)
                rest = words[end - 1][len(made_of[-1]) :]
                written = text[spans[first][0] : spans[end - 1][1] - len(rest)]
                if written in asked:
                    asked.remove(written)
                else:
                    wrong.append((first, end, rest))
            for (first, end, rest), surface in zip(wrong, asked, strict=False):
                _add(found, first, Unit(end, surface + rest), words)
        return found

    def _by_words(
        self, spellings: Sequence[Spelling]
    ) -> Iterator[tuple[tuple[str, ...], list[Spelling]]]:
        """Yield spellings of the same words together, those of most words first."""
        by_words: dict[tuple[bool, tuple[str, ...]], list[Spelling]] = {}
        for spelling in spellings:
            made_of = tuple(self._moses.words(spelling.pieces or spelling.ids))
            if made_of:
                by_words.setdefault((spelling.begins, made_of), []).append(spelling)
        for (_, made_of), alike in sorted(by_words.items(), key=lambda item: -len(item[0][1])):
            yield made_of, alike


def _with_literals(pieces: Sequence[str], placed: Sequence[Placed]) -> list[str]:
    """Return pieces with the characters that the vocabulary lacks."""
    written = list(pieces)
    for start, _, text in placed:
        written[start] = SPACE + text[1:] if text.startswith(" ") else text
    return written


def _inside(units: Units) -> set[int]:
    """Return the indices of the words of units, the first of each left out."""
    return {index for first, unit in units.items() for index in range(first + 1, unit.end)}


def _add(units: Units, first: int, unit: Unit, words: Sequence[str]) -> None:
    """Add a unit that begins with the word at index ``first``; units that overlap are merged.

    Quotation marks that two units share are written twice.
    """
    for start in [start for start in units if start < unit.end and first < units[start].end]:
        other = units[start]
        if start <= first and unit.end <= other.end:
            return
        del units[start]
        if first <= start and other.end <= unit.end:
            continue
        (first, left), (second, right) = sorted(((first, unit), (start, other)))
        shared = words[second : left.end]
        if any(is_word_character(character) for word in shared for character in word):
            written = _follow(right.shown, words[second : right.end])
            shown = left.shown + right.shown[written[len(shared) - 1][1] :]
        else:
            shown = f"{left.shown} {right.shown}"
        unit = Unit(right.end, shown)
    units[first] = unit


def _occurrences(words: Sequence[str], sought: tuple[str, ...], begins: bool) -> list[int]:
    """Return the indices at which words occur among others.

    The last word may be the beginning of a longer one if that goes on with punctuation, or if
    the text ``begins`` with the words and may finish the last of them.
    """
    *inner, last = sought
    found = []
    for index in find_subsequence(words[:-1], inner) if words else ():
        word = words[index + len(inner)]
        rest = word[len(last) :]
        is_whole = not rest or not are_glued(last[-1], rest[0])
        if word.startswith(last) and ((begins and index == 0) or (not begins and is_whole)):
            found.append(index)
    return found


def _follow(text: str, strings: Sequence[str]) -> list[Span]:
    """Return the spans of strings in a text that has them one after another.

    Between their characters the text may have spaces, invisible characters, and marks that were
    written twice.
    """
    spans = []
    offset = 0
    for string in strings:
        start = None
        for character in string:
            found = text.find(character, offset)
            skipped = text[offset:found].translate(INVISIBLE)
            if found >= 0 and not any(map(is_word_character, skipped)):
                start = found if start is None else start
                offset = found + 1
        spans.append((offset if start is None else start, offset))
    return spans
