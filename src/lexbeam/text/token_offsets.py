"""Where in a text its tokens stand, in characters.

Vocabularies normalise what they read, so that the pieces of a text need not have its characters.
Where they do, their offsets are counted; where not, what both have in common is lined up.
"""

from __future__ import annotations

from collections.abc import Sequence
from difflib import SequenceMatcher
from itertools import accumulate

from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import Span

_BYTE_LENGTH = len("<0x00>")


def token_offsets(text: str, pieces: Sequence[str]) -> list[Span]:
    """Return the span of each piece in the text it was made from, without white space.

    A piece that has none of its characters there, or only space, gets an empty span where it
    would stand.
    """
    written = [_without_space(piece) for piece in pieces]
    letters = [i for i, character in enumerate(text) if not character.isspace()]
    bare = "".join(text[i] for i in letters)
    joined = "".join(written)
    where = list(range(len(bare))) if joined == bare else _lined_up(joined, bare)
    spans, at, end = [], 0, 0
    for piece in written:
        found = [index for index in where[at : at + len(piece)] if index is not None]
        at += len(piece)
        if found:
            start, end = letters[found[0]], letters[found[-1]] + 1
            spans.append((start, end))
        else:
            spans.append((end, end))
    return spans


def spans_between(text: str, ends: Sequence[int]) -> list[Span]:
    """Return the spans of strings that follow one another in a text, given where each ends.

    They are without white space. Bytes of a character may seem to write more than the whole
    character does: no string reaches beyond the end of a later one.
    """
    limits = [*accumulate(reversed(ends), min, initial=len(text))][:0:-1]
    spans, start = [], 0
    for limit in limits:
        end = max(start, limit)
        written = text[start:end]
        first = start + len(written) - len(written.lstrip())
        spans.append((first, first + len(written.strip())))
        start = end
    return spans


def tokens_in(spans: Sequence[Span], span: Span) -> list[int]:
    """Return the indices of the tokens that share characters with a span of the text."""
    start, end = span
    return [i for i, (first, last) in enumerate(spans) if first < end and last > start]


def _without_space(piece: str) -> str:
    """Return what a piece writes; a byte of a longer character writes nothing that is known."""
    if len(piece) == _BYTE_LENGTH and piece.startswith("<0x") and piece.endswith(">"):
        code = int(piece[3:5], 16)
        return chr(code) if code < 0x80 else "\ufffd"
    return piece.replace(SPACE, "")


def _lined_up(written: str, text: str) -> list[int | None]:
    """Return for each character of what was written the one of the text, None where unknown.

    Between what both have in common, characters are taken in order as far as they go.
    """
    where: list[int | None] = [None] * len(written)
    matcher = SequenceMatcher(None, written, text, autojunk=False)
    for _, first, last, start, end in matcher.get_opcodes():
        for i in range(first, last):
            if end > start:
                where[i] = min(start + i - first, end - 1)
    return where
