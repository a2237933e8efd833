"""The target side of a model whose words are joined by Moses.

Where Moses puts spaces depends on the whole sentence: quotation marks are opened and closed in
turn, and words that were split at a slash or an ampersand stay split. But a demanded phrase must
look as it was asked for. Where Moses would write its words otherwise, they are joined to one
unit first, and Moses joins only the words around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexbeam.text.moses_vocabulary import INVISIBLE, MosesBpe
from lexbeam.text.prefixes import completions
from lexbeam.text.spelling import Spelling, TargetText, asked_as
from lexbeam.text.subsequences import find_subsequence
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

    def spell_prefix(self, prefix: str) -> Spelling:
        """Return the beginning of an output as tokens."""
        return asked_as(prefix, super().spell_prefix(prefix))

    def spell_beginnings(self, prefix: str) -> list[tuple[int, ...]]:
        """Return the tokens that an output may begin with if its last word is not finished."""
        spelling = self.spell_prefix(prefix)
        if spelling.pieces:
            return [spelling.ids]
        words = self._moses.words(spelling.ids)
        return completions(self._wordwise, " ".join(words), spelling.ids)

    def demands(
        self, spellings: Sequence[Spelling], prefix: Spelling | None = None
    ) -> list[tuple[int, ...]]:
        """Return the token sequences to search for, so that every spelling gets an occurrence.

        All unknown words are the same token. Where one phrase ends in an unknown word and
        another begins with one, the search would let them share it. So one more is asked for.
        """
        demanded = super().demands(spellings, prefix)
        with_unknowns = [spelling for spelling in spellings if spelling.pieces]
        for number, right in enumerate(with_unknowns):
            others = with_unknowns[:number] + with_unknowns[number + 1 :]
            demanded += [
                right.ids
                for left in [*others, prefix]
                if left and left.pieces and self._share_unknown(left.ids, right.ids)
            ]
        return demanded

    def _share_unknown(self, left: tuple[int, ...], right: tuple[int, ...]) -> bool:
        """Return whether tokens can end in the beginning of others, with an unknown word in it."""
        unknown = self._moses.unk_id()
        most = min(len(left), len(right)) - 1
        return any(
            left[-width:] == right[:width] and unknown in right[:width]
            for width in range(1, most + 1)
        )

    def _write(self, pieces: list[str], spellings: Sequence[Spelling]) -> str:
        words = self._moses.words(pieces)
        units: Units = {}
        while True:
            text = self._join(words, units)
            more = self._unite(words, units, text, spellings)
            if more == units:
                return text
            units = more

    def _ends(self, pieces: list[str], spellings: Sequence[Spelling]) -> list[int]:
        text = self._write(pieces, spellings)
        written = ["".join(self._moses.words([piece])) for piece in pieces]
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
