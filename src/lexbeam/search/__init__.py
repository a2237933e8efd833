"""Beam search that places constraints, on tokens: the paper, in a few modules.

`beam_search` has Algorithm 1 (`decode`), `step` Algorithm 2, with the parts `candidates`,
`allocation`, `adjustment` and `selection`. `finishing` and `stopping` say when outputs and searches
end. `automaton` keeps what each hypothesis has met.
"""

from __future__ import annotations

from lexbeam.search.automaton.patterns import Beginning, Form, Pattern
from lexbeam.search.beam import Hypothesis
from lexbeam.search.beam_search import decode
from lexbeam.search.scorer import Scorer, Scores
from lexbeam.search.settings import Settings

__all__ = ["Beginning", "Form", "Hypothesis", "Pattern", "Scorer", "Scores", "Settings", "decode"]
