"""What is done with drafts (`search.draft`) before a batch is searched.

A sentence of which a constraint is tied to its source (`search.ties`) gets a draft, and so does one
with several parts to place. The caller is shown the drafts of tied sentences and says which words
the constraints displace: those are avoided. It may also find that a draft has all that it wants;
then the sentence is not searched. The model reads each source once for both.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from lexbeam.search.arrays import BoolArray, IntArray, Tokens
from lexbeam.search.automaton.bit_layout import lay_out_bits
from lexbeam.search.automaton.parts import find_parts
from lexbeam.search.automaton.whole_words import WordBoundaries
from lexbeam.search.beam import Hypothesis
from lexbeam.search.draft import Draft, is_worth_a_draft, write_draft
from lexbeam.search.finishing import FinishingRules
from lexbeam.search.request import Request, avoid_more
from lexbeam.search.scorer import Scorer, can_hold, can_restart
from lexbeam.search.settings import Settings

FindDisplaced = Callable[[int, Hypothesis], Sequence[Tokens] | None]
"""Returns what an output must not have, given a sentence and its draft; None: the draft will do."""


class Drafted(NamedTuple):
    """A batch that has been drafted."""

    requests: list[Request]
    """What is asked of each sentence, without the words that are displaced."""
    draft: Draft | None = None
    """None: no sentence was worth one."""
    outputs: Mapping[int, Hypothesis] = {}
    """The drafts of tied sentences."""
    answered: Sequence[int] = ()
    """The sentences that are not to be searched."""


def draft_batch(
    scorer: Scorer,
    state: Any,
    requests: Sequence[Request],
    words: WordBoundaries | None,
    longest: IntArray,
    finishing: FinishingRules,
    settings: Settings,
    tied: BoolArray,
    prices: bool,
    find_displaced: FindDisplaced | None,
) -> Drafted:
    """Write the drafts of a batch and ask what is displaced.

    ``tied`` marks the sentences that have ties, # shape: (sentences,); ``prices`` says whether it
    matters what constraints cost; ``state`` is the model's before the first token.
    """
    layouts = [lay_out_bits(request.phrases, words, i) for i, request in enumerate(requests)]
    parts = [find_parts(layout) for layout in layouts]
    several = np.array([is_worth_a_draft(each) for each in parts])
    drafted = several & prices & can_restart(scorer) | tied
    if not drafted.any():
        return Drafted(list(requests))
    attends = bool(tied.any())
    draft = write_draft(scorer, state, requests, parts, drafted, longest, finishing, attends)
    outputs = {
        int(i): draft.hypothesis(int(i), settings.length_penalty) for i in np.flatnonzero(tied)
    }
    asked = list(requests)
    answered = []
    held = words if can_hold(scorer) else None
    if find_displaced is not None:
        for sentence, output in outputs.items():
            displaced = find_displaced(sentence, output)
            if displaced is None:
                answered.append(sentence)
            elif displaced:
                asked[sentence] = avoid_more(asked[sentence], displaced, sentence, held)
    return Drafted(asked, draft, outputs, answered)
