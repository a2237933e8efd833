"""Parts of compounds: what counts, against a definition that looks at every output."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from random import Random
from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ConstraintError, InputError
from lexbeam.search import kernel
from lexbeam.search.automaton import trie
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import Beginning, Form, Pattern
from lexbeam.search.automaton.whole_words import ENDS, LONG, SHORT, WordBoundaries
from lexbeam.search.beam_search import decode
from lexbeam.testing import HistoryScorer

FILE, SYSTEM, S, THE, DOT, END = range(6)
"""``▁File``, ``system``, ``s``, ``▁the``, a full stop."""
BOUNDARY = [True, False, False, True, True, True]
CLOSING = [False, False, False, False, True, False]
JOINING = [ENDS, LONG | ENDS, SHORT, ENDS, 0, 0]
MASKS: dict[str, Any] = {"boundary": BOUNDARY, "closing": CLOSING, "joining": JOINING}
FIRST = Pattern(((Form((FILE,), goes_on=True),),), may_overlap=True)
LAST = Pattern(((Form((SYSTEM,), inside=True),),), may_overlap=True)


def counts(form: Form, output: Sequence[int], words: WordBoundaries) -> bool:
    """Say whether a form counts anywhere in an output that ends."""
    size = len(form.tokens)
    joins = [int(words.joining[token]) for token in output]

    def led(start: int) -> bool:
        if start and joins[start - 1] & ENDS:
            return True
        return start > 1 and bool(joins[start - 1] & SHORT and joins[start - 2] & ENDS)

    def ends(end: int) -> bool:
        if end == len(output) or words.closing[output[end - 1]] or words.boundary[output[end]]:
            return True
        if not form.goes_on:
            return False
        if joins[end] & LONG:
            return True
        return end + 1 < len(output) and bool(joins[end] & SHORT and joins[end + 1] & LONG)

    return any(
        tuple(output[start : start + size]) == form.tokens
        and (not form.inside or led(start))
        and (not form.apart or not start or bool(words.closing[output[start - 1]]))
        and ends(start + size)
        for start in range(len(output) - size + 1)
    )


def random_problem(seed: int) -> tuple[WordBoundaries, list[Pattern]]:
    random = Random(seed)
    size = 5
    boundary = [random.random() < 0.4 for _ in range(size)]
    closing = [random.random() < 0.2 for _ in range(size)]
    joining = [
        random.choice((0, SHORT, LONG, ENDS, LONG | ENDS, SHORT | LONG)) for _ in range(size)
    ]
    words = WordBoundaries.of(boundary, closing, size, size - 1, joining=joining)
    assert words is not None

    def form() -> Form:
        tokens = tuple(random.choices(range(size - 1), k=random.choice((1, 1, 2))))
        kind = random.choice(("inside", "goes_on", "apart", "plain"))
        return Form(tokens, **({} if kind == "plain" else {kind: True}))

    forms = [tuple({form(): None for _ in range(2)}) for _ in range(2)]
    return words, [Pattern((each,), may_overlap=True) for each in forms]


@pytest.mark.parametrize("seed", range(60))
def test_the_automaton_counts_what_the_definition_counts(seed: int) -> None:
    words, patterns = random_problem(seed)
    outputs = np.array(list(product(range(4), repeat=5)))
    alone = Automaton([patterns], [[]], 5, words, eos=4)
    # Beside another sentence, whose tokens have symbols of their own.
    beside = Automaton([[(0, 1), (2,), (3,)], patterns], [[(1, 3)], []], 5, words, eos=4)
    for automaton, number in ((alone, 0), (beside, 1)):
        states = automaton.start().take(np.full(len(outputs), number))
        for column in outputs.T:
            states = automaton.advance(states, column)
        states = automaton.advance(states, np.full(len(outputs), 4))
        bits = automaton.layouts[number].met
        for pattern, bit in zip(patterns, bits, strict=True):
            expected = [
                any(counts(f, o, words) for f in pattern.parts[0]) for o in outputs.tolist()
            ]
            assert ((states.met[0] & np.uint64(bit)) != 0).tolist() == expected


@pytest.mark.parametrize(
    ("pattern", "output", "met"),
    [
        (FIRST, (FILE,), True),
        (FIRST, (FILE, SYSTEM), True),
        (FIRST, (FILE, S, SYSTEM), True),
        (FIRST, (FILE, S), False),
        (FIRST, (FILE, S, S, SYSTEM), False),
        (LAST, (THE, SYSTEM), True),
        (LAST, (THE, S, SYSTEM, DOT), True),
        (LAST, (THE, SYSTEM, S), False),
        (LAST, (DOT, SYSTEM), False),
        (LAST, (SYSTEM,), False),
    ],
)
def test_parts_of_compounds(pattern: Pattern, output: tuple[int, ...], met: bool) -> None:
    scorer = HistoryScorer(6, eos=END)
    asked: dict[str, Any] = {"prefix": [output], "max_length": len(output), **MASKS}
    if met:
        assert tuple(decode(scorer, [0], [[pattern]], **asked)[0][0].tokens) == output
    else:
        with pytest.raises(ConstraintError):
            decode(scorer, [0], [[pattern]], **asked)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("seed", range(8))
def test_the_best_output_with_a_compound_is_found(
    seed: int, compiled: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if not compiled:
        monkeypatch.setattr(kernel, "compiled", None)
    words = WordBoundaries.of(BOUNDARY, CLOSING, 6, END, joining=JOINING)
    assert words is not None
    forms = (Form((FILE,), goes_on=True), Form((SYSTEM,), inside=True))
    scorer = HistoryScorer(6, eos=END, seed=seed)

    def log_prob(output: tuple[int, ...]) -> float:
        taken = zip(range(len(output) + 1), (*output, END), strict=True)
        return sum(float(scorer.next_log_probs(0, output[:at])[token]) for at, token in taken)

    possible = (o for n in range(4) for o in product(range(5), repeat=n))
    met = [o for o in possible if any(counts(form, o, words) for form in forms)]
    best = max(met, key=log_prob)
    pattern = Pattern((forms,), may_overlap=True)
    options: dict[str, Any] = {"beam_size": 400, "prune": 0, "length_penalty": 0.0, "stop": "all"}
    found = decode(scorer, [0], [[pattern]], max_length=3, **MASKS, **options)
    assert tuple(found[0][0].tokens) == best


def test_many_forms_make_no_more_than_a_trie_can_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    """What stands between parts, and behind them, may be any of so many tokens of others."""
    monkeypatch.setattr(trie, "MOST_JOINED", 300)
    size = 60
    joining = [*[LONG | ENDS, SHORT] * (size // 2 - 1), 0, 0]
    last = [token >= size - 2 for token in range(size)]  # a full stop, and the end
    marks: dict[str, Any] = {"boundary": last, "closing": last}
    words = WordBoundaries.of(last, last, size, size - 1, joining=joining)
    forms = tuple(Form((token,), goes_on=True) for token in range(0, 50, 2))
    others = [(token,) for token in range(1, 50, 2)]
    asked: list[list[Any]] = [[Pattern((forms,), may_overlap=True), *others]]
    automaton = Automaton(asked, [[]], size, words, eos=size - 1)
    assert len(automaton.tries[0].nodes) < 500
    scorer = HistoryScorer(size, eos=size - 1)
    patterns: list[Any] = [Pattern((forms,), may_overlap=True), *others[:2]]
    found = decode(scorer, [0], [patterns], max_length=8, joining=joining, **marks)[0][0]
    assert {1, 3} <= {*found.tokens}
    assert {*range(0, 50, 2)} & {*found.tokens}


def test_what_can_not_be_counted_is_refused() -> None:
    scorer = HistoryScorer(6, eos=END)
    exact = Pattern(FIRST.parts, may_overlap=True, exact=True)
    for pattern in (exact, Pattern(FIRST.parts * 2), Pattern(FIRST.parts, last=True)):
        with pytest.raises(ConstraintError, match="parts of compounds count only in"):
            decode(scorer, [0], [[pattern]], **MASKS)
    with pytest.raises(InputError, match="joining must have a number from 0 to 7"):
        decode(scorer, [0], [[FIRST]], **MASKS | {"joining": [9] * 6})
    with pytest.raises(InputError, match="joining is given without boundary"):
        decode(scorer, [0], [[FIRST]], joining=JOINING)


@pytest.mark.parametrize("begins", [False, True])
def test_an_avoided_beginning_is_avoided_however_the_word_goes_on(begins: bool) -> None:
    scorer = HistoryScorer(6, eos=END, seed=2, word_starts=BOUNDARY)
    avoided = Beginning((FILE,)) if begins else (FILE,)
    asked: dict[str, Any] = {
        "max_length": 3,
        "beam_size": 400,
        "prune": 0,
        "nbest": 200,
        "stop": "all",
    }
    found = decode(scorer, [0], avoid=[[avoided]], **MASKS, **asked)[0]
    assert any(FILE in each.tokens for each in found) != begins
    assert not any(tuple(each.tokens[:2]) == (FILE, DOT) for each in found)


@pytest.mark.parametrize("penalty", [None, 50.0])
@pytest.mark.parametrize("tokens", [(SYSTEM,), (SYSTEM, SYSTEM)])
def test_what_is_only_ever_inside_compounds_may_be_demanded_twice(
    tokens: tuple[int, ...], penalty: float | None
) -> None:
    """Its occurrences may share tokens, so that each copy is a stage of its own."""
    pattern = Pattern(((Form(tokens, inside=True),),), penalty=penalty)
    scorer = HistoryScorer(6, eos=END, seed=1)
    found = decode(scorer, [0], [[pattern] * 2], max_length=9, **MASKS)[0][0]
    said = "".join("FSsT.E"[token] for token in found.tokens)
    assert found.met == [True, True]
    assert said.count("S" * len(tokens)) >= 2


def test_a_first_part_of_a_compound_counts_once() -> None:
    """What goes on with its word may be both short and long enough: it is seen once, not twice."""
    both = [ENDS, SHORT | LONG | ENDS, LONG, ENDS, 0, 0]
    scorer = HistoryScorer(6, eos=END, seed=1)
    masks = MASKS | {"joining": both}
    prefix = [[FILE, SYSTEM, S]]
    found = decode(scorer, [0], [[FIRST] * 2], prefix=prefix, max_length=9, **masks)[0][0]
    assert found.tokens.count(FILE) == 2


def test_a_part_that_shows_another_counts_beside_it() -> None:
    """``▁File`` counts when ``system`` goes on with it, and so does ``system`` itself."""
    forms = (Form((FILE,), goes_on=True), Form((SYSTEM,), inside=True))
    pattern = Pattern((forms,), may_overlap=True)
    scorer = HistoryScorer(6, eos=END, seed=1)
    asked: dict[str, Any] = {"prefix": [[FILE, SYSTEM]], "max_length": 2}
    found = decode(scorer, [0], [[pattern] * 2], **asked, **MASKS)[0][0]
    assert (found.tokens, found.met) == ([FILE, SYSTEM], [True, True])


@pytest.mark.parametrize("other", ["first", "apart"])
def test_a_form_can_not_be_inside_a_word_and_begin_it(other: str) -> None:
    pattern = Pattern(((Form((SYSTEM,), inside=True, **{other: True}),),))
    with pytest.raises(ConstraintError, match=f"phrase 0: a form can't be both inside and {other}"):
        decode(HistoryScorer(6, eos=END), [0], [[pattern]], **MASKS)


@pytest.mark.parametrize("compiled", [True, False])
@pytest.mark.parametrize("overlap", [True, False])
@pytest.mark.parametrize("tokens", [(S,), (S, S)])
def test_a_word_may_go_on_behind_one_of_several_occurrences(
    tokens: tuple[int, ...], overlap: bool, compiled: bool
) -> None:
    """What shows that the first one counts is not asked for, and stays a candidate all the same.

    There is no other way to a second one: nothing but the end is a boundary.
    """
    pattern = Pattern(((Form(tokens, inside=True, goes_on=True),),), may_overlap=overlap)
    masks: dict[str, Any] = {"boundary": [False] * 6, "joining": [0, LONG | ENDS, 0, ENDS, 0, 0]}
    length = 2 + 2 * len(tokens)
    with kernel.switched(on=compiled):
        scorer = HistoryScorer(6, eos=END, seed=1)
        found = decode(scorer, [0], [[pattern] * 2], max_length=length, **masks)[0][0]
    assert found.tokens[1:] == [*tokens, SYSTEM, *tokens]


def test_no_node_behind_a_class_of_tokens_is_asked_for() -> None:
    """Tokens that are in no phrase can't be: what leads to such a node is a candidate by rank."""
    for seed in range(200):
        words, patterns = random_problem(seed)
        made = Automaton([[*patterns, *patterns]], [[]], len(words.boundary), words).tries[0]
        behind = [n for node in made.nodes for s, n in node.children.items() if s < trie.INSIDE]
        assert not any(made.nodes[number].serves for number in behind)
