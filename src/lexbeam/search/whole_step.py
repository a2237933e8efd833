"""A whole step in two calls of the compiled kernel: what to ask, and from the answer to new beams.

What `search.step`, `search.future_cost`, `search.allocation` and `search.stopping` do one after the
other is one call here, for steps that need nothing special: plain search, and phrases under ``dba``
or ``lookahead``. All others, such as those near the length limit, with ties or with patterns of
several parts, are left to `SearchStep`. Results are equal, and the tests hold them so.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.allocation import HANDICAP, Dba, Lookahead, Policy
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray
from lexbeam.search.automaton.states import States
from lexbeam.search.beam import Beam
from lexbeam.search.future_cost import CONSTANTS_OF_COSTS
from lexbeam.search.scorer import (
    ROUNDING,
    Scores,
    readable,
    refuse_nonsense,
    refuse_wrong_shapes,
)
from lexbeam.search.settings import Settings
from lexbeam.search.step import IMPOSSIBLE, SearchStep
from lexbeam.search.stopping import lag_ahead

_NOTHING: tuple[NDArray[Any] | None, ...] = (None,) * 21
"""What the kernel is given of constraints if there are none."""
_POLICIES = (Dba, Lookahead)
"""Policies whose selection the kernel knows; classes made from them may select otherwise."""
_WORD_ENDS, _DROP, _BY_WORTH = 1, 2, 4
_LENGTH, _LAG, _STEP = 2, 3, 9  # indices among the numbers that the kernel is given


class Advanced(NamedTuple):
    """The beams after a step."""

    beam: Beam
    newly: BoolArray | None
    """A mask of what has just ended; None: nothing has. # shape: (sentences, beam)"""
    worth: FloatArray
    """What hypotheses were compared by, where constraints cost. # shape: (sentences, beam)"""
    dropped: bool
    """Whether what lags behind has been dropped."""
    all_live: bool
    """Whether every sentence goes on."""


class _Written(NamedTuple):
    """What the kernel writes: k slots of each sentence, or fewer, side by side."""

    ints: IntArray  # shape: (3, sentences, k): tokens, parents, rows
    states: IntArray | None  # shape: (6, sentences · k), as in `States`
    scores: FloatArray  # shape: (3, sentences, k): log_prob, score, worth
    marks: BoolArray  # shape: (3, sentences, k): finished, live, what has just ended

    @classmethod
    def empty(cls, sentences: int, k: int, constrained: bool) -> _Written:
        """Make room."""
        shape = 3, sentences, k
        states = np.empty((6, sentences * k), np.int64) if constrained else None
        return cls(np.empty(shape, np.int64), states, np.empty(shape), np.empty(shape, np.bool_))

    def narrow(self, sentences: int, width: int) -> _Written:
        """Return what has been written, where that is less than there was room for."""
        shape, size = (3, sentences, width), sentences * width
        ints, states, scores, marks = self
        return _Written(
            ints.ravel()[: 3 * size].reshape(shape),
            None if states is None else states.ravel()[: 6 * size].reshape(6, size),
            scores.ravel()[: 3 * size].reshape(shape),
            marks.ravel()[: 3 * size].reshape(shape),
        )


class WholeStep:
    """Takes the steps of a batch that the compiled kernel covers."""

    def __init__(self, step: SearchStep, settings: Settings, observed: bool) -> None:
        self._step = step
        self._settings = settings
        automaton, future_cost = step.automaton, step.future_cost
        self._tables, self._most_asked = None, 0
        self._possible = not observed and not step.attends and step.finishing.as_in_paper
        if automaton is not None:
            covered = step.ties is None and automaton.is_plain
            self._possible &= covered and (future_cost is None or future_cost.for_kernel)
        if automaton is not None and self._possible and kernel.compiled is not None:
            self._tables, self._most_asked = automaton.kernel_tables, automaton.most_asked
        lag = 0.0 if settings.lag is None else settings.lag
        constants = IMPOSSIBLE, ROUNDING, 1.0, lag, HANDICAP, *CONSTANTS_OF_COSTS, 0.0
        self._numbers = np.array(constants, np.float64)

    def covers(self, number: int, policy: Policy) -> bool:
        """Return whether the kernel covers a step; turn to it if it does."""
        step = self._step
        if not self._possible or kernel.compiled is None:
            return False
        if step.automaton is not None and (self._tables is None or type(policy) not in _POLICIES):
            return False
        return step.turn_to(number)

    def advance(
        self, beam: Beam, number: int, sizes: IntArray, policy: Policy, any_finished: bool
    ) -> Advanced:
        """Let the model score what may follow, and choose the new beams.

        ``sizes`` are the constraint tokens of each sentence. # shape: (sentences,)
        ``any_finished`` says whether anything has ended in an earlier step.
        """
        step, compiled = self._step, kernel.compiled
        assert compiled is not None
        scores, ask, targets = self._ask(beam)
        drops = self._set_numbers(number, any_finished)
        constraints, tables = _NOTHING, self._tables
        if beam.states is not None:
            standing = _arrays_of(beam.states), sizes, ask, targets
            constraints = self._constraints(*standing, policy, number)
        sentences, k = len(beam.token), step.beam_size
        out = _Written.empty(sentences, k, tables is not None)
        flags = drops | (_WORD_ENDS if step.word_ends else 0)
        model = step.scorer.eos, step.scorer.vocabulary_size
        before = beam.log_prob, beam.score, beam.live, beam.finished, step.prefix.first
        given = tables, k, flags, *model, self._numbers, *before, *scores[:3], *constraints, *out
        result = kernel.call(compiled.advance, *given)
        if result is None:
            self._refuse(scores)
        width, newly, all_live = result
        if width < k:
            out = out.narrow(sentences, width)
        token, parent, row = out.ints
        log_prob, score, worth = out.scores
        finished, live, ended = out.marks
        states = self._read_states(out.states)
        new = Beam(token, parent, row, log_prob, score, finished, live, states)
        return Advanced(new, ended if newly else None, worth, bool(drops) and not newly, all_live)

    def _constraints(
        self,
        standing: Sequence[NDArray[Any]],
        sizes: IntArray,
        ask: IntArray,
        targets: IntArray,
        policy: Policy,
        number: int,
    ) -> tuple[NDArray[Any] | None, ...]:
        """Return what the kernel reads of constraints, and what it learns of their costs."""
        slots = policy.slots if isinstance(policy, Dba) else None
        costs = self._step.future_cost
        expected = _NOTHING[10:] if costs is None else costs.for_step(number)
        return *standing, sizes, ask, targets, slots, *expected

    def _ask(self, beam: Beam) -> tuple[Scores, IntArray, IntArray]:
        """Let the model score the end, the best tokens and those that constraints ask for.

        Returns the scores, what was asked, the end included, and where it leads.
        """
        step, slots, compiled = self._step, beam.token.size, kernel.compiled
        assert compiled is not None
        node, seen, listed = None, None, self._most_asked
        if beam.states is not None:
            node, seen = beam.states.node, beam.states.seen[0]
        tokens, parents = np.empty((2, slots), np.int64)
        ask, targets = np.empty(slots * (1 + listed), np.int64), np.empty(slots * listed, np.int64)
        given = self._tables, step.scorer.eos, beam.live, beam.token, beam.row, node, seen
        rows, asked = kernel.call(compiled.ask_live, *given, tokens, parents, ask, targets)
        if rows < slots:
            tokens, parents = tokens[:rows], parents[:rows]
        asks = ask[: rows * (1 + asked)].reshape(rows, 1 + asked)
        top = min(step.beam_size, step.scorer.vocabulary_size - 1)
        ban = np.empty((rows, 0), np.int64)
        answer = step.scorer.step(step.model_state, tokens, parents, asks, ban, top)
        scores = readable(Scores(*answer))  # any sequence of its fields will do
        refuse_wrong_shapes(scores, rows, top, 1 + asked)
        step.model_state = scores.state
        return scores, asks, targets

    def _set_numbers(self, number: int, any_finished: bool) -> int:
        """Set the numbers of a step; return how it drops what lags behind, 0 if it does not.

        Where something has ended, or only some sentences have a draft, that is left to `prune`.
        """
        self._numbers[_LENGTH] = float(number + 1) ** self._settings.length_penalty
        self._numbers[_STEP] = number
        lag, future_cost = self._settings.lag, self._step.future_cost
        if lag is None or any_finished:
            return 0
        if future_cost is None or not future_cost.any_drafted:
            self._numbers[_LAG] = lag
            return _DROP
        self._numbers[_LAG] = lag_ahead(lag, self._settings.beam_size)
        return _DROP | _BY_WORTH if future_cost.all_drafted else 0

    def _read_states(self, states: IntArray | None) -> States | None:
        """Return the states that the kernel has written. # shape: (6, sentences · beam)."""
        automaton = self._step.automaton
        if states is None or automaton is None:
            return None
        node, met_bits, met_tokens, seen_bits, seen_tokens, bank = states
        met = (met_bits.view(np.uint64),)
        if not automaton.can_wait:
            return States(node, met, met_tokens, met, met_tokens, bank)
        return States(node, met, met_tokens, (seen_bits.view(np.uint64),), seen_tokens, bank)

    def _refuse(self, scores: Scores) -> None:
        """Say what is wrong with the model's answer."""
        scorer = self._step.scorer
        ban = np.empty((len(scores.top_ids), 0), np.int64)
        refuse_nonsense(scores, ban, scorer.eos, scorer.vocabulary_size)


def _arrays_of(states: States) -> tuple[NDArray[Any], ...]:
    """Return what the kernel reads of states."""
    node, met, met_tokens, seen, seen_tokens, bank, _ = states
    return node, met[0], met_tokens, seen[0], seen_tokens, bank
