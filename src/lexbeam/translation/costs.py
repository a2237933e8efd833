"""What each demand costs: how much log-probability a text has lost by it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from lexbeam.errors import InputError
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.document import Document
from lexbeam.translation.jobs import Job, JobGenerator
from lexbeam.translation.sentence import Piece, SentenceState
from lexbeam.translation.spelled_prefix import SpelledPrefix
from lexbeam.translation.terms_in_source import score_as_given


class _Trial(NamedTuple):
    """A search with or without one demand, to compare with what was found."""

    demand: int
    sentence: SentenceState
    sign: int
    """1 if the demand is left out here, −1 if it is placed here and was dropped before."""
    job: Job


def measure_costs(document: Document) -> JobGenerator[dict[int, float]]:
    """Return the cost of each demand, by its number; of one that can't be compared, none.

    What has been placed is left out and the sentence searched again; what was dropped is placed
    whatever it costs.
    """
    trials = [
        trial for number in range(len(document.demands)) for trial in _trials(document, number)
    ]
    found = yield from _search(trials)
    best = [(t.sentence, each[0]) for t, each in zip(trials, found, strict=True) if each]
    scored = iter((yield from score_as_given(document, best)))
    costs = dict.fromkeys(range(len(document.demands)), 0.0)
    unknown = set()
    for trial, hypotheses in zip(trials, found, strict=True):
        if not hypotheses:
            unknown.add(trial.demand)
            continue
        difference = next(scored).log_prob - trial.sentence.best.log_prob
        costs[trial.demand] += trial.sign * difference
    return {number: cost for number, cost in costs.items() if number not in unknown}


def _search(trials: Sequence[_Trial]) -> JobGenerator[list[list[Hypothesis]]]:
    """Search for all trials; nothing is found for one that asks for what is impossible.

    A second end of the text, say, which was dropped because there is another.
    """
    try:
        return (yield [trial.job for trial in trials])
    except InputError:
        pass
    found: list[list[Hypothesis]] = []
    for trial in trials:
        try:
            found += yield [trial.job]
        except InputError:
            found.append([])
    return found


def _trials(document: Document, number: int) -> list[_Trial]:
    trials = []
    if document.demands[number].asked.at_start:
        first = document.sentences[0]
        job = document.job(first, first.searched, prefix=SpelledPrefix())
        trials.append(_Trial(number, first, 1, job))
    for sentence in document.sentences:
        dropped = [p for p in sentence.dropped if document.units[p.unit] == number]
        others = [p for p in sentence.searched if document.units[p.unit] != number]
        if dropped:
            firm = _equal_demands(document, sentence, number)
            job = document.job(sentence, others + dropped, firm=firm)
            trials.append(_Trial(number, sentence, -1, job))
        elif len(others) < len(sentence.searched):
            trials.append(_Trial(number, sentence, 1, _without_it(document, sentence, others)))
    return trials


def _equal_demands(document: Document, sentence: SentenceState, number: int) -> set[int]:
    """Return a dropped demand with those that a sentence keeps to and that are equal to it.

    One that was kept must not be dropped in its place.
    """
    kept = {document.units[p.unit] for p in sentence.searched if p not in sentence.dropped}
    wanted = document.demands[number].surface.once
    return {number, *(each for each in kept if document.demands[each].surface.once == wanted)}


def _without_it(document: Document, sentence: SentenceState, others: Sequence[Piece]) -> Job:
    """Return the search for the other pieces; what the demand displaced may be said again."""
    return replace(document.job(sentence, others), avoid=tuple(sentence.avoid))
