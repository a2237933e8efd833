"""Phrase pairs from parallel text: aligned by a library, extracted, filtered for significance.

Words are aligned in both directions by Thot's fast_align model and symmetrised. Phrase pairs
are those whose words are aligned only to each other (Koehn et al. 2003). A pair is kept if it
is seen together more often than chance explains, by Fisher's exact test (Johnson et al. 2007).
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from lexbeam.errors import MissingExtraError

LONGEST = 4
"""Words of a phrase at most."""
ROUNDS = 5
"""Passes over the text to learn the alignment."""
MARGIN = 0.01
"""How far beyond chance a pair must be; with it, pairs that are all seen once are dropped."""

Phrase = tuple[str, ...]
Link = tuple[int, int]


class Pair(NamedTuple):
    """A sentence and its translation, in words."""

    source: Sequence[str]
    target: Sequence[str]


@dataclass(frozen=True)
class Entry:
    """A phrase and a translation of it, with how often each was seen, in sentences."""

    source: Phrase
    target: Phrase
    together: int
    source_count: int
    significance: float
    """Minus the logarithm of the chance to see them together so often."""

    @property
    def share(self) -> float:
        """How often the phrase is translated like this, of the times it is there."""
        return self.together / self.source_count


def split_words(text: str) -> list[str]:
    """Cut a sentence into words and punctuation."""
    return re.findall(r"\w+(?:['’-]\w+)*|[^\w\s]", text)


def align(pairs: Sequence[Pair]) -> list[list[Link]]:
    """Return which words of each pair belong together."""
    try:
        import thot.alignment as thot  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("extracting a phrase table", "study") from error
    sides = [
        [[word.lower() for word in sentence] for sentence in side]
        for side in ([p.source for p in pairs], [p.target for p in pairs])
    ]
    forth = _learn(thot.FastAlignModel(), *sides)
    back = _learn(thot.FastAlignModel(), *reversed(sides))
    both = thot.SymmetrizedAligner(forth, back)
    both.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    found = both.get_best_alignments(*sides)
    return [
        [(int(i), int(j)) for i, j in zip(*matrix.to_numpy().nonzero(), strict=True)]
        for _, matrix in found
    ]


def _learn(model: Any, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Any:
    for source, target in zip(sources, targets, strict=True):
        model.add_sentence_pair(source, target, 1)
    model.start_training()
    for _ in range(ROUNDS):
        model.train()
    model.end_training()
    return model


def extract(pair: Pair, links: Sequence[Link]) -> Iterator[tuple[range, range]]:
    """Yield the stretches of both sentences that are aligned to each other only."""
    for first in range(len(pair.source)):
        for last in range(first, min(first + LONGEST, len(pair.source))):
            there = [j for i, j in links if first <= i <= last]
            if not there or max(there) - min(there) >= LONGEST:
                continue
            target = range(min(there), max(there) + 1)
            if all(first <= i <= last for i, j in links if j in target):
                yield range(first, last + 1), target


def build(pairs: Sequence[Pair], alignments: Sequence[Sequence[Link]]) -> tuple[list[Entry], int]:
    """Return the significant phrase pairs, and how many there were before."""
    together: Counter[tuple[Phrase, Phrase]] = Counter()
    for pair, links in zip(pairs, alignments, strict=True):
        together.update(
            {
                (lowered(pair.source, source), cut(pair.target, target))
                for source, target in extract(pair, links)
                if is_words(pair.source, source) and is_words(pair.target, target)
            }
        )
    sources = _seen({s for s, _ in together}, ([w.lower() for w in p.source] for p in pairs))
    targets = _seen({t for _, t in together}, (p.target for p in pairs))
    least = math.log(max(len(pairs), 1)) + MARGIN
    kept = []
    for (source, target), count in sorted(together.items()):
        counts = sources[source], targets[target]
        value = -log_chance(count, *counts, len(pairs))
        if value > least:
            kept.append(Entry(source, target, count, counts[0], value))
    return kept, len(together)


def log_chance(together: int, ones: int, others: int, total: int) -> float:
    """Return the log-probability of at least so many together by chance (Fisher's exact test)."""

    def choose(n: int, k: int) -> float:
        return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)

    everything = choose(total, ones)
    terms = [
        choose(others, k) + choose(total - others, ones - k) - everything
        for k in range(together, min(ones, others) + 1)
        if ones - k <= total - others
    ]
    if not terms:
        return -math.inf
    top = max(terms)
    return min(0.0, top + math.log(math.fsum(math.exp(term - top) for term in terms)))


def cut(words: Sequence[str], where: range) -> Phrase:
    """Return a stretch of a sentence."""
    return tuple(words[where.start : where.stop])


def lowered(words: Sequence[str], where: range) -> Phrase:
    """Return a stretch of a sentence in small letters."""
    return tuple(word.lower() for word in cut(words, where))


def is_words(words: Sequence[str], where: range) -> bool:
    """Tell whether a stretch has no punctuation in it."""
    return all(word[0].isalnum() for word in cut(words, where))


def _seen(phrases: set[Phrase], sentences: Any) -> Counter[Phrase]:
    """Count the sentences that each phrase stands in."""
    counts: Counter[Phrase] = Counter()
    for words in sentences:
        grams = {tuple(words[i : i + n]) for n in range(1, LONGEST + 1) for i in range(len(words))}
        counts.update(grams & phrases)
    return counts
