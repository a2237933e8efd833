"""Constraints that nobody chose: from a phrase table, and from a dictionary of names.

The paper's appendix tries both. Neither looks at the reference: the table is learnt from other
text, and each sentence gets the translations of the phrases that stand in it.
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
from lexbeam.study.bench import Bench
from lexbeam.study.measures import Translated
from lexbeam.study.sets import count_met
from lexbeam.study.store import Result, digest

MOST_PAIRS = 50_000
"""Sentence pairs read of a parallel text: enough to learn common phrases from."""
MOST_CONSTRAINTS = 3
"""Phrases demanded of a sentence."""
LEAST_SHARE = 0.5
"""How often a phrase must be translated like this."""
LEAST_LETTERS = 4
"""A phrase with only shorter words says little."""
EXAMPLES = 12


@dataclass(frozen=True)
class Dictionaries:
    """What is demanded of each sentence, by the phrase table and by the dictionary of names.

    Without a parallel text the test set itself is used, each half with what is learnt from the
    other: no sentence sees its own reference.
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

    def cost(self, bench: Bench) -> float:
        """About what it takes."""
        return 40.0 * len(bench.text.sources)

    def run(self, bench: Bench) -> Result:
        """Learn, and look up."""
        sentences = [split_words(source) for source in bench.text.sources]
        given = read_entries(self.entities) if self.entities else None
        found: Result = {"table": [[]] * len(sentences), "names": [[]] * len(sentences)}
        counts: Counter[str] = Counter()
        examples: list[Entry] = []
        for pairs, applied in self._folds(bench):
            links = alignment.align(pairs)
            table, candidates = alignment.build(pairs, links)
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

    def _folds(self, bench: Bench) -> list[tuple[list[Pair], Sequence[int]]]:
        """Return text to learn from, with the sentences to apply it to."""
        if self.parallel:
            return [(read_pairs(self.parallel), range(len(bench.text.sources)))]
        text = bench.text
        pairs = [
            Pair(split_words(source), split_words(reference))
            for source, reference in zip(text.sources, text.references, strict=True)
        ]
        return [(pairs[1::2], range(0, len(pairs), 2)), (pairs[::2], range(1, len(pairs), 2))]


@dataclass(frozen=True)
class Dictated(Translated):
    """The test set translated with what a dictionary says.

    ``clean`` leaves out what the reference does not have: what a dictionary without noise
    would have done.
    """

    source: Dictionaries = field(default_factory=Dictionaries)
    clean: bool = False

    @property
    def name(self) -> str:
        """What it is."""
        return f"{self.set_name}{'-clean' if self.clean else ''}-{self.setting.name}"

    def key(self) -> Mapping[str, Any]:
        """What the result depends on."""
        return {**super().key(), **self.source.key(), "clean": self.clean}

    def phrases(self, bench: Bench) -> list[list[str]]:
        """The constraints of each sentence."""
        found: list[list[str]] = bench.result(self.source)[self.set_name]
        if not self.clean:
            return found
        return [
            [phrase for phrase in these if count_met(reference, [phrase])]
            for these, reference in zip(found, bench.text.references, strict=True)
        ]

    def cost(self, bench: Bench) -> float:
        """About what it takes."""
        return len(bench.text.sources) * self.setting.width(1)


def best_entries(table: Sequence[Entry]) -> dict[Phrase, Entry]:
    """Return the one translation of each phrase that is worth demanding."""
    best: dict[Phrase, Entry] = {}
    for entry in table:
        words = (*entry.source, *entry.target)
        telling = all(
            any(len(word) >= LEAST_LETTERS for word in side)
            for side in (entry.source, entry.target)
        )
        if entry.share < LEAST_SHARE or not telling or not all(words):
            continue
        if entry.source not in best or entry.together > best[entry.source].together:
            best[entry.source] = entry
    return best


def look_up(words: Sequence[str], best: Mapping[Phrase, Entry]) -> list[str]:
    """Return what a table demands of a sentence: long phrases first, none inside another."""
    lowered = [word.lower() for word in words]
    places = [
        (range(i, i + n), tuple(lowered[i : i + n]))
        for n in range(1, alignment.LONGEST + 1)
        for i in range(len(words) - n + 1)
    ]
    known = [(where, best[phrase]) for where, phrase in places if phrase in best]
    known.sort(key=lambda found: (-len(found[0]), -found[1].significance, found[0].start))
    return _apart([(where, " ".join(entry.target)) for where, entry in known])


def find_names(
    pairs: Sequence[Pair], alignments: Sequence[Sequence[alignment.Link]]
) -> dict[Phrase, str]:
    """Return names and their translations: what is written large inside a sentence."""
    seen: dict[Phrase, Counter[str]] = defaultdict(Counter)
    for pair, links in zip(pairs, alignments, strict=True):
        for source, target in alignment.extract(pair, links):
            if _is_name(pair.source, source) and _is_large(pair.target, target):
                phrase = alignment.cut(pair.source, source)
                seen[phrase][" ".join(alignment.cut(pair.target, target))] += 1
    return {phrase: min(c, key=lambda t: (-c[t], t)) for phrase, c in sorted(seen.items())}


def look_up_names(words: Sequence[str], names: Mapping[Phrase, str]) -> list[str]:
    """Return what a dictionary of names demands of a sentence: long ones first."""
    longest = max(map(len, names), default=0)
    known = [
        (range(i, i + n), names[tuple(words[i : i + n])])
        for n in range(longest, 0, -1)
        for i in range(len(words) - n + 1)
        if tuple(words[i : i + n]) in names
    ]
    return _apart(known)


def _apart(known: Sequence[tuple[range, str]]) -> list[str]:
    taken: set[int] = set()
    chosen: list[str] = []
    for where, phrase in known:
        if len(chosen) < MOST_CONSTRAINTS and taken.isdisjoint(where) and phrase not in chosen:
            taken.update(where)
            chosen.append(phrase)
    return chosen


def _is_name(words: Sequence[str], where: range) -> bool:
    begins = where.start == 0 or not words[where.start - 1][0].isalnum()
    return not begins and _is_large(words, where)


def _is_large(words: Sequence[str], where: range) -> bool:
    return all(word[0].isupper() and len(word) > 1 for word in alignment.cut(words, where))


def read_pairs(path: Path) -> list[Pair]:
    """Read parallel text: source, tab, target; gzipped if the name ends so."""
    pairs = [Pair(split_words(s), split_words(t)) for s, t in read_rows(path)[:MOST_PAIRS]]
    return [pair for pair in pairs if pair.source and pair.target]


def read_entries(path: Path) -> dict[Phrase, str]:
    """Read a dictionary: source, tab, target."""
    return {
        tuple(split_words(s)): " ".join(t.split()) for s, t in read_rows(path) if s and t.strip()
    }


def read_rows(path: Path) -> list[tuple[str, str]]:
    """Read lines of two columns."""
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
