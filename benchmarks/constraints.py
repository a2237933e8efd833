"""Are constraints met, and what do they do? ``python benchmarks/constraints.py MODEL SRC REF``.

Takes words of the references as constraints, as the paper does: rand1 to rand4, so many random
words of each reference, and phr4, four words in a row. Whether a constraint is met is decided
on the translated text, by searching it for the phrase as whole words, without asking lexbeam.
With sacreBLEU installed the scores are printed too.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import time
from collections import Counter
from importlib import import_module
from pathlib import Path

import lexbeam

SETS = ("none", "rand1", "rand2", "rand3", "rand4", "phr4")
EDGES = "".join(chr(c) for c in range(33, 65) if not chr(c).isalnum()) + "[]{}«»“”‘’…–—"


def choose(name: str, reference: str, seed: str) -> list[str]:
    """Return the constraints of a set for one sentence."""
    chance = random.Random(seed)
    words = [word for word in (w.strip(EDGES) for w in reference.split()) if word]
    if name == "none" or not words:
        return []
    if name == "phr4":
        there = reference.split()
        start = chance.randrange(max(len(there) - 3, 1))
        phrase = " ".join(there[start : start + 4]).strip(EDGES + " ")
        return [phrase] if phrase else []
    return chance.sample(words, min(int(name[-1]), len(words)))


def count_met(text: str, phrases: list[str]) -> int:
    """Count the phrases that stand in a text as whole words, each as often as it is given."""
    met = 0
    for phrase, times in Counter(phrases).items():
        found = re.findall(rf"(?<!\w)(?={re.escape(phrase)}(?!\w))", text)
        met += min(times, len(found))
    return met


def main() -> None:
    """Print a table, a row a set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("src", type=Path)
    parser.add_argument("ref", type=Path)
    parser.add_argument("--beam-size", type=int, default=10)
    parser.add_argument("--algorithm", default="dba")
    parser.add_argument("--lag", type=float, default=3.0)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options = parser.parse_args()
    sources = options.src.read_text(encoding="utf-8").splitlines()[: options.limit]
    references = options.ref.read_text(encoding="utf-8").splitlines()[: options.limit]
    translator = lexbeam.load(options.model)
    try:
        bleu = import_module("sacrebleu").corpus_bleu
    except ImportError:
        bleu = None
    print(f"{'set':6}{'constraints':>12}{'met':>8}{'share':>10}{'BLEU':>8}{'ms a sentence':>15}")
    missed = 0
    for name in options.sets:
        phrases = [choose(name, r, f"{name} {i}") for i, r in enumerate(references)]
        began = time.perf_counter()
        results = translator.translate(
            sources,
            phrases,
            beam_size=options.beam_size,
            algorithm=options.algorithm,
            lag=options.lag,
        )
        milliseconds = 1000 * (time.perf_counter() - began) / len(sources)
        texts = [result.text for result in results]
        asked = sum(map(len, phrases))
        met = sum(count_met(text, these) for text, these in zip(texts, phrases, strict=True))
        for i, (text, these) in enumerate(zip(texts, phrases, strict=True)):
            if count_met(text, these) < len(these):
                print(f"  not met in sentence {i}: {these} in {text!r}", file=sys.stderr)
        missed += asked - met
        share = f"{100 * met / asked:.2f} %" if asked else "–"
        score = f"{bleu(texts, [references]).score:.2f}" if bleu else "–"
        print(f"{name:6}{asked:>12}{met:>8}{share:>10}{score:>8}{milliseconds:>15.1f}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
