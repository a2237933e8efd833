"""A phrase table from parallel text: align, extract, and keep what is significant.

Words are aligned in both directions by Thot's fast_align model and symmetrised. A phrase pair
is one whose words are aligned only to each other (Koehn et al. 2003). It is kept if its phrases
occur together more often than chance explains, by Fisher's exact test (Johnson et al. 2007).
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
"""The most words of a phrase."""
ROUNDS = 5
"""Iterations of training the alignment."""
MARGIN = 0.01
"""Added to the threshold of significance, so that pairs seen only once are dropped."""

Phrase = tuple[str, ...]
Link = tuple[int, int]


class Pair(NamedTuple):
    """A sentence and its translation, in words."""

    source: Sequence[str]
    target: Sequence[str]


@dataclass(frozen=True)
class Entry:
    """A phrase pair, with the number of sentence pairs that have it."""

    source: Phrase
    target: Phrase
    together: int
    source_count: int
    significance: float
    """Minus the log-probability to see them together so often by chance."""

    @property
    def share(self) -> float:
        """The share of the sentences with the source phrase in which it is translated so."""
        return self.together / self.source_count


def split_words(text: str) -> list[str]:
    """Split a sentence into words and punctuation."""
    return re.findall(r"\w+(?:['’-]\w+)*|[^\w\s]", text)


def align(pairs: Sequence[Pair]) -> list[list[Link]]:
    """Return the word alignment of each pair, as links of indices."""
    try:
        import thot.alignment as thot  # noqa: PLC0415
    except ImportError as error:
        raise MissingExtraError("extracting a phrase table", "study") from error
    sides = [
        [[word.lower() for word in sentence] for sentence in side]
        for side in ([p.source for p in pairs], [p.target for p in pairs])
    ]
    forward = _train(thot.FastAlignModel(), *sides)
    backward = _train(thot.FastAlignModel(), *reversed(sides))
    both = thot.SymmetrizedAligner(forward, backward)
    both.heuristic = thot.SymmetrizationHeuristic.GROW_DIAG_FINAL_AND
    found = both.get_best_alignments(*sides)
    return [
        [(int(i), int(j)) for i, j in zip(*matrix.to_numpy().nonzero(), strict=True)]
        for _, matrix in found
    ]


def _train(model: Any, sources: Sequence[Sequence[str]], targets: Sequence[Sequence[str]]) -> Any:
    for source, target in zip(sources, targets, strict=True):
        model.add_sentence_pair(source, target, 1)
    model.start_training()
    for _ in range(ROUNDS):
        model.train()
    model.end_training()
    return model


def extract_phrases(pair: Pair, links: Sequence[Link]) -> Iterator[tuple[range, range]]:
    """Yield the spans of both sentences that are aligned only to each other."""
    for first in range(len(pair.source)):
        for last in range(first, min(first + LONGEST, len(pair.source))):
            linked = [j for i, j in links if first <= i <= last]
            if not linked or max(linked) - min(linked) >= LONGEST:
                continue
            target = range(min(linked), max(linked) + 1)
            if all(first <= i <= last for i, j in links if j in target):
                yield range(first, last + 1), target


def build_phrase_table(
    pairs: Sequence[Pair], alignments: Sequence[Sequence[Link]]
) -> tuple[list[Entry], int]:
    """Return the significant phrase pairs, and how many pairs were extracted."""
    together: Counter[tuple[Phrase, Phrase]] = Counter()
    for pair, links in zip(pairs, alignments, strict=True):
        together.update(
            {
                (lowercase_at(pair.source, source), phrase_at(pair.target, target))
                for source, target in extract_phrases(pair, links)
                if is_without_punctuation(pair.source, source)
                and is_without_punctuation(pair.target, target)
            }
        )
    sources = _count_sentences(
        {s for s, _ in together}, ([w.lower() for w in p.source] for p in pairs)
    )
    targets = _count_sentences({t for _, t in together}, (p.target for p in pairs))
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


def phrase_at(words: Sequence[str], span: range) -> Phrase:
    """Return the words of a span."""
    return tuple(words[span.start : span.stop])


def lowercase_at(words: Sequence[str], span: range) -> Phrase:
    """Return the words of a span in lower case."""
    return tuple(word.lower() for word in phrase_at(words, span))


def is_without_punctuation(words: Sequence[str], span: range) -> bool:
    """Return whether a span has no punctuation in it."""
    return all(word[0].isalnum() for word in phrase_at(words, span))


def _count_sentences(phrases: set[Phrase], sentences: Any) -> Counter[Phrase]:
    """Count the sentences that contain each phrase."""
    counts: Counter[Phrase] = Counter()
    for words in sentences:
        grams = {tuple(words[i : i + n]) for n in range(1, LONGEST + 1) for i in range(len(words))}
        counts.update(grams & phrases)
    return counts
