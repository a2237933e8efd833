"""A draft of each output, to see what its constraints would cost at each of its places.

The draft is what the model says when nothing is demanded, the best token at every step. At every
place the model is asked what the first token of each part of a constraint (`automaton.parts`)
would cost there. A word that the draft has, or for which it has a synonym, costs little at one
place and much at all others; a function word costs little at many. So the draft shows both what
a constraint is going to cost and when it is due (`search.future_cost`).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.search.arrays import PAD, FloatArray, IntArray, pack_rows
from lexbeam.search.automaton.parts import Part
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.request import Request
from lexbeam.search.scorer import Scorer, Scores, refuse_nonsense, refuse_wrong_shapes

LEAST_PARTS = 2
"""A sentence with fewer parts is searched without a draft: what there is to place has no rival."""


class Draft(NamedTuple):
    """What the first tokens of parts cost at the places of the drafts of a batch."""

    log_prob: FloatArray
    """Of the best first token; minus infinity behind the draft. # shape: (places, parts,
    sentences)"""
    lengths: IntArray
    """The tokens of each draft; -1: a sentence has none. # shape: (sentences,)"""
    per_token: FloatArray
    """The mean log-probability of the tokens of each draft, its end counted.
    # shape: (sentences,)"""


def is_worth_a_draft(parts: Sequence[Part]) -> bool:
    """Return whether a sentence has enough to place for a draft to pay."""
    return len(parts) >= LEAST_PARTS


def write_draft(
    scorer: Scorer,
    state: object,
    requests: Sequence[Request],
    parts: Sequence[Sequence[Part]],
    longest: IntArray,
    finishing: FinishingRules,
) -> Draft:
    """Write the drafts of a batch, from the state before its first token.

    ``longest`` is how many tokens each draft may have. # shape: (sentences,)
    """
    sentences = len(requests)
    drafted = np.array([is_worth_a_draft(each) for each in parts])
    ask = _first_tokens(parts)  # shape: (sentences, parts, spellings)
    prefix = pack_rows([request.prefix for request in requests], PAD)
    most = int(longest[drafted].max(initial=0))
    log_prob = np.full((most + 1, ask.shape[1], sentences), -np.inf)
    lengths = np.where(drafted, longest, -1)
    total = np.zeros(sentences)
    rows = live = np.arange(sentences)
    tokens = np.full(sentences, scorer.bos)
    for place in range(most + 1):
        scores = _score(scorer, state, tokens, rows, ask[live].reshape(len(live), -1))
        asked = scores.ask_scores[:, 1:].reshape(len(live), *ask.shape[1:])
        log_prob[place, :, live] = asked.max(axis=2, initial=-np.inf)
        tokens = scores.top_ids[:, 0]
        forced = prefix[live, place] != PAD if place < prefix.shape[1] else np.zeros(1, np.bool_)
        ended = scores.ask_scores[:, 0] >= scores.top_scores[:, 0]
        ended = (ended | finishing.by_token(tokens)) & ~forced
        total[live] += np.maximum(scores.ask_scores[:, 0], scores.top_scores[:, 0])
        lengths[live[ended & drafted[live]]] = place
        if forced.any():
            tokens = np.where(forced, prefix[live, place], tokens)
        rows = np.flatnonzero(drafted[live] & ~ended & (place < longest[live]))
        if not len(rows):
            break
        state, tokens, live = scores.state, tokens[rows], live[rows]
    return Draft(log_prob, lengths, total / np.maximum(lengths + 1, 1))


def _score(
    scorer: Scorer, state: object, tokens: IntArray, parents: IntArray, ask: IntArray
) -> Scores:
    """Let the model score the end, its best token and those that are asked for."""
    rows = len(tokens)
    ask = np.concatenate((np.full((rows, 1), scorer.eos), ask), axis=1)
    nothing = np.zeros((rows, 0), np.int64)
    scores = Scores(*scorer.step(state, tokens, parents, ask, nothing, 1))
    refuse_wrong_shapes(scores, rows, 1, ask.shape[1])
    refuse_nonsense(scores, nothing, scorer.eos, scorer.vocabulary_size)
    return scores


def _first_tokens(parts: Sequence[Sequence[Part]]) -> IntArray:
    """Return the tokens that parts may begin with, `PAD` where there are fewer.

    # shape: (sentences, parts, spellings)
    """
    firsts = [[part.first_tokens for part in row] for row in parts]
    most = max((len(row) for row in firsts), default=0)
    spellings = max((len(tokens) for row in firsts for tokens in row), default=0)
    packed = np.full((len(parts), most, spellings), PAD)
    for sentence, row in enumerate(firsts):
        for part, tokens in enumerate(row):
            packed[sentence, part, : len(tokens)] = tokens
    return packed
