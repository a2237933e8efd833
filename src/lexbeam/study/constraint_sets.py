"""Constraints taken from references, as the paper's experiments take them.

``rand3`` is three random words of each reference, ``phr4`` is four words in a row, ``none`` is
no constraint. Any number is allowed. The same seed, set and sentence always give the same
constraints.

Whether a constraint is met is decided here by looking for it in the translated text. This does
not use the code under test.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.text.word_boundaries import is_unspaced, is_word_character

PAPER_SETS = ("none", "rand1", "rand2", "rand3", "rand4", "phr3", "phr4")
"""The paper's sets. It uses phr3 for its figure on placement."""

EDGES = (
    "".join(chr(c) for c in range(33, 65) if not chr(c).isalnum())
    + "[]{}«»“”‘’…–—。、，：；！？（）「」"
)
"""The punctuation that is stripped from the ends of words."""

_UNSPACED_WORD = 2  # characters taken as a word in scripts without spaces


def choose_constraints(name: str, reference: str, sentence: int, seed: int = 0) -> list[str]:
    """Return the constraints of a set for one sentence, given by its index."""
    kind, size = parse_set_name(name)
    chance = random.Random(f"{name} {sentence}" + (f" {seed}" if seed else ""))
    spans = list(_words(reference))
    words = [word for word in (text.strip(EDGES) for _, text in spans) if word]
    if not size or not words:
        return []
    if kind == "phr":
        first = chance.randrange(max(len(spans) - size + 1, 1))
        start = spans[first][0]
        last_start, last = spans[min(first + size, len(spans)) - 1]
        phrase = " ".join(reference[start : last_start + len(last)].split()).strip(EDGES + " ")
        return [phrase] if phrase else []
    return chance.sample(words, min(size, len(words)))


def parse_set_name(name: str) -> tuple[str, int]:
    """Return the kind of a set, ``rand`` or ``phr``, and its number of words (0 for ``none``)."""
    match = re.fullmatch(r"(rand|phr)([1-9]\d?)", name)
    if name == "none":
        return "rand", 0
    if not match:
        raise InputError(f"unknown constraint set {name!r}: say none, randN or phrN (rand3, phr4)")
    return match[1], int(match[2])


def make_constraint_set(name: str, references: Sequence[str], seed: int = 0) -> list[list[str]]:
    """Return the constraints of a set, one list per sentence."""
    return [choose_constraints(name, reference, i, seed) for i, reference in enumerate(references)]


def exact(phrases: Sequence[str]) -> list[dict[str, str]]:
    """Return phrases as constraints that keep their case everywhere, as the paper's do."""
    return [{"text": phrase, "case": "exact"} for phrase in phrases]


def count_met(text: str, phrases: Sequence[str]) -> int:
    """Count the phrases that occur in a text as whole words, each as often as it is given."""
    met = 0
    for phrase, times in Counter(phrases).items():
        found = re.findall(_whole_words(phrase), text)
        met += min(times, len(found))
    return met


def find_phrase(text: str, phrase: str) -> int | None:
    """Return the offset of the first occurrence of a phrase as whole words, or None."""
    match = re.search(_whole_words(phrase), text)
    return match.start() if match else None


def _whole_words(phrase: str) -> str:
    """Return a regular expression for a phrase as whole words. Its matches may overlap."""
    before = r"(?<!\w)" if _needs_boundary(phrase[0]) else ""
    after = r"(?!\w)" if _needs_boundary(phrase[-1]) else ""
    return f"{before}(?={re.escape(phrase)}{after})"


def _needs_boundary(character: str) -> bool:
    return not is_unspaced(character)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield the offset and text of each word. Text without spaces is cut into short pieces."""
    for match in re.finditer(r"\S+", text):
        word = match[0]
        if not any(map(is_unspaced, word)):
            yield match.start(), word
            continue
        for part in re.finditer(rf"[^\W]{{1,{_UNSPACED_WORD}}}", word):
            if all(map(is_word_character, part[0])):
                yield match.start() + part.start(), part[0]
