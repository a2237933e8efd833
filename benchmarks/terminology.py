"""Terms in the output, and BLEU: ``python benchmarks/terminology.py MODEL SRC REF TERMS``.

TERMS has one line per sentence: a running number, the number of the sentence counted from 1, then
source and target of each term in turn, tab-separated (the terminology sets of Dinu et al. 2019).
Each sentence is translated without its terms, with them as they stand, and in any of their
forms. Whether a term is there is decided on the text, by a search for whole words, without
asking lexbeam.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
from collections import Counter
from pathlib import Path
from typing import Any

import lexbeam
from bleu import show_bleu
from lexbeam.text.inflection import forms

SETS = ("none", "exact", "lemma")


def read_terms(path: Path) -> dict[int, list[str]]:
    """Return the target terms of each sentence that has any, counted from 0."""
    terms = {}
    for line in path.read_text(encoding="utf-8").splitlines():
        _, number, *columns = line.split("\t")
        terms[int(number) - 1] = [target.strip() for target in columns[1::2] if target.strip()]
    return terms


def ask(name: str, terms: list[str], language: str) -> list[Any]:
    """Return the constraints of a sentence."""
    if name == "none":
        return []
    if name == "exact":
        return list(terms)
    return [
        {"any": list(forms(term, language)), "count": count}
        for term, count in Counter(terms).items()
    ]


def whole(phrase: str) -> str:
    """Return a pattern for a phrase as whole words; a full stop at its end ends the last one."""
    before = r"(?<!\w)" if phrase[0].isalnum() else ""
    return before + re.escape(phrase) + (r"(?!\w)" if phrase[-1].isalnum() else "")


def count_met(text: str, terms: list[str], name: str, language: str) -> int:
    """Count the terms that stand in a text as whole words, each as often as it is given.

    A word written in lower case may begin a sentence with a capital.
    """
    met = 0
    for term, times in Counter(terms).items():
        written = forms(term, language) if name == "lemma" else (term,)
        spellings = {w for form in written for w in (form, form[:1].upper() + form[1:])}
        joined = "|".join(map(whole, sorted(spellings, key=len, reverse=True)))
        met += min(times, len(re.findall(f"(?={joined})", text)))
    return met


def main() -> None:
    """Print a table with one row per set."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help='a folder or a pair; "-" is the model that comes along')
    parser.add_argument("src", type=Path)
    parser.add_argument("ref", type=Path)
    parser.add_argument("terms", type=Path)
    parser.add_argument("--beam-size", type=int, default=10)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sets", nargs="+", default=SETS, choices=SETS)
    options = parser.parse_args()
    sources = options.src.read_text(encoding="utf-8").splitlines()
    references = options.ref.read_text(encoding="utf-8").splitlines()
    annotated = dict(list(read_terms(options.terms).items())[: options.limit])
    chosen = [references[i] for i in annotated]
    translator = lexbeam.load(None if options.model == "-" else options.model)
    language = translator.info["target_language"]
    print(f"{'terms':6}{'demanded':>10}{'there':>8}{'share':>10}{'BLEU':>8}{'ms/sentence':>15}")
    missed = 0
    for name in options.sets:
        constraints = [ask(name, terms, language) for terms in annotated.values()]
        began = time.perf_counter()
        results = translator.translate(
            [sources[i] for i in annotated], constraints, beam_size=options.beam_size
        )
        milliseconds = 1000 * (time.perf_counter() - began) / len(annotated)
        texts = [result.text for result in results]
        there = 0
        for i, text in zip(annotated, texts, strict=True):
            met = count_met(text, annotated[i], name, language)
            there += met
            if name != "none" and met < len(annotated[i]):
                missed += 1
                print(f"  missing in sentence {i + 1}: {annotated[i]} {text!r}", file=sys.stderr)
        asked = sum(map(len, annotated.values()))
        share = f"{100 * there / asked:.2f} %"
        score = show_bleu(texts, chosen)
        print(
            f"{name:6}{asked:>10}{there:>8}{share:>10}{score:>8}{milliseconds:>15.1f}", flush=True
        )
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
