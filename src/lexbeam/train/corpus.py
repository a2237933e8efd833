"""Parallel text: read it, and refuse what would waste hours of training.

A broken line found after three hours helps nobody, so files are read whole and checked first:
an error names the file and the line. What is merely poor (sides of very different length,
duplicates, text left untranslated) is dropped and counted.
"""

from __future__ import annotations

from pathlib import Path

from lexbeam.errors import InputError
from lexbeam.text.files import read_lines
from lexbeam.train.config import Corpus, corpus_name

Pair = tuple[str, str]

UNTRANSLATED_WORDS = 3
"""An identical line of more words than this was never translated; a shorter one is a name."""


def read_pairs(corpus: Corpus) -> list[Pair]:
    """Read a corpus; raise an InputError that names the first line that can't be used."""
    if corpus.path:
        pairs = _split_lines(Path(corpus.path))
    else:
        source, target = Path(corpus.source), Path(corpus.target)
        left, right = _read_lines(source), _read_lines(target)
        if len(left) != len(right):
            raise InputError(
                f"{source} has {len(left)} lines and {target} {len(right)}: line n of one must "
                "be the translation of line n of the other"
            )
        pairs = list(zip(left, right, strict=True))
    if not pairs:
        raise InputError(f"{corpus.path or corpus.source}: no line in it")
    for number, pair in enumerate(pairs, 1):
        if not (pair[0] and pair[1]):
            side = "source" if not pair[0] else "target"
            file = corpus.path or (corpus.source if side == "source" else corpus.target)
            raise InputError(f"{file}, line {number}: the {side} is empty; remove the pair")
    return pairs


def clean_pairs(pairs: list[Pair], max_ratio: float) -> list[Pair]:
    """Drop duplicates, untranslated lines, and pairs too unequal in length to be translations."""
    kept: dict[Pair, None] = {}
    for source, target in pairs:
        if source == target and source.count(" ") >= UNTRANSLATED_WORDS:
            continue
        # short strings differ widely in length and are right all the same
        longer, shorter = sorted((len(source) + 10, len(target) + 10), reverse=True)
        if longer <= max_ratio * shorter:
            kept[source, target] = None
    return list(kept)


def read_clean(corpus: Corpus, max_ratio: float) -> list[Pair]:
    """Read a corpus and clean it; a corpus of which nothing is left is an error."""
    pairs = clean_pairs(read_pairs(corpus), max_ratio)
    if not pairs:
        raise InputError(f"{corpus_name(corpus)}: no pair is left after cleaning")
    return pairs


def _split_lines(path: Path) -> list[Pair]:
    pairs = []
    for number, line in enumerate(_read_lines(path), 1):
        columns = line.split("\t")
        if len(columns) != 2:
            raise InputError(
                f"{path}, line {number}: {len(columns)} columns; source, one tab, target are needed"
            )
        pairs.append((columns[0].strip(), columns[1].strip()))
    return pairs


def _read_lines(path: Path) -> list[str]:
    lines = read_lines(path)
    for number, line in enumerate(lines, 1):
        if "\0" in line:
            raise InputError(f"{path}, line {number}: not text (it holds NUL characters)")
    return lines
