"""Where words begin and end, in any script, and where a phrase stands as whole words.

What counts as a met constraint rests on one rule, `are_glued`. The search applies it to the
pieces of the vocabulary (may this piece follow a finished phrase?), the report to the finished
text.
"""

from __future__ import annotations

import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from functools import lru_cache

Span = tuple[int, int]
"""Where something stands in a text: the offsets of its first character and behind its last."""

# Scripts written without spaces between words, as (first, last) code points.
_UNSPACED_BLOCKS = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x0F00, 0x109F),  # Tibetan, Myanmar
    (0x1780, 0x17FF),  # Khmer
    (0x1950, 0x19DF),  # Tai Le, New Tai Lue
    (0x19E0, 0x19FF),  # Khmer symbols
    (0x1A20, 0x1AAF),  # Tai Tham
    (0x2E80, 0x2FDF),  # Han radicals
    (0x3005, 0x3007),  # Han iteration mark, closing mark, zero
    (0x3021, 0x3029),  # Hangzhou numerals
    (0x3031, 0x3035),  # kana repeat marks
    (0x3041, 0x312F),  # Hiragana, Katakana, Bopomofo
    (0x31A0, 0x31BF),  # Bopomofo extended
    (0x31F0, 0x31FF),  # Katakana extensions
    (0x3400, 0x4DBF),  # Han extension A
    (0x4E00, 0x9FFF),  # Han
    (0xA9E0, 0xA9FF),  # Myanmar extended B
    (0xAA60, 0xAA7F),  # Myanmar extended A
    (0xF900, 0xFAFF),  # Han compatibility
    (0xFF66, 0xFF9F),  # halfwidth Katakana
    (0x20000, 0x3FFFF),  # Han extensions B and later
)
_BLOCK_STARTS = [first for first, _ in _UNSPACED_BLOCKS]

# Invisible characters that keep a word together: soft hyphen, (non-)joiners, word joiner.
_JOINERS = frozenset("\u00ad\u200c\u200d\u2060")

# Letters of unspaced scripts that only ever continue a syllable: the Thai and Lao vowels written
# after their consonant, the small kana.
_TRAILING_LETTERS = frozenset(
    "\u0e30\u0e32\u0e33\u0e45\u0eb0\u0eb2\u0eb3ぁぃぅぇぉっゃゅょゎァィゥェォッャュョヮ"
)


@lru_cache(maxsize=4096)
def is_unspaced(character: str) -> bool:
    """Return whether a character belongs to a script written without spaces between words."""
    code = ord(character)
    block = bisect_right(_BLOCK_STARTS, code) - 1
    return block >= 0 and code <= _UNSPACED_BLOCKS[block][1]


@lru_cache(maxsize=4096)
def is_word_character(character: str) -> bool:
    """Return whether a character is a letter, mark, digit, underscore or joiner."""
    category = unicodedata.category(character)
    return category[0] in "LMN" or category == "Pc" or character in _JOINERS


@lru_cache(maxsize=4096)
def _continues(character: str) -> bool:
    """Return whether a character only ever completes the one before it."""
    if character in _JOINERS or character in _TRAILING_LETTERS:
        return True
    category = unicodedata.category(character)
    return category[0] == "M" or (category == "Lm" and is_unspaced(character))


def are_glued(left: str, right: str) -> bool:
    """Return whether two characters next to each other belong to one word.

    Scripts without spaces do not show where words end. There every boundary between characters
    counts as one between words, except before a character that completes the one before it.
    """
    if _continues(right):
        return not left.isspace()
    if not (is_word_character(left) and is_word_character(right)):
        return False
    return not (is_unspaced(left) or is_unspaced(right))


def word_end(text: str, offset: int) -> int:
    """Return the offset at which the word around an offset ends; the offset itself if none does."""
    while 0 < offset < len(text) and are_glued(text[offset - 1], text[offset]):
        offset += 1
    return offset


def needs_boundary(phrase: str) -> bool:
    """Return whether the last word of a phrase could go on in what follows it.

    After punctuation, or in a script without spaces, it can't.
    """
    return is_word_character(phrase[-1]) and not is_unspaced(phrase[-1])


def occurrences(text: str, phrase: str, begin: int = 0) -> Iterator[Span]:
    """Yield the spans at which a phrase stands in a text as whole words, from left to right.

    Occurrences may overlap: ``na na`` stands twice in ``na na na``. None begins before ``begin``.
    """
    start = text.find(phrase, begin) if phrase else -1
    while start >= 0:
        span = start, start + len(phrase)
        if stands_alone(text, span):
            yield span
        start = text.find(phrase, start + 1)


def stands_alone(text: str, span: Span) -> bool:
    """Return whether no word goes on beyond either end of a span."""
    start, end = span
    begins = start == 0 or not are_glued(text[start - 1], text[start])
    return begins and (end == len(text) or not are_glued(text[end - 1], text[end]))


def contains(text: str, phrase: str) -> bool:
    """Return whether a phrase stands in a text as whole words."""
    return next(occurrences(text, phrase), None) is not None


def locate(text: str, phrases: Sequence[str]) -> list[Span | None]:
    """Return an occurrence of each phrase in a text, None for a phrase that has none left.

    The n-th of several equal phrases gets the n-th occurrence. Different phrases may share
    characters.
    """
    found = {phrase: occurrences(text, phrase) for phrase in phrases}
    return [next(found[phrase], None) for phrase in phrases]
