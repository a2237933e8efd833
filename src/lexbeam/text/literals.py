"""Tokens for what a vocabulary can't write.

To a model all characters that its vocabulary lacks are the same unknown token, and others are
normalised: ``½`` becomes ``1⁄2``. A phrase with such characters is spelled with tokens beyond the
vocabulary. The model scores each as the token that it stands for. To the search they are tokens
like any other, so that no phrase is taken for another one. In the text they write what was asked
for.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import needs_boundary
from lexbeam.text.word_masks import continues_word

_BYTE = re.compile("<0x[0-9A-F]{2}>")  # a piece that writes one byte
_MARK = "\ufdd0"  # not a character: stands for a text until the tokens are joined


@dataclass(frozen=True)
class Aliases:
    """What the search knows of tokens beyond the vocabulary, in the order of their ids."""

    first: int = 0
    """The id of the first."""
    tokens: tuple[int, ...] = ()
    """The token of the vocabulary that each is scored as."""
    boundary: tuple[bool, ...] = ()
    """Whether each can't continue a word."""
    closing: tuple[bool, ...] = ()
    """Whether each ends a word, whatever follows."""
    starting: tuple[bool, ...] = ()
    """Whether each begins with a space."""
    written: tuple[str, ...] = ()
    """What each writes, for those who watch the search."""

    def __bool__(self) -> bool:
        return bool(self.tokens)


class Placed(NamedTuple):
    """The tokens of an output, from ``start`` to before ``end``, that write a text together."""

    start: int
    end: int
    text: str


class _Literal(NamedTuple):
    """One of the tokens that write a text together."""

    known: int
    """The token of the vocabulary that it is scored as."""
    run: tuple[int, ...]
    """All of the tokens."""
    text: str
    """What they write, with a space at its beginning if there is one before it."""


class Literals:
    """The tokens of one text; their ids begin behind those of the vocabulary."""

    def __init__(self, vocabulary_size: int) -> None:
        self._size = vocabulary_size
        self._literals: list[_Literal] = []
        self._runs: dict[tuple[str, tuple[int, ...]], tuple[int, ...]] = {}

    def tokens_for(self, text: str, known: Sequence[int]) -> tuple[int, ...]:
        """Return tokens that write a text and are scored as known ones."""
        key = text, tuple(known)
        if key not in self._runs:
            first = self._size + len(self._literals)
            run = tuple(range(first, first + len(known)))
            self._literals += [_Literal(token, run, text) for token in known]
            self._runs[key] = run
        return self._runs[key]

    def known(self, tokens: Sequence[int]) -> list[int]:
        """Return the tokens of the vocabulary that these are scored as."""
        return [self._literals[i - self._size].known if self._has(i) else i for i in tokens]

    def placed(self, tokens: Sequence[int]) -> Iterator[Placed]:
        """Yield the texts that tokens write; one of which some tokens are missing is not."""
        for index, token in enumerate(tokens):
            if self._has(token):
                literal = self._literals[token - self._size]
                end = index + len(literal.run)
                if tuple(tokens[index:end]) == literal.run:
                    yield Placed(index, end, literal.text)

    def ends_word_before(self, token: int) -> bool:
        """Return whether a token begins a text that can't continue a word."""
        if not self._has(token):
            return False
        literal = self._literals[token - self._size]
        return token == literal.run[0] and not continues_word(literal.text)

    def _has(self, token: int) -> bool:
        return self._size <= token < self._size + len(self._literals)

    @property
    def aliases(self) -> Aliases:
        """What the search has to know about the tokens."""
        if not self._literals:
            return Aliases()
        first = [literal.run[0] - self._size for literal in self._literals]
        firsts = [number == index for index, number in enumerate(first)]
        lasts = [*firsts[1:], True]
        texts = [literal.text for literal in self._literals]
        return Aliases(
            self._size,
            tuple(literal.known for literal in self._literals),
            tuple(f and not continues_word(text) for f, text in zip(firsts, texts, strict=True)),
            tuple(e and not needs_boundary(text) for e, text in zip(lasts, texts, strict=True)),
            tuple(f and text[0] == " " for f, text in zip(firsts, texts, strict=True)),
            tuple(text if f else "" for f, text in zip(firsts, texts, strict=True)),
        )


def mark_placed(pieces: Sequence[str], placed: Sequence[Placed]) -> list[str]:
    """Return pieces with a mark for each text that is written in place of some."""
    marked = list(pieces)
    for start, end, text in placed:
        space = " " if text.startswith(" ") else ""
        marked[start:end] = [space + _MARK] + [""] * (end - start - 1)
    return marked


def fill_marks(text: str, placed: Sequence[Placed]) -> str:
    """Return a text with what was placed in place of the marks."""
    first, *others = text.split(_MARK)
    shown = (each.text.removeprefix(" ") for each in placed)
    return first + "".join(map("".join, zip(shown, others, strict=False)))


def unchanged(pieces: Sequence[str], word: str) -> int:
    """Return how many pieces, never all, write the end of a word as it is.

    The ways in which a prefix may go on share what comes before if it has the same tokens in all.
    """
    for kept, piece in enumerate(reversed(pieces)):
        silent = not piece or SPACE in piece or _BYTE.fullmatch(piece)
        if silent or kept + 1 == len(pieces) or piece == word or not word.endswith(piece):
            return kept
        word = word.removesuffix(piece)
    return 0
