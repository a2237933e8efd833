"""The requests of a batch, compiled; what can't be met is refused before the model is asked."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import NamedTuple

from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.feasibility import refuse_impossible
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scorer, can_hold, read_ends

_NODES_OF_A_PLAN = 80
"""A state whose plan is followed takes as long as so many nodes."""


class Compiled(NamedTuple):
    """The requests of a batch and their automaton, None if nothing is demanded or avoided."""

    requests: Sequence[Request]
    automaton: Automaton | None
    remaining: RemainingTokens | None

    def refuse_impossible(self, limits: IntArray, certain: Collection[int] = ()) -> None:
        """Raise if something can't be met within the limits (`search.feasibility`)."""
        given = self.requests, limits, self.automaton, self.remaining
        refuse_impossible(*given, certain)

    def count_prepared(self, sentence: int) -> int:
        """Return how many states were worked out so far for a sentence (`Hypothesis.prepared`).

        They are the nodes of its trie, and the states whose plans were followed, each of which
        takes as long as many nodes.
        """
        if self.automaton is None or self.remaining is None:
            return 0
        followed = self.remaining.count_followed(sentence)
        return len(self.automaton.tries[sentence].nodes) + _NODES_OF_A_PLAN * followed


def compile_requests(
    scorer: Scorer,
    requests: Sequence[Request],
    limits: IntArray,
    words: WordBoundaries | None,
    certain: Collection[int] = (),
) -> Compiled:
    """Compile what is asked of a batch; of ``certain`` sentences a plan is looked for.

    Raises:
        ConstraintError: something can't be met within the length limits.
    """
    automaton, remaining = None, None
    if any(request.phrases or request.avoid for request in requests):
        automaton = Automaton(
            [request.phrases for request in requests],
            [request.avoid for request in requests],
            scorer.vocabulary_size,
            words,
            can_hold(scorer),
            scorer.eos,
        )
        remaining = RemainingTokens(automaton, scorer.vocabulary_size, *read_ends(scorer))
    compiled = Compiled(requests, automaton, remaining)
    compiled.refuse_impossible(limits, certain)
    return compiled
