"""The tokens that plans try first."""

from __future__ import annotations

import numpy as np

from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.moves import MOST_ASKED, Moves
from lexbeam.search.automaton.patterns import Form, Pattern
from lexbeam.search.automaton.side_by_side import SideBySide
from lexbeam.search.automaton.whole_words import WordBoundaries

SIZE, EOS, SPACE = 100, 0, 1


def test_what_goes_on_with_something_is_tried_before_what_begins() -> None:
    """Behind a space, all words that may stand there without one begin; one phrase goes on."""
    words = WordBoundaries.of(
        np.ones(SIZE, np.bool_),
        np.arange(SIZE) == SPACE,
        SIZE,
        EOS,
        marking=np.arange(SIZE) == SPACE,
    )
    apart = [Pattern(((Form((token,), apart=True),),)) for token in range(10, 10 + 2 * MOST_ASKED)]
    phrase = Pattern(((Form((2, SPACE, 3)),),))
    automaton = Automaton([[(4,)], [*apart, phrase]], [[], []], SIZE, words, True, EOS)
    moves = Moves(automaton, 1, np.array([5]), SideBySide(automaton, 1))
    states = automaton.start().take(np.array([1]))
    for token in (2, SPACE):
        states = automaton.advance(states, np.array([token]))
    asked = moves.ask_best(states)[0].tolist()
    assert len(asked) == MOST_ASKED
    assert 3 in asked
