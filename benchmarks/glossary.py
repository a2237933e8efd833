"""What a large glossary costs: ``python benchmarks/glossary.py``.

Writes a glossary of many made-up terms as CSV, TSV and TBX, loads each, and looks for its terms
in sentences that contain some.
"""

from __future__ import annotations

import argparse
import random
import tempfile
import time
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

from lexbeam.constraints.glossary import Glossary

SYLLABLES = ("ba", "de", "ki", "lo", "mu", "na", "pe", "ri", "chan", "ster", "light", "ment")
FILLERS = ("the", "a", "of", "and", "to", "in", "is", "it", "was", "for", "on", "are", "with")
Pair = tuple[str, str]


def make_terms(count: int, chance: random.Random) -> list[Pair]:
    """Return pairs of terms of one to four words, about as long as real ones."""

    def word() -> str:
        return "".join(chance.choices(SYLLABLES, k=chance.randint(2, 4)))

    sources: set[str] = set()
    while len(sources) < count:
        sources.add(" ".join(word() for _ in range(chance.randint(1, 4))))
    return [(source, word().capitalize()) for source in sorted(sources)]


def make_sentences(terms: Sequence[Pair], chance: random.Random) -> list[str]:
    """Return sentences of about 25 words with three terms each."""
    sentences = []
    for _ in range(1000):
        words = chance.choices(FILLERS, k=18)
        for source, _ in chance.sample(terms, 3):
            words.insert(chance.randrange(len(words)), source)
        sentences.append(" ".join(words).capitalize() + ".")
    return sentences


def write_files(folder: Path, terms: Sequence[Pair]) -> list[Path]:
    """Write the terms in each format."""
    paths = [folder / f"terms.{kind}" for kind in ("csv", "tsv", "tbx")]
    for path, separator in zip(paths[:2], (",", "\t"), strict=True):
        path.write_text("".join(f"{a}{separator}{b}\n" for a, b in terms), encoding="utf-8")
    entries = "".join(
        f'<termEntry><langSet xml:lang="en"><tig><term>{a}</term></tig></langSet>\n'
        f'<langSet xml:lang="de"><tig><term>{b}</term></tig></langSet></termEntry>\n'
        for a, b in terms
    )
    head = '<?xml version="1.0"?>\n<martif type="TBX"><text><body>\n'
    paths[2].write_text(f"{head}{entries}</body></text></martif>\n", encoding="utf-8")
    return paths


def main() -> None:
    """Print a table with one row per format."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--entries", type=int, default=100_000)
    parser.add_argument("--lemmas", action="store_true", help="find terms in any form (English)")
    options = parser.parse_args()
    chance = random.Random(1)
    terms = make_terms(options.entries, chance)
    sentences = make_sentences(terms, chance)
    lemmas = "source" if options.lemmas else False
    titles = ("entries", "load, s", "first, s", "ms/sentence", "found")
    print(f"{'format':8}" + "".join(f"{title:>15}" for title in titles))
    with tempfile.TemporaryDirectory() as folder:
        for path in write_files(Path(folder), terms):
            times = [time.perf_counter()]
            glossary = Glossary.load(path, lemmas=lemmas)
            times.append(time.perf_counter())
            glossary.find(
                "nothing", "en", "de"
            )  # the tables for a language pair are made when needed
            times.append(time.perf_counter())
            found = sum(len(glossary.find(text, "en", "de").entries) for text in sentences)
            times.append(time.perf_counter())
            load, first, each = (b - a for a, b in pairwise(times))
            row = (
                f"{len(glossary)}",
                f"{load:.2f}",
                f"{first:.2f}",
                f"{1000 * each / len(sentences):.3f}",
                f"{found / len(sentences):.1f}",
            )
            print(f"{path.suffix[1:]:8}" + "".join(f"{cell:>15}" for cell in row))


if __name__ == "__main__":
    main()
