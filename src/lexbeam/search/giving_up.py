"""Sentences that are given up, to be searched again and looked at in every step.

Where plans have to be followed, that is not done in every step (`search.looks`), and all
hypotheses of a sentence may come to states from which no plan leads on. They would run on to the
length limit. If it is known how an output can be made from its beginning, they need not.
"""

from __future__ import annotations

import numpy as np

from lexbeam.search.arrays import BoolArray, IntArray
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.states import States
from lexbeam.search.length_limit import LengthLimit


def give_up(
    limit: LengthLimit,
    remaining: RemainingTokens,
    late: BoolArray | None,
    unfinished: BoolArray,
    here: States,
    sentence: IntArray,
) -> None:
    """Give up the sentences of which nothing can be ended any more, and nothing has.

    ``late`` are those that run on (None: none does), and are left hardly more room than they need.
    Of others a guess says whether all hypotheses will say something too often; then it is looked
    at whether a plan leads on. ``here`` are the states of the hypotheses, ``sentence`` says whose
    they are.
    """
    lost = np.zeros(len(unfinished), np.bool_)
    if late is not None:
        most = _most_needed(limit, remaining, late, here, sentence)
        limit.bring_near(most)
        lost = late & (most < 0)
    if not remaining.planned:
        return
    numbers = limit.looks.sentences.tolist()
    known = (each in remaining.planned and limit.looks.may_have_lost(each) for each in numbers)
    may_be = unfinished & np.fromiter(known, np.bool_, len(numbers))
    lost &= may_be
    guessed = np.zeros_like(lost)
    for row in np.flatnonzero(may_be & ~lost).tolist():
        own = here.take(np.flatnonzero(sentence == row))
        guessed[row] = len(own.node) > 0 and remaining.plan(numbers[row]).say_too_much(own)
    if guessed.any():
        lost |= guessed & (_most_needed(limit, remaining, guessed, here, sentence) < 0)
    if lost.any():
        limit.end_now(lost)


def _most_needed(
    limit: LengthLimit,
    remaining: RemainingTokens,
    sentences: BoolArray,
    here: States,
    sentence: IntArray,
) -> IntArray:
    """Return what the hypotheses of some sentences need at most that are in time.

    Less than 0: none is known to be. # shape: (sentences,)
    """
    most = np.full(len(sentences), -1)
    rows = np.flatnonzero(sentences[sentence])
    if len(rows):
        sentence = sentence[rows]
        left = limit.room(sentence)
        need = remaining.needs(here.take(rows), limit.looks.sentences[sentence], left)
        np.maximum.at(most, sentence, np.where(need <= left, need, -1))
    return most
