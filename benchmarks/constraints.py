"""Are constraints met, and what do they do? ``python benchmarks/constraints.py MODEL SRC REF``.

Takes words of the references as constraints, as the paper does: rand1 to rand8, so many random
words of each reference, and phr4, four words in a row (`lexbeam.study.constraint_sets`); rand8o has
the words of rand8 as one constraint, in the order of the reference. Whether a constraint is met is
decided on the translated text, by looking for the phrase as whole words.

Beside BLEU (with sacreBLEU) the table has the mean log-probability of the outputs, the hypotheses
that were scored per sentence, and Pearson's r of the places of constraints in output and reference.
``--save FOLDER`` keeps the translations, ``--against FOLDER`` adds the probability that the
difference in BLEU from kept ones is chance (paired bootstrap).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, cast

import lexbeam
from bleu import show_bleu
from lexbeam.models.loading import load_model
from lexbeam.search.scorer import Scorer
from lexbeam.study.constraint_sets import (
    choose_constraints,
    count_met,
    exact,
    find_phrase,
    make_constraint_set,
)
from lexbeam.study.experiment import CountingScorer
from lexbeam.study.metrics import Metrics, pearson
from lexbeam.translation.jobs import Found, Job, run_together
from lexbeam.translation.requests import TextRequest

SETS = ("none", "rand1", "rand2", "rand3", "rand4", "rand8", "rand8o", "phr4")
USUAL_SETS = ("none", "rand1", "rand2", "rand3", "rand4", "phr4")
BATCH = 32


@dataclass
class Run:
    """The translations of a text with one set of constraints."""

    texts: list[str]
    phrases: list[list[str]]
    milliseconds: float
    rows: float
    log_prob: float


def make_set(name: str, references: Sequence[str]) -> tuple[list[list[str]], list[list[Any]]]:
    """Return the phrases of a set, and the constraints that demand them."""
    if not name.endswith("o"):
        phrases = make_constraint_set(name, references)
        return phrases, [exact(these) for these in phrases]
    phrases = [
        in_order(choose_constraints(name[:-1], reference, i), reference)
        for i, reference in enumerate(references)
    ]
    ordered: list[list[Any]] = [
        [{"order": these, "case": "exact"}] if len(these) > 1 else exact(these) for these in phrases
    ]
    return phrases, ordered


def in_order(phrases: Sequence[str], reference: str) -> list[str]:
    """Return words in the order in which a reference has them, each taken once."""
    places: list[tuple[int, str]] = []
    for phrase in sorted(phrases, key=len, reverse=True):
        start = find_phrase(reference, phrase)
        if start is None:
            start = reference.find(phrase)
        reference = reference[:start] + "\0" * len(phrase) + reference[start + len(phrase) :]
        places.append((start, phrase))
    return [phrase for _, phrase in sorted(places)]


def run(
    translator: lexbeam.Translator,
    counter: CountingScorer,
    sources: Sequence[str],
    made: tuple[list[list[str]], list[list[Any]]],
    settings: dict[str, Any],
) -> Run:
    """Translate all sources; the searches that had constraints, or all, give the log-probability.

    A text of several sentences is searched several times.
    """
    phrases, constraints = made
    log_prob = 0.0

    def search(jobs: list[Job]) -> Found:
        nonlocal log_prob
        found = translator.search(jobs, BATCH)
        for job, each in zip(jobs, found, strict=True):
            if isinstance(each, list) and each and (job.phrases or not any(phrases)):
                log_prob += each[0].log_prob
        return found

    requests = [
        TextRequest(source, these, settings=settings)
        for source, these in zip(sources, constraints, strict=True)
    ]
    counter.take_counts()
    began = time.perf_counter()
    results = run_together([translator.searches(request) for request in requests], search)
    milliseconds = 1000 * (time.perf_counter() - began) / len(sources)
    texts = []
    for result in results:
        if isinstance(result, lexbeam.LexbeamError):
            raise result
        texts.append(result.text)
    rows = counter.take_counts()[1] / len(sources)
    return Run(texts, phrases, milliseconds, rows, log_prob / len(sources))


def placement(outputs: Run, references: Sequence[str]) -> float:
    """Return Pearson's r of the places of words that are demanded once, by characters."""
    xs, ys = [], []
    for text, reference, these in zip(outputs.texts, references, outputs.phrases, strict=True):
        for phrase in these:
            x, y = find_phrase(reference, phrase), find_phrase(text, phrase)
            if these.count(phrase) == 1 and x is not None and y is not None:
                xs.append(x / len(reference))
                ys.append(y / len(text))
    return pearson(xs, ys)


def show(name: str, outputs: Run, references: Sequence[str], p_value: str) -> int:
    """Print a row of the table; return how many constraints were missed."""
    texts, phrases = outputs.texts, outputs.phrases
    asked = sum(map(len, phrases))
    met = sum(count_met(text, these) for text, these in zip(texts, phrases, strict=True))
    for i, (text, these) in enumerate(zip(texts, phrases, strict=True)):
        if count_met(text, these) < len(these):
            print(f"  not met in sentence {i}: {these} in {text!r}", file=sys.stderr)
    share = f"{100 * met / asked:.2f} %" if asked else "–"
    print(
        f"{name:7}{asked:>12}{met:>8}{share:>10}{show_bleu(texts, references):>8}{p_value:>8}"
        f"{outputs.log_prob:>10.2f}{placement(outputs, references):>7.3f}{outputs.rows:>7.1f}"
        f"{outputs.milliseconds:>13.1f}",
        flush=True,
    )
    return asked - met


def parse() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model")
    parser.add_argument("src", type=Path)
    parser.add_argument("ref", type=Path)
    parser.add_argument("--beam-size", type=int, default=10)
    parser.add_argument("--algorithm", default="lookahead")
    parser.add_argument("--lag", type=float, default=3.0)
    parser.add_argument("--limit", type=int)
    parser.add_argument("--sets", nargs="+", default=USUAL_SETS, choices=SETS)
    parser.add_argument("--save", type=Path)
    parser.add_argument("--against", type=Path)
    return parser.parse_args()


def main() -> None:
    """Print a table with one row per set."""
    options = parse()
    sources = options.src.read_text(encoding="utf-8").splitlines()[: options.limit]
    references = options.ref.read_text(encoding="utf-8").splitlines()[: options.limit]
    model = load_model(options.model, threads=1)
    counter = CountingScorer(model.engine)
    translator = lexbeam.Translator(replace(model, engine=cast(Scorer, counter)))
    heads = f"{'set':7}{'constraints':>12}{'met':>8}{'share':>10}{'BLEU':>8}{'p':>8}"
    print(f"{heads}{'log-prob':>10}{'r':>7}{'rows':>7}{'ms/sentence':>13}")
    names = ("beam_size", "algorithm", "lag")
    settings = {name: getattr(options, name) for name in names}
    missed = 0
    for name in options.sets:
        outputs = run(translator, counter, sources, make_set(name, references), settings)
        p_value, file = "", f"{name}.{options.beam_size}.json"
        if options.against:
            others = json.loads((options.against / file).read_text(encoding="utf-8"))
            p_value = f"{Metrics().p_value(outputs.texts, others[: len(sources)], references):.3f}"
        if options.save:
            options.save.mkdir(parents=True, exist_ok=True)
            (options.save / file).write_text(json.dumps(outputs.texts), encoding="utf-8")
        missed += show(name, outputs, references, p_value)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
