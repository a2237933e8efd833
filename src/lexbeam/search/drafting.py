"""What is done with drafts (`search.draft`) before a batch is searched.

A sentence of which a constraint is tied to its source (`search.ties`) gets a draft, and so does one
with several parts to place. The caller may look at the drafts. It says which words the constraints
displace: those are avoided. It may also find that a draft has all that it wants; then the sentence
is not searched. The model reads each source once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lexbeam.errors import ConstraintError
from lexbeam.search.allocation import POLICIES
from lexbeam.search.arrays import FloatArray, IntArray, Tokens
from lexbeam.search.automaton.bit_layout import BitLayout, lay_out_bits
from lexbeam.search.automaton.parts import find_parts
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.beam import Hypothesis
from lexbeam.search.compiled import Compiled, compile_requests
from lexbeam.search.draft import Draft, is_worth_a_draft, write_draft
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.future_cost import expected_lengths
from lexbeam.search.request import Request, avoid_more
from lexbeam.search.scorer import Scorer, can_hold, can_restart
from lexbeam.search.settings import Settings
from lexbeam.search.stopping import likely_longest
from lexbeam.search.ties import NARROW, Window

FindDisplaced = Callable[[int, Hypothesis], Sequence[Tokens] | None]
"""Returns what an output must not have, given a sentence and its draft; None: the draft will do."""


class Batch(NamedTuple):
    """What is the same for the drafts of a batch and its search."""

    scorer: Scorer
    sources: Sequence[Any]
    limits: IntArray
    """The most tokens of each output. # shape: (sentences,)"""
    words: WordBoundaries | None
    finishing: FinishingRules
    settings: Settings
    ties: Sequence[Mapping[int, Sequence[int]]] | None
    window: Window = NARROW

    @property
    def expected(self) -> FloatArray:
        """How long outputs are expected to be. # shape: (sentences,)."""
        return expected_lengths(self.sources, self.limits)


class Drafted(NamedTuple):
    """A batch that has been drafted, if it was worth it."""

    compiled: Compiled
    """What is asked of each sentence, without the words that are displaced."""
    state: Any
    """The model's state before the first token."""
    draft: Draft | None = None
    """None: no sentence was worth one."""
    outputs: Mapping[int, Hypothesis] = {}
    """The drafts of tied sentences, and of all others that were shown."""
    answered: Sequence[int] = ()
    """The sentences that are not to be searched."""


def draft_batch(
    batch: Batch,
    requests: Sequence[Request],
    find_displaced: FindDisplaced | None,
) -> Drafted:
    """Let the model read a batch, write its drafts and ask what is displaced.

    Where ties may displace words, the batch is compiled when those are known.
    """
    scorer, words, compiled = batch.scorer, batch.words, None
    if find_displaced is None or not batch.ties:
        compiled = compile_requests(scorer, requests, batch.limits, words)
        layouts = [] if compiled.automaton is None else compiled.automaton.layouts
    else:
        layouts = [lay_out_bits(each.phrases, words, i) for i, each in enumerate(requests)]
    state, draft, outputs = _write_drafts(batch, requests, layouts, find_displaced is not None)
    displaced: dict[int, Sequence[Tokens] | None] = {}
    if find_displaced is not None:
        displaced = {i: find_displaced(i, output) for i, output in outputs.items()}
    if compiled is None or any(displaced.values()):
        held = words if can_hold(scorer) else None
        asked = [
            avoid_more(each, displaced[i] or (), i, held) if displaced.get(i) else each
            for i, each in enumerate(requests)
        ]
        compiled = compile_what_is_possible(batch, asked, requests)
    answered = [sentence for sentence, each in displaced.items() if each is None]
    return Drafted(compiled, state, draft, outputs, answered)


def compile_what_is_possible(
    batch: Batch,
    asked: list[Request],
    given: Sequence[Request],
    certain: Collection[int] = (),
    compiled: Compiled | None = None,
) -> Compiled:
    """Compile what is asked of a batch, and what was given of sentences that are impossible so.

    Of ``certain`` sentences it is found out for certain. ``compiled`` is what is asked, if that was
    compiled before.
    """
    while True:
        try:
            if compiled is None:
                return compile_requests(batch.scorer, asked, batch.limits, batch.words, certain)
            compiled.refuse_impossible(batch.limits, certain)
            return compiled
        except ConstraintError as error:
            at = error.sentence
            if at is None or asked[at] is given[at]:
                raise
            asked[at], compiled = given[at], None


def _write_drafts(
    batch: Batch,
    requests: Sequence[Request],
    layouts: Sequence[BitLayout],
    all_shown: bool,
) -> tuple[Any, Draft | None, dict[int, Hypothesis]]:
    """Return the model's first state, the drafts, and those of tied sentences or all as outputs."""
    scorer, settings = batch.scorer, batch.settings
    wanted = [request.tokens for request in requests]
    state = scorer.start(batch.sources, wanted)
    parts = [find_parts(layout) for layout in layouts]
    tied = np.array([bool(each) for each in batch.ties or [{}] * len(requests)])
    drafted = tied
    if POLICIES[settings.algorithm].needs_future_cost and can_restart(scorer) and parts:
        drafted = tied | np.array([is_worth_a_draft(each) for each in parts])
    if not drafted.any():
        return state, None, {}
    first = state if can_restart(scorer) else scorer.start(batch.sources, wanted)
    longest = likely_longest(batch.expected, 0).astype(np.int64)
    longest = np.minimum(batch.limits, longest)
    attends = bool(tied.any())
    draft = write_draft(scorer, first, requests, parts, drafted, longest, batch.finishing, attends)
    power = settings.length_penalty
    shown = np.flatnonzero(drafted if all_shown else tied)
    return state, draft, {int(i): draft.hypothesis(int(i), power) for i in shown}
