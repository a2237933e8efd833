"""Patterns against a definition that tries every way to lay them into an output."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from helpers.brute_force import keeps_to, occurrences
from lexbeam.errors import ConstraintError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import PAD
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.trace import trace
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.beam_search import decode
from lexbeam.testing import HistoryScorer, TableScorer, every_output

WIDE = 3000
Output = Sequence[int]


# --- the definition --------------------------------------------------------------------------


def ends(
    form: Form, output: Output, start: int, words: WordBoundaries | None, glued: bool
) -> int | None:
    """Return where a form ends if it stands at an index; None if it does not stand there."""
    end = start + len(form.tokens)
    if tuple(output[start:end]) != form.tokens or (form.first and start > 0):
        return None
    if words is None or glued or words.closing[form.tokens[-1]] or end == len(output):
        return end
    return end if words.boundary[output[end]] else None


def chain(pattern: Pattern, copies: int) -> list[tuple[tuple[Form, ...], int | None]]:
    """Return the parts of so many copies, each with the limit of the words before it."""
    inner = len(pattern.parts)
    return [
        (part, pattern.within if number % inner else None)
        for number, part in enumerate(pattern.parts * copies)
    ]


def ways(
    links: list[tuple[tuple[Form, ...], int | None]],
    output: Output,
    after: int,
    words: WordBoundaries | None,
    glued: bool,
) -> Iterator[int]:
    """Yield the ends of all ways to lay the parts into the output, one after the other."""
    if not links:
        yield after
        return
    part, limit = links[0]
    for start in range(after, len(output)):
        if limit is not None and units(output[after:start], words) > limit:
            break
        for form in part:
            end = ends(form, output, start, words, glued)
            if end is not None:
                yield from ways(links[1:], output, end, words, glued)


def units(tokens: Output, words: WordBoundaries | None) -> int:
    return len(tokens) if words is None else sum(bool(words.starting[t]) for t in tokens)


def times_met(pattern: Pattern, wanted: int, output: Output, words: WordBoundaries | None) -> int:
    """Return how often, up to ``wanted``, a pattern is there."""
    if pattern.strict or pattern.last:
        found = ways(chain(pattern, 1), output, 0, words, pattern.strict)
        there = any(not pattern.last or end == len(output) for end in found)
        return wanted if there else 0
    for copies in range(wanted, 0, -1):
        if any(True for _ in ways(chain(pattern, copies), output, 0, words, glued=False)):
            return copies
    return 0


def penalty_of(
    constraints: Sequence[Any], output: Output, words: WordBoundaries | None
) -> float | None:
    """Return what an output pays for what it lacks; None if it lacks what it must have."""
    penalty = 0.0
    for constraint, wanted in Counter(constraints).items():
        if isinstance(constraint, Pattern):
            missing = wanted - times_met(constraint, wanted, output, words)
        else:
            boundary = None if words is None else (words.boundary | False).tolist()
            missing = max(0, wanted - occurrences(constraint, output, boundary))
        if missing and getattr(constraint, "penalty", None) is None:
            return None
        penalty += missing * (constraint.penalty if missing else 0.0)
    return penalty


# --- what is drawn ---------------------------------------------------------------------------


@st.composite
def patterns(draw: st.DrawFn, known: list[int], starting: Sequence[bool]) -> Pattern:
    forms = st.lists(st.sampled_from(known), min_size=1, max_size=3).map(tuple)
    if draw(st.integers(0, 5)) == 0:
        strict = draw(st.lists(forms, min_size=1, max_size=3, unique=True))
        return Pattern((tuple(Form(tokens, first=True) for tokens in strict),))
    within = draw(st.none() | st.integers(0, 2))
    count = draw(st.integers(1, 3))
    parts = []
    for number in range(count):
        some = draw(st.lists(forms, min_size=1, max_size=2, unique=True))
        if within is not None and number:
            some = [f for f in some if starting[f[0]]] or [(known[0],)]
        first = draw(forms) if number == 0 and draw(st.booleans()) else None
        parts.append((*map(Form, some), *([Form(first, True)] if first else [])))
    return Pattern(
        tuple(parts),
        within=within,
        last=draw(st.booleans()),
        penalty=draw(st.none() | st.sampled_from([0.0, 0.5, 2.0, 50.0])),
    )


@st.composite
def cases(draw: st.DrawFn) -> dict[str, Any]:
    """Draw a small model, plain phrases and patterns mixed, and a limit."""
    size = draw(st.integers(3, 4))
    eos = draw(st.integers(0, size - 1))
    seed = draw(st.integers(0, 10_000))
    marks = st.lists(st.booleans(), min_size=size, max_size=size)
    boundary = draw(st.none() | marks)
    words, starting = None, [True] * size
    tokens = [token for token in range(size) if token != eos]
    if boundary is not None:
        boundary[eos] = True
        starting = draw(marks)
        starting[tokens[0]] = True
        closing = np.zeros(size, np.bool_)
        words = WordBoundaries(
            np.array(boundary), closing, np.array(starting), np.zeros(size, np.uint8)
        )
    table = np.log(np.random.default_rng(seed).dirichlet(np.full(size, 0.7), size))
    scorer: TableScorer | HistoryScorer = HistoryScorer(
        size, eos=eos, seed=seed, word_starts=boundary
    )
    if draw(st.booleans()):
        scorer = TableScorer(table, bos=0, eos=eos, word_starts=boundary)
    some = st.sampled_from(tokens)
    phrases = st.lists(some, min_size=1, max_size=3).map(tuple)
    constraints: list[Any] = draw(st.lists(phrases, max_size=2))
    drawn = draw(st.lists(patterns(tokens, starting), min_size=1, max_size=2))
    constraints += drawn + draw(st.lists(st.sampled_from(drawn), max_size=1))
    if len({p for p in drawn if p.strict}) > 1:
        constraints = [c for c in constraints if not (isinstance(c, Pattern) and c.strict)]
    return {
        "scorer": scorer,
        "words": words,
        "constraints": constraints,
        "avoid": draw(st.lists(phrases, max_size=1)),
        "max_length": draw(st.integers(1, 5)),
        "length_penalty": draw(st.sampled_from([0.0, 1.0])),
    }


def marks(words: WordBoundaries | None) -> dict[str, Any]:
    if words is None:
        return {}
    return {"boundary": words.boundary, "closing": words.closing, "starting": words.starting}


def run(case: dict[str, Any], **changes: Any) -> Any:
    arguments = {
        "max_length": case["max_length"],
        "length_penalty": case["length_penalty"],
        **marks(case["words"]),
    } | changes
    phrases, avoid = [case["constraints"]], [case["avoid"]]
    return decode(case["scorer"], ["source"], phrases, avoid, **arguments)[0][0]


def truth(case: dict[str, Any]) -> tuple[float, tuple[int, ...]] | None:
    """Return score, penalty, and tokens of the best output."""
    words = case["words"]
    boundary = None if words is None else words.boundary.tolist()
    found = []
    for tokens, log_prob in every_output(case["scorer"], case["max_length"], "source"):
        penalty = penalty_of(case["constraints"], tokens, words)
        if penalty is not None and keeps_to(tokens, [], case["avoid"], boundary):
            length = (len(tokens) + 1) ** case["length_penalty"]
            found.append(((log_prob - penalty) / length, tokens))
    return max(found, default=None)


# --- the tests -------------------------------------------------------------------------------


@settings(max_examples=120)
@given(cases(), st.lists(st.integers(0, 3), max_size=7))
def test_what_is_met_is_what_the_definition_says(case: dict[str, Any], output: list[int]) -> None:
    eos, words, constraints = case["scorer"].eos, case["words"], case["constraints"]
    output = [token for token in output if token < case["scorer"].vocabulary_size and token != eos]
    found: Counter[Any] = Counter()
    for constraint, met in zip(constraints, trace(constraints, output, words).met, strict=True):
        found[constraint] += met
    for constraint, wanted in Counter(constraints).items():
        if isinstance(constraint, Pattern):
            assert found[constraint] == times_met(constraint, wanted, output, words)


@settings(max_examples=80)
@given(cases(), st.lists(st.integers(0, 3), max_size=3))
def test_the_need_is_that_of_the_shortest_output(case: dict[str, Any], output: list[int]) -> None:
    scorer, words, constraints = case["scorer"], case["words"], case["constraints"]
    output = [t for t in output if t < scorer.vocabulary_size and t != scorer.eos]
    automaton = Automaton([constraints], [[]], scorer.vocabulary_size, words, True, scorer.eos)
    remaining = RemainingTokens(automaton, scorer.vocabulary_size, scorer.eos)
    states = automaton.start()
    for token in output:
        states = automaton.advance(states, np.array([token]))
    need = remaining.need_of(0, states)
    longest = min(len(output) + need, 6)
    outputs = (tokens for tokens, _ in every_output(scorer, longest, "s"))
    continued = [t for t in outputs if list(t[: len(output)]) == output]
    done = [len(t) for t in continued if penalty_of(constraints, t, words) is not None]
    strict = [c for c in constraints if isinstance(c, Pattern) and c.strict]
    if need >= NEVER:  # An output that may not begin as it does is not asked for its need.
        assert not done or (strict and not all(trace(strict, output, words).met))
    elif longest == len(output) + need:
        assert min(done) == longest if remaining.exact[0] else min(done) <= longest
    else:
        assert not done or not remaining.exact[0]


@settings(max_examples=80)
@given(
    cases(),
    st.sampled_from(["dba", "lookahead", "cbs", "beam"]),
    st.sampled_from(["all", "bound"]),
)
def test_a_wide_beam_finds_the_best_output(case: dict[str, Any], algorithm: str, stop: str) -> None:
    best = truth(case)
    beam = 600 if algorithm == "cbs" else WIDE
    wide = {"beam_size": beam, "algorithm": algorithm, "stop": stop, "prune": 0}
    if best is None:
        with pytest.raises(ConstraintError):
            run(case, **wide)
        return
    hypothesis = run(case, **wide)
    penalty = penalty_of(case["constraints"], hypothesis.tokens, case["words"])
    assert penalty is not None
    length = (len(hypothesis.tokens) + 1) ** case["length_penalty"]
    assert (hypothesis.log_prob - penalty) / length == pytest.approx(best[0], abs=1e-9)
    assert hypothesis.score == pytest.approx(hypothesis.log_prob / length)


@settings(max_examples=120)
@given(cases(), st.sampled_from(sorted(POLICIES)), st.integers(1, 6))
def test_a_narrow_beam_keeps_to_the_request_as_well(
    case: dict[str, Any], algorithm: str, beam_size: int
) -> None:
    if truth(case) is None:
        with pytest.raises(ConstraintError):
            run(case, algorithm=algorithm, beam_size=beam_size)
        return
    hypothesis = run(case, algorithm=algorithm, beam_size=beam_size)
    words, constraints = case["words"], case["constraints"]
    assert penalty_of(constraints, hypothesis.tokens, words) is not None
    assert keeps_to(
        hypothesis.tokens, [], case["avoid"], None if words is None else words.boundary.tolist()
    )
    met: Counter[Any] = Counter()
    for constraint, is_met in zip(constraints, hypothesis.met, strict=True):
        met[constraint] += is_met
    for constraint, wanted in Counter(constraints).items():
        if isinstance(constraint, Pattern):
            assert met[constraint] == times_met(constraint, wanted, hypothesis.tokens, words)


@settings(max_examples=30)
@given(st.lists(cases(), min_size=2, max_size=4), st.sampled_from(sorted(POLICIES)))
def test_a_batch_is_its_sentences_one_by_one(batch: list[dict[str, Any]], algorithm: str) -> None:
    """One model and one set of marks for all, the requests of each."""
    first = batch[0]
    size, eos = first["scorer"].vocabulary_size, first["scorer"].eos
    requests = []
    for case in batch:
        if case["scorer"].vocabulary_size == size and case["scorer"].eos == eos:
            candidate = {**first, "constraints": case["constraints"], "avoid": case["avoid"]}
            try:
                requests.append((candidate, run(candidate, algorithm=algorithm, max_length=8)))
            except ConstraintError:
                continue
    found = decode(
        first["scorer"],
        ["source"] * len(requests),
        [case["constraints"] for case, _ in requests],
        [case["avoid"] for case, _ in requests],
        algorithm=algorithm,
        max_length=8,
        length_penalty=first["length_penalty"],
        **marks(first["words"]),
    )
    for (_, alone), (together,) in zip(requests, found, strict=True):
        assert together == alone


A, B, C, X = 0, 1, 2, 9


def forms(*spellings: tuple[int, ...]) -> tuple[Form, ...]:
    return tuple(map(Form, spellings))


@pytest.mark.parametrize(
    ("pattern", "output", "banks", "met"),
    [
        (Pattern((forms((A,), (B, C)),)), [B, C], [0, 1], True),  # size 1: its shortest form
        (Pattern((forms((A, B, C), (B, B)),)), [A, B, C], [0, 1, 2], True),
        (Pattern((forms((A,)), forms((B,)))), [B, A, X, B], [0, 1, 1, 2], True),
        (Pattern((forms((A,)), forms((A,)))), [A, X, A], [1, 1, 2], True),
        (Pattern((forms((A, B)), forms((B, C)))), [A, B, C], [1, 2, 2], False),
        (Pattern((forms((A,)), forms((B,))), within=1), [A, X, X, B], [1, 1, 0, 0], False),
        (Pattern((forms((A,)), forms((B,))), within=1), [A, X, A, X, B], [1, 1, 1, 1, 2], True),
        (Pattern((forms((A,)),), last=True), [A, X, A], [1, 0, 1], True),
        (Pattern((forms((A,)),), last=True), [A, X], [1, 0], False),
        (Pattern(((Form((A,)), Form((B,), first=True)),)), [B, X], [1, 1], True),
        (Pattern(((Form((A,)), Form((B,), first=True)),)), [X, B], [0, 0], False),
    ],
)
def test_banks(pattern: Pattern, output: list[int], banks: list[int], met: bool) -> None:
    result = trace([pattern], output)
    assert (result.banks, result.met) == (banks, [met])


@pytest.mark.parametrize(
    ("pattern", "says"),
    [
        (Pattern(()), "phrase 0 is a pattern without forms"),
        (Pattern(((),)), "phrase 0 is a pattern without forms"),
        (Pattern((forms(()),)), "phrase 0 is empty"),
        (Pattern((forms((99,)),)), "outside the vocabulary"),
        (Pattern((forms((1,)),), penalty=-1.0), "penalty is -1.0"),
        (Pattern((forms((1,)),), within=-1), "within is -1"),
        (Pattern((forms((1,)), (Form((2,), first=True),))), "pattern of its own"),
        (Pattern((forms((1,)), forms((2,))), within=100), "too long to be kept track of"),
    ],
)
def test_bad_patterns_are_named(pattern: Pattern, says: str) -> None:
    scorer = HistoryScorer(5, eos=0, seed=1)
    with pytest.raises(ConstraintError, match=says):
        decode(scorer, ["source"], [[pattern]])


def test_the_padding_of_a_batch_meets_nothing() -> None:
    """Node 0, to which tables are padded, does not count the stages of the first sentence."""
    long = Pattern(((Form((1, 2, 3)),),), last=True)
    short = Pattern(((Form((5,)),),))
    words = WordBoundaries.of([True] * 7 + [False], [True] * 8, 8, ends=0)
    automaton = Automaton([[long], [short]], [[], []], 8, words, eos=0)
    states = automaton.advance(automaton.start(), np.array([4, 5]))
    padding, nobody = np.array([PAD, PAD]), np.array([0, 0])
    padded = automaton.branch(states, np.array([0, 1]), padding, nobody)
    assert padded.bank.tolist() == [0, 1]


def test_a_beginning_that_avoided_phrases_make_hopeless_is_not_taken() -> None:
    likelier = np.log([[0.1, 0.1, 0.8], [0.1, 0.1, 0.8], [0.1, 0.1, 0.8]])
    begins = Pattern(((Form((0, 0), first=True), Form((2,), first=True)),))
    found = decode(
        TableScorer(likelier, bos=0, eos=1),
        ["source"],
        [[(0,), (0,), begins, Pattern(((Form((2, 2)),), (Form((0,)),)), last=True, penalty=0.0)]],
        [[(2, 0)]],
        beam_size=1,
        max_length=5,
    )[0][0]
    assert found.tokens[:2] == [0, 0]
