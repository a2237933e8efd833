"""Constraints taken from references, as the paper's experiments take them.

``rand3`` are three random words of each reference, ``phr4`` four words in a row, ``none`` is
nothing; any number will do. The same seed, set and sentence always give the same constraints.

Whether a constraint is met is decided here on the translated text alone, by a search of its
own: what the search for constraints promises is not to be believed by those who test it.
"""

from __future__ import annotations

import random
import re
from collections import Counter
from collections.abc import Iterator, Sequence

from lexbeam.errors import InputError
from lexbeam.text.word_boundaries import is_unspaced, is_word_character

PAPER_SETS = ("none", "rand1", "rand2", "rand3", "rand4", "phr3", "phr4")
"""The paper's sets; phr3 is that of its figure on placement."""

EDGES = (
    "".join(chr(c) for c in range(33, 65) if not chr(c).isalnum())
    + "[]{}«»“”‘’…–—。、，：；！？（）「」"
)
"""What is taken off the ends of words: punctuation."""

_UNSPACED_WORD = 2  # characters taken for a word in scripts that do not part words


def choose(name: str, reference: str, sentence: int, seed: int = 0) -> list[str]:
    """Return the constraints of a set for one sentence, which is counted from 0."""
    kind, size = parse(name)
    chance = random.Random(f"{name} {sentence}" + (f" {seed}" if seed else ""))
    there = list(_words(reference))
    words = [word for word in (text.strip(EDGES) for _, text in there) if word]
    if not size or not words:
        return []
    if kind == "phr":
        first = chance.randrange(max(len(there) - size + 1, 1))
        start = there[first][0]
        end, last = there[min(first + size, len(there)) - 1]
        phrase = " ".join(reference[start : end + len(last)].split()).strip(EDGES + " ")
        return [phrase] if phrase else []
    return chance.sample(words, min(size, len(words)))


def parse(name: str) -> tuple[str, int]:
    """Return the kind of a set and its number of words; 0 for none."""
    match = re.fullmatch(r"(rand|phr)([1-9]\d?)", name)
    if name == "none":
        return "rand", 0
    if not match:
        raise InputError(f"unknown constraint set {name!r}: say none, randN or phrN (rand3, phr4)")
    return match[1], int(match[2])


def make(name: str, references: Sequence[str], seed: int = 0) -> list[list[str]]:
    """Return the constraints of a set, a list for each sentence."""
    return [choose(name, reference, i, seed) for i, reference in enumerate(references)]


def exactly(phrases: Sequence[str]) -> list[dict[str, str]]:
    """Demand phrases as they are written: the paper's are, wherever they are put."""
    return [{"text": phrase, "case": "exact"} for phrase in phrases]


def count_met(text: str, phrases: Sequence[str]) -> int:
    """Count the phrases that stand in a text as whole words, each as often as it is given."""
    met = 0
    for phrase, times in Counter(phrases).items():
        found = re.findall(_whole(phrase), text)
        met += min(times, len(found))
    return met


def find(text: str, phrase: str) -> int | None:
    """Return where a phrase first stands in a text as whole words, or None."""
    match = re.search(_whole(phrase), text)
    return match.start() if match else None


def _whole(phrase: str) -> str:
    """Return a pattern for a phrase as whole words; matches may overlap."""
    before = r"(?<!\w)" if _needs_boundary(phrase[0]) else ""
    after = r"(?!\w)" if _needs_boundary(phrase[-1]) else ""
    return f"{before}(?={re.escape(phrase)}{after})"


def _needs_boundary(character: str) -> bool:
    return not is_unspaced(character)


def _words(text: str) -> Iterator[tuple[int, str]]:
    """Yield what stands between spaces, and where; scripts without spaces are cut into pairs."""
    for match in re.finditer(r"\S+", text):
        word = match[0]
        if not any(map(is_unspaced, word)):
            yield match.start(), word
            continue
        for part in re.finditer(rf"[^\W]{{1,{_UNSPACED_WORD}}}", word):
            if all(map(is_word_character, part[0])):
                yield match.start() + part.start(), part[0]
