"""How often what is counted stands in the tokens of something else."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from lexbeam.search.arrays import Tokens
from lexbeam.search.automaton.obstacles import may_stand_behind
from lexbeam.search.automaton.trie import Goal
from lexbeam.search.automaton.whole_words import WordBoundaries


def ends_in(
    counted: Goal, form: Tokens, words: WordBoundaries | None, certain: bool = False
) -> Iterator[int]:
    """Yield where a phrase ends in the tokens of another, as far as these tell.

    A word does not count where it goes on ("file" does not occur in "files"), nor one that must
    stand apart where it goes on from something: *1* does not occur in *11*. What may go on from
    something before the other phrase counts, unless it has to be ``certain``.
    """
    tokens = tuple(token for token in counted.tokens if token >= 0)
    if tokens[0] not in form:
        return
    for at in range(len(form) - len(tokens) + 1):
        end = at + len(tokens)
        if form[at:end] != tokens:
            continue
        goes_on = counted.waits and end < len(form) and words and not words.ends(form[end])
        if at == 0:
            counts = not certain or counted.tokens[0] >= 0
        else:
            counts = may_stand_behind(counted, form[at - 1], words)
        if counts and not goes_on:
            yield end


def fewest_in(
    counted: Sequence[Goal], forms: Sequence[Tokens], words: WordBoundaries | None
) -> int:
    """Return how often a phrase, in any spelling, is at least in what may stand for another."""
    fewest = 0
    for form in forms:
        times = len({end for goal in counted for end in ends_in(goal, form, words, certain=True)})
        if not times:
            return 0
        fewest = min(fewest or times, times)
    return fewest
