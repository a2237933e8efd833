"""From sentence pairs to the examples of one pass: weighting, joining, swapping of names.

Everything drawn at random comes from the seed and the number of the pass, so that a run that
was killed finds the same examples again.
"""

from __future__ import annotations

import random
import re
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from lexbeam.train.config import Corpus
from lexbeam.train.corpus import Pair

NAME = re.compile(r"\b[A-ZÄÖÜ][\w]{2,}\b")
NUMBER = re.compile(r"\b\d{2,}\b")
VOWELS = "aeiouyäöü"
CONSONANTS = "bcdfghjklmnprstvwxzčšßñ"


class Example(NamedTuple):
    """A text and its translation, made of one pair or of several."""

    source: str
    target: str
    parts: tuple[int, ...]
    """Numbers of its pairs, which are counted through all corpora."""


def build_examples(
    corpora: Sequence[tuple[Corpus, Sequence[Pair]]], seed: int, epoch: int, max_characters: int
) -> list[Example]:
    """Draw the examples of one pass over the data, in no particular order."""
    examples: list[Example] = []
    first = 0
    names = shared_names(pair for _, pairs in corpora for pair in pairs)
    for number, (corpus, pairs) in enumerate(corpora):
        rng = random.Random(f"{seed}/{epoch}/{number}")
        drawn = [
            Example(*_swap_or_keep(pairs[i], corpus.swap, names, rng), (first + i,))
            for i in _draw(len(pairs), corpus.weight, rng)
        ]
        examples.extend(_join(drawn, corpus.join, max_characters, rng))
        first += len(pairs)
    return examples


def shared_names(pairs: Iterator[Pair]) -> list[str]:
    """List the capitalised words that stand on both sides of a pair: names, most of them."""
    names: dict[str, None] = {}
    for source, target in pairs:
        for word in NAME.findall(source):
            if word not in names and word in target:
                names[word] = None
    return list(names)


def _draw(pairs: int, weight: float, rng: random.Random) -> list[int]:
    """Take every number of a pair ``weight`` times, the fraction by lot, and shuffle."""
    drawn = list(range(pairs)) * int(weight)
    drawn += rng.sample(range(pairs), round((weight - int(weight)) * pairs))
    rng.shuffle(drawn)
    return drawn


def _swap_or_keep(pair: Pair, share: float, names: Sequence[str], rng: random.Random) -> Pair:
    return swap_shared_words(pair, names, rng) if rng.random() < share else pair


def swap_shared_words(pair: Pair, names: Sequence[str], rng: random.Random) -> Pair:
    """Put other names and numbers in the place of those that both sides share."""
    source, target = pair
    for pattern in (NAME, NUMBER):
        shared = set(pattern.findall(source)) & set(pattern.findall(target))
        for word in sorted(shared):
            if pattern is NUMBER:
                new = "".join(rng.choice("0123456789") for _ in word)
            elif rng.random() < 0.5 and names:
                new = rng.choice(names)
            else:
                new = _invent_name(rng)
            source = re.sub(rf"\b{word}\b", new, source)
            target = re.sub(rf"\b{word}\b", new, target)
    return source, target


def _invent_name(rng: random.Random) -> str:
    syllables = rng.randint(2, 4)
    name = "".join(rng.choice(CONSONANTS) + rng.choice(VOWELS) for _ in range(syllables))
    return (name + rng.choice(["", rng.choice(CONSONANTS)])).title()


def _join(
    examples: Sequence[Example], share: float, max_characters: int, rng: random.Random
) -> Iterator[Example]:
    """Join a share of the examples with the one or two that follow, while they stay short."""
    waiting = iter(examples)
    for example in waiting:
        joined = example
        for _ in range(rng.randint(1, 2) if rng.random() < share else 0):
            other = next(waiting, None)
            if other is None:
                break
            if len(joined.source) + len(other.source) > max_characters:
                yield other
                break
            joined = Example(
                f"{joined.source} {other.source}",
                f"{joined.target} {other.target}",
                joined.parts + other.parts,
            )
        yield joined
