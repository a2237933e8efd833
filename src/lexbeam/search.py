"""Beam search that places constraints (paper, Algorithms 1 and 2).

`decode` is Algorithm 1: as long as a sentence has unfinished hypotheses, the model prices
their continuations, Algorithm 2 chooses the new beam among the candidates
(`lexbeam.candidates`) by dividing it into banks (`lexbeam.allocation`), and what has finished,
fallen behind or can't win any more leaves. All sentences of a batch go through each step
together; there is no loop over sentences, hypotheses or candidates.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from lexbeam.allocation import POLICIES, Policy, Selection, k_best
from lexbeam.automaton import Automaton, States
from lexbeam.beam import Beam, BoolArray, Finished, History, Hypothesis
from lexbeam.candidates import Asked, Candidates, Proposals, collect
from lexbeam.errors import ConstraintError, ScorerError, SettingError
from lexbeam.feasibility import count_sets, refuse_impossible
from lexbeam.request import Request, read_requests
from lexbeam.room import NEVER, Room
from lexbeam.scorer import PAD, IntArray, Scorer, Scores
from lexbeam.settings import Settings, at_least
from lexbeam.tables import pack_rows
from lexbeam.words import Words

__all__ = ["Hypothesis", "decode"]

_IMPOSSIBLE = -1e9
"""What a demanded token, or the end, costs if the model rules it out: promises are kept."""


def decode(
    scorer: Scorer,
    sources: Sequence[Any],
    phrases: Sequence[Sequence[Sequence[int]]] | None = None,
    avoid: Sequence[Sequence[Sequence[int]]] | None = None,
    *,
    prefix: Sequence[Sequence[int] | None] | None = None,
    beam_size: int = 10,
    algorithm: str = "dba",
    prune: float | None = 20.0,
    stop: str = "all",
    max_length: int | Sequence[int] = 60,
    nbest: int = 1,
    length_penalty: float = 1.0,
    boundary: ArrayLike | None = None,
    closing: ArrayLike | None = None,
) -> list[list[Hypothesis]]:
    """Find the best output of each sentence that has all its phrases in it.

    Args:
        scorer: the model.
        sources: one a sentence, in whatever form the model reads.
        phrases: for each sentence, the token sequences that its output must have. A phrase
            given n times must occur n times; different phrases may share tokens.
        avoid: for each sentence, the token sequences that its output must not have.
        prefix: for each sentence, the tokens that its output begins with.
        beam_size: the slots of the beam; with ``gbs`` and ``cbs``, those of each bank.
        algorithm: how the beam is divided: ``dba``, ``gbs``, ``cbs``, or ``beam`` for not.
        prune: a hypothesis that is this much worse than the best finished one is dropped
            (paper, section 3.3); 0 or None: none is.
        stop: ``all``: when all on the beam have finished; ``first``: when one has;
            ``bound``: when nothing on the beam can still get among the ``nbest`` best.
        max_length: most tokens of an output, the end of sentence not counted; one number, or
            one a sentence.
        nbest: how many outputs to return, where so many have finished.
        length_penalty: exponent of the length by which finished outputs are normalised.
        boundary: marks the tokens before which a word has ended; then phrases count as whole
            words only. # shape: (vocabulary,)
        closing: marks the tokens that end a word, whatever follows. # shape: (vocabulary,)

    Returns:
        For each sentence its outputs, best first.

    Raises:
        SettingError: a setting is unknown or out of range.
        ConstraintError: a phrase is malformed, or can't be met whatever the model says.
        ScorerError: the scorer answered with NaN or with the wrong shapes.
    """
    settings = Settings(beam_size, algorithm, prune, stop, nbest, length_penalty)
    words = Words.of(boundary, closing, scorer.vocabulary_size, scorer.eos)
    requests = read_requests(
        len(sources), phrases, avoid, prefix, scorer.vocabulary_size, scorer.eos, words
    )
    limits = _read_limits(max_length, len(sources))
    if not requests:
        return []
    return Search(scorer, sources, requests, settings, limits, words).run()


def _read_limits(max_length: int | Sequence[int], sentences: int) -> IntArray:
    """Return the most tokens of each output. # shape: (sentences,)."""
    each = [max_length] * sentences if isinstance(max_length, int | np.integer) else max_length
    try:
        limits = [at_least(0, "max_length", limit) for limit in each]
    except TypeError:
        raise SettingError(f"max_length must be an integer, not {max_length!r}") from None
    if len(limits) != sentences:
        raise SettingError(f"max_length has {len(limits)} entries for {sentences} sentences")
    return np.array(limits, dtype=np.int64)


class Search:
    """A batch under way. Arrays by sentence hold only the sentences that are not done."""

    def __init__(
        self,
        scorer: Scorer,
        sources: Sequence[Any],
        requests: Sequence[Request],
        settings: Settings,
        limits: IntArray,
        words: Words | None,
    ) -> None:
        self.scorer = scorer
        self.settings = settings
        self.requests = requests
        self.policy: Policy = POLICIES[settings.algorithm](settings.beam_size)
        self.results: list[list[Hypothesis]] = [[] for _ in requests]
        self.sentences = np.arange(len(requests))
        self.limits = limits
        self.shortest = int(limits.min())
        self.prefix = pack_rows([request.prefix for request in requests], fill=PAD)
        self.prefix_length = np.array([len(request.prefix) for request in requests])
        self._compile(words)
        self.finished = Finished.none(len(requests), settings.nbest)
        self.history = History()
        self.step = 0
        self.model_state = scorer.start(sources, [request.tokens for request in requests])

    def _compile(self, words: Words | None) -> None:
        """Make the automaton, unless no sentence has anything to watch."""
        scorer, requests = self.scorer, self.requests
        self.automaton: Automaton | None = None
        self.room: Room | None = None
        self.sizes = np.zeros(len(requests), np.int64)
        sets, states = np.ones_like(self.sizes), None
        if any(request.phrases or request.avoid for request in requests):
            self.automaton = Automaton(
                [request.phrases for request in requests],
                [request.avoid for request in requests],
                scorer.vocabulary_size,
                words,
            )
            self.room = Room(self.automaton, scorer.vocabulary_size, scorer.eos)
            self.sizes = self.automaton.sizes
            sets = count_sets(self.automaton) if self.policy.by_set else sets
            states = self.automaton.start()
        refuse_impossible(requests, self.limits, self.automaton, self.room)
        self.beam_sizes = self.policy.beam_sizes(self.sizes, sets)
        self.beam = Beam.start(len(requests), scorer.bos, states)

    def run(self) -> list[list[Hypothesis]]:
        """Algorithm 1: step until every sentence is done."""
        while len(self.sentences):
            live = np.flatnonzero(self.beam.live)
            states = self.beam.states
            if self.automaton is None or states is None:
                selection, candidates = self.plain_step(live)
            else:
                selection, candidates = self.constrained_step(live, self.automaton, states)
            self.move(selection, candidates)
            self.prune()
            self.leave()
            self.step += 1
        return self.results

    # --- the model -------------------------------------------------------------------------

    def ask_model(
        self, live: IntArray, ask: IntArray, ban: IntArray, hold: BoolArray | None
    ) -> Scores:
        """Let the model price the continuations of the live hypotheses."""
        top = min(self.settings.beam_size, self.scorer.vocabulary_size - 1)
        if self.room is not None and self.tight():
            # Tokens that would be too late are mostly those of phrases: look beyond them.
            top += self.room.alphabet
        first = self.first_tokens()[live // self.beam.token.shape[1], None]
        held = {} if hold is None or not hold.any() else {"hold": hold}
        scores = self.scorer.step(
            self.model_state,
            self.beam.token.ravel()[live],
            self.beam.row.ravel()[live],
            np.concatenate((first, ask), axis=1),
            ban,
            top,
            **held,
        )
        _refuse_nonsense(scores, len(live), top, 1 + ask.shape[1])
        self.model_state = scores.state
        return scores._replace(ask_scores=np.maximum(scores.ask_scores, _IMPOSSIBLE))

    def first_tokens(self) -> IntArray:
        """Return what each sentence itself puts forward: its prefix, then always the end."""
        end = np.full(len(self.sentences), self.scorer.eos)
        if self.step >= self.prefix.shape[1]:
            return end
        forced = self.prefix[self.sentences, self.step]
        return np.where(forced == PAD, end, forced)

    def forced(self) -> BoolArray:
        """Say which sentences are still in their prefix. # shape: (sentences,)."""
        return self.step < self.prefix_length[self.sentences]

    # --- Algorithm 2: candidates, banks, the new beam --------------------------------------

    def plain_step(self, live: IntArray) -> tuple[Selection, Candidates]:
        """Take the k best of all: without constraints no other candidate can be chosen."""
        nothing = np.empty((len(live), 0), np.int64)
        scores = self.ask_model(live, nothing, nothing, None)
        proposals = self.lay_out(live, scores, None)
        places = k_best(proposals.score, self.settings.beam_size)
        score = np.take_along_axis(proposals.score, places, axis=1)
        slot, token = proposals.read(places)
        candidates = Candidates(
            score, slot.ravel(), token.ravel(), None, places.shape[1], 0, proposals
        )
        everything = np.broadcast_to(np.arange(places.shape[1]), places.shape)
        return Selection(everything, score > -np.inf), candidates

    def constrained_step(
        self, live: IntArray, automaton: Automaton, states: States
    ) -> tuple[Selection, Candidates]:
        """Gather the candidates, group them into banks, allocate the beam and fill it."""
        here = states.take(live)
        sentence = live // self.beam.token.shape[1]
        tokens, targets = automaton.ask(here)
        closed = self.closed()
        if closed is not None:
            tokens = np.where(closed[sentence, None], PAD, tokens)
        hold = automaton.hold(here)
        scores = self.ask_model(live, tokens, automaton.ban(here), hold)
        if self.tight():
            tokens = np.where(self.late(here, sentence, tokens), PAD, tokens)
            late = self.late(here, sentence, scores.top_ids)
            scores = scores._replace(top_scores=np.where(late, -np.inf, scores.top_scores))
        may_end = here.bank == self.sizes[sentence]
        if hold is not None:
            may_end &= ~hold
        proposals = self.lay_out(live, scores, may_end)
        asked_score = self.beam.log_prob.ravel()[live, None] + scores.ask_scores[:, 1:]
        asked = Asked(tokens, targets, np.where(tokens == PAD, -np.inf, asked_score))
        candidates = collect(proposals, self.beam_sizes, automaton, states, asked)
        banks = candidates.lay_out(self.banks(candidates, automaton))
        beam = int(self.beam_sizes.max())
        return self.policy.select(banks, candidates.score, self.sizes, beam), candidates

    def lay_out(self, live: IntArray, scores: Scores, may_end: BoolArray | None) -> Proposals:
        """Lay the model's answer out by slot, with what may not be chosen closed."""
        closed = self.closed()
        if closed is not None:
            sentence = live // self.beam.token.shape[1]
            top_scores = np.where(closed[sentence, None], -np.inf, scores.top_scores)
            scores = scores._replace(top_scores=top_scores)
            may_end = None if may_end is None else may_end | self.forced()[sentence]
        return Proposals.lay_out(self.beam, live, scores, self.first_tokens(), may_end)

    def closed(self) -> BoolArray | None:
        """Say which sentences take only what they put forward themselves; None: none.

        They are in their prefix, or at their limit, where only the end is left.
        """
        if self.prefix.shape[1] <= self.step < self.shortest:
            return None
        return self.forced() | (self.step >= self.limits)

    def banks(self, candidates: Candidates, automaton: Automaton) -> IntArray:
        """Return the bank of each candidate, flat: its constraint tokens met, or their set."""
        states = candidates.states
        assert states is not None
        if not self.policy.by_set:
            return states.bank
        sets = np.stack([automaton.places(states), *(w.view(np.int64) for w in states.seen)])
        return np.unique(sets, axis=1, return_inverse=True)[1].ravel()

    def tight(self) -> bool:
        """Say whether a sentence might run out of room by this step's token."""
        if self.room is None:
            return False
        return bool((self.room.worst[self.sentences] >= self.limits - self.step).any())

    def late(self, here: States, sentence: IntArray, tokens: IntArray) -> BoolArray:
        """Say which tokens leave no room for the constraints that are unmet after them.

        Closing them makes the rest place what is left: when the room is just enough, only
        tokens that go on with a constraint remain. # shape: (rows, tokens)
        """
        assert self.automaton is not None
        assert self.room is not None
        after = self.automaton.advance(here.column(), tokens)
        need = self.room.needs(after, self.sentences[sentence, None])
        late: BoolArray = need > (self.limits - self.step - 1)[sentence, None]
        return late & ~self.forced()[sentence, None]

    # --- the new beam ----------------------------------------------------------------------

    def move(self, selection: Selection, candidates: Candidates) -> None:
        """Put the selected candidates on the beam; normalise those that have just ended."""
        old, width = self.beam, self.beam.token.shape[1]
        places, taken = selection
        flat = candidates.flat(places)
        slot, token = candidates.slot[flat], candidates.token[flat]
        score = np.take_along_axis(candidates.score, places, axis=1)
        ended = token == self.scorer.eos
        log_prob = score
        if ended.any():
            before = old.finished.ravel()[slot]
            log_prob = np.where(before, old.log_prob.ravel()[slot], score)
            newly = taken & ended & ~before
            length = float(self.step + 1)
            score = np.where(newly, score / length**self.settings.length_penalty, score)
        states = candidates.states and candidates.states.take(flat.ravel())
        parent = slot - np.arange(0, len(slot) * width, width)[:, None]
        row = candidates.proposals.row[slot]
        self.beam = Beam(token, parent, row, log_prob, score, taken & ended, taken & ~ended, states)
        self.history.record(self.sentences, self.beam)
        if ended.any() and newly.any():
            self.finished = self.finished.add(self.beam, newly, self.step)

    def prune(self) -> None:
        """Drop what is too far behind the best finished hypothesis (paper, section 3.3)."""
        if self.settings.prune is None:
            return
        floor = self.finished.score[:, :1] - self.settings.prune
        if floor.max() > -np.inf:
            near = self.beam.score >= floor
            beam = self.beam
            self.beam = beam._replace(finished=beam.finished & near, live=beam.live & near)

    def leave(self) -> None:
        """Let sentences that are done leave the batch, with their results."""
        done = ~self.beam.live.any(axis=1)
        if self.settings.stop == "first":
            done |= self.finished.score[:, 0] > -np.inf
        elif self.settings.stop == "bound":
            done |= ~self.can_win().any(axis=1)
        if not done.any():
            return
        for place in np.flatnonzero(done).tolist():
            self.results[self.sentences[place]] = self.hypotheses(place)
        stay = np.flatnonzero(~done)
        self.sentences, self.limits = self.sentences[stay], self.limits[stay]
        self.sizes, self.beam_sizes = self.sizes[stay], self.beam_sizes[stay]
        self.beam, self.finished = self.beam.keep(stay), self.finished.keep(stay)
        self.shortest = self.limits.min(initial=NEVER)

    def can_win(self) -> BoolArray:
        """Say which live hypotheses could still end among the best.

        A log-probability only falls from here; what it is divided by lies between the length
        now and the limit.
        """
        power = self.settings.length_penalty
        shortest, longest = float(self.step + 2), self.limits[:, None] + 1.0
        log_prob = self.beam.log_prob
        bound = np.maximum(log_prob / shortest**power, log_prob / longest**power)
        winning: BoolArray = self.beam.live & (bound > self.finished.score[:, -1:])
        return winning

    def hypotheses(self, place: int) -> list[Hypothesis]:
        """Return the results of a sentence, read back through the history."""
        sentence = int(self.sentences[place])
        found = []
        for score, log_prob, step, slot in zip(*(a[place] for a in self.finished), strict=True):
            if score > -np.inf:
                tokens = self.history.tokens_before(sentence, int(step), int(slot))
                # Only what has met all its phrases is allowed to end.
                met = [True] * len(self.requests[sentence].phrases)
                found.append(Hypothesis(tokens, float(score), float(log_prob), met, True))
        if not found:
            phrases = [list(phrase) for phrase in self.requests[sentence].phrases]
            raise ConstraintError(
                f"sentence {sentence}: no output with the phrases {phrases} was found that keeps "
                f"to max_length and to what is avoided; allow more tokens or avoid less"
            )
        return found


def _refuse_nonsense(scores: Scores, rows: int, top: int, asked: int) -> None:
    """Raise if the model's answer has NaN in it, or not the shape that was asked for."""
    for name, array, shape in (
        ("top_scores", scores.top_scores, (rows, top)),
        ("top_ids", scores.top_ids, (rows, top)),
        ("ask_scores", scores.ask_scores, (rows, asked)),
    ):
        if array.shape != shape:
            raise ScorerError(f"the scorer's {name} has shape {array.shape}, asked was {shape}")
    # A sum is NaN if any term is; with plus infinity in it, it is not finite from above.
    for name, array in (("top_scores", scores.top_scores), ("ask_scores", scores.ask_scores)):
        total = float(array.sum())
        if math.isnan(total) or total == np.inf:
            raise ScorerError(f"the scorer's {name} has NaN or plus infinity in it")
