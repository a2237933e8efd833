"""Plans at every state that outputs can reach: they end, and their next token is at hand."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from random import Random
from typing import Any

import numpy as np
import pytest

from fuzz.token_drawing import draw
from fuzz.token_problems import Problem, Sentence
from lexbeam.errors import ConstraintError
from lexbeam.search import decode
from lexbeam.search.arrays import unpack_bits
from lexbeam.search.automaton import followed_plans, plans, remaining
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.moves import Moves
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.side_by_side import SideBySide
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.kernel import switched
from lexbeam.search.request import read_requests
from lexbeam.testing import TableScorer

MOST_STATES = 150


def compiled(problem: Problem, sentence: Sentence) -> tuple[Automaton, int, int]:
    marks, size, eos = problem.marks, problem.size, problem.eos
    words = None
    if marks is not None:
        words = WordBoundaries.of(marks.boundary, marks.closing, size, eos, marks.starting)
    demands, avoid = [list(sentence.demands)], [list(sentence.avoid)]
    request = read_requests(1, demands, avoid, None, problem.size, [problem.eos], words)[0]
    holds = problem.holds and marks is not None
    automaton = Automaton(
        [request.phrases], [request.avoid], problem.size, words, holds, problem.eos
    )
    return automaton, problem.size, problem.eos


def reachable(automaton: Automaton, tokens: list[int]) -> Iterator[States]:
    """Yield states that an output can reach, those of short outputs first."""
    waiting, known = [automaton.start()], set[tuple[int, ...]]()
    for states in waiting:
        key = (int(states.node[0]), *(int(bits[0]) for bits in states.met))
        if key in known or len(known) == MOST_STATES:
            continue
        known.add(key)
        yield states
        waiting += [after for _, after in following(automaton, states, tokens)]


def following(
    automaton: Automaton, states: States, tokens: list[int]
) -> Iterator[tuple[int, States]]:
    strict = automaton.strict(states)
    if strict is not None and strict[0]:
        tokens = [token for token in automaton.ask(states)[0][0].tolist() if token in tokens]
    for token in tokens:
        after = automaton.advance(states, np.array([token]))
        if not automaton.forbids(states, np.array([[token]]), after.column().node)[0, 0]:
            yield token, after


def check(automaton: Automaton, size: int, eos: int) -> tuple[int, bool]:
    """Check all states of a sentence; return how many, and whether all plans end."""
    exact = RemainingTokens(automaton, size, eos)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remaining, "_MOST_STATES", 0)
        patch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
        planned = RemainingTokens(automaton, size, eos)
    assert not planned.exact.any()
    proven = planned._is_proven(0)
    layout = automaton.layouts[0]
    known = [token for token in range(size) if token != eos]
    helpful = set(planned.helpful_tokens(0).tolist())
    count, all_end = 0, True
    for states in reachable(automaton, known):
        count += 1
        need = planned.need_of(0, states)
        fewest = exact.need_of(0, states)
        done = not layout.hard & ~unpack_bits(states.seen, 0)
        if exact.exact[0]:
            assert need >= fewest
        if need == 0:
            assert done
        all_end &= need < NEVER
        if 0 < need < NEVER:
            at_hand = helpful | set(automaton.ask(states)[0].ravel().tolist())
            after = [s for token, s in following(automaton, states, known) if token in at_hand]
            assert min(planned.need_of(0, each) for each in after) <= need - 1
        held = automaton.hold(states)  # its word must go on, and it may be that no word can
        if proven and (held is None or not held[0]):
            # Something may have to come before what is avoided behind what was said.
            avoids = any(node.avoided or node.held for node in automaton.tries[0].nodes)
            strict = automaton.strict(states)
            assert need <= layout.hard_size + avoids or (strict is not None and strict[0])
            assert need <= planned.most_needed[0]
    return count, all_end


@pytest.mark.parametrize("seed", sorted({*range(60)} - {8, 18}))  # those two take a minute
def test_at_every_state_the_next_token_of_a_plan_is_at_hand(seed: int) -> None:
    problem = draw(Random(seed))
    for sentence in problem.sentences:
        if not sentence.demands:
            continue
        try:
            automaton, size, eos = compiled(problem, sentence)
        except ConstraintError:
            continue
        check(automaton, size, eos)


def test_of_many_states_equal_ones_are_looked_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(followed_plans, "_MOST_WORK", 1 << 40)
    words = None
    phrases = [(3, 4), (4, 5), (5, 3, 3)] * 5  # more than has exact numbers
    automaton = Automaton([phrases], [[(4, 4)]], 8, words, False, 0)
    needs = RemainingTokens(automaton, 8, 0)
    assert not needs.exact[0]
    tokens = np.random.default_rng(3).integers(2, 7, (4, 3000))
    states = automaton.start().take(np.zeros(3000, np.int64))
    for step in tokens:
        states = automaton.advance(states, step)
    together = needs.needs(states, np.zeros(3000, np.int64))
    for row in range(0, 3000, 97):
        assert together[row] == needs.need_of(0, states.take(np.array([row])))
    assert len(set(together.tolist())) > 3


WORDS = WordBoundaries.of([1, 1, 1, 1, 0, 0, 1, 1], None, 8, 0)


@pytest.mark.parametrize(
    ("avoided", "words", "proven"),
    [
        ([(7, 6)], None, True),  # no token of a phrase is its last
        ([(6, 3)], None, True),  # something else and the first token of a phrase
        ([(6, 3), (6, 7, 3, 4)], WORDS, True),
        ([(6, 3, 4, 2)], None, False),  # it has a whole phrase in it
        ([(2, 3)], None, False),  # what stands side by side
        ([(4,)], None, False),  # in a phrase
        ([(5, 4)], None, True),  # not what is before the 4 of the phrase
        ([(3,)], WORDS, True),  # the word goes on in the phrase
        ([(3, 4)], WORDS, False),  # the word may end there
    ],
)
def test_avoided_phrases_that_plans_never_say(
    avoided: list[tuple[int, ...]], words: WordBoundaries | None, proven: bool
) -> None:
    automaton = Automaton([[(3, 4), (2,)]], [avoided], 8, words, words is not None, 0)
    needs = RemainingTokens(automaton, 8, 0)
    assert needs._is_proven(0) is proven
    assert check(automaton, 8, 0)[0] > 3


def test_what_is_in_the_way_takes_one_token_more() -> None:
    automaton = Automaton([[(3, 4), (2,)]], [[(6, 3), (6, 2)]], 8, None, False, 0)
    states = automaton.advance(automaton.start(), np.array([6]))
    enough = SideBySide(automaton, 0)
    assert enough.needs(automaton.start()).tolist() == [3]
    assert enough.needs(states).tolist() == [4]
    assert RemainingTokens(automaton, 8, 0)._is_proven(0)
    # Unless there is no such token: all others end an output.
    assert not RemainingTokens(automaton, 8, 0, 1, 5, 7)._is_proven(0)


@pytest.mark.parametrize("word", [(3, 4, 5), (3, 4, 5, 4)])
def test_a_word_that_may_not_end_may_have_to_go_on_for_long(word: tuple[int, ...]) -> None:
    """Its first tokens are avoided words, all of them: the plan has to come through."""
    avoided = [word[:length] for length in range(1, len(word))]
    automaton = Automaton([[word, (2,)]], [avoided], 8, WORDS, True, 0)
    assert RemainingTokens(automaton, 8, 0)._is_proven(0)
    assert check(automaton, 8, 0)[0] > 3


def test_what_has_been_seen_but_may_go_on_is_not_safe_after_a_token() -> None:
    """The last token of a phrase: the next one may go on with its word."""
    automaton = Automaton([[(3,), (2,)]], [[]], 8, WORDS, True, 0)
    states = automaton.advance(automaton.start(), np.array([3]))
    enough = SideBySide(automaton, 0)
    assert enough.needs(states).tolist() == [1]
    assert enough.most_after(states).tolist() == [2]


def any_of(*forms: tuple[int, ...], **more: Any) -> Pattern:
    return Pattern((tuple(map(Form, forms)),), **more)


@pytest.mark.parametrize(
    ("other", "proven"),
    [
        (any_of((3,), (4,)), True),  # 4 will do
        (any_of((3,), (4, 5)), False),  # longer than what is counted on
        (any_of((3, 5), (4,)), False),  # somebody may be in the middle of the other
        (any_of((5, 3)), False),
        (any_of((3,), penalty=1.0), True),  # nobody has to say it
        (Pattern(((Form((3,)), Form((4,))), (Form((5,)),))), True),
        (Pattern(((Form((4,)),), (Form((3,)),))), False),
    ],
)
@pytest.mark.parametrize("words", [None, WordBoundaries.of([1] * 8, None, 8, 0)])
def test_exact_counts_that_plans_keep_to(
    other: Pattern, proven: bool, words: WordBoundaries | None
) -> None:
    counted = any_of((3,), may_overlap=True, exact=True)
    automaton = Automaton([[counted, counted, other]], [[]], 8, words, words is not None, 0)
    needs = RemainingTokens(automaton, 8, 0)
    assert needs._is_proven(0) is proven
    assert check(automaton, 8, 0)[0] > 3


@pytest.mark.parametrize(
    ("forms", "other", "can_hold", "proven"),
    [
        ([(3,), (3, 4)], (2,), True, True),  # a word and a longer one that begins with it
        ([(3,), (3, 4)], (2,), False, False),  # the first could not be told to go on
        ([(3,), (3, 4)], (3, 5), True, True),
        ([(3,), (3, 4)], (3, 5), False, False),
        ([(3,)], (3, 2), True, False),  # the word ends there
        ([(6, 2, 7), (2, 7)], (3,), True, True),  # with a space before it, and without
        ([(6, 2, 7), (2, 7)], (6,), True, True),  # the space and the rest: once all the same
        ([(6, 2, 7)], (2, 7), True, False),  # what is counted would end in something else
        ([(6, 2, 7)], (2,), True, True),  # it does not end there
        ([(6, 2), (2, 7)], (2, 3), True, False),
    ],
)
@pytest.mark.parametrize("times", [1, 2])
def test_forms_of_one_word_are_counted_once(
    forms: list[tuple[int, ...]],
    other: tuple[int, ...],
    can_hold: bool,
    proven: bool,
    times: int,
) -> None:
    counted = any_of(*forms, may_overlap=True, exact=True)
    automaton = Automaton([[counted] * times + [other]], [[]], 8, WORDS, can_hold, 0)
    needs = RemainingTokens(automaton, 8, 0)
    assert needs._is_proven(0) is proven
    assert check(automaton, 8, 0)[0] > 3


BEGINNINGS = Pattern((tuple(Form(each, first=True) for each in ((2,), (5, 7, 2), (5, 7, 3))),))


@pytest.mark.parametrize("avoid", [[], [(7, 3)], [(2,)], [(7, 6), (3,)]])
@pytest.mark.parametrize("times", [1, 5])
@pytest.mark.parametrize("words", [None, WORDS])
def test_plans_behind_a_beginning_are_not_followed(
    avoid: list[tuple[int, ...]], times: int, words: WordBoundaries | None
) -> None:
    """Each candidate's was, from the first step on, where something has an exact count."""
    counted = any_of((6,), may_overlap=True, exact=True)
    soft = any_of((3,), penalty=1.0)
    phrases = [BEGINNINGS, *[counted] * times, soft]
    automaton = Automaton([phrases], [avoid], 8, words, words is not None, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remaining, "_MOST_STATES", 0)
        needs = RemainingTokens(automaton, 8, 0)
    assert needs._is_proven(0)
    assert needs.most_needed[0] < NEVER
    assert check(automaton, 8, 0)[0] > 3
    assert not needs.plan(0)._known


def test_a_beginning_that_has_no_end_is_known_from_the_first_step_on() -> None:
    counted = any_of((6,), may_overlap=True, exact=True)
    begins = Pattern((tuple(Form(each, first=True) for each in ((6, 2), (6, 7, 6))),))
    automaton = Automaton([[begins, counted]], [[(6, 2)]], 8, None, False, 0)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(remaining, "_MOST_STATES", 0)
        needs = RemainingTokens(automaton, 8, 0)
    assert needs.need_of(0, automaton.start()) == NEVER
    assert check(automaton, 8, 0) == (3, False)


def test_a_plan_that_goes_round_in_circles_has_no_end() -> None:
    automaton = Automaton([[(3, 4)] * 13], [[(3, 4)]], 8, None, False, 0)
    needs = RemainingTokens(automaton, 8, 0)
    assert not needs.exact[0]
    assert needs.need_of(0, automaton.start(), 200) == NEVER
    assert len(needs.plan(0)._known) < 10


def test_where_there_is_no_time_for_all_plans_some_are_still_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    phrases = [(3, 4), (4, 5), (5, 3, 3)] * 5
    automaton = Automaton([phrases], [[(4, 4)]], 8, None, False, 0)
    monkeypatch.setattr(followed_plans, "_MOST_WORK", 0)
    needs = RemainingTokens(automaton, 8, 0)
    states = automaton.start()
    left = needs.need_of(0, states)
    assert left < NEVER
    while left:
        after = automaton.advance(states.column(), np.arange(2, 8)[None]).flat()
        known = needs.needs(after, np.zeros(6, np.int64))
        assert known.min() <= left - 1
        states, left = after.take(np.array([known.argmin()])), int(known.min())
    assert not automaton.layouts[0].hard & ~unpack_bits(states.seen, 0)


def test_of_states_with_room_to_spare_few_plans_are_followed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """A token of no phrase leads from most states to a few, of which plans are known."""
    gap = Pattern(((Form((3, 4)),), (Form((4, 5)),)), within=3)
    phrases: list[tuple[int, ...] | Pattern] = [gap, *[(3, 4), (5, 3, 3)] * 5]
    automaton = Automaton([phrases], [[(4, 4)]], 8, None, False, 0)
    monkeypatch.setattr(followed_plans, "_MOST_WORK", 1 << 40)
    monkeypatch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
    needs = RemainingTokens(automaton, 8, 0)
    followed: list[int] = []
    follow = plans.Plans._follow

    def watched(plan: plans.Plans, states: States, keys: list[tuple[int, ...]]) -> None:
        followed.append(len(keys))
        follow(plan, states, keys)

    monkeypatch.setattr(plans.Plans, "_follow", watched)
    states = automaton.start().take(np.zeros(400, np.int64))
    for step in np.random.default_rng(3).integers(2, 7, (6, 400)):
        states = automaton.advance(states, step)
    states = states.take(np.flatnonzero(~automaton.breaks(states)))
    number = len(set(needs.plan(0)._moves.keys(states)))
    need = needs.needs(states, np.zeros(len(states.node), np.int64), 90)
    assert need.max() <= 90
    assert sum(followed) < number / 3
    for row in range(0, len(need), 40):
        here, left = states.take(np.array([row])), int(need[row])
        while left:
            tokens = np.arange(2, 8)[None]
            after = automaton.advance(here.column(), tokens)
            is_open = ~automaton.forbids(here, tokens, after.node)[0]
            after = after.flat().take(np.flatnonzero(is_open))
            known = needs.needs(after, np.zeros(len(after.node), np.int64), left - 1)
            assert known.min() <= left - 1
            here, left = after.take(np.array([known.argmin()])), int(known.min())
        assert not automaton.layouts[0].hard & ~unpack_bits(here.seen, 0)


def test_without_time_all_that_stands_on_the_way_of_a_plan_is_known(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The second filler of a plan was closed when no plan might be followed any more."""
    gap = Pattern(((Form((3, 4)),), (Form((4, 5)),)), within=5)
    phrases: list[tuple[int, ...] | Pattern] = [gap, *[(3, 4), (5, 3, 3)] * 5]
    automaton = Automaton([phrases], [[(4, 4)]], 8, None, False, 0)
    monkeypatch.setattr(followed_plans, "_MOST_WORK", 1 << 40)
    monkeypatch.setattr(remaining, "_MOST_BITS_OF_KEYS", -1)
    plan = RemainingTokens(automaton, 8, 0).plan(0)
    states = automaton.start()
    for token in (3, 4):
        states = automaton.advance(states, np.array([token]))
    (left,) = plan.needs(states, 90).tolist()
    assert plan._moves.keys(states)[0] not in plan._known
    plan._tries_left = 0
    _, _, fillers = plan._moves.take_all_fillers(states)
    assert fillers[0] > 1
    for taken in range(1, int(fillers[0]) + 1):
        states, _ = plan._moves.take_filler(states)
        assert plan.needs(states, left - taken)[0] <= left - taken


def test_it_is_known_where_many_fillers_lead() -> None:
    far = 0
    for number in range(400):
        problem = draw(Random(f"fillers {number}"))
        for sentence in problem.sentences:
            try:
                automaton, size, eos = compiled(problem, sentence)
            except ConstraintError:
                continue
            tokens = np.array([token for token in range(size) if token != eos])
            moves = Moves(automaton, 0, tokens, SideBySide(automaton, 0))
            if moves.filler is None:
                continue
            for states in islice(reachable(automaton, tokens.tolist()), 30):
                rest, rows, fillers = moves.take_all_fillers(states)
                after = states
                for _ in range(int(fillers[0]) if len(rows) else 0):
                    assert moves.keys(after) != moves.keys(rest)
                    after, is_open = moves.take_filler(after)
                    assert is_open.all()
                if len(rows):
                    assert moves.keys(after) == moves.keys(rest)
                    assert moves.keys(moves.take_filler(rest)[0]) == moves.keys(rest)
                    far += int(fillers[0]) > 2
    assert far > 100


def test_a_short_output_is_looked_for_as_widely_with_and_without_the_kernel() -> None:
    """Rows that are filled up counted as tokens, so that NumPy kept fewer states side by side."""
    table = np.log(np.random.default_rng(3272).dirichlet(np.full(9, 0.7), 9))
    starts = [0, 1, 0, 1, 1, 1, 1, 0, 1]
    five = Form((5,)), Form((7,)), Form((3, 4))
    near = Pattern((five, (Form((5, 4)),)), within=5)
    three = Pattern(((Form((2,)),), (Form((5, 1)),), (Form((1,)), Form((4,)))), within=5)
    other = Pattern(
        ((Form((0,)),), (Form((6,)), Form((4, 1)), Form((1,))), (Form((3, 5)),)), within=2
    )
    found = []
    for compiled_kernel in (True, False):
        with switched(compiled_kernel):
            ((best, *_),) = decode(
                TableScorer(table, bos=0, eos=8, word_starts=starts),
                ["s"],
                [[near, three, other, three, near, near, near, three]],
                prefix=[[2, 6]],
                max_length=49,
                boundary=starts,
                closing=[0, 0, 0, 1, 0, 0, 0, 0, 0],
                joining=[6, 1, 7, 0, 0, 0, 4, 0, 2],
                beam_size=30,
                algorithm="lookahead",
                prune=0,
                lag=3.0,
                stop="full",
                nbest=2,
                length_penalty=0.0,
                word_end=True,
            )
        found.append((best.tokens, best.log_prob))
    assert found[0] == found[1]
