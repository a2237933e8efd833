"""Small searches, drawn at random: a toy model, what is asked of it, and how to search."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from random import Random
from typing import Any

import numpy as np

from lexbeam.search import Form, Pattern
from lexbeam.testing import HistoryScorer, TableScorer

Tokens = tuple[int, ...]
Demand = Tokens | Pattern
ALGORITHMS = ("dba", "lookahead", "gbs", "cbs", "beam")
STOPS = ("all", "first", "likely", "bound", "full", "now")
LONGEST = {2: 9, 3: 6, 4: 5, 5: 4}
"""The longest outputs, by the number of tokens that they are made of: up to some 1,400."""


@dataclass(frozen=True)
class Marks:
    """Which tokens end and begin words, as `decode` takes them."""

    boundary: tuple[bool, ...]
    closing: tuple[bool, ...]
    starting: tuple[bool, ...]
    joining: tuple[int, ...]


@dataclass(frozen=True)
class Sentence:
    """What is asked of one output."""

    demands: tuple[Demand, ...] = ()
    avoid: tuple[Tokens, ...] = ()
    prefix: Tokens = ()
    whole: bool = False
    limit: int = 4
    source: str = "s"


@dataclass(frozen=True)
class Problem:
    """A search."""

    size: int
    eos: int
    seed: int
    table: bool
    holds: bool
    """Whether the scorer knows which tokens begin words."""
    marks: Marks | None
    sentences: tuple[Sentence, ...]
    settings: dict[str, Any]
    exhaustive: bool
    """Whether the beam holds everything, so that the best output must be found."""
    roomy: bool = False
    """Whether there are too many outputs to try, but room for all that is demanded."""


def make_scorer(problem: Problem) -> TableScorer | HistoryScorer:
    """Return the model of a problem."""
    starts = problem.marks.boundary if problem.marks and problem.holds else None
    if problem.table:
        random = np.random.default_rng(problem.seed)
        table = np.log(random.dirichlet(np.full(problem.size, 0.7), problem.size))
        return TableScorer(table, bos=0, eos=problem.eos, word_starts=starts)
    return HistoryScorer(problem.size, eos=problem.eos, seed=problem.seed, word_starts=starts)


def arguments(problem: Problem, sentences: Sequence[Sentence]) -> dict[str, Any]:
    """Return what `decode` is called with, apart from the scorer."""
    given: dict[str, Any] = {
        "sources": [each.source for each in sentences],
        "phrases": [list(each.demands) for each in sentences],
    }
    if any(each.avoid for each in sentences):
        given["avoid"] = [list(each.avoid) for each in sentences]
    if any(each.prefix for each in sentences):
        given["prefix"] = [list(each.prefix) for each in sentences]
    given["max_length"] = [each.limit for each in sentences]
    if problem.marks is not None:
        given |= {name: list(value) for name, value in vars(problem.marks).items()}
        if any(each.whole for each in sentences):
            given["whole_prefix"] = [each.whole for each in sentences]
    return given | problem.settings


def show(problem: Problem) -> str:
    """Return a problem as a program."""
    starts = problem.marks.boundary if problem.marks and problem.holds else None
    known = f", word_starts={[int(mark) for mark in starts]}" if starts else ""
    lines = ["from lexbeam.search import Form, Pattern, decode"]
    if problem.table:
        lines += [
            "import numpy as np",
            "from lexbeam.testing import TableScorer",
            f"random = np.random.default_rng({problem.seed})",
            f"table = np.log(random.dirichlet(np.full({problem.size}, 0.7), {problem.size}))",
            f"scorer = TableScorer(table, bos=0, eos={problem.eos}{known})",
        ]
    else:
        model = f"{problem.size}, eos={problem.eos}, seed={problem.seed}{known}"
        lines += ["from lexbeam.testing import HistoryScorer", f"scorer = HistoryScorer({model})"]
    given = arguments(problem, problem.sentences)
    passed = (f"    {name}={_short(value)},\n" for name, value in given.items())
    return "\n".join([*lines, "print(decode(\n    scorer,\n" + "".join(passed) + "))\n"])


def _short(value: Any) -> str:
    if isinstance(value, list) and value and all(isinstance(each, bool) for each in value):
        return str([int(each) for each in value])
    text = repr(value).replace(", demand=0", "")
    for name in ("first", "apart", "inside", "goes_on", "last", "may_overlap", "exact"):
        text = text.replace(f", {name}=False", "")
    return text.replace(", within=None", "").replace(", penalty=None", "")


# --- drawing ---------------------------------------------------------------------------------


def draw(random: Random) -> Problem:
    """Draw a problem."""
    if random.random() < 0.35:
        return _draw_roomy(random)
    size = random.choice((3, 4, 4, 5, 6))
    eos = random.randrange(size)
    tokens = [token for token in range(size) if token != eos]
    exhaustive = random.random() < 0.35
    longest = LONGEST[len(tokens)] - (1 if exhaustive else 0)
    marks = _marks(random, size, eos) if random.random() < 0.6 else None
    table, holds = random.random() < 0.5, random.random() < 0.7
    count = random.choice((2, 3, 4)) if random.random() < 0.3 else 1
    sentences = []
    for number in range(count):
        limit = random.choice((longest, random.randint(0, longest)))
        sentences.append(_sentence(random, tokens, marks, holds, limit, f"s{number}"))
    settings = _wide(random) if exhaustive else _narrow(random)
    if exhaustive:
        outputs = sum(len(tokens) ** length for length in range(longest + 1))
        settings["beam_size"] = 2 * outputs
    seed = random.randrange(10_000)
    return Problem(size, eos, seed, table, holds, marks, tuple(sentences), settings, exhaustive)


def _draw_roomy(random: Random) -> Problem:
    """Draw a problem with more demands, and room for them side by side."""
    size = random.randint(4, 12)
    eos = random.randrange(size)
    tokens = [token for token in range(size) if token != eos]
    marks = _marks(random, size, eos) if random.random() < 0.5 else None
    table, holds = random.random() < 0.5, random.random() < 0.7
    demands: list[Demand] = []
    for _ in range(random.randint(2, 4)):
        demand = _demand(random, tokens, marks, holds, fewest=random.choice((1, 2, 3)))
        if isinstance(demand, Pattern) and random.random() < 0.75:
            demand = replace(demand, penalty=None)
        demands += [demand] * random.choice((1, 1, 2, 3, 5))
    begins = {each for each in demands if isinstance(each, Pattern) and _strict(each)}
    ends = {each for each in demands if isinstance(each, Pattern) and each.last}
    surplus = {*sorted(begins, key=repr)[1:], *sorted(ends, key=repr)[1:]}
    demands = [each for each in demands if each not in surplus]
    demands = _once(demands)
    random.shuffle(demands)
    limit = sum(map(_longest, demands)) + random.choice((0, 2, 10, 20))
    sentence = Sentence(tuple(demands), (), (), False, limit, "s0")
    seed = random.randrange(10_000)
    return Problem(
        size, eos, seed, table, holds, marks, (sentence,), _narrow(random), False, roomy=True
    )


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
    return Marks(tuple(boundary), tuple(closing), tuple(starting), tuple(joining))


def _wide(random: Random) -> dict[str, Any]:
    return {
        "algorithm": random.choice(ALGORITHMS),
        "prune": 0,
        "stop": random.choice(("all", "bound")),
        "nbest": random.choice((1, 1, 3)),
        "length_penalty": random.choice((0.0, 0.6, 1.0, 1.5)),
        "aside": random.random() < 0.2,
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
    }


def _phrase(random: Random, tokens: Sequence[int], longest: int = 3) -> Tokens:
    return tuple(random.choice(tokens) for _ in range(random.randint(1, longest)))


def _forms(random: Random, tokens: Sequence[int], longest: int) -> tuple[Form, ...]:
    drawn = [_phrase(random, tokens, longest) for _ in range(random.choice((1, 1, 2, 3)))]
    return tuple(Form(each) for each in dict.fromkeys(drawn))


def _pattern(
    random: Random, tokens: Sequence[int], marks: Marks | None, fewest: int = 1
) -> Pattern:
    penalty = random.choice((None, None, 0.0, 0.5, 2.0, 50.0))
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
    if random.random() < 0.4:
        forms = [_in_compounds(random, form) for form in forms]
        return Pattern((tuple(dict.fromkeys(forms)),), may_overlap=True)
    return Pattern((tuple(forms),), may_overlap=True, exact=exact and random.random() < 0.6)


def _in_compounds(random: Random, form: Form) -> Form:
    """Return a form that may count as the first or as the last part of a compound."""
    inside = random.random() < 0.5
    return replace(form, apart=form.apart and not inside, inside=inside, goes_on=not inside)


def _once(demands: list[Demand]) -> list[Demand]:
    """Return demands, of those with parts of compounds one each: how they overlap is not told."""
    joined = [d for d in demands if isinstance(d, Pattern) and d.parts[0][0].in_compounds]
    return [d for n, d in enumerate(demands) if d not in joined or d not in demands[:n]]


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
    begins = {each for each in demands if isinstance(each, Pattern) and _strict(each)}
    if len(begins) > 1:
        demands = [each for each in demands if each not in begins]
    demands = _once(demands)
    random.shuffle(demands)
    avoid = []
    if random.random() < 0.4:
        avoid = [_phrase(random, tokens) for _ in range(random.choice((1, 1, 2)))]
    prefix: Tokens = ()
    if random.random() < 0.3:
        prefix = _phrase(random, tokens)[:limit]
    whole = bool(prefix) and marks is not None and random.random() < 0.5
    return Sentence(tuple(demands), tuple(avoid), prefix, whole, limit, source)


def _strict(pattern: Pattern) -> bool:
    return all(form.first for form in pattern.parts[0])


# --- making problems simpler -----------------------------------------------------------------


def simpler(problem: Problem) -> Iterator[Problem]:
    """Yield problems with something left out."""
    sentences = problem.sentences
    for at in range(len(sentences)):
        if len(sentences) > 1:
            yield replace(problem, sentences=(*sentences[:at], *sentences[at + 1 :]))
        for other in _simpler_sentences(sentences[at]):
            yield replace(problem, sentences=(*sentences[:at], other, *sentences[at + 1 :]))
    if problem.marks is not None and not any(each.whole for each in sentences):
        yield replace(problem, marks=None)
    if problem.marks is not None and any(problem.marks.closing):
        marks = replace(problem.marks, closing=(False,) * problem.size)
        yield replace(problem, marks=marks)
    for name in ("aside", "nbest", "lag", "length_penalty", "stop", "prune", "algorithm"):
        if name in problem.settings and not (problem.exhaustive and name == "prune"):
            kept = {key: value for key, value in problem.settings.items() if key != name}
            yield replace(problem, settings=kept)
    if not problem.exhaustive and problem.settings["beam_size"] > 1:
        size = problem.settings["beam_size"] - 1
        yield replace(problem, settings=problem.settings | {"beam_size": size})


def _simpler_sentences(sentence: Sentence) -> Iterator[Sentence]:
    demands, avoid = sentence.demands, sentence.avoid
    for at in range(len(demands)):
        yield replace(sentence, demands=demands[:at] + demands[at + 1 :])
    for at in range(len(avoid)):
        yield replace(sentence, avoid=avoid[:at] + avoid[at + 1 :])
    if sentence.prefix:
        yield replace(sentence, prefix=(), whole=False)
        if len(sentence.prefix) > 1:
            yield replace(sentence, prefix=sentence.prefix[:-1])
    if sentence.whole:
        yield replace(sentence, whole=False)
    if sentence.limit > len(sentence.prefix):
        yield replace(sentence, limit=sentence.limit - 1)
    for demand in dict.fromkeys(demands):
        for other in _simpler_demands(demand):
            changed = tuple(other if each == demand else each for each in demands)
            yield replace(sentence, demands=changed)


def _simpler_demands(demand: Demand) -> Iterator[Demand]:
    if not isinstance(demand, Pattern):
        if len(demand) > 1:
            yield from (demand[1:], demand[:-1])
        return
    for parts in _simpler_parts(demand.parts):
        yield replace(demand, parts=parts)
    if demand.last:
        yield replace(demand, last=False)
    if demand.exact:
        yield replace(demand, exact=False)
    if demand.penalty is not None and not _strict(demand):
        yield replace(demand, penalty=None)


def _simpler_parts(
    parts: tuple[tuple[Form, ...], ...],
) -> Iterator[tuple[tuple[Form, ...], ...]]:
    for at, part in enumerate(parts):
        if len(parts) > 1:
            yield parts[:at] + parts[at + 1 :]
        for number, form in enumerate(part):
            if len(part) > 1 and not all(f.first for f in part[:number] + part[number + 1 :]):
                fewer = part[:number] + part[number + 1 :]
                yield (*parts[:at], fewer, *parts[at + 1 :])
            if len(form.tokens) > 1:
                shorter = replace(form, tokens=form.tokens[:-1])
                if shorter not in part:
                    forms = (*part[:number], shorter, *part[number + 1 :])
                    yield (*parts[:at], forms, *parts[at + 1 :])
