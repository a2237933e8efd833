"""What every search promises, held against brute force."""

from __future__ import annotations

import itertools
import math
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import replace

from fuzz.campaign import Failure, Kind
from fuzz.token_drawing import draw
from fuzz.token_problems import Problem, Sentence, arguments, make_scorer, show, simpler
from fuzz.token_truth import (
    is_cut,
    is_possible,
    left_of,
    log_prob,
    price_of,
    ranked,
    scored_length,
    times_met,
)
from lexbeam.errors import ConstraintError, SettingError
from lexbeam.search import Hypothesis, decode, kernel

MOST_SECONDS = 20.0
MORE_ROOM = 25
Outputs = list[list[Hypothesis]]


def check(problem: Problem) -> Iterator[Failure]:
    """Yield the promises that a search breaks."""
    alone: list[list[Hypothesis] | None] = []
    for sentence in problem.sentences:
        found = search(problem, [sentence])
        alone.append(found[0] if isinstance(found, list) else None)
        if isinstance(found, Failure):
            yield found
        elif found is not None:
            yield from check_outputs(problem, sentence, found[0])
            if problem.roomy:
                yield from check_more_room(problem, sentence)
                yield from check_neighbour(problem, sentence, found[0])
    possible = [each for each, found in zip(problem.sentences, alone, strict=True) if found]
    together: Outputs | Failure | None = [found for found in alone if found]
    if len(possible) > 1:
        together = search(problem, possible)
        yield from check_batch(together, [found for found in alone if found])
    if possible and kernel.compiled is not None and problem.seed % 4 == 0:
        yield from check_kernel(problem, possible, together)


def search(problem: Problem, sentences: Sequence[Sentence]) -> Outputs | Failure | None:
    """Return what is found, None where something impossible is rightly refused."""
    started = time.process_time()
    try:
        found = decode(make_scorer(problem), **arguments(problem, sentences))
    except Exception as error:
        return judge(problem, sentences, error)
    taken = time.process_time() - started
    if taken > MOST_SECONDS:
        return Failure("a small search is quick", f"{taken:.0f} s")
    return found


def judge(problem: Problem, sentences: Sequence[Sentence], error: Exception) -> Failure | None:
    """Return what is wrong with an error, None if it is right."""
    if isinstance(error, ConstraintError):
        if all(is_possible(problem, sentence) for sentence in sentences):
            return Failure("what is possible is not refused", str(error))
        return None
    if isinstance(error, SettingError) and problem.settings.get("algorithm") == "cbs":
        return None  # It keeps a beam for each set of constraints; there were too many.
    return Failure(f"no errors but those of constraints: {type(error).__name__}", f"{error!r}")


def check_outputs(
    problem: Problem, sentence: Sentence, found: list[Hypothesis]
) -> Iterator[Failure]:
    """Check the outputs of one sentence, best first."""
    outputs = [tuple(each.tokens) for each in found]
    nbest = problem.settings.get("nbest", 1)
    if not 1 <= len(outputs) <= nbest or len(set(outputs)) < len(outputs):
        yield Failure("as many outputs as were asked for, each once", f"{outputs}")
    ranks = []
    for hypothesis in found:
        price = price_of(problem, sentence, tuple(hypothesis.tokens))
        if price is None:
            yield Failure("an output keeps to its request", f"{hypothesis.tokens}")
            return
        yield from check_report(problem, sentence, hypothesis)
        power = problem.settings.get("length_penalty", 1.0)
        length = scored_length(problem, sentence, tuple(hypothesis.tokens))
        ranks.append((hypothesis.log_prob - price) / length**power)
    if not problem.attends and any(
        better < worse - 1e-9 for better, worse in itertools.pairwise(ranks)
    ):
        yield Failure("the best comes first", f"{list(zip(ranks, outputs, strict=True))}")
    if problem.exhaustive:
        yield from check_best(problem, sentence, ranks, outputs)


def check_more_room(problem: Problem, sentence: Sentence) -> Iterator[Failure]:
    """Check that a search which has found something does so with more room, too."""
    roomier = replace(sentence, limit=2 * sentence.limit + MORE_ROOM)
    try:
        decode(make_scorer(problem), **arguments(problem, [roomier]))
    except ConstraintError as error:
        yield Failure("more room is never too much", f"max_length {roomier.limit}: {error}")


def check_neighbour(
    problem: Problem, sentence: Sentence, alone: list[Hypothesis]
) -> Iterator[Failure]:
    """Check that another sentence, which demands a token many times, changes nothing."""
    if not problem.neighbour or problem.settings.get("algorithm") == "cbs":
        return
    demands = ((problem.tokens[0],),) * problem.neighbour
    other = Sentence(demands, limit=problem.neighbour + 5, source="s001")
    try:
        together = decode(make_scorer(problem), **arguments(problem, [sentence, other]))
    except ConstraintError as error:
        if error.sentence == 0:
            yield Failure("a batch gives what its sentences give", f"refused: {error}")
        return
    yield from check_batch(together[:1], [alone])


def check_best(
    problem: Problem, sentence: Sentence, ranks: list[float], outputs: list[tuple[int, ...]]
) -> Iterator[Failure]:
    """Check that a beam that holds everything has found the best."""
    power = problem.settings.get("length_penalty", 1.0)
    nbest = problem.settings.get("nbest", 1)
    truth = ranked(problem, sentence, power)[:nbest]
    best = [each.rank for each in truth]
    if len(best) != len(ranks) or not all(map(_close, best, ranks)):
        expected = [(round(each.rank, 4), each.tokens) for each in truth]
        seen = [(round(rank, 4), tokens) for rank, tokens in zip(ranks, outputs, strict=True)]
        yield Failure("a wide beam finds the best", f"{seen} instead of {expected}")


def check_report(problem: Problem, sentence: Sentence, hypothesis: Hypothesis) -> Iterator[Failure]:
    """Check what is said about an output."""
    tokens = tuple(hypothesis.tokens)
    truth = log_prob(problem, sentence, tokens, hypothesis.end)
    length = scored_length(problem, sentence, tokens)
    power = problem.settings.get("length_penalty", 1.0)
    if not _close(hypothesis.log_prob, truth):
        yield Failure("log_prob is the model's", f"{hypothesis.log_prob} for {truth} of {tokens}")
    elif not _close(hypothesis.score, truth / length**power):
        yield Failure("a score is that of its output", f"{hypothesis.score} of {tokens}")
    ends = [None] if is_cut(problem, sentence, tokens) else problem.ends
    if hypothesis.end not in ends or hypothesis.finished != (hypothesis.end is not None):
        yield Failure("an output ends", f"{hypothesis}")
    said: Counter[object] = Counter()
    for demand, met in zip(sentence.demands, hypothesis.met, strict=True):
        said[demand] += met
    for demand, wanted in Counter(sentence.demands).items():
        left = left_of(demand, sentence.avoid, problem.marks if problem.holds else None)
        times = times_met(left, wanted, tokens, problem.marks)
        if said[demand] != times:
            told = f"{demand} is said to be {said[demand]} times in {tokens}, is {times} times"
            yield Failure("what is reported as met is", told)


def check_batch(
    together: Outputs | Failure | None, expected: Sequence[list[Hypothesis]]
) -> Iterator[Failure]:
    """Check that sentences give in a batch what they give one by one."""
    if not isinstance(together, list):
        said = together.says if together else "refused"
        yield Failure("a batch gives what its sentences give", said)
        return
    for number, (here, there) in enumerate(zip(together, expected, strict=True)):
        same = [a.tokens for a in here] == [b.tokens for b in there] and all(
            _close(a.log_prob, b.log_prob) and a.met == b.met
            for a, b in zip(here, there, strict=True)
        )
        if not same:
            batch = [(each.tokens, round(each.score, 3)) for each in here]
            single = [(each.tokens, round(each.score, 3)) for each in there]
            told = f"sentence {number}: {batch} in a batch, {single} alone"
            yield Failure("a batch gives what its sentences give", told)


def check_kernel(
    problem: Problem, sentences: Sequence[Sentence], compiled: Outputs | Failure | None
) -> Iterator[Failure]:
    """Check that the compiled kernel finds what NumPy finds."""
    with kernel.switched(on=False):
        by_arrays = search(problem, sentences)
    if compiled != by_arrays:
        yield Failure("the kernel finds what NumPy finds", f"{compiled} instead of {by_arrays}")


def _close(a: float, b: float) -> bool:
    return math.isclose(a, b, rel_tol=1e-9, abs_tol=1e-9)


TOKEN = Kind("token", draw, check, show, simpler)
