"""From the steps of a search to plain data: what a step looked at and what it chose.

The search itself notes nothing. Where a candidate came from and how slots were divided follows
from the candidates and their banks, and is worked out here, for the few searches that somebody
wants to look at.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from lexbeam.search.adjustment import Move
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import BoolArray, FloatArray, IntArray, ScoreArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.patterns import TokenConstraint
from lexbeam.search.automaton.states import States
from lexbeam.search.candidates import ObservedStep
from lexbeam.search.feasibility import count_sets
from lexbeam.search.scorer import Scorer
from lexbeam.search.settings import Settings
from lexbeam.text.word_boundaries import Span
from lexbeam.translation.jobs import Job
from lexbeam.translation.tracing.progress import Progress

MOST_CANDIDATES = 400
"""Candidates kept of a step; what was chosen is always kept."""

LEAST_SHARE = 0.05
"""The least share of its attention to a source token that is kept of a hypothesis."""

ORIGINS = ("best", "constraint", "row", "prefix", "stays")
"""Where a candidate comes from (paper, Algorithm 2): it is among the k best of all, it starts or
continues a constraint, or ends its word, it is the best of its row; it is forced by a prefix; it
has ended and is its own continuation."""


@dataclass(frozen=True)
class Candidate:
    """A continuation that a step looked at."""

    parent: int
    """The slot it continues, on the beam before."""
    token: int
    score: float
    worth: float
    """What candidates of different banks were compared by; the score itself if not by more."""
    bank: int
    """Counted from the lowest of the step's banks."""
    origins: tuple[str, ...]
    progress: tuple[int, ...]
    """Tokens met of each constraint by itself."""
    slot: int | None
    """The slot it was given; None: it was not chosen."""


@dataclass(frozen=True)
class Bank:
    """One bank of a step."""

    met: int
    """The constraint tokens that its candidates have met."""
    candidates: int
    given: int | None
    """Slots before adjustment; None: the algorithm gives banks none of their own."""
    filled: int


@dataclass(frozen=True)
class Standing:
    """What stands in a slot of the beam after a step."""

    candidate: int
    """Its index among the step's candidates."""
    score: float
    """Normalised by length if it has ended."""
    fate: str
    """``live``, ``finished``, or why it was dropped: ``pruned``, ``lagging``."""
    attention: tuple[tuple[int, float], ...] = ()
    """The source tokens that the model attended to for its last token, and how much; nothing if
    the model can't say."""


@dataclass(frozen=True)
class Step:
    """One step of the search of one sentence."""

    banks: tuple[Bank, ...]
    """From the lowest on; where banks are sets, only those that have candidates."""
    moves: tuple[Move, ...]
    """Slots that adjustment moved between banks."""
    candidates: tuple[Candidate, ...]
    """By bank from the top, in a bank the best first."""
    left_off: int
    """Candidates that were not chosen and are not listed."""
    beam: tuple[Standing | None, ...]
    best_finished: float | None
    """The best score of all that has ended so far."""


@dataclass(frozen=True)
class SearchTrace:
    """The search of one sentence."""

    job: Job
    settings: Settings
    times: dict[TokenConstraint, int]
    """The constraints, and how often each was given."""
    sizes: tuple[int, ...]
    """The tokens of each."""
    by_set: bool
    """Whether a bank is a set of constraint tokens, not a number of them."""
    steps: tuple[Step, ...]
    path: tuple[int, ...]
    """The slots by which the output was reached, step by step, as long as it is on the beam."""
    ended: int
    """The step at which the output ended."""
    source_tokens: Sequence[Span] = ()
    """Where the source tokens stand in the sentence, if that is known."""


class BatchWatcher:
    """Is shown every step of a batch, and keeps it by sentence."""

    def __init__(self, jobs: Sequence[Job], settings: Settings, scorer: Scorer) -> None:
        self._jobs = jobs
        self._settings = settings
        self._scorer = scorer
        self._sentences: dict[int, _SentenceWatcher] = {}

    def __call__(self, observed: ObservedStep) -> None:
        """Note one step of all sentences that are still there."""
        if observed.step == 0:  # A sentence may be searched again; then it begins anew.
            given = self._settings, self._scorer, observed.automaton
            for i in observed.sentences.tolist() if self._sentences else range(len(self._jobs)):
                self._sentences[i] = _SentenceWatcher(i, self._jobs[i], *given)
        for row, sentence in enumerate(observed.sentences.tolist()):
            self._sentences[sentence].note(observed, row)

    def searches(self, outputs: Sequence[Sequence[int]]) -> list[SearchTrace]:
        """Return what was seen, given the output that each search has found."""
        return [
            watcher.search(list(output))
            for watcher, output in zip(self._sentences.values(), outputs, strict=True)
        ]


@dataclass(frozen=True)
class _Seen:
    """The candidates of one sentence at one step, as arrays. # shape of all: (candidates,)."""

    parent: IntArray
    token: IntArray
    score: FloatArray
    worth: FloatArray
    states: States | None
    slot: IntArray  # -1: not chosen

    @classmethod
    def of(cls, observed: ObservedStep, row: int) -> _Seen:
        """Cut the part of one sentence out of a step."""
        chosen, among = observed.chosen, observed.chosen.among
        rows, width = among.score.shape
        real = np.flatnonzero(among.score[row] > -np.inf)
        slot = np.full(width, -1)
        indices = np.arange(width) if chosen.indices is None else chosen.indices[row]
        slot[indices[chosen.taken[row]]] = np.flatnonzero(chosen.taken[row])
        worth = among.score if chosen.worth is None else chosen.worth
        return cls(
            among.slot[row, real] - row * (len(among.row) // rows),
            among.token[row, real],
            among.score[row, real],
            worth[row, real],
            among.states and among.states.take(row * width + real),
            slot[real],
        )


class _SentenceWatcher:
    """Keeps the search of one sentence."""

    def __init__(
        self,
        sentence: int,
        job: Job,
        settings: Settings,
        scorer: Scorer,
        automaton: Automaton | None,
    ) -> None:
        self._job = job
        self._settings = settings
        self._eos = scorer.eos
        self._automaton = automaton
        self._states: States | None = None
        size, sets = 0, 1
        words = None
        if automaton is not None:
            words = automaton.whole_words
            self._states = automaton.start().take(np.array([sentence]))
            size = int(automaton.sizes[sentence])
            if POLICIES[settings.algorithm].needs_sets:
                sets = int(count_sets(automaton)[sentence])
        self._size = size
        self._progress = Progress(job.phrases, scorer.vocabulary_size, words, scorer.eos)
        self._policy = POLICIES[settings.algorithm](
            settings.beam_size, np.array([size]), np.array([sets])
        )
        self._finished = np.zeros(1, np.bool_)
        self._best_finished: float | None = None
        self._steps: list[Step] = []

    def note(self, observed: ObservedStep, row: int) -> None:
        """Note a step."""
        seen = _Seen.of(observed, row)
        after = self._progress.after(seen.parent, seen.token)
        bank, met = self._banks(seen)
        counts = np.bincount(bank, minlength=len(met)).tolist()
        filled = np.bincount(bank[seen.slot >= 0], minlength=len(met)).tolist()
        given, moves = self._policy.explain(counts)
        order = np.lexsort((-seen.worth, -bank))
        order = order[_worth_keeping(seen.worth[order], seen.slot[order] >= 0)]
        origins = self._origins(seen)
        candidates = tuple(
            Candidate(
                int(seen.parent[i]),
                int(seen.token[i]),
                float(seen.score[i]),
                float(seen.worth[i]),
                int(bank[i]),
                tuple(name for name, is_one in zip(ORIGINS, origins[:, i], strict=True) if is_one),
                tuple(after[:, i].tolist()),
                int(seen.slot[i]) if seen.slot[i] >= 0 else None,
            )
            for i in order.tolist()
        )
        beam = self._stand(observed, row, candidates)
        banks = [
            Bank(met[i], counts[i], given[i] if given else None, filled[i]) for i in range(len(met))
        ]
        left_off = len(seen.score) - len(order)
        self._steps.append(
            Step(tuple(banks), tuple(moves), candidates, left_off, beam, self._best_finished)
        )
        self._move(observed, row)

    def _banks(self, seen: _Seen) -> tuple[IntArray, list[int]]:
        """Return the bank of each candidate, and the constraint tokens met of each bank."""
        if seen.states is None or self._automaton is None:
            return np.zeros(len(seen.score), np.int64), [0]
        if not self._policy.needs_sets:
            return seen.states.bank, list(range(self._size + 1))
        sets = np.stack((seen.states.bank, *self._automaton.met_sets(seen.states)))
        different, bank = np.unique(sets, axis=1, return_inverse=True)  # by tokens met first
        return bank.ravel(), different[0].tolist()

    def _origins(self, seen: _Seen) -> BoolArray:
        """Return a mask of where candidates come from. # shape: (origins, candidates).

        All of the k best of all rows are candidates, and so is the best of every row: so they
        are the k best of the candidates, and of each row the best candidate.
        """
        count = len(seen.score)
        stays = self._finished[seen.parent]
        forced = ~stays & (len(self._steps) < len(self._job.prefix))
        serves = np.zeros(count, np.bool_)
        if seen.states is not None and self._automaton is not None and self._states is not None:
            serves = self._automaton.serves(seen.states.node, self._states, seen.parent)
            serves &= ~stays & ~forced & (seen.token != self._eos)
        order = np.argsort(-seen.score, kind="stable")
        best = np.zeros(count, np.bool_)
        best[order[: self._policy.beam]] = True
        if self._policy.beam > self._settings.beam_size:
            # A row then proposes fewer than k: others may lie before what was asked for.
            best &= ~serves
        of_row = np.zeros(count, np.bool_)
        of_row[order[np.unique(seen.parent[order], return_index=True)[1]]] = True
        usual = ~stays & ~forced
        # What is left was taken up because it ends the word of a phrase that has been seen.
        serves |= usual & ~best & ~of_row
        return np.stack((best & usual, serves, of_row & usual, forced, stays))

    def _stand(
        self, observed: ObservedStep, row: int, candidates: Sequence[Candidate]
    ) -> tuple[Standing | None, ...]:
        """Return what stands on the beam, and what was dropped from it at once."""
        by_slot = {c.slot: i for i, c in enumerate(candidates) if c.slot is not None}
        beam = observed.beam
        score, finished, live = (a[row].tolist() for a in (beam.score, beam.finished, beam.live))
        ended = [
            score[slot]
            for slot, i in by_slot.items()
            if candidates[i].token == self._eos or finished[slot]
        ]
        self._best_finished = max(
            (s for s in (*ended, self._best_finished) if s is not None), default=None
        )
        standing: list[Standing | None] = [None] * (1 + max(by_slot, default=-1))
        for slot, i in by_slot.items():
            fate = "finished" if finished[slot] else "live" if live[slot] else "lagging"
            if fate == "lagging" and self._is_pruned(score[slot]):
                fate = "pruned"
            attention = _attended(observed.chosen.attention, row, slot)
            standing[slot] = Standing(i, score[slot], fate, attention)
        return tuple(standing)

    def _is_pruned(self, score: float) -> bool:
        best, prune = self._best_finished, self._settings.prune
        return best is not None and prune is not None and score < best - prune

    def _move(self, observed: ObservedStep, row: int) -> None:
        """Make the new beam the one that is continued."""
        beam = observed.beam
        width = beam.token.shape[1]
        self._finished = beam.finished[row]
        if beam.states is not None:
            self._states = beam.states.take(row * width + np.arange(width))
        empty = ~observed.chosen.taken[row][:width]
        # An empty slot has neither parent nor token; nobody asks for its progress.
        parents, tokens = (np.where(empty, 0, a[row]) for a in (beam.parent, beam.token))
        self._progress.move(parents, tokens)

    def search(self, output: list[int]) -> SearchTrace:
        """Return what was seen."""
        path = self._path(output)
        return SearchTrace(
            self._job,
            self._settings,
            self._progress.times,
            tuple(self._progress.sizes),
            self._policy.needs_sets,
            tuple(self._steps),
            path,
            min(len(output), len(self._steps) - 1),
        )

    def _path(self, output: list[int]) -> tuple[int, ...]:
        """Find the slots of an output, and those it then kept as a finished hypothesis."""
        steps = self._steps
        for tokens in ([*output, self._eos], output):
            last = len(tokens) - 1
            if not 0 <= last < len(steps):
                continue
            for slot in (c.slot for c in steps[last].candidates if c.slot is not None):
                way = self._way_to(last, slot, tokens)
                if way:
                    return (*way, *self._staying(last, slot))
        return ()

    def _way_to(self, step: int, slot: int, tokens: list[int]) -> list[int]:
        """Return the slots that led to a slot, nothing if it is not by these tokens."""
        way = [slot]
        for number in range(step, -1, -1):
            standing = self._steps[number].beam[way[-1]]
            assert standing is not None
            candidate = self._steps[number].candidates[standing.candidate]
            if candidate.token != tokens[number]:
                return []
            way.append(candidate.parent)
        return way[-2::-1]

    def _staying(self, step: int, slot: int) -> list[int]:
        """Return the slots that a finished hypothesis had after the step at which it ended."""
        stays: list[int] = []
        for later in self._steps[step + 1 :]:
            ours = (c for c in later.candidates if c.parent == slot and "stays" in c.origins)
            kept = next((c.slot for c in ours if c.slot is not None), None)
            if kept is None:
                break
            stays.append(kept)
            slot = kept
        return stays


def _attended(attention: ScoreArray | None, row: int, slot: int) -> tuple[tuple[int, float], ...]:
    """Return the source tokens that got a share of the attention worth showing."""
    if attention is None:
        return ()
    shares = attention[row, slot]
    return tuple((i, float(shares[i])) for i in np.flatnonzero(shares >= LEAST_SHARE).tolist())


def _worth_keeping(worth: FloatArray, chosen: BoolArray) -> BoolArray:
    """Return a mask of the candidates to list: the chosen ones, and of the rest the best."""
    if len(worth) <= MOST_CANDIDATES:
        return np.ones(len(worth), np.bool_)
    keys = np.where(chosen, np.inf, worth)
    rank = np.argsort(np.argsort(-keys, kind="stable"), kind="stable")
    keep: BoolArray = chosen | (rank < MOST_CANDIDATES)
    return keep
