"""The candidates of a step, by the compiled kernel or, where it does not cover it, by arrays.

`search.candidates` says what they are and is the definition. The kernel finds what constraints are
going to cost candidates (`search.future_cost`) in the same call.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from lexbeam.search import kernel
from lexbeam.search.arrays import FloatArray, IntArray, row_starts
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States, count_columns
from lexbeam.search.candidates import Answered, Candidates, best_by_arrays, collect_by_arrays


class KernelCosts(NamedTuple):
    """What the kernel reads of costs, and learns of them."""

    arrays: tuple[NDArray[Any] | None, ...]
    numbers: tuple[float, ...]


class Collected(NamedTuple):
    """The candidates of a step, and what they have still to pay, if that has been found."""

    candidates: Candidates
    cost: FloatArray | None  # shape: (sentences, candidates)


def best_of_all(answered: Answered, k: int) -> Candidates:
    """Return the k best continuations of each sentence: plain search looks no further."""
    if kernel.compiled is None:
        return best_by_arrays(answered, k)
    numbers = kernel.numbers_of_step(k, kernel.KEEP_ALL)
    return _collect(None, numbers, answered, kernel.UNCONSTRAINED, len(answered.first) * k)[0]


def collect(
    answered: Answered,
    beam: int,
    beam_sizes: IntArray | None,
    automaton: Automaton,
    states: States,
    asked: tuple[IntArray, IntArray],
    word_ends: bool = True,
    costs: KernelCosts | None = None,
) -> Collected:
    """Return all candidates of each sentence (paper, Algorithm 2, lines 2 to 10).

    ``beam`` to ``word_ends`` are those of `collect_by_arrays`. With ``costs`` the kernel, if it is
    what collects, learns from the answer, and finds what is still to be paid.
    """
    if kernel.compiled is None or automaton.kernel_tables is None:
        given = answered, beam, beam_sizes, automaton, states, asked, word_ends
        return Collected(collect_by_arrays(*given), None)
    sentences, slots = answered.beam.token.shape
    flags = kernel.KEEP_ALL + (kernel.WORD_ENDS if word_ends else 0)
    arrays, constants = costs or (kernel.NO_COSTS, kernel.NOTHING_LEARNT)
    model = automaton.eos, *kernel.UNCHECKED
    numbers = kernel.numbers_of_step(beam, flags, model, costs=constants)
    more = None, answered.may_end, beam_sizes, *asked, None
    constraints = *states.for_kernel, *more, *arrays
    room = sentences * (beam + slots * (2 + asked[0].shape[1]))
    found, worth = _collect(automaton, numbers, answered, constraints, room)
    return Collected(found, None if costs is None else worth)


def _collect(
    automaton: Automaton | None,
    numbers: NDArray[np.float64],
    answered: Answered,
    constraints: tuple[NDArray[Any] | None, ...],
    room: int,
) -> tuple[Candidates, FloatArray]:
    """Let the kernel collect; return the candidates, and what they have to pay."""
    assert kernel.compiled is not None
    beam, live, scores, first, _ = answered
    sentences, slots = beam.token.shape
    tables = None if automaton is None else automaton.kernel_tables
    ints = np.empty(3 * room, np.int64)
    number = 0 if automaton is None else count_columns(automaton.bit_arrays)
    columns = None if automaton is None else np.empty(number * room, np.int64)
    values, marks = np.empty(3 * room), np.empty(3 * room, np.bool_)
    before = beam.log_prob, beam.score, beam.live, beam.finished, first
    answer = scores.top_scores, scores.top_ids, scores.ask_scores
    given = tables, numbers, *before, *answer, *constraints, ints, columns, values, marks
    width, *_ = kernel.call(kernel.compiled.advance, *given)
    shape, size = (sentences, width), sentences * width
    token, parent = ints[: 2 * size].reshape(2, *shape)
    slot = parent if sentences == 1 else parent + row_starts(sentences, slots)
    score, worth = values[size : 3 * size].reshape(2, *shape)
    row = live
    if len(live) < beam.token.size:
        row = np.zeros(beam.token.size, np.int64)
        row[live] = np.arange(len(live))
    states = None
    if automaton is not None and columns is not None:
        states = automaton.read_columns(columns[: number * size].reshape(number, size))
    return Candidates(score, slot, token, row, states), worth
