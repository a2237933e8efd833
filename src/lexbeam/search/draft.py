"""A draft of each output, to see what its constraints would cost at each of its places.

The draft is what the model says when nothing is demanded, the best token at every step. At every
place the model is asked what the first token of each part of a constraint (`automaton.parts`)
would cost there. A word that the draft has, or for which it has a synonym, costs little at one
place and much at all others; a function word costs little at many. So the draft shows both what
a constraint is going to cost and when it is due (`search.future_cost`). Where constraints are tied
to their source (`search.ties`), it shows what the model would say in their place.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from lexbeam.errors import ScorerError, represented
from lexbeam.search.arrays import PAD, BoolArray, FloatArray, IntArray, ScoreArray, pack_rows
from lexbeam.search.automaton.parts import Part
from lexbeam.search.beam import Hypothesis
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.request import Request
from lexbeam.search.scorer import (
    IMPOSSIBLE,
    Scorer,
    Scores,
    WholeDraft,
    draft_at_once,
    read_scores,
    refuse_nonsense,
    refuse_wrong_shapes,
)

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
    tokens: IntArray
    """What the drafts say, `PAD` behind their ends. # shape: (places, sentences)"""
    attention: ScoreArray | None
    """Where the model attended, if it was asked. # shape: (places, sentences, source tokens)"""

    def hypothesis(self, sentence: int, length_penalty: float) -> Hypothesis:
        """Return the draft of a sentence as an output."""
        length = int(self.lengths[sentence])
        log_prob = float(self.per_token[sentence]) * (length + 1)
        score = log_prob / (length + 1) ** length_penalty
        attention = None if self.attention is None else self.attention[: length + 1, sentence]
        tokens = self.tokens[:length, sentence].tolist()
        finished = int(self.tokens[length, sentence]) == PAD
        return Hypothesis(tokens, score, log_prob, [], finished, attention=attention)


def is_worth_a_draft(parts: Sequence[Part]) -> bool:
    """Return whether a sentence has enough to place for a draft to pay."""
    return len(parts) >= LEAST_PARTS


def write_draft(
    scorer: Scorer,
    state: object,
    requests: Sequence[Request],
    parts: Sequence[Sequence[Part]],
    drafted: BoolArray,
    longest: IntArray,
    finishing: FinishingRules,
    attends: bool = False,
) -> Draft:
    """Write drafts for some sentences of a batch, from the state before its first token.

    ``longest`` is how many tokens each draft may have. # shape of it and ``drafted``: (sentences,)
    """
    sentences = len(requests)
    ask = _first_tokens(parts)  # shape: (sentences, parts, spellings)
    prefix = pack_rows([request.prefix for request in requests], PAD)
    if sentences == 1 and not prefix.size and finishing.tokens is None and drafted.all():
        whole = draft_at_once(scorer, state, ask.ravel(), int(longest[0]), attends)
        if whole is not None:
            return _read_whole(scorer, whole, ask[0], int(longest[0]))
    most = int(longest[drafted].max(initial=0))
    log_prob = np.full((most + 1, ask.shape[1], sentences), -np.inf)
    lengths = np.where(drafted, longest, -1)
    total = np.zeros(sentences)
    said = np.full((most + 1, sentences), PAD)
    looks: list[tuple[IntArray, ScoreArray]] = []
    rows = live = np.arange(sentences)
    tokens = np.full(sentences, scorer.bos)
    for place in range(most + 1):
        # What a prefix forces is asked for as well: it counts as it is.
        given = prefix[live, place : place + 1]  # shape: (rows, 1), or (rows, 0) behind all
        asks = np.concatenate((ask[live].reshape(len(live), -1), given), axis=1)
        scores = _score(scorer, state, tokens, rows, asks, attends)
        if scores.attention is not None:
            looks.append((live, scores.attention))
        asked = scores.ask_scores[:, 1 : 1 + ask[0].size].reshape(len(live), *ask.shape[1:])
        log_prob[place, :, live] = asked.max(axis=2, initial=-np.inf)
        tokens = scores.top_ids[:, 0]
        forced = (given != PAD).any(axis=1)
        ended = scores.ask_scores[:, 0] >= scores.top_scores[:, 0]
        ended = (ended | finishing.by_token(tokens)) & ~forced
        best = np.maximum(scores.ask_scores[:, 0], scores.top_scores[:, 0])
        # Where the model rules everything out, the draft goes on with what is as good as any.
        total[live] += np.maximum(np.where(forced, scores.ask_scores[:, -1], best), IMPOSSIBLE)
        lengths[live[ended & drafted[live]]] = place
        if forced.any():
            tokens = np.where(forced, prefix[live, place], tokens)
        said[place, live] = np.where(ended, PAD, tokens)
        rows = np.flatnonzero(drafted[live] & ~ended & (place < longest[live]))
        if not len(rows):
            break
        state, tokens, live = scores.state, tokens[rows], live[rows]
    per_token = total / np.maximum(lengths + 1, 1)
    return Draft(log_prob, lengths, per_token, said, _lay_out(looks, sentences))


def _read_whole(scorer: Scorer, whole: WholeDraft, ask: IntArray, longest: int) -> Draft:
    """Return what the scorer has drafted by itself, for a single sentence.

    ``ask`` are the tokens that parts may begin with. # shape: (parts, spellings)
    """
    scores = _scores_of(whole)
    places, asked = len(np.atleast_1d(scores.top_ids)), 1 + ask.size
    if not 1 <= places <= longest + 1:
        raise ScorerError(
            f"the scorer's draft has {places} steps, at most {longest + 1} were asked"
        )
    refuse_wrong_shapes(scores, places, 1, asked)
    refuse_nonsense(scores, np.zeros((places, 0), np.int64), scorer.eos, scorer.vocabulary_size)
    end, best = scores.ask_scores[:, 0], scores.top_scores[:, 0]
    ended = int(end[-1] >= best[-1])
    log_prob = np.full((longest + 1, len(ask), 1), -np.inf)
    first_tokens = scores.ask_scores[:, 1:].reshape(places, *ask.shape)
    log_prob[:places, :, 0] = first_tokens.max(axis=2, initial=-np.inf)
    said = np.full((longest + 1, 1), PAD)
    said[: places - ended] = scores.top_ids[: places - ended]
    # One after the other, as the steps are added up where they are taken one by one.
    taken = np.maximum(np.maximum(end, best), IMPOSSIBLE)
    total = sum(taken.astype(np.float64).tolist())
    attention = None if scores.attention is None else scores.attention[:, None]
    return Draft(log_prob, np.array([places - 1]), np.array([total / places]), said, attention)


def _scores_of(whole: WholeDraft) -> Scores:
    """Return what the scorer has drafted by itself as the answer to one step of many rows."""
    try:
        top_scores, top_ids, ask_scores, attention = WholeDraft(*whole)
    except TypeError:
        fields = ", ".join(WholeDraft._fields)
        raise ScorerError(
            f"the scorer's draft must have {fields}, not {represented(whole)}"
        ) from None
    return read_scores((top_scores, top_ids, ask_scores, None, attention))


def _lay_out(looks: Sequence[tuple[IntArray, ScoreArray]], sentences: int) -> ScoreArray | None:
    """Return the attention of all places, given that of the live sentences at each."""
    if not looks:
        return None
    width = max(attention.shape[1] for _, attention in looks)
    laid_out = np.zeros((len(looks), sentences, width), looks[0][1].dtype)
    for place, (live, attention) in enumerate(looks):
        laid_out[place, live, : attention.shape[1]] = attention
    return laid_out


def _score(
    scorer: Scorer,
    state: object,
    tokens: IntArray,
    parents: IntArray,
    ask: IntArray,
    attends: bool,
) -> Scores:
    """Let the model score the end, its best token and those that are asked for."""
    rows = len(tokens)
    ask = np.concatenate((np.full((rows, 1), scorer.eos), ask), axis=1)
    nothing = np.zeros((rows, 0), np.int64)
    more = {"attention": True} if attends else {}
    scores = read_scores(scorer.step(state, tokens, parents, ask, nothing, 1, **more))
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
