"""What is met in an output of tokens, and which output is the best: by trying all of them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from itertools import product
from random import Random

from fuzz.token_problems import Marks, Problem, Sentence, make_scorer
from lexbeam.search import Form, Pattern
from lexbeam.search.automaton.whole_words import ENDS, LONG, SHORT

Output = tuple[int, ...]
IMPOSSIBLE = -1e9
"""What a token counts that the model rules out."""


@dataclass(frozen=True)
class Ranked:
    """An output that keeps to its request, best first when sorted."""

    rank: float
    """What outputs are compared by: its score, less what it pays for what it gave up."""
    tokens: Output


def ends_of(
    tokens: Sequence[int], output: Output, start: int, marks: Marks | None, goes_on: bool
) -> Iterator[int]:
    """Yield where some tokens end if they stand at a place as whole words."""
    end = start + len(tokens)
    if output[start:end] != tuple(tokens):
        return
    if (
        marks is None
        or goes_on
        or end == len(output)
        or marks.closing[tokens[-1]]
        or marks.boundary[output[end]]
    ):
        yield end


def occurrences(tokens: Sequence[int], output: Output, marks: Marks | None) -> int:
    """Count where a phrase stands; occurrences may overlap."""
    places = range(len(output))
    return sum(len(list(ends_of(tokens, output, at, marks, False))) for at in places)


def _form_ends(form: Form, output: Output, start: int, marks: Marks | None, on: bool) -> set[int]:
    if form.first and start:
        return set()
    if form.apart and marks is not None and start and not marks.closing[output[start - 1]]:
        return set()
    if form.inside and marks is not None and not _is_led(output[:start], marks):
        return set()
    end = start + len(form.tokens)
    joined = form.goes_on and marks is not None and _goes_on(output[end : end + 2], marks)
    return set(ends_of(form.tokens, output, start, marks, on or joined))


def _joins(token: int, flag: int, marks: Marks) -> bool:
    """Say whether a token is short (1), long (2) or ends with a part (4) inside a word."""
    forbidden = marks.closing[token] if flag == ENDS else marks.boundary[token]
    return bool(marks.joining[token] & flag) and not forbidden


def _is_led(before: Output, marks: Marks) -> bool:
    """Say whether what stands before is part of the same word, and long enough."""
    if before and _joins(before[-1], ENDS, marks):
        return True
    short = len(before) > 1 and _joins(before[-1], SHORT, marks)
    return short and _joins(before[-2], ENDS, marks)


def _goes_on(behind: Output, marks: Marks) -> bool:
    """Say whether what stands behind is part of the same word, and long enough."""
    if behind and _joins(behind[0], LONG, marks):
        return True
    short = len(behind) > 1 and _joins(behind[0], SHORT, marks)
    return short and _joins(behind[1], LONG, marks)


def _words(tokens: Output, marks: Marks | None) -> int:
    return len(tokens) if marks is None else sum(marks.starting[token] for token in tokens)


def _chain_ends(
    pattern: Pattern, copies: int, output: Output, marks: Marks | None, goes_on: bool
) -> set[int]:
    """Return all places where so many copies of a pattern, one behind the other, can end."""
    reached = {0}
    for number, part in enumerate(pattern.parts * copies):
        limit = pattern.within if number % len(pattern.parts) else None
        reached = {
            end
            for after in reached
            for start in range(after, len(output))
            if limit is None or _words(output[after:start], marks) <= limit
            for form in part
            for end in _form_ends(form, output, start, marks, goes_on)
            for end in _shown_by(form, output, end, marks)
        }
    return reached


def _shown_by(form: Form, output: Output, end: int, marks: Marks | None) -> tuple[int, ...]:
    """Return where all has been said that shows that a form counts: behind a part of its word."""
    if (
        not form.goes_on
        or marks is None
        or set(ends_of(form.tokens, output, end - len(form.tokens), marks, False))
    ):
        return (end,)
    return (end + 1 if _joins(output[end], LONG, marks) else end + 2,)


def _can_share(pattern: Pattern) -> bool:
    """Say whether two occurrences of a pattern of one part can share tokens."""
    forms = [form.tokens for form in pattern.parts[0]]
    return any(
        all(one[at] == other[at - start] for at in range(max(start, 0), len(one)))
        for one in forms
        for other in forms
        for start in range(len(one) - len(other) + 1, len(one))
    )


@cache
def left_of(
    demand: Output | Pattern, avoid: tuple[Output, ...], holds: Marks | None
) -> Output | Pattern:
    """Return a demand without the forms that are avoided: what is left may not share tokens.

    ``holds`` are the marks of a scorer that can keep a word from ending.
    """
    if not isinstance(demand, Pattern) or not avoid:
        return demand

    def is_avoided(form: Form) -> bool:
        ends = {
            end
            for each in avoid
            for at in range(len(form.tokens))
            for end in ends_of(each, form.tokens, at, holds, False)
        }
        goes_on = form.goes_on or is_strict(demand)
        if goes_on and holds is not None and not holds.closing[form.tokens[-1]]:
            ends.discard(len(form.tokens))
        return bool(ends)

    parts = tuple(tuple(form for form in part if not is_avoided(form)) for part in demand.parts)
    anywhere = is_strict(demand) or any(not form.first for part in parts for form in part)
    return replace(demand, parts=parts) if all(parts) and anywhere else demand


def is_strict(pattern: Pattern) -> bool:
    """Say whether a pattern is what the output has to begin with, and nothing more."""
    alone = len(pattern.parts) == 1 and pattern.penalty is None and not pattern.last
    return alone and all(form.first for form in pattern.parts[0])


def spelled_occurrences(pattern: Pattern, output: Output, marks: Marks | None) -> int:
    """Count where a phrase ends in any of its spellings; occurrences may overlap."""
    forms, places = pattern.parts[0], range(len(output))
    ends = (_form_ends(form, output, at, marks, False) for form in forms for at in places)
    return len(set().union(*ends))


def _is_too_often(pattern: Pattern, wanted: int, output: Output, marks: Marks | None) -> bool:
    return pattern.exact and spelled_occurrences(pattern, output, marks) > wanted


def times_met(demand: Output | Pattern, wanted: int, output: Output, marks: Marks | None) -> int:
    """Return how often a demand is met, at most as often as it is wanted."""
    if not isinstance(demand, Pattern):
        return min(wanted, occurrences(demand, output, marks))
    if demand.may_overlap and len(demand.parts) == 1 and demand.penalty is None:
        return min(wanted, spelled_occurrences(demand, output, marks))
    if is_strict(demand):
        return wanted if _chain_ends(demand, 1, output, marks, True) else 0
    if demand.last:
        return wanted if len(output) in _chain_ends(demand, 1, output, marks, False) else 0
    if len(demand.parts) == 1 and demand.penalty is None and wanted > 1 and not _can_share(demand):
        return min(wanted, spelled_occurrences(demand, output, marks))
    copies = range(wanted, 0, -1)
    return next((n for n in copies if _chain_ends(demand, n, output, marks, False)), 0)


def _leaves_prefix(sentence: Sentence, output: Output, marks: Marks | None) -> bool:
    """Return whether the word of a whole prefix does not go on, also behind a silent token."""
    if not (sentence.whole and sentence.prefix):
        return True
    if not set(ends_of(sentence.prefix, output, 0, marks, False)):
        return False
    behind = output[len(sentence.prefix) : len(sentence.prefix) + 1]
    may_go_on = marks is not None and not marks.closing[sentence.prefix[-1]]
    return not (may_go_on and marks is not None and any(marks.silent[token] for token in behind))


def price_of(problem: Problem, sentence: Sentence, output: Output) -> float | None:
    """Return what an output pays for what it lacks; None if it does not keep to its request.

    With a scorer that can't keep a word from ending, an avoided word is not even begun.
    """
    marks = problem.marks
    if output[: len(sentence.prefix)] != sentence.prefix or len(output) > sentence.limit:
        return None
    if not _leaves_prefix(sentence, output, marks):
        return None
    holds = marks if problem.holds else None
    if any(occurrences(avoided, output, holds) for avoided in sentence.avoid):
        return None
    paid = 0.0
    for demand, wanted in Counter(sentence.demands).items():
        if isinstance(demand, Pattern) and _is_too_often(demand, wanted, output, marks):
            return None
        left = left_of(demand, sentence.avoid, holds)
        missing = wanted - times_met(left, wanted, output, marks)
        price = demand.penalty if isinstance(demand, Pattern) else None
        if missing and price is None:
            return None
        paid += missing * (price or 0.0)
    return paid


def every_output(problem: Problem, sentence: Sentence) -> Iterator[Output]:
    """Yield every output that begins with the prefix, short ones first."""
    for more in range(sentence.limit - len(sentence.prefix) + 1):
        for rest in product(problem.tokens, repeat=more):
            yield (*sentence.prefix, *rest)


def is_possible(problem: Problem, sentence: Sentence) -> bool:
    """Say whether any output keeps to a request; of large ones, whether one is at hand."""
    if any(price_of(problem, sentence, each) is not None for each in witnesses(problem, sentence)):
        return True
    if problem.roomy:
        return False
    outputs = every_output(problem, sentence)
    return any(price_of(problem, sentence, each) is not None for each in outputs)


def witnesses(problem: Problem, sentence: Sentence) -> Iterator[Output]:
    """Yield outputs in which all that is demanded stands side by side."""
    random = Random(problem.seed)
    tokens = problem.tokens
    for between in (0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1):
        demands = random.sample(sentence.demands, len(sentence.demands))
        demands.sort(key=lambda each: isinstance(each, Pattern) and each.last)
        demands.sort(key=lambda each: not (isinstance(each, Pattern) and is_strict(each)))
        output = sentence.prefix
        for demand in demands:
            parts = demand.parts if isinstance(demand, Pattern) else ((Form(demand),),)
            output += tuple(random.choices(tokens, k=between)) if output else ()
            for part in parts:
                usual = [form for form in part if not form.first] or part
                output += random.choice(usual).tokens
        yield output


def is_cut(problem: Problem, sentence: Sentence, output: Output) -> bool:
    """Say whether an output stops at its limit, without an end."""
    return problem.cut and len(output) == sentence.limit > 0


def scored_length(problem: Problem, sentence: Sentence, output: Output) -> int:
    """Return the length that a score is divided by a power of."""
    return len(output) + (not is_cut(problem, sentence, output))


def log_prob(problem: Problem, sentence: Sentence, output: Output, end: int | None) -> float:
    """Return what the model gives an output, its end included if it has one."""
    scorer = make_scorer(problem)

    @cache
    def row(prefix: Output) -> list[float]:
        scored = scorer.next_log_probs(sentence.source, prefix)
        return [max(float(value), IMPOSSIBLE) for value in scored]

    steps = sum(row(output[:at])[token] for at, token in enumerate(output))
    return steps if end is None else steps + row(output)[end]


def ranked(problem: Problem, sentence: Sentence, power: float) -> list[Ranked]:
    """Return all outputs that keep to a request, best first."""
    scorer = make_scorer(problem)
    sums: dict[Output, tuple[float, list[float]]] = {}

    def scored(output: Output) -> tuple[float, list[float]]:
        if output not in sums:
            before = 0.0
            if output:
                so_far, row = scored(output[:-1])
                before = so_far + row[output[-1]]
            row = [float(v) for v in scorer.next_log_probs(sentence.source, output)]
            sums[output] = before, row
        return sums[output]

    found = []
    for output in every_output(problem, sentence):
        price = price_of(problem, sentence, output)
        if price is not None:
            before, row = scored(output)
            end = 0.0 if is_cut(problem, sentence, output) else max(row[e] for e in problem.ends)
            score = (before + end - price) / scored_length(problem, sentence, output) ** power
            found.append(Ranked(score, output))
    return sorted(found, key=lambda each: -each.rank)
