"""The length limit of each output, within which its constraints have to be met."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from lexbeam.search.arrays import PAD, BoolArray, IntArray
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.remaining import RemainingTokens
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.states import States
from lexbeam.search.helpful_tokens import HelpfulTokens
from lexbeam.search.looks import Looks
from lexbeam.search.scorer import Scores

_SPARE = 8
"""Tokens that an output may have beyond what it needs, when its limit is brought near."""


class LengthLimit:
    """What the limits of a batch forbid at one step. For most steps that is nothing."""

    at_limit: BoolArray | None
    """A mask of the sentences that have to end now; None: none has to."""
    tight: bool
    """Whether a sentence might have too few tokens left for its constraints."""

    def __init__(
        self,
        limits: IntArray,
        remaining: RemainingTokens | None,
        ends: BoolArray | None = None,
        looks_away: bool = True,
    ) -> None:
        """``ends`` marks the tokens that end an output, if there are several."""
        self._ends = ends
        self.limits = limits  # shape: (sentences,)
        self._remaining = remaining
        self._helpful = HelpfulTokens(remaining)
        # What another sentence of the batch needs must change nothing. # shape: (sentences,)
        self._may_be_late = np.zeros(len(limits), np.bool_)
        self.looks = Looks(remaining, len(limits), looks_away)
        self._least_spare = np.full(len(limits), NEVER)
        self._find_first_steps()
        self.set_step(0)

    @property
    def is_last(self) -> BoolArray:
        """A mask of the sentences that may take no token after this step's."""
        last: BoolArray = self._step + 1 >= self.limits
        return last

    def keep(self, sentences: IntArray) -> None:
        """Forget the other sentences."""
        self.limits = self.limits[sentences]
        self.looks.keep(sentences)
        self._find_first_steps()

    def _find_first_steps(self) -> None:
        """Find the first steps at which a limit is reached, and at which one may be tight."""
        self._first_limit = int(self.limits.min(initial=NEVER))
        self._tight_from = self.looks.first_steps(self.limits)
        self._first_tight = int(self._tight_from.min(initial=NEVER))

    def set_step(self, step: int) -> None:
        """Turn to another step."""
        self._step = step
        self.tight = step >= self._first_tight
        self.at_limit = step >= self.limits if step >= self._first_limit else None

    def room(self, sentence: IntArray) -> IntArray:
        """Return how many tokens outputs of some sentences may still take. # shape: as given."""
        left: IntArray = (self.limits - self._step)[sentence]
        return left

    def bring_near(self, most: IntArray) -> None:
        """Leave outputs hardly more room than so many tokens; less than 0: as they are."""
        nearer = np.minimum(self.limits, self._step + most + _SPARE)
        self.limits = np.where(most >= 0, nearer, self.limits)
        self.looks.look_now(np.flatnonzero(most >= 0), self._step)
        self._turn_again()

    def end_now(self, sentences: BoolArray) -> None:
        """Let no output of some sentences go on."""
        self.limits = np.where(sentences, self._step, self.limits)
        self._turn_again()

    def _turn_again(self) -> None:
        """See what changed limits mean for this step."""
        self._find_first_steps()
        self.set_step(self._step)

    def count_late(self, here: States, sentence: IntArray) -> int:
        """Return how many of a row's best tokens might be too late for some hypothesis, at most.

        Those are mostly tokens of phrases, so that the model has to look beyond them.
        """
        if self.tight:
            self._look_at_hypotheses(here, sentence)
        if not self.tight or self._remaining is None:
            return 0
        alphabets = self._remaining.alphabets[self.looks.sentences]
        self._may_be_late = (self._step >= self._tight_from) & (alphabets > 0)
        for place in np.flatnonzero(self._may_be_late).tolist():
            rows = np.flatnonzero(sentence == place)
            left = np.full(len(rows), self.limits[place] - self._step - 1)
            given = int(self.looks.sentences[place]), here.take(rows), left
            self._may_be_late[place] = len(rows) > 0 and self._remaining.may_be_late(*given)
        return int(alphabets[self._may_be_late].max(initial=0))

    def way_out(
        self,
        automaton: Automaton,
        here: States,
        sentence: IntArray,
        word_ends: BoolArray | None,
    ) -> IntArray:
        """Return for each hypothesis a token after which least is missing; `PAD`: none will do.

        ``word_ends`` marks those whose word has to end. # shape of all: (hypotheses,)
        """
        none = np.full(len(sentence), PAD)
        if self._remaining is None:
            return none
        tokens = self._helpful.find(automaton, here, self.looks.sentences[sentence])
        row, column = (tokens != PAD).nonzero()
        if word_ends is not None and automaton.whole_words is not None:
            fits = ~word_ends[row] | ~automaton.whole_words.unfinished[tokens[row, column]]
            row, column = row[fits], column[fits]
        if not len(row):
            return none
        left = (self.limits - self._step - 1)[sentence[row]]
        after = automaton.advance(here.take(row), tokens[row, column])
        need = np.full(tokens.shape, NEVER)
        need[row, column] = self._remaining.needs(after, self.looks.sentences[sentence[row]], left)
        best = need.argmin(axis=1)
        rows = np.arange(len(tokens))
        fits = need[rows, best] <= (self.limits - self._step - 1)[sentence]
        return np.where(fits, tokens[rows, best], PAD)

    def add_helpful(
        self,
        automaton: Automaton,
        here: States,
        sentence: IntArray,
        tokens: IntArray,
        targets: IntArray,
    ) -> tuple[IntArray, IntArray]:
        """Add what some hypotheses need to end in time, though it goes on with no constraint."""
        more = self._helpful.find(automaton, here, self.looks.sentences[sentence])
        if not more.size:
            return tokens, targets
        more = np.where(self._may_be_late[sentence, None], more, PAD)
        again = (more[:, :, None] == tokens[:, None, :]).any(axis=2)
        more = np.where(again, PAD, more)
        new_targets = automaton.follow(here.node[:, None], more)
        return (
            np.concatenate((tokens, more), axis=1),
            np.concatenate((targets, new_targets), axis=1),
        )

    def close_late(
        self,
        automaton: Automaton,
        here: States,
        sentence: IntArray,
        forced: BoolArray | None,
        tokens: IntArray,
        scores: Scores,
        most: IntArray,
        helpful: int,
    ) -> tuple[IntArray, Scores]:
        """Close the tokens after which the constraints still unmet would not fit any more.

        When they just fit, only tokens that go on with a constraint remain. ``forced`` marks the
        sentences that are in their prefix, which was checked before. ``most`` is how many of each
        row's best are used: more were proposed than usual, and what is used must not depend on
        other sentences. The last ``helpful`` of the tokens go on with no constraint.
        """
        assert self._remaining is not None
        self._least_spare = np.full(len(self.limits), NEVER)
        self._look_first(here, sentence)

        def late(rows: IntArray, ids: IntArray) -> BoolArray:
            # Padding is left out: what is known of a state must not depend on other sentences.
            row, column = (ids != PAD).nonzero()
            after = automaton.advance(here.take(rows[row]), ids[row, column])
            is_late = np.ones(ids.shape, np.bool_)
            is_late[row, column] = self._is_late(after, sentence[rows[row]], forced)
            if self._ends is not None:  # What would end too early is closed already.
                is_late[row, column] &= ~self._ends[ids[row, column]]
            return is_late

        rows, scoreless = np.arange(len(tokens)), scores.top_scores == -np.inf
        top_ids = np.where(scoreless, PAD, scores.top_ids)  # These may be any.
        # A sentence alone is proposed as many more as its own phrases have tokens.
        proposed = most + self._remaining.alphabets[self.looks.sentences[sentence]]
        # Where needs are tabulated, to know them is no work.
        if self._remaining.is_tabulated(self.looks.sentences[sentence]):
            is_late = late(rows, np.concatenate((top_ids, tokens), axis=1))
            width = top_ids.shape[1]
            # What was closed before takes a place of the best all the same.
            in_time, closed = ~is_late[:, :width] | scoreless, is_late[:, width:]
            in_time &= in_time.cumsum(axis=1) <= most[:, None]
        else:
            knows_no_more = map(self._remaining.knows_no_more, self.looks.sentences.tolist())
            one_is_enough = np.fromiter(knows_no_more, np.bool_, len(self.looks.sentences))
            asked = top_ids, tokens, late, most, proposed, one_is_enough[sentence]
            in_time, closed = _first_in_time(*asked)
        in_time &= np.arange(in_time.shape[1]) < proposed[:, None]
        top_scores = np.where(in_time, scores.top_scores, -np.inf)
        if helpful:  # They are asked for in case that nothing else is at hand.
            asked = ~closed[:, :-helpful] & (tokens[:, :-helpful] != PAD)
            closed[:, -helpful:] |= ((top_scores > -np.inf).any(axis=1) | asked.any(axis=1))[
                :, None
            ]
        if self.looks.leave_out(self._least_spare, self._step + 1):
            self._find_first_steps()
        return np.where(closed, PAD, tokens), scores._replace(top_scores=top_scores)

    def _look_at_hypotheses(self, here: States, sentence: IntArray) -> None:
        """Guess what hypotheses need that were not looked at for some steps.

        Where all of a sentence seem to have much room, nothing more is looked at.
        """
        rows = np.flatnonzero(self._step == self._tight_from[sentence])
        left = (self.limits - self._step)[sentence[rows]]
        spare = self.looks.look_at_hypotheses(here.take(rows), sentence[rows], left)
        if self.looks.leave_out(spare, self._step, is_guess=True):
            self._find_first_steps()
            self.set_step(self._step)

    def _look_first(self, here: States, sentence: IntArray) -> None:
        """Find out what hypotheses need at the first step at which their limit may be tight.

        From then on each has a token after which there is room for what is missing.
        """
        assert self._remaining is not None
        rows = np.flatnonzero(
            self._may_be_late[sentence] & (self._step == self._tight_from[sentence])
        )
        if len(rows):
            self._remaining.needs(here.take(rows), self.looks.sentences[sentence[rows]])

    def _is_late(self, after: States, sentence: IntArray, forced: BoolArray | None) -> BoolArray:
        """Return a mask of the states that can't meet their constraints within the limit any more.

        ``sentence`` is counted among those that are left. # shape: as the states, (states,)
        """
        assert self._remaining is not None
        may_be = self._may_be_late if forced is None else self._may_be_late & ~forced
        late = may_be[sentence]
        rows = late.nonzero()[0]
        if len(rows):
            sentence = sentence[rows]
            left = (self.limits - self._step - 1)[sentence]
            need = self._remaining.needs(after.take(rows), self.looks.sentences[sentence], left)
            late[rows] = need > left
            spare = np.where(need > left, NEVER, left - need)
            np.minimum.at(self._least_spare, sentence, spare)
        return late


def _first_in_time(
    ids: IntArray,
    others: IntArray,
    late: Callable[[IntArray, IntArray], BoolArray],
    most: IntArray,
    proposed: IntArray,
    one_is_enough: BoolArray,
) -> tuple[BoolArray, BoolArray]:
    """Return a mask of the first ``most`` of each row's tokens that are not late.

    What stands behind them is not looked at: mostly the first ones are in time, and it may be long
    work to know that a token is. Nor are tokens behind those ``proposed`` for the row. For some
    rows one token that is in time is enough. What is `PAD` was closed before, and takes a place all
    the same. Also return which of the others are late.
    """
    in_time = np.zeros(ids.shape, np.bool_)
    rows, columns = np.arange(len(ids)), np.arange(ids.shape[1])
    width = min(int(most.max(initial=0)), ids.shape[1])
    is_first = columns[:width] < most[:, None]
    first = np.where(is_first, ids[:, :width], PAD)
    is_late = late(rows, np.concatenate((first, others), axis=1))
    in_time[:, :width] = ~is_late[:, :width] | (is_first & (first == PAD))
    has_one = ~is_late.all(axis=1)  # padding counts as late
    rows = rows[(in_time.sum(axis=1) < most) & ~(one_is_enough & has_one)]
    behind = (columns >= most[rows, None]) & (columns < proposed[rows, None])
    is_late = is_late[:, width:]
    if behind.any():
        further = ~late(rows, np.where(behind, ids[rows], PAD))
        in_time[rows] |= further | (behind & (ids[rows] == PAD))
        in_time[rows] &= in_time[rows].cumsum(axis=1) <= most[rows, None]
        # A plan may have become known in between: the same token is no more late among the others.
        found = np.where(further, ids[rows], PAD)[:, further.any(axis=0)]
        same = (others[rows, :, None] == found[:, None]) & (found != PAD)[:, None]
        is_late[rows] &= ~same.any(axis=2)
    return in_time, is_late
