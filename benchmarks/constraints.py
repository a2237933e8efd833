"""Are constraints met, and what do they do? ``python benchmarks/constraints.py MODEL SRC REF``.

Takes words of the references as constraints, as the paper does: rand1 to rand4, so many random
words of each reference, and phr4, four words in a row (`lexbeam.study.constraint_sets`). Whether a
constraint is met is decided on the translated text, by looking for the phrase as whole words.
With sacreBLEU installed the scores are printed too.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path

import lexbeam
from bleu import show_bleu
from lexbeam.study.constraint_sets import count_met, exact, make_constraint_set

SETS = ("none", "rand1", "rand2", "rand3", "rand4", "phr4")


def main() -> None:
    """Print a table with one row per set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("src", type=Path)
    parser.add_argument("ref", type=Path)
    parser.add_argument("--beam-size", type=int, default=10)
    parser.add_argument("--algorithm", default="lookahead")
    parser.add_argument("--lag", type=float, default=3.0)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options = parser.parse_args()
    sources = options.src.read_text(encoding="utf-8").splitlines()[: options.limit]
    references = options.ref.read_text(encoding="utf-8").splitlines()[: options.limit]
    translator = lexbeam.load(options.model)
    print(f"{'set':6}{'constraints':>12}{'met':>8}{'share':>10}{'BLEU':>8}{'ms/sentence':>15}")
    missed = 0
    for name in options.sets:
        phrases = make_constraint_set(name, references)
        began = time.perf_counter()
        results = translator.translate(
            sources,
            [exact(these) for these in phrases],
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
        score = show_bleu(texts, references)
        print(f"{name:6}{asked:>12}{met:>8}{share:>10}{score:>8}{milliseconds:>15.1f}", flush=True)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
