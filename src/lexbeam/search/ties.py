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
from lexbeam.search.arrays import Bits, BoolArray, FloatArray, IntArray, ScoreArray, pack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import Trie
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores

ELSEWHERE = 8.0
"""What the first token of a tied constraint costs where the model attends to other tokens."""

PASSING = 5.0
"""What another token costs where the model attends to nothing but the source of an unmet one."""

SourceTokens = Sequence[int]
"""The indices of the source tokens that a constraint translates."""


class TiedStep(NamedTuple):
    """How one step attends, row by row, to the sources of constraints that are unmet."""

    share: FloatArray
    """The attention to the source of each tied constraint, 0 if it is met. # shape: (rows, ties)"""
    unmet: BoolArray  # shape: (rows, ties)
    bits: Bits
    """The bits of each tied constraint. # shape of each array: (rows, ties)"""
    passing: FloatArray
    """The penalty for saying something else. # shape: (rows,)"""


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
        self._sources = np.zeros((len(ties), most, max(lengths, default=0)))
        for sentence, each in enumerate(ties):
            met = automaton.layouts[sentence].met
            for number, (phrase, tokens) in enumerate(each.items()):
                bits[sentence, number] = met[phrase]
                self._sources[sentence, number, list(tokens)] = 1.0
        packed = pack_bits([int(one) for one in bits.ravel()], automaton.bit_arrays)
        self._bits = tuple(each.reshape(bits.shape) for each in packed)
        first = [0]  # node 0 belongs to no sentence
        for trie in automaton.tries:
            first += _bits_of_first_tokens(trie)
        self._first = pack_bits(first, automaton.bit_arrays)

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sources = self._sources[sentences]
        self._bits = tuple(each[sentences] for each in self._bits)

    def attend(self, states: States, sentence: IntArray, attention: ScoreArray) -> TiedStep:
        """Look up where the model attends; ``sentence`` is that of each row.

        ``attention`` has the weight of each source token. # shape: (rows, source tokens)
        """
        sources = self._sources[sentence]  # shape: (rows, ties, source tokens)
        width = min(attention.shape[1], sources.shape[2])
        share = np.einsum("rst,rt->rs", sources[:, :, :width], attention[:, :width])
        bits = tuple(each[sentence] for each in self._bits)
        met = np.ones(share.shape, np.bool_)
        for wanted, seen in zip(bits, states.seen, strict=True):
            met &= (seen[:, None] & wanted) == wanted
        share = np.where(met, 0.0, share)
        begun = states.bank > states.seen_tokens
        passing = PASSING * np.minimum(share.max(axis=1, initial=0.0), 1.0)
        return TiedStep(share, ~met, bits, np.where(begun, 0.0, passing))

    def penalise(self, step: TiedStep, scores: Scores, targets: IntArray, advancing: int) -> Scores:
        """Return the scores with penalties; ``targets`` are the nodes of asked tokens.

        The first ``advancing`` of these go on with a constraint.
        """
        asked = scores.ask_scores.astype(np.float64)
        rows = np.arange(len(asked))[:, None]
        if targets.shape[1]:
            asked[:, 1:] -= self._elsewhere(step, np.broadcast_to(rows, targets.shape), targets)[0]
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
        elsewhere, is_tied = self._elsewhere(step, row, node)
        return np.where(is_tied, elsewhere, np.where(advances, 0.0, step.passing[row]))

    def _elsewhere(
        self, step: TiedStep, row: IntArray, node: IntArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return the penalty of first tokens by where the model attends, and which are tied."""
        tied = np.zeros((*node.shape, step.share.shape[1]), np.bool_)
        for first, bits in zip(self._first, step.bits, strict=True):
            tied |= (first[node][..., None] & bits[row]) != 0
        tied &= step.unmet[row]
        share = np.where(tied, step.share[row], 0.0).max(axis=-1, initial=0.0)
        is_tied = np.asarray(tied.any(axis=-1))
        return np.where(is_tied, ELSEWHERE * (1.0 - np.minimum(share, 1.0)), 0.0), is_tied


def _bits_of_first_tokens(trie: Trie) -> list[int]:
    """Return for each node the bits of what its string, a single token, is the beginning of."""
    begins = trie.begins
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
