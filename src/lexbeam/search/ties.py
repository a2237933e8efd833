"""Constraints that are tied to the source tokens they translate.

A model that attends says at every step which source tokens it is translating. A tied constraint
should be said there and nowhere else: then it replaces what the model would have said, and does
not stand beside it. So two penalties steer the search (compare Chatterjee et al., 2017, and
Arthur et al., 2016, whom the paper names):

- the first token of the last word of a tied constraint costs the more, the less the model attends
  to its source;
- while a tied constraint is unmet, any other token costs something where the model attends to
  its source: that source is being passed over.

Penalties only steer: they are finite, so that every promise holds wherever a model attends, and
they are no part of the scores of outputs. Small ones are given back once all is said.

What has to stand before a constraint, as an article, is decided before the constraint is said, and
what has to end its last word shows only behind it. So while one is due, the beam is wider, and
nothing is dropped for its lag.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lexbeam.arguments import as_length, as_list, as_pairs, as_whole, per_sentence
from lexbeam.errors import ConstraintError, InputError, represented
from lexbeam.search.arrays import (
    PAD,
    Bits,
    BoolArray,
    FloatArray,
    IntArray,
    ScoreArray,
    pack_bits,
)
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.trie import ANCHORS, Goal, Trie
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.beam import Beam
from lexbeam.search.candidates import Candidates
from lexbeam.search.draft import Draft
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scores

ELSEWHERE = 8.0
"""What the first token of the last word costs where the model attends to other tokens."""

PASSING = 5.0
"""What another token costs where the model attends to nothing but the source of an unmet one."""

FORGIVEN = 4.0
"""So much of the penalties a hypothesis gets back when it has met its last tied constraint. Among
outputs that say all near their sources the model decides alone: an article before a noun attends
to the noun as well."""

_MANY = 64
"""Of more tokens than this the penalties are looked up in a table."""


class Window(NamedTuple):
    """Where a tied constraint is taken to be due, and how wide the beam is there."""

    before: int
    """From so many tokens before a draft reaches the source of a tied constraint"""
    after: int
    """to so many after it, and as many more as the constraint has further tokens, nothing is
    dropped for its lag: what has to stand before the constraint, as an article, may be unlikely
    until its last word has ended."""
    wider: int
    """How many times as wide the beam is meanwhile, and for one token more: of what has been kept,
    the token that ends the word shows what was right, so that it has to be looked at."""


NARROW, WIDE = WINDOWS = Window(2, 1, 2), Window(4, 4, 4)
"""The usual window, and that of a second look."""

SourceTokens = Sequence[int]
"""The indices of the source tokens that a constraint translates."""


class TiedStep(NamedTuple):
    """What the tokens of one step cost, row by row, because of ties."""

    tokens: IntArray
    """The tokens that were asked for. # shape: (rows, asked)"""
    asked: FloatArray
    """The penalty of each. # shape: (rows, asked)"""
    passing: FloatArray
    """The penalty of any other token. # shape: (rows,)"""

    def penalty(self, row: IntArray, token: IntArray) -> FloatArray:
        """Return what tokens cost after the hypotheses of rows. # shape: as the tokens."""
        passing = self.passing[row]
        if not self.tokens.shape[1]:
            return np.broadcast_to(passing, token.shape)
        if self.tokens.shape[1] > _MANY:
            return self._penalty_of_many(row, token)
        same = self.tokens[row] == token[..., None]
        column = same.argmax(axis=-1)
        return np.where(same.any(axis=-1), self.asked[row, column], passing)

    def _penalty_of_many(self, row: IntArray, token: IntArray) -> FloatArray:
        """Return what tokens cost, from a table of all tokens."""
        most = max(int(self.tokens.max()), int(token.max(initial=0))) + 1
        table = np.repeat(self.passing[:, None], most, axis=1)
        rows, columns = (each[::-1] for each in (self.tokens != PAD).nonzero())  # the first counts
        table[rows, self.tokens[rows, columns]] = self.asked[rows, columns]
        return table[row, token]


class TieCosts(NamedTuple):
    """What ties cost candidates. # shape of both: (sentences, candidates)."""

    penalty: FloatArray
    """That of this step, less what is given back."""
    paid: FloatArray
    """All so far that may still be given back."""


class Ties:
    """The ties of a batch: which source tokens belong to which constraints."""

    def __init__(
        self,
        ties: Sequence[Mapping[int, SourceTokens]],
        lengths: Sequence[int],
        automaton: Automaton,
        window: Window = NARROW,
    ) -> None:
        self.window = window
        most = max(map(len, ties), default=0)
        bits = np.zeros((len(ties), most), object)
        self._more_tokens = np.zeros((len(ties), most), np.int64)
        self._sources = np.zeros((len(ties), most, max(lengths, default=0)), np.float32)
        for sentence, each in enumerate(ties):
            layout = automaton.layouts[sentence]
            for number, (phrase, tokens) in enumerate(each.items()):
                bits[sentence, number] = met = layout.met[phrase]
                self._more_tokens[sentence, number] = _longest(layout.goals, met) - 1
                self._sources[sentence, number, list(tokens)] = 1.0
        packed = pack_bits([int(one) for one in bits.ravel()], automaton.bit_arrays)
        self._bits = tuple(each.reshape(bits.shape) for each in packed)
        charged = [0]  # node 0 belongs to no sentence
        for trie in automaton.tries:
            charged += _bits_of_charged_tokens(trie, automaton.whole_words)
        self._charged = pack_bits(charged, automaton.bit_arrays)
        self._due: BoolArray | None = None
        self._spared: BoolArray | None = None
        self.tied = np.array([bool(each) for each in ties])
        """A mask of the sentences that have ties. # shape: (sentences,)"""

    def use_draft(self, draft: Draft) -> None:
        """Take from a draft where in the output each tied constraint is due."""
        if draft.attention is None:
            return
        width = min(draft.attention.shape[2], self._sources.shape[2])
        sources = self._sources[:, :, :width]
        share = np.einsum("pst,snt->psn", draft.attention[:, :, :width], sources)
        place = share.argmax(axis=0)  # shape: (sentences, ties)
        last = place + self.window.after + self._more_tokens
        places = np.arange(last.max(initial=0) + 2)[:, None, None]
        due = (place - self.window.before <= places) & sources.any(axis=2)
        self._spared = np.asarray(
            (due & (places <= last)).any(axis=2)
        )  # shape: (places, sentences)
        self._due = np.asarray((due & (places <= last + 1)).any(axis=2))

    def are_due(self, step: int) -> BoolArray | None:
        """Return a mask of the sentences of which a tied constraint is due; None: of none."""
        return _at(step, self._due)

    def are_spared(self, step: int) -> BoolArray | None:
        """Return a mask of the sentences in which lag is no reason to drop; None: there is none."""
        return _at(step, self._spared)

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self._sources = self._sources[sentences]
        self.tied = self.tied[sentences]
        self._bits = tuple(each[sentences] for each in self._bits)
        if self._due is not None and self._spared is not None:
            self._due, self._spared = self._due[:, sentences], self._spared[:, sentences]

    def any_unmet(self, states: States, sentence: IntArray) -> bool:
        """Return whether a row has unmet ties; ``sentence`` is that of each row."""
        return any(
            bool(((wanted[sentence] & ~seen[:, None]) != 0).any())
            for wanted, seen in zip(self._bits, states.seen, strict=True)
        )

    def settle(
        self, candidates: Candidates, beam: Beam, tied: TiedStep, first: IntArray
    ) -> tuple[Candidates, TieCosts]:
        """Give candidates back what ties have cost them, if they have met all of them by now.

        ``beam`` has the hypotheses that they continue; ``first`` is what the search itself offers
        to each sentence, the end or a forced token: it costs nothing.
        """
        assert candidates.states is not None
        penalty = tied.penalty(candidates.row[candidates.slot], candidates.token)
        penalty = np.where(candidates.token == first[:, None], 0.0, penalty)
        due = penalty if beam.paid is None else penalty + beam.paid.ravel()[candidates.slot]
        met = np.ones(due.shape, np.bool_)
        for wanted, seen in zip(self._bits, candidates.states.seen, strict=True):
            every = np.bitwise_or.reduce(wanted, axis=1)[:, None]
            met &= (seen.reshape(due.shape) & every) == every
        refund = np.where(met, np.minimum(due, FORGIVEN), 0.0)
        settled = candidates._replace(score=candidates.score + refund)
        return settled, TieCosts(penalty - refund, np.where(met, 0.0, due))

    def penalise(
        self,
        here: States,
        sentence: IntArray,
        scores: Scores,
        asked: tuple[IntArray, IntArray],
        advancing: int,
    ) -> tuple[Scores, TiedStep]:
        """Return the scores with penalties, and the penalties by themselves.

        ``here`` are the states of the rows and ``sentence`` their sentences; ``asked`` are the
        tokens that were asked for, and the nodes that they lead to. The first ``advancing`` of
        them go on with a constraint.
        """
        assert scores.attention is not None
        tokens, targets = asked
        share, unmet, bits = self._attend(here, sentence, scores.attention)
        begun = here.bank > here.seen_tokens
        passing = PASSING * np.minimum(share.max(axis=1, initial=0.0), 1.0)
        passing = np.where(begun, 0.0, passing)
        penalty = self._elsewhere(share, unmet, bits, targets)
        penalty[:, advancing:] += passing[:, None]
        step = TiedStep(tokens, penalty, passing)
        ask_scores = scores.ask_scores.astype(np.float64)
        ask_scores[:, 1:] -= penalty
        rows = np.arange(len(tokens))[:, None]
        top_scores = scores.top_scores - step.penalty(rows, scores.top_ids)
        return scores._replace(top_scores=top_scores, ask_scores=ask_scores), step

    def _attend(
        self, states: States, sentence: IntArray, attention: ScoreArray
    ) -> tuple[FloatArray, BoolArray, Bits]:
        """Return how much each row attends to the source of each tied constraint that is unmet.

        The second is a mask of those, the third their bits. ``attention`` has the weight of each
        source token. # shape: (rows, source tokens); of all that is returned: (rows, ties)
        """
        sources = self._sources[sentence]  # shape: (rows, ties, source tokens)
        width = min(attention.shape[1], sources.shape[2])
        share = np.matmul(sources[:, :, :width], attention[:, :width, None])[:, :, 0]
        bits = tuple(each[sentence] for each in self._bits)
        met = np.ones(share.shape, np.bool_)
        for wanted, seen in zip(bits, states.seen, strict=True):
            met &= (seen[:, None] & wanted) == wanted
        return np.where(met, 0.0, share), ~met, bits

    def _elsewhere(
        self, share: FloatArray, unmet: BoolArray, bits: Bits, targets: IntArray
    ) -> FloatArray:
        """Return what charged tokens cost, by where the model attends. # shape: (rows, asked)."""
        tied = np.zeros((*targets.shape, share.shape[1]), np.bool_)
        for charged, wanted in zip(self._charged, bits, strict=True):
            tied |= (charged[targets][..., None] & wanted[:, None]) != 0
        tied &= unmet[:, None]
        most = np.where(tied, share[:, None], 0.0).max(axis=-1, initial=0.0)
        return np.where(tied.any(axis=-1), ELSEWHERE * (1.0 - np.minimum(most, 1.0)), 0.0)


def _at(step: int, by_place: BoolArray | None) -> BoolArray | None:
    """Return what holds at a step; None: nothing. # shape: (places, sentences)."""
    if by_place is None or step >= len(by_place) or not by_place[step].any():
        return None
    here: BoolArray = by_place[step]
    return here


def _longest(goals: Sequence[Goal], met: int) -> int:
    """Return the tokens of the longest form of what sets some bits, at least one."""
    bare = ([token for token in each.tokens if token >= 0] for each in goals if each.wanted & met)
    return max(map(len, bare), default=1)


def _bits_of_charged_tokens(trie: Trie, words: WordBoundaries | None) -> list[int]:
    """Return for each node the bits of what its last token is charged for."""
    bits = [0] * len(trie.nodes)
    depths: dict[int, int] = {}  # by goal, which is listed at every node of its string
    for number, node in enumerate(trie.nodes):
        for goal in (*node.begun, *node.ends):
            if id(goal) not in depths:
                depths[id(goal)] = _charged_depth(goal, words)
            if node.depth == depths[id(goal)]:
                bits[number] |= goal.repeats or goal.sets
    return bits


def _charged_depth(goal: Goal, words: WordBoundaries | None) -> int:
    """Return the depth of the node at which it counts where the model attends.

    It is that of the first token of the last word: an article before it attends to other words. A
    mere mark of a word's beginning, with which any word may begin as well, is passed over.
    """
    tokens = goal.tokens
    first = goal.led or int(tokens[0] in ANCHORS)
    if words is None:
        return first + 1
    begins = [i for i in range(first, len(tokens)) if tokens[i] >= 0 and words.starting[tokens[i]]]
    charged = max(begins, default=first)
    if charged + 1 < len(tokens) and words.is_mark(tokens[charged]):
        charged += 1
    return charged + 1


def read_ties(
    given: Sequence[Mapping[int, SourceTokens]] | None,
    requests: Sequence[Request],
    sources: Sequence[Sequence[object]],
) -> list[dict[int, tuple[int, ...]]] | None:
    """Return checked ties, one mapping per sentence; None if there are none at all."""
    if given is None:
        return None
    read = []
    for sentence, ties in enumerate(per_sentence("ties", given, len(requests))):
        pairs = [] if ties is None else as_pairs(ties)
        if pairs is None:
            raise InputError(
                f"ties must be a mapping from phrases to source tokens, not {represented(ties)}",
                sentence=sentence,
            )
        read.append(_read_sentence(pairs, requests[sentence], sources[sentence], sentence))
    if not any(read):
        return None
    for sentence, source in enumerate(sources):
        _length(source, sentence)
    return read


def _length(source: Any, sentence: int) -> int:
    """Return the tokens of a source, or say that they can't be counted."""
    length = as_length(source)
    if length is None:
        raise InputError(
            f"ties need sources that are lists of tokens, not {represented(source)}",
            sentence=sentence,
        )
    return length


def _read_sentence(
    ties: Sequence[tuple[Any, Any]], request: Request, source: Any, sentence: int
) -> dict[int, tuple[int, ...]]:
    """Return the ties of a sentence as plain integers, without the empty ones."""
    checked = {}
    for phrase, tokens in ties:
        number, listed = as_whole(phrase), as_list(tokens)
        places = tuple(place for place in map(as_whole, listed or ()) if place is not None)
        if number is None or listed is None or len(places) < len(listed):
            raise InputError(
                f"ties has {represented(phrase)}: {represented(tokens)}, but the index of a phrase "
                "is tied to a list of indices of source tokens",
                sentence=sentence,
            )
        if not 0 <= number < len(request.phrases):
            raise ConstraintError(
                f"there is no phrase {represented(number)} to tie to the source", sentence=sentence
            )
        length = _length(source, sentence)
        outside = [place for place in places if not 0 <= place < length]
        if outside:
            raise ConstraintError(
                f"phrase {{}} is tied to source token {represented(outside[0])}, "
                f"but there are {length}",
                request.subjects[number],
                sentence=sentence,
            )
        if places:
            checked[number] = places
    return checked


def settle(
    ties: Ties | None, candidates: Candidates, beam: Beam, tied: TiedStep | None, first: IntArray
) -> tuple[Candidates, TieCosts | None]:
    """Give candidates back what ties have cost them, if they cost anything (`Ties.settle`)."""
    if ties is None or tied is None:
        return candidates, None
    return ties.settle(candidates, beam, tied, first)
