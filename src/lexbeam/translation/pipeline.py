"""The steps by which a text is translated, from its sentences to the report.

A text of one sentence is one search with all its constraints. A longer one is translated freely
first, and what is missing then is placed (`lexbeam.translation.placement`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from lexbeam.constraints.constraint import Constraint
from lexbeam.constraints.counting import find_met
from lexbeam.constraints.matching import Occurrence
from lexbeam.errors import ConstraintError, quoted, times
from lexbeam.search.beam import Hypothesis
from lexbeam.translation.alignment import align_document
from lexbeam.translation.costs import measure_costs
from lexbeam.translation.document import Document
from lexbeam.translation.effort import counted
from lexbeam.translation.free_first import search_sentences
from lexbeam.translation.jobs import JobGenerator
from lexbeam.translation.nbest import best_choices, worth_showing
from lexbeam.translation.placement import assign_known, find_in_own_sentences, place_missing
from lexbeam.translation.repair import drop_unmet_soft, repair
from lexbeam.translation.results import Alternative, Translation
from lexbeam.translation.sentence import begun
from lexbeam.translation.spelled import SpelledConstraint
from lexbeam.translation.terms_in_source import score_sentences
from lexbeam.translation.too_often import find_excessive


def translate_document(document: Document) -> JobGenerator[Translation]:
    """Translate a text; yields the searches it needs (see `lexbeam.translation.jobs`)."""
    return (yield from counted(document.effort, _translate(document)))


def _translate(document: Document) -> JobGenerator[Translation]:
    if not document.sentences:
        nothing = Alternative("", 0.0, alignment=[] if document.settings.alignments else None)
        return Translation(**vars(nothing), nbest=[nothing])
    assign_known(document)
    yield from search_sentences(document)
    if len(document.sentences) > 1:
        yield from place_missing(document)
    yield from repair(document)
    if any(demand.asked.soft is not None for demand in document.demands):
        yield from drop_unmet_soft(document)
    yield from score_sentences(document)
    costs = (yield from measure_costs(document)) if document.settings.prices else {}
    return _translation(document, costs)


def _translation(document: Document, costs: Mapping[int, float]) -> Translation:
    """Return the best combinations of what was found for the sentences."""
    found = [sentence.hypotheses for sentence in document.sentences]
    scores = [[hypothesis.score for hypothesis in hypotheses] for hypotheses in found]
    best = [
        _alternative(
            document,
            [hypotheses[i] for hypotheses, i in zip(found, choice, strict=True)],
            {} if any(choice) else costs,
        )
        for choice in best_choices(scores, document.settings.nbest)
    ]
    _refuse_unmet(document, best[0])
    best = [each for each in best if _keeps_as_much(each, best[0])]
    return Translation(**vars(best[0]), nbest=worth_showing(best))


def _in_own_sentences(
    document: Document, text: str, starts: Sequence[int], found: Sequence[list[Occurrence]]
) -> list[list[Occurrence]]:
    """Return what was found, but of what the source demands in the sentences of their sources."""
    if len(document.sentences) == 1:
        return list(found)
    own = find_in_own_sentences(document, text, starts, found)
    return [
        mine if demand.asked.is_from_source else each
        for demand, mine, each in zip(document.demands, own, found, strict=True)
    ]


def _keeps_as_much(alternative: Alternative, best: Alternative) -> bool:
    """Return whether a translation meets what the best one meets, but for what may be dropped.

    Only what is best is searched for again where its text lacks something.
    """
    reports = zip(alternative.constraints, best.constraints, strict=True)
    is_met = all(own.met or own.dropped or not other.met for own, other in reports)
    return is_met and {*alternative.unavoided} <= {*best.unavoided}


def _refuse_unmet(document: Document, best: Alternative) -> None:
    """Raise if the best translation lacks what a caller demands, or breaks a limit of his.

    What the source demands, or may be given up, is reported as not met.
    """
    for demand, report in zip(_as_given(document), best.constraints, strict=True):
        asked = demand.asked
        if report.met or asked.is_from_source or asked.soft is not None:
            continue
        raise ConstraintError(
            f"no translation was found that has {quoted(asked.text)} "
            f"{_wanted(asked)}: drop it, or what has it too"
        )


def _as_given(document: Document) -> list[SpelledConstraint]:
    """Return the demands with the counts and limits that they were given, to be reported."""
    return [
        demand.limited_to(given.count, given.at_most)
        for demand, given in zip(document.demands, document.given, strict=True)
    ]


def _wanted(asked: Constraint) -> str:
    """Return how often something limited may occur, in words."""
    if asked.at_most is None:
        return f"at least {times(asked.count)}"
    if asked.at_most == asked.count:
        return f"exactly {times(asked.count)}"
    return f"at least {times(asked.count)} and at most {times(asked.at_most)}"


def _alternative(
    document: Document, hypotheses: Sequence[Hypothesis], costs: Mapping[int, float]
) -> Alternative:
    """Join one hypothesis per sentence, and say what became of the constraints."""
    text, starts = document.join(hypotheses)
    demands = _as_given(document)
    surfaces = [demand.surface for demand in demands]
    occurrences = find_met(text, surfaces, begun(document.sentences, starts))
    occurrences = _in_own_sentences(document, text, starts, occurrences)
    excessive = set(find_excessive(document, text, starts))
    reports = [
        demand.report(text, found, costs.get(number), number in excessive)
        for number, (demand, found) in enumerate(zip(demands, occurrences, strict=True))
    ]
    demanded = [span for found in occurrences for occurrence in found for span in occurrence]
    unavoided = [text[slice(*span)] for span in document.avoidance.find(text, starts, demanded)]
    score = sum(hypothesis.score for hypothesis in hypotheses) / len(hypotheses)
    alignment = (
        align_document(document, hypotheses, starts) if document.settings.alignments else None
    )
    return Alternative(text, score, reports, list(dict.fromkeys(unavoided)), alignment)
