"""Do terms replace the model's own words? ``python benchmarks/terms.py MODEL SRC REF TERMS``.

TERMS has terms that compete with what the model would have said, each with the place of its
source word (`lexbeam.study.competing_terms`). The sentences that have any are translated freely,
with the terms as phrases (``off``), and with the terms tied to their source words (``ties``). The
ways take turns, so that a machine that gets slower or faster does so for all; times are given as
parts of the time that ``off`` takes, too, in batches and for one sentence at a time.

``--against CHECKOUT`` has the terms as phrases searched by another version of lexbeam as well, in
a process of its own that takes its turns with the others: ``git worktree add CHECKOUT COMMIT``. It
runs on its own model if MODEL is the one that comes along.

``--function-words`` asks how well the word before a term is found instead: each term of a single
word is demanded once more with each of sixteen function words before it, and the sentences are
counted in which one of these has a better score than the term alone.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Iterable, Mapping, Sequence
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, NamedTuple

import lexbeam
from lexbeam.study.competing_terms import (
    CompetingTerm,
    TermCounts,
    count_terms,
    read_competing_terms,
)

WAYS = ("free", "off", "ties")
TURN = 64
"""So many sentences are translated in one way, then in the next."""
FUNCTION_WORDS = {
    "pt": "o a os as um uma do da no na ao à pelo pela seu sua",
    "de": "der die das den dem des ein eine einen einem einer im zum zur vom ihre",
}
SAME_SCORE = 1e-4
"""Scores that differ by less are equal: batches are summed in another order."""


WORKER = """
import json, sys, time
import lexbeam
translator = lexbeam.load(*sys.argv[1:])
for line in sys.stdin:
    sources, constraints, beam = json.loads(line)
    wall, cpu = time.perf_counter(), time.process_time()
    translator.translate(sources, constraints, beam_size=beam)
    print(json.dumps([time.perf_counter() - wall, time.process_time() - cpu]), flush=True)
"""
"""What another version runs; it must work with old ones."""


class OtherVersion:
    """Another checkout of lexbeam, in a process of its own."""

    def __init__(self, checkout: Path, model: str) -> None:
        self._process = subprocess.Popen(
            [sys.executable, "-c", WORKER, *([] if model == "-" else [model])],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            encoding="utf-8",
            env={**os.environ, "PYTHONPATH": str(checkout.resolve() / "src")},
        )

    def translate(self, sources: list[str], terms: list[list[str]], beam_size: int) -> Run:
        """Return the time that the other version takes for terms as phrases."""
        process = self._process
        assert process.stdin is not None
        assert process.stdout is not None
        process.stdin.write(json.dumps([sources, terms, beam_size]) + "\n")
        process.stdin.flush()
        answer = process.stdout.readline()
        if not answer:
            sys.exit("the other version has stopped")
        return Run([], *json.loads(answer))


class TestSet(NamedTuple):
    """The sentences that have terms."""

    sources: list[str]
    references: list[str]
    terms: list[list[CompetingTerm]]


class Run(NamedTuple):
    """Translations, and what they took."""

    results: list[lexbeam.Translation]
    wall: float
    cpu: float


def read_test_set(src: Path, ref: Path, terms: Path, limit: int | None) -> TestSet:
    """Return the sentences that have terms, at most ``limit`` of them."""
    sources = src.read_text(encoding="utf-8").splitlines()
    references = ref.read_text(encoding="utf-8").splitlines()
    found = dict(list(read_competing_terms(terms, sources).items())[:limit])
    return TestSet([sources[i] for i in found], [references[i] for i in found], [*found.values()])


def demand(term: CompetingTerm, way: str, before: str = "") -> list[Any]:
    """Return a term as a constraint, with a word before it if one is given."""
    text = f"{before} {term.term}" if before else term.term
    return [] if way == "free" else [{"text": text, "source": list(term.span)}]


def translate(
    translator: lexbeam.Translator,
    sources: list[str],
    constraints: list[list[Any]],
    settings: Mapping[str, Any],
) -> Run:
    """Translate all sentences, with the time this takes."""
    wall, cpu = time.perf_counter(), time.process_time()
    results = translator.translate(sources, constraints, settings=settings)
    return Run(results, time.perf_counter() - wall, time.process_time() - cpu)


def take_turns(
    translator: lexbeam.Translator, texts: TestSet, options: argparse.Namespace, turn: int
) -> dict[str, Run]:
    """Translate all sentences in each way, ``turn`` of them at a time."""
    runs = {way: Run([], 0.0, 0.0) for way in options.ways}
    if options.other:
        runs["other"] = Run([], 0.0, 0.0)
    for number, start in enumerate(range(0, len(texts.sources), turn)):
        sources, terms = texts.sources[start : start + turn], texts.terms[start : start + turn]
        for way in list(runs)[:: -1 if number % 2 else 1]:
            constraints = [[c for term in each for c in demand(term, way)] for each in terms]
            if way == "other":
                phrases = [[term.term for term in each] for each in terms]
                run = options.other.translate(sources, phrases, options.beam_size)
            else:
                run = translate(translator, sources, constraints, settings_of(way, options))
            results, wall, cpu = runs[way]
            runs[way] = Run([*results, *run.results], wall + run.wall, cpu + run.cpu)
    return runs


def metrics(outputs: Sequence[str], references: Sequence[str]) -> tuple[str, str]:
    """Return BLEU and chrF, or dashes if sacreBLEU is not installed."""
    if find_spec("sacrebleu") is None:
        return "–", "–"
    sacrebleu = import_module("sacrebleu")
    bleu = sacrebleu.corpus_bleu(outputs, [references]).score
    return f"{bleu:.2f}", f"{sacrebleu.corpus_chrf(outputs, [references]).score:.2f}"


def show_row(way: str, run: Run, texts: TestSet, language: str | None) -> TermCounts:
    """Print one row of the table."""
    outputs = [result.text for result in run.results]
    counts = TermCounts()
    for text, reference, terms in zip(outputs, texts.references, texts.terms, strict=True):
        counts += count_terms(text, reference, terms, language)
    score = sum(result.score for result in run.results) / len(run.results)
    each = 1000 / len(outputs)
    cells = (
        *metrics(outputs, texts.references),
        f"{counts.met}/{counts.terms}",
        f"{counts.doubled} ({100 * counts.doubled / counts.terms:.1f} %)",
        f"{counts.agreeing}/{counts.gendered}" if counts.gendered else "–",
        f"{score:.4f}",
        f"{each * run.wall:.1f}",
        f"{each * run.cpu:.1f}",
    )
    warn_of_scores(result.score for result in run.results)
    print(f"{way:6}" + "".join(f"{cell:>13}" for cell in cells), flush=True)
    return counts


def show_table(translator: lexbeam.Translator, texts: TestSet, options: argparse.Namespace) -> bool:
    """Print a table with one row per way; return whether all terms were met."""
    titles = ("BLEU", "chrF", "met", "doubled", "gender", "score", "ms/sentence", "CPU ms")
    print(f"{'':6}" + "".join(f"{title:>13}" for title in titles))
    warm_up = texts.sources[:32]
    translate(translator, warm_up, [[]] * len(warm_up), {})
    if options.against:
        options.other = OtherVersion(options.against, options.model)
        options.other.translate(warm_up, [[]] * len(warm_up), options.beam_size)
    complete = True
    runs = take_turns(translator, texts, options, TURN)
    for way, run in runs.items():
        if way == "other":
            continue
        counts = show_row(way, run, texts, translator.info.get("target_language"))
        complete &= way == "free" or counts.met == counts.terms
        if options.out:
            options.out.mkdir(parents=True, exist_ok=True)
            path = options.out / f"{way}.txt"
            path.write_text("".join(f"{r.text}\n" for r in run.results), encoding="utf-8")
    show_ratios("in batches", runs)
    if options.single:
        few = slice(options.single)
        some = TestSet(texts.sources[few], texts.references[few], texts.terms[few])
        show_ratios("one sentence at a time", take_turns(translator, some, options, 1))
    return complete


def show_ratios(how: str, runs: Mapping[str, Run]) -> None:
    """Print the processor time of each way as a part of that of others."""
    for base in [way for way in ("off", "other") if way in runs]:
        ratios = ", ".join(f"{way} {run.cpu / runs[base].cpu:.2f}" for way, run in runs.items())
        print(f"processor time {how}, {base} = 1: {ratios}")


def warn_of_scores(scores: Iterable[float]) -> None:
    """Say so if scores can't be log-probabilities: what rests on them is then worth nothing."""
    wrong = sum(score > SAME_SCORE for score in scores)
    if wrong:
        print(f"  {wrong} scores are above 0: no score of this run can be trusted")


def settings_of(way: str, options: argparse.Namespace) -> dict[str, Any]:
    """Return the settings of the search for one way."""
    settings: dict[str, Any] = {"beam_size": options.beam_size}
    settings["ties"] = "on" if way == "ties" else "off"
    if options.lag is not None:
        settings["lag"] = options.lag
    return settings


def show_function_words(
    translator: lexbeam.Translator, texts: TestSet, options: argparse.Namespace
) -> None:
    """Print for how many sentences a function word before the term gives a better score."""
    words = FUNCTION_WORDS.get(str(translator.info.get("target_language")), "").split()
    if not words:
        sys.exit(f"no function words are known but for {', '.join(FUNCTION_WORDS)}")
    chosen: list[tuple[str, CompetingTerm]] = []
    for source, terms in zip(texts.sources, texts.terms, strict=True):
        single = next((term for term in terms if " " not in term.term), None)
        if single is not None:
            chosen.append((source, single))
    chosen = chosen[: options.limit]
    sources = [source for source, _ in chosen]
    for way in [way for way in options.ways if way != "free"]:
        settings = settings_of(way, options)
        alone = translate(translator, sources, [demand(t, way) for _, t in chosen], settings)
        best = [(result.score, "", result.text) for result in alone.results]
        for word in words:
            constraints = [demand(term, way, word) for _, term in chosen]
            run = translate(translator, sources, constraints, settings)
            best = [max(b, (r.score, word, r.text)) for b, r in zip(best, run.results, strict=True)]
        warn_of_scores(r for r, *_ in best)
        gains = [b[0] - r.score for b, r in zip(best, alone.results, strict=True)]
        better = [i for i, gain in enumerate(gains) if gain > SAME_SCORE]
        share = f"{100 * len(better) / len(chosen):.1f} %"
        print(f"{way}: {len(better)} of {len(chosen)} sentences ({share}) have a better score with")
        print(f"  a function word before the term; mean gain {sum(gains) / len(gains):.4f}")
        for i in better if options.verbose else ():
            print(f"  {alone.results[i].score:.3f} {alone.results[i].text}")
            print(f"  {best[i][0]:.3f} {best[i][2]}  ({best[i][1]} {chosen[i][1].term})")


def main() -> None:
    """Print a table, or how often a function word before a term helps."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("model", help='a folder or a pair; "-" is the model that comes along')
    parser.add_argument("src", type=Path)
    parser.add_argument("ref", type=Path)
    parser.add_argument("terms", type=Path)
    parser.add_argument("--beam-size", type=int, default=10)
    parser.add_argument("--lag", type=float, help="if not the default; 0 is none")
    parser.add_argument("--limit", type=int, help="only so many sentences")
    parser.add_argument("--ways", nargs="+", default=WAYS, choices=WAYS)
    parser.add_argument("--single", type=int, default=0, help="so many one at a time, for time")
    parser.add_argument("--against", type=Path, help="a checkout of another version, for time")
    parser.add_argument("--function-words", action="store_true")
    parser.add_argument(
        "--verbose", action="store_true", help="show sentences that could be better"
    )
    parser.add_argument("--out", type=Path, help="a folder for the translations")
    options = parser.parse_args(namespace=argparse.Namespace(other=None))
    limit = None if options.function_words else options.limit
    texts = read_test_set(options.src, options.ref, options.terms, limit)
    translator = lexbeam.load(None if options.model == "-" else options.model)
    terms = sum(map(len, texts.terms))
    print(f"{len(texts.sources)} sentences, {terms} terms, beam {options.beam_size}, ", end="")
    print("load of the machine " + " ".join(f"{load:.1f}" for load in os.getloadavg()))
    if options.function_words:
        show_function_words(translator, texts, options)
    elif not show_table(translator, texts, options):
        sys.exit(1)


if __name__ == "__main__":
    main()
