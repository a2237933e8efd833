"""How often what is counted stands in the tokens of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.obstacles import may_stand_behind
from lexbeam.search.automaton.trie import Goal
from lexbeam.search.automaton.whole_words import WordBoundaries


def ends_in(counted: Goal, form: Tokens, words: WordBoundaries | None) -> Iterator[int]:
    """Yield where a phrase ends in the tokens of another, as far as these tell.

    A word does not count where it goes on ("file" does not occur in "files"), nor one that must
    stand apart where it goes on from something: *1* does not occur in *11*.
    """
    tokens = tuple(token for token in counted.tokens if token >= 0)
    if tokens[0] not in form:
        return
    for at in range(len(form) - len(tokens) + 1):
        end = at + len(tokens)
        if form[at:end] != tokens:
            continue
        goes_on = counted.waits and end < len(form) and words and not words.ends(form[end])
        if not goes_on and (at == 0 or may_stand_behind(counted, form[at - 1], words)):
            yield end


def fewest_in(
    counted: Sequence[Goal], forms: Sequence[Tokens], words: WordBoundaries | None
) -> int:
    """Return how often a phrase, in any spelling, is at least in what may stand for another."""
    fewest = 0
    for form in forms:
        times = len({end for goal in counted for end in ends_in(goal, form, words)})
        if not times:
            return 0
        fewest = min(fewest or times, times)
    return fewest
