"""A whole step in two calls of the compiled kernel: what to ask, and from the answer to new beams.

What `search.step`, `search.future_cost`, `search.allocation` and `search.stopping` do one after the
other is one call here, for steps that need nothing special: plain search, and phrases to meet or to
avoid, patterns of several parts too, under ``dba`` or ``lookahead``. Where words are held or counts
are exact, NumPy finds what to ask, and the rest is that call. All other steps, such as those near
the length limit or with ties, are left to `SearchStep`. Results are equal, and the tests hold them
so.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.allocation import HANDICAP, Dba, Lookahead, Policy
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, constant_column
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.soft import SoftConstraints
from lexbeam.search.automaton.states import count_columns
from lexbeam.search.beam import Beam
from lexbeam.search.dead_ends import may_be_dead_ends, open_dead_ends
from lexbeam.search.finishing import MayEnd, who_may_end
from lexbeam.search.future_cost import CONSTANTS_OF_COSTS
from lexbeam.search.scorer import (
    IMPOSSIBLE,
    ROUNDING,
    Scores,
    read_scores,
    readable,
    refuse_banned,
    refuse_nonsense,
    refuse_wrong_shapes,
)
from lexbeam.search.settings import Settings
from lexbeam.search.step import SearchStep, close_beside, sentence_of
from lexbeam.search.stopping import lag_ahead

_POLICIES = (Dba, Lookahead)
"""Policies whose selection the kernel knows; classes made from them may select otherwise."""


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


class _Room:
    """Room for what the kernel writes, k slots of each sentence, and the arrays of a beam there.

    There are two, used by turns: a step reads the beam that the one before has written. Tokens
    and parents are kept in the history, so those are written to arrays of their own.
    """

    def __init__(self, sentences: int, k: int, automaton: Automaton | None) -> None:
        self.shape = 3, sentences, k
        # As in `States`; log_prob, score, worth; finished, live, what has just ended.
        self._columns = 0 if automaton is None else count_columns(automaton.bit_arrays)
        size = self._columns, sentences * k
        self.states = None if automaton is None else np.empty(size, np.int64)
        self.scores = np.empty(self.shape)
        self.marks = np.empty(self.shape, np.bool_)
        self._automaton = automaton
        self._beam = self._views(k)

    def read(self, ints: IntArray, width: int) -> tuple[Beam, FloatArray, BoolArray]:
        """Return the beam, what its hypotheses are worth, and what has just ended.

        ``ints`` are tokens, parents and rows. Where beams are narrower than there was room for,
        all is written side by side. # shape: as the room
        """
        views = self._beam
        if width < self.shape[2]:
            ints, views = _narrow(ints, width), self._views(width)
        log_prob, score, worth, finished, live, ended, states = views
        beam = Beam(ints[0], ints[1], ints[2], log_prob, score, finished, live, states)
        return beam, worth, ended

    def _views(self, width: int) -> tuple[Any, ...]:
        """Return the arrays of a beam of some width, but for tokens, parents and rows."""
        arrays = *_narrow(self.scores, width), *_narrow(self.marks, width)
        if self.states is None or self._automaton is None:
            return *arrays, None
        size = self.shape[1] * width
        columns = self.states.ravel()[: self._columns * size].reshape(self._columns, size)
        return *arrays, self._automaton.read_columns(columns)


def _narrow(array: NDArray[Any], width: int) -> NDArray[Any]:
    """Return the beginning of an array as an array of narrower beams, without a copy."""
    layers, sentences, _ = array.shape
    return array.ravel()[: layers * sentences * width].reshape(layers, sentences, width)


class WholeStep:
    """Takes the steps of a batch that the compiled kernel covers."""

    def __init__(self, step: SearchStep, settings: Settings, observed: bool) -> None:
        self._step = step
        self._settings = settings
        automaton = step.automaton
        self._tables, self._most_asked, self._bans = None, 0, False
        self._soft: SoftConstraints | None = None
        self._is_plain = automaton is None or automaton.is_plain
        self._possible = not observed and not step.attends and step.finishing.as_in_paper
        if automaton is not None:
            self._possible &= step.ties is None
        if automaton is not None and self._possible and kernel.compiled is not None:
            self._tables, self._most_asked = automaton.kernel_tables, automaton.most_asked
            self._bans, self._soft = automaton.can_ban, automaton.soft
        lag = 0.0 if settings.lag is None else settings.lag
        lowest = IMPOSSIBLE if self._soft is None else -np.inf  # then penalties come off it
        model = step.scorer.eos, step.scorer.vocabulary_size, lowest, ROUNDING
        self._numbers = kernel.numbers_of_step(
            step.beam_size, 0, model, (lag, HANDICAP), (*CONSTANTS_OF_COSTS, 0.0)
        ).copy()
        self._rooms: tuple[_Room | None, _Room | None] = None, None
        """That of the last step, and that of the next."""

    def covers(self, number: int, policy: Policy) -> bool:
        """Return whether the kernel covers a step; turn to it if it does."""
        step = self._step
        if not self._possible or kernel.compiled is None:
            return False
        if step.automaton is not None and (self._tables is None or type(policy) not in _POLICIES):
            return False
        if step.overdue is not None and step.overdue.late is not None:
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
        may_end: MayEnd | None = None
        if self._is_plain:
            scores, ask, targets = self._ask_compiled(beam)
            if self._soft is not None:
                may_end = self._who_may_give_up(self._soft, beam)
        else:
            scores, ask, targets, may_end = self._ask_by_states(beam, sizes)
        if beam.states is not None and may_be_dead_ends(scores):
            scores = self._open_dead_ends(beam, scores, ask, sizes)
        if may_end is not None and may_end.penalty is not None:
            scores = self._charge_ends(scores, may_end)
        drops = self._set_numbers(number, any_finished)
        constraints = kernel.UNCONSTRAINED
        if beam.states is not None:
            allowed = None if may_end is None else may_end.allowed
            standing = *beam.states.for_kernel, sizes, allowed, None
            constraints = *standing, ask, targets, *self._allocation(policy, number)
        room = self._next_room(len(beam.token))
        ints = np.empty(room.shape, np.int64)
        before = beam.log_prob, beam.score, beam.live, beam.finished, step.prefix.first
        given = self._tables, self._numbers, *before
        out = ints, room.states, room.scores, room.marks
        try:
            result = compiled.advance(*given, *scores[:3], *constraints, *out)
        except ValueError:  # not in one piece
            answers = readable(scores)[:3]
            result = kernel.call(compiled.advance, *given, *answers, *constraints, *out)
        if result is None:
            self._refuse(scores)
        width, newly, all_live = result
        new, worth, ended = room.read(ints, width)
        return Advanced(new, ended if newly else None, worth, drops and not newly, all_live)

    def _open_dead_ends(self, beam: Beam, scores: Scores, ask: IntArray, sizes: IntArray) -> Scores:
        """Open a token for the rows that have nothing else to take."""
        step, states, live = self._step, beam.states, beam.live.ravel().nonzero()[0]
        assert step.automaton is not None
        assert states is not None
        sentence, here = sentence_of(beam, live), states.take(live)
        may_go = who_may_end(here, sizes[sentence], step.automaton).allowed
        given = step.automaton, here, sentence, step.prefix, step.limit
        return open_dead_ends(scores, ask[:, 1:], may_go, *given)

    def _next_room(self, sentences: int) -> _Room:
        """Return room for the beams of so many sentences, other than that of the last step."""
        last, room = self._rooms
        if room is None or room.shape[1] != sentences:
            room = _Room(sentences, self._step.beam_size, self._step.automaton)
        self._rooms = room, last
        return room

    def _allocation(self, policy: Policy, number: int) -> tuple[NDArray[Any] | None, ...]:
        """Return the slots of banks, and what the kernel learns of the costs of constraints."""
        slots = policy.slots if isinstance(policy, Dba) else None
        costs = self._step.future_cost
        return slots, *(kernel.NO_COSTS if costs is None else costs.for_step(number))

    def _charge_ends(self, scores: Scores, may_end: MayEnd) -> Scores:
        """Let ends pay for what they give up."""
        scores = readable(scores)
        self._refuse(scores)
        possible = np.maximum(scores.ask_scores, IMPOSSIBLE)
        return may_end.charge(scores._replace(ask_scores=possible))

    def _who_may_give_up(self, soft: SoftConstraints, beam: Beam) -> MayEnd:
        """Return which rows may end, and what each would pay for what it gives up."""
        assert beam.states is not None
        live, states = beam.live.ravel(), beam.states
        return MayEnd(*soft.may_end(states.node[live], tuple(bits[live] for bits in states.seen)))

    def _ask_by_states(
        self, beam: Beam, sizes: IntArray
    ) -> tuple[Scores, IntArray, IntArray, MayEnd]:
        """Ask where not only nodes say what may be taken: it may have been said often enough.

        Return the scores, what was asked, where it leads, and which rows may end.
        """
        states, automaton = beam.states, self._step.automaton
        assert states is not None
        assert automaton is not None
        live = beam.live.ravel().nonzero()[0]
        here = states.take(live)
        tokens, targets = automaton.ask(here)
        first = constant_column(len(live), self._step.scorer.eos)
        ask = np.concatenate((first, tokens), axis=1)
        of_rows = beam.token.ravel()[live], beam.row.ravel()[live]
        scores = self._step_model(*of_rows, ask, automaton.ban(here), automaton.hold(here))
        scores = close_beside(scores, automaton.strict(here))
        may_end = who_may_end(here, sizes[sentence_of(beam, live)], automaton)
        return scores, ask, np.ascontiguousarray(targets), may_end

    def _ask_compiled(self, beam: Beam) -> tuple[Scores, IntArray, IntArray]:
        """Ask what the kernel finds; return the scores, what was asked, and where it leads.

        Asked are the end, the best tokens, and those that constraints ask for.
        """
        step, slots, compiled = self._step, beam.token.size, kernel.compiled
        assert compiled is not None
        node, seen, of_use, listed = None, None, None, self._most_asked
        if beam.states is not None:
            node, _, _, seen, _, _, of_use = beam.states.for_kernel
        tokens, parents = np.empty(slots, np.int64), np.empty(slots, np.int64)
        ask, targets = np.empty(slots * (1 + listed), np.int64), np.empty(slots * listed, np.int64)
        given = self._tables, step.scorer.eos, beam.live, beam.token, beam.row, node, seen
        out = tokens, parents, ask, targets
        rows, asked = kernel.call(compiled.ask, *given, of_use, None, *out)
        if rows < slots:
            tokens, parents = tokens[:rows], parents[:rows]
        asks = ask[: rows * (1 + asked)].reshape(rows, 1 + asked)
        return self._step_model(tokens, parents, asks, self._ban(beam, rows)), asks, targets

    def _step_model(
        self,
        tokens: IntArray,
        parents: IntArray,
        ask: IntArray,
        ban: IntArray,
        hold: BoolArray | None = None,
    ) -> Scores:
        """Let the model score what may follow; ``hold`` marks the rows whose word may not end."""
        step = self._step
        top = min(step.beam_size, step.scorer.vocabulary_size - 1)
        given = step.model_state, tokens, parents, ask, ban, top
        if hold is None or not hold.any():
            answer = step.scorer.step(*given)
        else:
            held: dict[str, Any] = {"hold": hold}  # Only scorers that can hold know it.
            answer = step.scorer.step(*given, **held)
        scores = read_scores(answer)
        refuse_wrong_shapes(scores, len(tokens), top, ask.shape[1])
        refuse_banned(scores, ban)
        step.model_state = scores.state
        return scores

    def _ban(self, beam: Beam, rows: int) -> IntArray:
        """Return the tokens that would complete an avoided phrase. # shape: (rows, banned)."""
        if not self._bans or beam.states is None or self._step.automaton is None:
            return np.empty((rows, 0), np.int64)
        return self._step.automaton.ban_at(beam.states.node[beam.live.ravel()])

    def _set_numbers(self, number: int, any_finished: bool) -> bool:
        """Set the numbers of a step; return whether it drops what lags behind.

        Where something has ended, or only some sentences have a draft, that is left to `prune`.
        """
        numbers, flags = self._numbers, kernel.WORD_ENDS if self._step.word_ends else 0
        numbers[kernel.LENGTH] = float(number + 1) ** self._settings.length_penalty
        numbers[kernel.STEP] = number
        lag, future_cost, drops = self._settings.lag, self._step.future_cost, 0
        if lag is not None and not any_finished:
            numbers[kernel.LAG], drops = lag, kernel.DROP
            if future_cost is not None and future_cost.any_drafted:
                numbers[kernel.LAG] = lag_ahead(lag, self._settings.beam_size)
                drops = kernel.DROP | kernel.BY_WORTH if future_cost.all_drafted else 0
        numbers[kernel.FLAGS] = flags | drops
        return bool(drops)

    def _refuse(self, scores: Scores) -> None:
        """Say what is wrong with the model's answer, if anything is."""
        scorer = self._step.scorer
        ban = np.empty((len(scores.top_ids), 0), np.int64)
        refuse_nonsense(scores, ban, scorer.eos, scorer.vocabulary_size)
