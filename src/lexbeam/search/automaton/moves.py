"""The tokens with which the outputs of one sentence may go on, and what each leaves to do."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from lexbeam.search.arrays import PAD, Bits, BitSets, BoolArray, IntArray, pack_bits
from lexbeam.search.automaton.automaton import Automaton
from lexbeam.search.automaton.shortest_paths import NEVER
from lexbeam.search.automaton.side_by_side import SideBySide
from lexbeam.search.automaton.states import States
from lexbeam.search.automaton.to_write import ToWrite
from lexbeam.search.automaton.trie import APART, BEGIN, ROOT

MOST_ASKED = 24
"""Of the tokens that a state asks for, so many are tried at first to go on with its plan."""

Key = tuple[int, ...]


class Moves:
    """The tokens of one sentence.

    ``tokens`` are those that an output may need beside the ones that go on with a constraint.
    """

    def __init__(
        self, automaton: Automaton, sentence: int, tokens: IntArray, enough: SideBySide
    ) -> None:
        self._automaton = automaton
        self._sentence = sentence
        self._tokens = tokens
        self._enough = enough
        self.to_write = ToWrite.of(automaton, sentence)
        """What is left to write where something is counted; None: nothing has to share."""
        self.filler = _find_filler(automaton, sentence, tokens)
        """One of the tokens that is in no phrase and begins a word, if there is one."""
        strings = automaton.tries[sentence].strings()
        self._lengths = np.array([len(string) for string in strings])
        self._hard = pack_bits([automaton.layouts[sentence].hard], automaton.bit_arrays)
        registers = automaton.layouts[sentence].registers
        self._registers = [each for each in registers if each.length > 1 or not each.stays]
        self._at_rest: dict[Key, bool] = {}
        self._only_first = _OnlyFirst.of(automaton, sentence)

    def keys(self, states: States) -> list[Key]:
        """Return what tells states apart; what was seen follows from node and what was met."""
        return list(zip(*(a.tolist() for a in (states.node, *states.met)), strict=True))

    @cached_property
    def hopeful(self) -> ToWrite | None:
        """The same as `to_write`, in the hope that what has to stand near something will."""
        return self.to_write and ToWrite.of(self._automaton, self._sentence, hopeful=True)

    def missing(self, after: States, forbidden: BoolArray, hopes: bool = False) -> IntArray:
        """Return what is missing after tokens, more where there will be too much of something.

        # shape: as ``forbidden``, (states, tokens).
        """
        to_write = self.hopeful if hopes else self.to_write
        missing = self._enough.needs(after) if to_write is None else to_write.missing(after)
        if self._only_first is not None:
            missing = np.where(self._only_first.is_lost(after), NEVER, missing)
        return np.where(forbidden, NEVER, missing.reshape(forbidden.shape))

    def ask_best(self, states: States) -> IntArray:
        """Return those of the asked tokens that do most: go on with something, or with much."""
        automaton = self._automaton
        asked, targets = automaton.ask(states)
        if asked.shape[1] <= MOST_ASKED:
            return asked
        # What stands where no word goes on before it is not begun by that, but goes on from there.
        nodes = np.where(asked == PAD, 0, targets - automaton.roots[self._sentence])
        goes_on = self._lengths[nodes] > 1
        served = automaton.count_served(targets, states)
        worth = np.where(asked == PAD, -1, served + goes_on * 1024)
        best = (-worth).argsort(axis=1, kind="stable")[:, :MOST_ASKED]
        best.sort(axis=1)  # as they would stand in a row of few
        return np.take_along_axis(asked, best, axis=1)

    def ask_all(self, states: States) -> IntArray:
        """Return all tokens with which an output may go on. # shape: (states, tokens)."""
        automaton = self._automaton
        asked, _ = automaton.ask(states)
        more = np.broadcast_to(self._tokens, (len(states.node), len(self._tokens)))
        strict = automaton.strict(states)
        if strict is not None:
            more = np.where(strict[:, None], PAD, more)
        return np.concatenate((asked, more), axis=1)

    def look_ahead(self, states: States, tokens: IntArray) -> tuple[States, BoolArray]:
        """Return where tokens lead, in one dimension, and which are forbidden.

        # shape of the second: (states, tokens).
        """
        after = self._automaton.advance(states.column(), tokens)
        forbidden = self._automaton.forbids(states, tokens, after.node) | (tokens == PAD)
        return after.flat(), forbidden

    def take_filler(self, states: States) -> tuple[States, BoolArray]:
        """Take a filler where it may follow; also return which states these are."""
        assert self.filler is not None
        after, forbidden = self.look_ahead(states, np.full((len(states.node), 1), self.filler))
        is_open = ~forbidden[:, 0]
        strict = self._automaton.strict(states)
        if strict is not None:
            is_open &= ~strict
        return after.take(np.flatnonzero(is_open)), is_open

    def take_all_fillers(self, states: States) -> tuple[States, IntArray, IntArray]:
        """Take fillers until they make no difference, wherever they may follow.

        Return the states at rest, the indices of the states that come to them, and the number of
        fillers. After the first one only registers change, so that it is known where more lead.
        """
        after, is_open = self.take_filler(states)
        rows = np.flatnonzero(is_open)
        met, steps = self._run_out(after.met)
        same = after.node == states.node[rows]
        for before, behind in zip(states.met, after.met, strict=True):
            same &= before[rows] == behind
        rest = self._automaton.at(after.node, met)
        stays = self._stay_at_rest(rest)
        fillers = np.where(same, 0, steps + 1)
        return rest.take(np.flatnonzero(stays)), rows[stays], fillers[stays]

    def _run_out(self, met: Bits) -> tuple[Bits, IntArray]:
        """Return what is met after more words than any part waits for, and after how many.

        # shape of the second: as the bits, (states,)
        """
        arrays, steps = list(met), np.zeros(met[0].shape if met else (0,), np.int64)
        one = np.uint64(1)
        for register in self._registers:
            number, first = divmod(register.first, 64)
            bits = np.uint64(register.bits >> (64 * number))
            ages = arrays[number] & bits
            if not ages.any():
                continue
            youngest = np.bitwise_count((ages & (~ages + one)) - one).astype(np.int64) - first
            lasts = min(register.limit + 1, register.length) if register.forms else register.length
            more = (register.length - 1 if register.stays else lasts) - youngest
            steps = np.maximum(steps, np.where(ages != 0, more, 0))
            top = np.uint64(register.top >> (64 * number)) if register.stays else np.uint64(0)
            arrays[number] = np.where(ages != 0, (arrays[number] & ~bits) | top, arrays[number])
        return tuple(arrays), steps

    def _stay_at_rest(self, states: States) -> BoolArray:
        """Return a mask of the states after which a filler may follow and changes nothing."""
        keys = self.keys(states)
        new = {key: row for row, key in enumerate(keys) if key not in self._at_rest}
        if new:
            self._at_rest.update(dict.fromkeys(new, False))
            after, is_open = self.take_filler(states.take(np.array(list(new.values()))))
            before = [key for key, stays in zip(new, is_open.tolist(), strict=True) if stays]
            reached = zip(before, self.keys(after), strict=True)
            self._at_rest.update((key, key == behind) for key, behind in reached)
        return np.array([self._at_rest[key] for key in keys], np.bool_)

    def is_done(self, states: States) -> BoolArray:
        """Return a mask of the states in which an output may end."""
        done = np.ones(len(states.node), np.bool_)
        for hard, seen in zip(self._hard, states.seen, strict=True):
            done &= (hard & ~seen) == 0
        hold = self._automaton.hold(states)
        return done if hold is None else done & ~hold


class _OnlyFirst:
    """What can only be the beginning of the output: later it is lost.

    That is what counts only at the beginning, or only where no word goes on before it, if no token
    may stand before it there.
    """

    def __init__(self, automaton: Automaton, sentence: int, wanted: Sequence[int]) -> None:
        stages = {stage.wanted: stage.reached for stage in automaton.layouts[sentence].stages}
        self._reached = BitSets([stages.get(bit, bit) for bit in wanted], automaton.bit_arrays)
        self._root = int(automaton.roots[sentence])
        served = [
            [bool(node.serves & bit) for bit in wanted] for node in automaton.tries[sentence].nodes
        ]
        self._begun = np.array(served, np.bool_)  # shape: (nodes, what is wanted)

    @classmethod
    def of(cls, automaton: Automaton, sentence: int) -> _OnlyFirst | None:
        """Return what of a sentence has to be the beginning, if anything has."""
        layout = automaton.layouts[sentence]
        first = apart = anywhere = 0
        for goal in layout.goals:
            first |= goal.wanted * (goal.tokens[0] == BEGIN)
            apart |= goal.wanted * (goal.tokens[0] == APART)
            anywhere |= goal.wanted * (goal.tokens[0] not in (APART, BEGIN))
        if apart and _may_stand_apart(automaton, sentence):
            anywhere |= apart
        bits = layout.hard_wanted & (first | apart) & ~anywhere
        wanted = [1 << i for i in range(bits.bit_length()) if bits >> i & 1]
        return cls(automaton, sentence, wanted) if wanted else None

    def is_lost(self, after: States) -> BoolArray:
        """Return a mask of the states, each after a token, in which it can't be met any more."""
        there: BoolArray = self._reached.share(after.seen) | self._begun[after.node - self._root]
        return np.logical_not(there.all(axis=1))


def _may_stand_apart(automaton: Automaton, sentence: int) -> bool:
    """Return whether there is a token behind which no word goes on, and that is not avoided."""
    words, nodes = automaton.whole_words, automaton.tries[sentence].nodes
    if words is None:
        return True
    before = words.closing.copy() if words.marking is None else words.closing | words.marking
    before[automaton.eos] = False
    for token, child in nodes[ROOT].children.items():
        if token >= 0 and (nodes[child].avoided or nodes[child].held):
            before[token] = False
    return bool(before.any())


def _find_filler(automaton: Automaton, sentence: int, tokens: IntArray) -> int | None:
    """Return one of the tokens that is in no phrase and begins a word, also when words count."""
    found = tokens[~np.isin(tokens, automaton.tries[sentence].alphabet)]
    words = automaton.whole_words
    if words is not None:
        found = found[words.boundary[found] & words.starting[found]]
    return int(found[0]) if len(found) else None
