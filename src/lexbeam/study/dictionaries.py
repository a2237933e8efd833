"""Constraints from a phrase table and from a dictionary of names.

The paper's appendix tries both. Neither uses the reference: the table is learnt from other text,
and each sentence gets the translations of the phrases that occur in it.
"""

from __future__ import annotations

import gzip
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError
from lexbeam.study import alignment
from lexbeam.study.alignment import Entry, Pair, Phrase, split_words
from lexbeam.study.cells import Translated
from lexbeam.study.constraint_sets import count_met
from lexbeam.study.experiment import Experiment
from lexbeam.study.store import Result, digest

MOST_PAIRS = 50_000
"""The most sentence pairs that are read from a parallel text."""
MOST_CONSTRAINTS = 3
"""The most constraints per sentence."""
LEAST_SHARE = 0.5
"""The least share of a phrase's sentences in which it is translated so."""
LEAST_LETTERS = 4
"""A phrase is used only if one of its words has so many letters."""
EXAMPLES = 12
"""Entries that the report shows."""


@dataclass(frozen=True)
class Dictionaries:
    """The constraints of each sentence by the phrase table and by the dictionary of names.

    Without a parallel text, each half of the test set gets what is learnt from the other half,
    so that no sentence sees its own reference.
    """

    parallel: Path | None = None
    entities: Path | None = None

    name = "dictionaries"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {
            name: path and digest([path.read_bytes()])
            for name, path in (("parallel", self.parallel), ("entities", self.entities))
        }

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score."""
        return 40.0 * len(experiment.text.sources)

    def run(self, experiment: Experiment) -> Result:
        """Learn a phrase table and names, and look up each sentence."""
        sentences = [split_words(source) for source in experiment.text.sources]
        given = read_entries(self.entities) if self.entities else None
        found: Result = {"table": [[]] * len(sentences), "names": [[]] * len(sentences)}
        counts: Counter[str] = Counter()
        examples: list[Entry] = []
        for pairs, applied in self._folds(experiment):
            links = alignment.align(pairs)
            table, candidates = alignment.build_phrase_table(pairs, links)
            names = given if given is not None else find_names(pairs, links)
            best = best_entries(table)
            for i in applied:
                found["table"][i] = look_up(sentences[i], best)
                found["names"][i] = look_up_names(sentences[i], names)
            examples = examples or sorted(best.values(), key=lambda e: (-e.significance, e.source))
            counts.update(pairs=len(pairs), candidates=candidates, kept=len(table))
            counts.update(usable=len(best), names=len(names))
        shown = [[" ".join(e.source), " ".join(e.target), e.together] for e in examples[:EXAMPLES]]
        return {**found, "counts": dict(counts), "examples": shown}

    def _folds(self, experiment: Experiment) -> list[tuple[list[Pair], Sequence[int]]]:
        """Return texts to learn from, each with the sentences that it is used for."""
        if self.parallel:
            return [(read_pairs(self.parallel), range(len(experiment.text.sources)))]
        text = experiment.text
        pairs = [
            Pair(split_words(source), split_words(reference))
            for source, reference in zip(text.sources, text.references, strict=True)
        ]
        return [(pairs[1::2], range(0, len(pairs), 2)), (pairs[::2], range(1, len(pairs), 2))]


@dataclass(frozen=True)
class TranslatedWithDictionary(Translated):
    """The test set translated with constraints from a dictionary.

    ``clean`` leaves out constraints that are not in the reference, as if the dictionary had no
    noise.
    """

    source: Dictionaries = field(default_factory=Dictionaries)
    clean: bool = False

    @property
    def name(self) -> str:
        """The dictionary and the setting."""
        return f"{self.set_name}{'-clean' if self.clean else ''}-{self.setting.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {**super().key(), **self.source.key(), "clean": self.clean}

    def phrases(self, experiment: Experiment) -> list[list[str]]:
        """The constraints of each sentence."""
        found: list[list[str]] = experiment.result(self.source)[self.set_name]
        if not self.clean:
            return found
        return [
            [phrase for phrase in these if count_met(reference, [phrase])]
            for these, reference in zip(found, experiment.text.references, strict=True)
        ]

    def work(self, experiment: Experiment) -> float:
        """Estimate the hypotheses to score."""
        return len(experiment.text.sources) * self.setting.expected_beam(1)


def best_entries(table: Sequence[Entry]) -> dict[Phrase, Entry]:
    """Return the most frequent translation of each phrase, if it is frequent enough."""
    best: dict[Phrase, Entry] = {}
    for entry in table:
        words = (*entry.source, *entry.target)
        long_enough = all(
            any(len(word) >= LEAST_LETTERS for word in side)
            for side in (entry.source, entry.target)
        )
        if entry.share < LEAST_SHARE or not long_enough or not all(words):
            continue
        if entry.source not in best or entry.together > best[entry.source].together:
            best[entry.source] = entry
    return best


def look_up(words: Sequence[str], best: Mapping[Phrase, Entry]) -> list[str]:
    """Return a sentence's constraints by a phrase table: longest phrases, without overlap."""
    lowered = [word.lower() for word in words]
    spans = [
        (range(i, i + n), tuple(lowered[i : i + n]))
        for n in range(1, alignment.LONGEST + 1)
        for i in range(len(words) - n + 1)
    ]
    known = [(span, best[phrase]) for span, phrase in spans if phrase in best]
    known.sort(key=lambda found: (-len(found[0]), -found[1].significance, found[0].start))
    return _without_overlap([(span, " ".join(entry.target)) for span, entry in known])


def find_names(
    pairs: Sequence[Pair], alignments: Sequence[Sequence[alignment.Link]]
) -> dict[Phrase, str]:
    """Return names and their translations: capitalised words inside a sentence."""
    seen: dict[Phrase, Counter[str]] = defaultdict(Counter)
    for pair, links in zip(pairs, alignments, strict=True):
        for source, target in alignment.extract_phrases(pair, links):
            if _is_name(pair.source, source) and _is_capitalised(pair.target, target):
                phrase = alignment.phrase_at(pair.source, source)
                seen[phrase][" ".join(alignment.phrase_at(pair.target, target))] += 1
    return {phrase: min(c, key=lambda t: (-c[t], t)) for phrase, c in sorted(seen.items())}


def look_up_names(words: Sequence[str], names: Mapping[Phrase, str]) -> list[str]:
    """Return a sentence's constraints by a dictionary of names: longest names first."""
    longest = max(map(len, names), default=0)
    known = [
        (range(i, i + n), names[tuple(words[i : i + n])])
        for n in range(longest, 0, -1)
        for i in range(len(words) - n + 1)
        if tuple(words[i : i + n]) in names
    ]
    return _without_overlap(known)


def _without_overlap(known: Sequence[tuple[range, str]]) -> list[str]:
    taken: set[int] = set()
    chosen: list[str] = []
    for span, phrase in known:
        if len(chosen) < MOST_CONSTRAINTS and taken.isdisjoint(span) and phrase not in chosen:
            taken.update(span)
            chosen.append(phrase)
    return chosen


def _is_name(words: Sequence[str], span: range) -> bool:
    begins = span.start == 0 or not words[span.start - 1][0].isalnum()
    return not begins and _is_capitalised(words, span)


def _is_capitalised(words: Sequence[str], span: range) -> bool:
    return all(word[0].isupper() and len(word) > 1 for word in alignment.phrase_at(words, span))


def read_pairs(path: Path) -> list[Pair]:
    """Read parallel text: source, tab, target. A file that ends in .gz is decompressed."""
    pairs = [Pair(split_words(s), split_words(t)) for s, t in read_rows(path)[:MOST_PAIRS]]
    return [pair for pair in pairs if pair.source and pair.target]


def read_entries(path: Path) -> dict[Phrase, str]:
    """Read a dictionary: source, tab, target."""
    return {
        tuple(split_words(s)): " ".join(t.split()) for s, t in read_rows(path) if s and t.strip()
    }


def read_rows(path: Path) -> list[tuple[str, str]]:
    """Read the first two columns of each line."""
    try:
        data = path.read_bytes()
        text = (gzip.decompress(data) if path.suffix == ".gz" else data).decode("utf-8-sig")
    except (OSError, EOFError, ValueError) as error:
        raise InputError(f"{path}: can't be read as text ({error})") from error
    rows = []
    for number, line in enumerate(text.splitlines(), 1):
        source, tab, target = line.partition("\t")
        if not tab:
            raise InputError(f"{path}: line {number} has no tab between source and target")
        rows.append((source, target.split("\t")[0]))
    return rows
