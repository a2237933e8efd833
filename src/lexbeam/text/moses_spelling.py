"""The target side of a model whose words are joined by Moses.

Moses decides by the whole sentence where spaces go: quotation marks are opened and closed in
turn, and what was once split at a slash or an ampersand stays split. A phrase that is demanded
must look as it was asked for. So where its words stand and the text has them otherwise, they
are written as one word, and Moses joins the others around it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexbeam.text.moses_vocabulary import INVISIBLE, MosesBpe
from lexbeam.text.prefixes import completions
from lexbeam.text.spelling import Spelling, TargetText, asked_as
from lexbeam.text.subsequences import find_subsequence
from lexbeam.text.word_boundaries import Span, are_glued, is_word_character

_MARK = "\ufdd0"  # no character: stands for a phrase while the words around it are joined


class Unit(NamedTuple):
    """Words that are written as one."""

    end: int
    """The number of the word after it."""
    shown: str


Units = dict[int, Unit]
"""By the number of the first word."""


class MosesText(TargetText):
    """Phrases in, text out."""

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
        """Return the token sequences to search for, so that every spelling has its own place.

        An unknown word does not even show that it is one, so that where a phrase ends in it
        and another begins with it, the search would let them share it.
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
        """Tell whether tokens can end in others' beginning, with something unknown in it."""
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
        """Return words as a text, each unit in it as it is to be shown."""
        inside = _inside(units)
        marked = [_MARK if i in units else word for i, word in enumerate(words) if i not in inside]
        first, *others = self._moses.join(marked).split(_MARK)
        shown = (units[place].shown for place in sorted(units))
        return first + "".join(map("".join, zip(shown, others, strict=True)))

    def _unite(
        self, words: Sequence[str], units: Units, text: str, spellings: Sequence[Spelling]
    ) -> Units:
        """Return units with what else has to be written as one, so that phrases look as asked for.

        Phrases of the same words get a place each; one that looks right already keeps it.
        """
        spans = _follow(text, words)
        found = dict(units)
        for made_of, alike in self._by_words(spellings):
            asked = [spelling.surface for spelling in alike]
            wrong = []
            for place in _occurrences(words, made_of, begins=alike[0].begins):
                end = place + len(made_of)
                going_on = words[end - 1][len(made_of[-1]) :]
                now = text[spans[place][0] : spans[end - 1][1] - len(going_on)]
                if now in asked:
                    asked.remove(now)
                else:
                    wrong.append((place, end, going_on))
            for (place, end, going_on), surface in zip(wrong, asked, strict=False):
                _add(found, place, Unit(end, surface + going_on), words)
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
    """Return the words of units, the first of each left out."""
    return {number for place, unit in units.items() for number in range(place + 1, unit.end)}


def _add(units: Units, place: int, unit: Unit, words: Sequence[str]) -> None:
    """Add a unit; what overlaps with it becomes one with it, and nothing is lost of either.

    Quotation marks that two phrases share are written twice.
    """
    for at in [at for at in units if at < unit.end and place < units[at].end]:
        other = units[at]
        if at <= place and unit.end <= other.end:
            return
        del units[at]
        if place <= at and other.end <= unit.end:
            continue
        (place, left), (second, right) = sorted(((place, unit), (at, other)))
        shared = words[second : left.end]
        if any(is_word_character(character) for word in shared for character in word):
            written = _follow(right.shown, words[second : right.end])
            shown = left.shown + right.shown[written[len(shared) - 1][1] :]
        else:
            shown = f"{left.shown} {right.shown}"
        unit = Unit(right.end, shown)
    units[place] = unit


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
    """Return where strings stand in a text that has them one after another.

    Between their characters there may be spaces, what can't be seen, and what was written twice.
    """
    spans = []
    place = 0
    for string in strings:
        start = None
        for character in string:
            found = text.find(character, place)
            skipped = text[place:found].translate(INVISIBLE)
            if found >= 0 and not any(map(is_word_character, skipped)):
                start = found if start is None else start
                place = found + 1
        spans.append((place if start is None else start, place))
    return spans
