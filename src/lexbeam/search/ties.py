"""Constraints that are tied to the source tokens they translate.

A model that attends says at every step which source tokens it is translating. A tied constraint
should be said there and nowhere else: then it replaces what the model would have said, and does
not stand beside it. So two penalties steer the search (compare Chatterjee et al., 2017, and
Arthur et al., 2016, whom the paper names):

- the first token of a tied constraint costs the more, the less the model attends to its source;
- while a tied constraint is unmet, any other token costs something where the model attends to
  its source: that source is being passed over.

Penalties only steer: they are finite, so that every promise holds wherever a model attends, and
they are no part of the scores of outputs.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.errors import ConstraintError, InputError
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, ScoreArray, pack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ROOT, Trie
from lexbeam.search.draft import Draft
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores

ELSEWHERE = 8.0
"""What the first token of a tied constraint costs where the model attends to other tokens."""

PASSING = 5.0
"""What another token costs where the model attends to nothing but the source of an unmet one."""

BEFORE = 2
"""So many tokens before a tied constraint is due, and when it is, nothing is dropped for its lag:
what has to stand before it, as an article, may be unlikely until it is said."""

SourceTokens = Sequence[int]
"""The indices of the source tokens that a constraint translates."""


class TiedStep(NamedTuple):
    """What one step costs on account of ties, row by row."""

    elsewhere: FloatArray
    """What the first token of each tied constraint costs; minus infinity if it is met, and behind
    all of them, for tokens of no tied constraint. # shape: (rows, ties + 1)"""
    passing: FloatArray
    """What another token costs. # shape: (rows,)"""


class Ties:
    """The ties of a batch: which source tokens belong to which constraints."""

    def __init__(
        self,
        ties: Sequence[Mapping[int, SourceTokens]],
        lengths: Sequence[int],
        automaton: Automaton,
    ) -> None:
        most = max(map(len, ties), default=0)
        bits = np.zeros((len(ties), most), object)
        self._sources = np.zeros((len(ties), most, max(lengths, default=0)), np.float32)
        for sentence, each in enumerate(ties):
            met = automaton.layouts[sentence].met
            for number, (phrase, tokens) in enumerate(each.items()):
                bits[sentence, number] = met[phrase]
                self._sources[sentence, number, list(tokens)] = 1.0
        packed = pack_bits([int(one) for one in bits.ravel()], automaton.bit_arrays)
        self._bits = tuple(each.reshape(bits.shape) for each in packed)
        firsts = [np.zeros((1, most + 1), np.bool_)]  # node 0 belongs to no sentence
        for trie, own in zip(automaton.tries, bits, strict=True):
            begun = _bits_of_first_tokens(trie)
            firsts.append(np.array([[bool(one & n) for one in (*own, 0)] for n in begun], np.bool_))
        # Which ties the string of a node, a single token, begins. # shape: (nodes, ties + 1)
        self._first = np.concatenate(firsts)
        self._due: BoolArray | None = None

    def use_draft(self, draft: Draft) -> None:
        """Take from a draft where in the output each tied constraint is due."""
        assert draft.attention is not None
        width = min(draft.attention.shape[2], self._sources.shape[2])
        sources = self._sources[:, :, :width]
        share = np.einsum("pst,snt->psn", draft.attention[:, :, :width], sources)
        place = share.argmax(axis=0)  # shape: (sentences, ties)
        places = np.arange(len(share))[:, None, None]
        due = (place - BEFORE <= places) & (places <= place) & sources.any(axis=2)
        self._due = np.asarray(due.any(axis=2))  # shape: (places, sentences)

    def are_due(self, step: int) -> BoolArray | None:
        """Return a mask of the sentences of which a tied constraint is due soon; None: of none."""
        if self._due is None or step >= len(self._due) or not self._due[step].any():
            return None
        due: BoolArray = self._due[step]
        return due

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sources = self._sources[sentences]
        self._bits = tuple(each[sentences] for each in self._bits)
        if self._due is not None:
            self._due = self._due[:, sentences]

    def find_unmet(self, states: States, sentence: IntArray) -> BoolArray | None:
        """Return a mask of the ties that rows have not met; None: there are none any more.

        ``sentence`` is that of each row. # shape: (rows, ties)
        """
        unmet = np.zeros((len(sentence), self._sources.shape[1]), np.bool_)
        for wanted, seen in zip(self._bits, states.seen, strict=True):
            unmet |= (wanted[sentence] & ~seen[:, None]) != 0
        return unmet if unmet.any() else None

    def attend(
        self, states: States, sentence: IntArray, unmet: BoolArray, attention: ScoreArray
    ) -> TiedStep:
        """Find what this step costs, given the ties that are unmet.

        ``attention`` has the weight of each source token. # shape: (rows, source tokens)
        """
        width = min(attention.shape[1], self._sources.shape[2])
        sources = self._sources[sentence, :, :width]  # shape: (rows, ties, source tokens)
        share = np.minimum(np.matmul(sources, attention[:, :width, None])[:, :, 0], 1.0)
        elsewhere = np.full((len(share), share.shape[1] + 1), -np.inf)
        elsewhere[:, :-1] = np.where(unmet, ELSEWHERE * (1.0 - share), -np.inf)
        passing = PASSING * np.where(unmet, share, 0.0).max(axis=1, initial=0.0)
        begun = states.bank > states.seen_tokens
        return TiedStep(elsewhere, np.where(begun, 0.0, passing))

    def penalise(self, step: TiedStep, scores: Scores, targets: IntArray, advancing: int) -> Scores:
        """Return the scores with penalties; ``targets`` are the nodes of asked tokens.

        The first ``advancing`` of these go on with a constraint.
        """
        asked = scores.ask_scores.astype(np.float64)
        if targets.shape[1]:
            elsewhere = self._elsewhere(step.elsewhere[:, None, :], targets)
            asked[:, 1:] -= np.maximum(elsewhere, 0.0)
        if asked.shape[1] > 1 + advancing:
            asked[:, 1 + advancing :] -= step.passing[:, None]
        top_scores = scores.top_scores - step.passing[:, None]
        return scores._replace(top_scores=top_scores, ask_scores=asked)

    def penalty(
        self, step: TiedStep, row: IntArray, node: IntArray, advances: BoolArray
    ) -> FloatArray:
        """Return what hypotheses paid that came from rows to nodes.

        ``advances`` marks those that began or went on with a constraint, or ended: they pay
        nothing for passing over a source. # shape of all: as the nodes.
        """
        elsewhere = self._elsewhere(step.elsewhere[row], node)
        others = np.where(advances, 0.0, step.passing[row])
        return np.where(elsewhere > -np.inf, elsewhere, others)

    def _elsewhere(self, costs: FloatArray, node: IntArray) -> FloatArray:
        """Return what tokens cost that lead to nodes, of several ties the least.

        Minus infinity: they begin no tied constraint that is unmet. # shape of costs: (…, ties + 1)
        """
        first = self._first[node]  # shape: (…, ties + 1)
        begins = first & (costs > -np.inf)
        least: FloatArray = np.where(begins, costs, np.inf).min(axis=-1)
        return np.where(least < np.inf, least, -np.inf)


def _bits_of_first_tokens(trie: Trie) -> list[int]:
    """Return for each node the bits of what its string, a single token, is the beginning of."""
    begins = {ROOT, trie.start, trie.apart}
    first = {child for node in begins for child in trie.nodes[node].children.values()} - begins
    bits = [0] * len(trie.nodes)
    for number in first:
        node = trie.nodes[number]
        for goal in (*node.begun, *node.ends):
            bits[number] |= goal.repeats or goal.sets
    return bits


def read_ties(
    given: Sequence[Mapping[int, SourceTokens]] | None,
    requests: Sequence[Request],
    sources: Sequence[Sequence[object]],
) -> list[dict[int, tuple[int, ...]]] | None:
    """Return checked ties, one mapping per sentence; None if there are none at all."""
    if given is None or not any(given):
        return None
    if len(given) != len(requests):
        raise InputError(f"ties has {len(given)} entries for {len(requests)} sentences")
    read = []
    for sentence, (ties, request) in enumerate(zip(given, requests, strict=True)):
        length, checked = len(sources[sentence]), {}
        for phrase, tokens in ties.items():
            if not 0 <= phrase < len(request.phrases):
                raise ConstraintError(
                    f"there is no phrase {phrase} to tie to the source", sentence=sentence
                )
            outside = [token for token in tokens if not 0 <= token < length]
            if outside:
                raise ConstraintError(
                    f"phrase {{}} is tied to source token {outside[0]}, but there are {length}",
                    request.subjects[phrase],
                    sentence=sentence,
                )
            if tokens:
                checked[phrase] = tuple(tokens)
        read.append(checked)
    return read
