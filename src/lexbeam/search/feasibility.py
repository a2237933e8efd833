"""What can't be done is refused before decoding starts, with the reason."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from itertools import combinations
from math import prod
from typing import Literal

import numpy as np

from lexbeam.errors import ConstraintError, SettingError, Subject
from lexbeam.search.arrays import IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.bit_layout import BitLayout
from lexbeam.search.automaton.patterns import Pattern, TokenConstraint, show_constraint
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.trie import ROOT, Trie
from lexbeam.search.request import Request, listed

MOST_SETS = 1024
"""Constrained beam search needs a bank per set; more than this are refused."""


def refuse_impossible(
    requests: Sequence[Request],
    limits: IntArray,
    automaton: Automaton | None,
    remaining: RemainingTokens | None,
    certain: Collection[int] = (),
) -> None:
    """Raise unless every sentence has an output that keeps to its request and its limit.

    Where there is much room, that is taken for granted but for ``certain`` sentences.
    """
    for sentence, (request, limit) in enumerate(zip(requests, limits.tolist(), strict=True)):
        _refuse_too_long(sentence, request, limit)
        _refuse_two_ends(sentence, request)
        if automaton is None or remaining is None:
            continue
        counted = any(goal.exact for goal in automaton.layouts[sentence].goals)
        first = len(request.prefix) + _ends_word(request, automaton)
        tight = first + remaining.most_needed[sentence] > limit
        if tight or (counted and request.prefix) or sentence in certain:
            need = _need_after_prefix(sentence, request, automaton, remaining, limit)
            _refuse_need(sentence, request, limit, need, bool(remaining.exact[sentence]))


def _refuse_too_long(sentence: int, request: Request, limit: int) -> None:
    """Raise if the prefix or a phrase has more tokens than the output may have."""
    given: list[tuple[Literal["prefix", "phrase"], int, TokenConstraint]]
    given = [("prefix", 0, request.prefix)]
    given += [("phrase", number, phrase) for number, phrase in enumerate(request.phrases)]
    for role, number, tokens in given:
        if not isinstance(tokens, Pattern) and len(tokens) > limit:
            name = role if role == "prefix" else f"{role} {number}"
            raise ConstraintError(
                f"{name} {{}} has {len(tokens)} tokens, more than max_length {limit}",
                Subject(role, number, show_constraint(tokens)),
                sentence=sentence,
            )


def _refuse_two_ends(sentence: int, request: Request) -> None:
    """Raise if an output would have to end in two ways."""
    ends = [
        (number, phrase)
        for number, phrase in enumerate(request.phrases)
        if isinstance(phrase, Pattern) and phrase.last and phrase.penalty is None
    ]
    for (first, one), (second, other) in combinations(ends, 2):
        if not _share_an_end(one, other):
            subjects = request.subjects
            raise ConstraintError(
                "phrases {} and {} can't both be the end of the output",
                subjects[first],
                subjects[second],
                sentence=sentence,
            )


def _share_an_end(one: Pattern, other: Pattern) -> bool:
    """Return whether a form of one of two last parts ends with a form of the other."""
    forms = [{form.tokens for form in pattern.parts[-1]} for pattern in (one, other)]
    ends = [{form[i:] for form in each for i in range(len(form))} for each in forms]
    return bool(forms[0] & ends[1] or forms[1] & ends[0])


def _refuse_need(sentence: int, request: Request, limit: int, need: int, exact: bool) -> None:
    """Raise if so many tokens after the prefix are more than there may be.

    Unless that is ``exact``, fewer might do, if one knew how.
    """
    if need < NEVER and len(request.prefix) + need <= limit:
        return
    phrases, avoided = request.subjects, request.avoided_subjects
    if need >= NEVER:
        without = f" without one of the avoided phrases [{listed(avoided)}]" if avoided else ""
        raise ConstraintError(
            f"phrases {listed(phrases)} can't all be placed{without}",
            *phrases,
            *avoided,
            sentence=sentence,
        )
    behind = f" after a prefix of {len(request.prefix)}" if request.prefix else ""
    raise ConstraintError(
        f"phrases {listed(phrases)} need {'' if exact else 'up to '}{need} tokens{behind}, "
        f"max_length is {limit}",
        *phrases,
        sentence=sentence,
    )


def _need_after_prefix(
    sentence: int, request: Request, automaton: Automaton, remaining: RemainingTokens, limit: int
) -> int:
    """Return how many tokens an output needs after its prefix before it may end."""
    states = automaton.start().take(np.array([sentence]))
    for token in request.prefix:
        if automaton.is_one_too_many(states, np.array([[token]])).any():
            return NEVER
        states = automaton.advance(states, np.array([token]))
        if automaton.breaks(states).any():
            return NEVER
    left = max(limit - len(request.prefix), 0)
    if not _ends_word(request, automaton):
        return remaining.need_of(sentence, states, left)
    plan = remaining.plan(sentence)
    if plan.may_end(states):
        return 0
    after = plan.end_word(states)
    need = remaining.need_of(sentence, after, max(left - 1, 0)) if len(after.node) else NEVER
    return min(need + 1, NEVER)


def _ends_word(request: Request, automaton: Automaton) -> bool:
    """Return whether the token behind a prefix has to end the word of it."""
    words, prefix = automaton.whole_words, request.prefix
    return bool(prefix) and request.whole_prefix and words is not None and words.waits(prefix)


def count_sets(automaton: Automaton) -> IntArray:
    """Return how many sets of constraint tokens can be met, for each sentence.

    Raises:
        SettingError: constrained beam search would need too many banks.
    """
    sets = []
    for sentence, (layout, trie) in enumerate(zip(automaton.layouts, automaton.tries, strict=True)):
        sets.append(_count_sets_of(layout, trie))
        if sets[-1] > MOST_SETS:
            raise SettingError(
                f"cbs would need {sets[-1]} banks for {len(layout.met)} phrases, "
                f"more than {MOST_SETS}; use dba",
                sentence=sentence,
            )
    return np.array(sets, dtype=np.int64)


def _count_sets_of(layout: BitLayout, trie: Trie) -> int:
    """Count the sets of met phrases, each with every phrase that may be in progress."""
    begun = sum(bool(node.begun) for node in trie.nodes[ROOT + 1 :])
    return prod(layout.states_of_each) * (begun + 1)
