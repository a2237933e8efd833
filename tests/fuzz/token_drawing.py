"""Draw small searches at random."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from random import Random
from typing import Any

from fuzz.token_problems import SOURCE, Demand, Marks, Problem, Sentence, Tokens, begins_output
from lexbeam.search import Form, Pattern

ALGORITHMS = ("dba", "lookahead", "gbs", "cbs", "beam")
STOPS = ("all", "first", "likely", "bound", "full", "now")
LONGEST = {2: 9, 3: 6, 4: 5, 5: 4}
"""The longest outputs, by the number of tokens that they are made of: up to some 1,400."""


def draw(random: Random) -> Problem:
    """Draw a problem: mostly a small one."""
    problem = _draw(random)
    return replace(problem, in_32_bits=random.random() < 0.15)


def _draw(random: Random) -> Problem:
    drawn = random.random()
    if drawn < 0.015:
        return _draw_roomy(random, random.randint(4, 12), (1, 1, 2, 3, 5))
    if drawn < 0.06:
        return _draw_roomy(random, random.randint(3, 6), (1, 1, 2))
    size = random.choice((3, 4, 4, 5, 6))
    eos = random.randrange(size)
    tokens = [token for token in range(size) if token != eos]
    other_end = random.choice(tokens) if size > 3 and random.random() < 0.1 else None
    if other_end is not None:
        tokens.remove(other_end)
    exhaustive = drawn > 0.9
    longest = LONGEST[len(tokens)] - random.choice((0, 1, 1, 2))
    if exhaustive:
        longest = max(2, LONGEST[len(tokens)] - random.choice((1, 2, 2)))
    marks = _marks(random, size, eos) if random.random() < 0.6 else None
    table, holds = random.random() < 0.7, random.random() < 0.7
    count = random.choice((2, 2, 3, 6)) if random.random() < 0.08 else 1
    sentences = []
    for number in range(count):
        limit = random.choice((longest, longest, random.randint(0, longest)))
        sentences.append(_sentence(random, tokens, marks, holds, limit, f"s{number:03}"))
    settings = _wide(random) if exhaustive else _narrow(random)
    if exhaustive:
        outputs = sum(len(tokens) ** length for length in range(longest + 1))
        settings["beam_size"] = 2 * outputs
    seed = random.randrange(10_000)
    if other_end is not None:
        settings["nbest"] = 1  # The same tokens may end in two ways, and be found twice.
    given = size, eos, seed, table, holds, marks, tuple(sentences), settings, exhaustive
    return _with_nothing(random, _tied(random, Problem(*given, other_end=other_end)))


def _with_nothing(random: Random, problem: Problem) -> Problem:
    """Let the model of some problems rule tokens out; what is the best is not looked at then."""
    if problem.exhaustive or random.random() > 0.1:
        return problem
    return replace(problem, table=True, rules_out=True)


def _tied(random: Random, problem: Problem) -> Problem:
    """Tie some demands to source tokens, in some problems; ties steer what is the best."""
    if problem.exhaustive or random.random() > 0.15:
        return problem
    sentences = []
    for sentence in problem.sentences:
        ties = tuple(
            (number, tuple(sorted(random.sample(range(SOURCE), random.choice((1, 1, 2))))))
            for number in range(len(sentence.demands))
            if random.random() < 0.5
        )
        sentences.append(replace(sentence, ties=ties))
    return replace(problem, sentences=tuple(sentences), attends=True)


def _draw_roomy(random: Random, size: int, times: Sequence[int]) -> Problem:
    """Draw a problem with more demands, and room for them side by side."""
    eos = random.randrange(size)
    tokens = [token for token in range(size) if token != eos]
    marks = _marks(random, size, eos) if random.random() < 0.5 else None
    table, holds = random.random() < 0.7, random.random() < 0.7
    demands: list[Demand] = []
    for _ in range(random.randint(2, 4)):
        demand = _demand(random, tokens, marks, holds, fewest=random.choice((1, 2, 3)))
        if isinstance(demand, Pattern) and random.random() < 0.75:
            demand = replace(demand, penalty=None)
        demands += [demand] * random.choice(times)
    begins = {each for each in demands if isinstance(each, Pattern) and begins_output(each)}
    ends = {each for each in demands if isinstance(each, Pattern) and each.last}
    surplus = {*sorted(begins, key=repr)[1:], *sorted(ends, key=repr)[1:]}
    demands = [each for each in demands if each not in surplus]
    random.shuffle(demands)
    prefix = _phrase(random, tokens) if random.random() < 0.2 else ()
    avoid = _avoided(random, tokens, demands) if random.random() < 0.25 else ()
    limit = len(prefix) + sum(map(_longest, demands)) + random.choice((0, 2, 10, 20))
    sentence = Sentence(tuple(demands), avoid, prefix, False, limit, "s000")
    seed = random.randrange(10_000)
    given = size, eos, seed, table, holds, marks, (sentence,), _narrow(random)
    neighbour = random.choice((0, 1, 20, 65, 130))
    problem = Problem(*given, exhaustive=False, roomy=True, neighbour=neighbour)
    return _with_nothing(random, _tied(random, problem))


def _avoided(
    random: Random, tokens: Sequence[int], demands: Sequence[Demand]
) -> tuple[Tokens, ...]:
    """Return avoided phrases: any, or forms of a demand that has others."""
    forms = [
        form.tokens
        for demand in demands
        if isinstance(demand, Pattern)
        for part in demand.parts
        if len(part) > 1
        for form in part
    ]
    drawn = (
        random.choice(forms) if forms and random.random() < 0.5 else _phrase(random, tokens)
        for _ in range(random.choice((1, 1, 2)))
    )
    return tuple(dict.fromkeys(drawn))


def _longest(demand: Demand) -> int:
    if not isinstance(demand, Pattern):
        return len(demand)
    return sum(max(len(form.tokens) for form in part) for part in demand.parts)


def _marks(random: Random, size: int, eos: int) -> Marks:
    share = random.choice((0.3, 0.6, 0.9))
    boundary = [random.random() < share for _ in range(size)]
    boundary[eos] = True
    closing = [random.random() < random.choice((0, 0.3)) for _ in range(size)]
    starting = boundary
    if random.random() < 0.5:
        starting = [mark and random.random() < 0.8 for mark in boundary]
    joining = [random.choice((0, 0, 0, 1, 2, 4, 6, 7)) for _ in range(size)]
    silent = [mark and random.random() < random.choice((0, 0.3)) for mark in boundary]
    return Marks(tuple(boundary), tuple(closing), tuple(starting), tuple(joining), tuple(silent))


def _wide(random: Random) -> dict[str, Any]:
    return {
        "algorithm": random.choice(ALGORITHMS),
        "prune": 0,
        "stop": random.choice(("all", "bound")),
        "nbest": random.choice((1, 1, 3)),
        "length_penalty": random.choice((0.0, 0.6, 1.0, 1.5)),
        "aside": random.random() < 0.2,
        "cut": random.random() < 0.1,
        "word_end": random.random() < 0.5,
    }


def _narrow(random: Random) -> dict[str, Any]:
    return {
        "beam_size": random.choice((1, 1, 2, 3, 4, 5, 7, 10, 30)),
        "algorithm": random.choice(ALGORITHMS),
        "prune": random.choice((20.0, 20.0, 0, 0.5, 3.0)),
        "lag": random.choice((None, None, 3.0, 0.3)),
        "stop": random.choice(STOPS),
        "nbest": random.choice((1, 1, 2, 4)),
        "length_penalty": random.choice((0.0, 1.0, 1.0, 1.5)),
        "aside": random.random() < 0.15,
        "cut": random.random() < 0.1,
        "word_end": random.random() < 0.5,
    }


def _phrase(random: Random, tokens: Sequence[int], longest: int = 3) -> Tokens:
    return tuple(random.choice(tokens) for _ in range(random.randint(1, longest)))


def _forms(random: Random, tokens: Sequence[int], longest: int) -> tuple[Form, ...]:
    drawn = [_phrase(random, tokens, longest) for _ in range(random.choice((1, 1, 2, 3)))]
    return tuple(Form(each) for each in dict.fromkeys(drawn))


def _pattern(
    random: Random, tokens: Sequence[int], marks: Marks | None, fewest: int = 1
) -> Pattern:
    penalty = random.choice((None, None, None, 0.0, 0.5, 2.0, 50.0, 1e5))
    if random.random() < 0.12:
        begins = {_phrase(random, tokens): None for _ in range(random.randint(1, 2))}
        return Pattern((tuple(Form(each, first=True) for each in begins),))
    count = max(random.choice((1, 1, 1, 2, 2, 3)), fewest)
    within = random.choice((None, 0, 1, 2, 5)) if count > 1 else None
    parts = [_forms(random, tokens, 3 if count == 1 else 2) for _ in range(count)]
    if within is not None and marks is not None:  # What follows a gap begins a word.
        words = [token for token in tokens if marks.starting[token]]
        if not words:
            within = None
        for number in range(1, count if words else 0):
            begun = [f for f in parts[number] if marks.starting[f.tokens[0]]]
            parts[number] = tuple(begun) or tuple(Form((token,)) for token in words[:1])
    if random.random() < 0.25:
        parts[0] = (*parts[0], Form(_phrase(random, tokens), first=True))
    last = random.random() < 0.2
    return Pattern(tuple(parts), within=within, last=last, penalty=penalty)


def _spelled_phrase(random: Random, tokens: Sequence[int], exact: bool) -> Pattern:
    """Return a phrase in several spellings, some only where no word goes on before them."""
    forms = [
        replace(form, apart=random.random() < 0.4) for form in _forms(random, tokens, longest=2)
    ]
    if all(form.apart for form in forms) and random.random() < 0.7:
        forms[0] = replace(forms[0], apart=False)
    if random.random() < 0.3:
        forms = [_in_compounds(random, form) for form in forms]
        penalty = random.choice((None, None, None, 0.5, 50.0))
        overlap = random.random() < 0.5
        return Pattern((tuple(dict.fromkeys(forms)),), may_overlap=overlap, penalty=penalty)
    return Pattern((tuple(forms),), may_overlap=True, exact=exact and random.random() < 0.6)


def _in_compounds(random: Random, form: Form) -> Form:
    """Return a form that may count as the first, the last or another part of a compound."""
    inside, goes_on = random.choice(((True, False), (False, True), (True, True)))
    return replace(form, apart=form.apart and not inside, inside=inside, goes_on=goes_on)


def _demand(
    random: Random, tokens: Sequence[int], marks: Marks | None, holds: bool, fewest: int = 1
) -> Demand:
    """Return a phrase or a pattern; only what can be held is counted exactly."""
    drawn = random.random()
    if drawn < (0.85 if fewest > 1 else 0.55):
        return _pattern(random, tokens, marks, fewest)
    if drawn > 0.8:
        return _spelled_phrase(random, tokens, exact=holds or marks is None)
    return _phrase(random, tokens)


def _sentence(
    random: Random,
    tokens: Sequence[int],
    marks: Marks | None,
    holds: bool,
    limit: int,
    source: str,
) -> Sentence:
    demands: list[Demand] = []
    for _ in range(random.choice((0, 1, 1, 2, 2, 3))):
        demand = _demand(random, tokens, marks, holds)
        demands += [demand] * random.choice((1, 1, 1, 2, 3))
    begins = {each for each in demands if isinstance(each, Pattern) and begins_output(each)}
    if len(begins) > 1:
        demands = [each for each in demands if each not in begins]
    random.shuffle(demands)
    avoid = _avoided(random, tokens, demands) if random.random() < 0.4 else ()
    prefix: Tokens = ()
    if random.random() < 0.3:
        prefix = _phrase(random, tokens)[:limit]
    whole = bool(prefix) and marks is not None and random.random() < 0.5
    return Sentence(tuple(demands), avoid, prefix, whole, limit, source)
