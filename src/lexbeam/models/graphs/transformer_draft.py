"""A whole draft of one sentence as a graph: a loop around the step of the decoder.

The search writes a draft before it begins (`lexbeam.search.draft`): the best token at every step,
and what some other tokens would cost there. Nothing is decided in between, so that the runtime can
take all steps in one call, which for a single row are hardly longer than a call.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from lexbeam.models.graphs.step_outputs import write_step_outputs
from lexbeam.models.graphs.transformer_decoder import DecoderGraph
from lexbeam.models.graphs.weights import Weights
from lexbeam.models.graphs.writer import BodyWriter, Dim, GraphWriter

if TYPE_CHECKING:
    from lexbeam.models.graphs.transformer import TransformerConfig


class DraftGraph(DecoderGraph):
    """Takes the token before the output, returns the outputs of all steps, stacked.

    Inputs are those of a decoder for a single sentence, without ``parents``. ``tokens`` (1,) is
    the token before the output, ``places`` the number of steps at most; ``ask`` (1, asked) begins
    with the end of sentence, and the loop stops where no other token is better. With a shortlist,
    ``ids`` (listed,) are the tokens that are listed. ``positions`` are those of all steps.
    """

    def __init__(
        self,
        config: TransformerConfig,
        weights: Weights,
        shortlist: bool,
        attended: tuple[int, int | None] | None = None,
        sample: Sequence[int] = (),
    ) -> None:
        self.around = GraphWriter("draft")
        self.turn = BodyWriter("turn", self.around)
        super().__init__(config, weights, shortlist, True, attended, sample, self.turn)
        self.few_rows = True
        self.states: list[str] = []

    def write(self) -> bytes:
        """Return the graph as the content of an ``.onnx`` file."""
        turn, around = self.turn, self.around
        self.number = turn.carried("number", "int64", [])
        turn.carried("goes_on", "bool", [])
        token = turn.carried("token", "int64", [1])
        outputs = write_step_outputs(turn, self.logits(token), len(self.sample))
        turn.output("goes_on", self.goes_on(*outputs), "bool", [])
        turn.output("token", self.token(outputs.top_ids), "int64", [1])
        stacked = {"top_scores": "float32", "top_ids": "int64", "ask_scores": "float32"}
        if self.attended is not None:
            stacked["attention"] = "float32"
        following = [name.replace("state.", "next.") for name in self.states]
        body = turn.body(["goes_on", "token", *following, *stacked])
        most = around.input("places", "int64", [])
        begins = around.constant(np.array(True))
        first = around.input("tokens", "int64", [1])
        number = 1 + len(self.states) + len(stacked)
        given = most, begins, first, *self.states
        results = around.nodes("Loop", *given, outputs=number, body=body)[-len(stacked) :]
        for value, (name, dtype) in zip(results, stacked.items(), strict=True):
            around.output(name, value, dtype, ["places", 1, name])
        return around.model()

    def state(self, name: str, shape: Sequence[Dim]) -> str:
        """Return a state of the last step, which has the only row of this step."""
        self.states.append(self.around.input(f"state.{name}", "float32", [1, *shape]))
        return self.turn.carried(name, "float32", [1, *shape])

    def positions(self) -> str:
        """Return the embedding of the position of this step. # shape: (1, dim)."""
        number = self.turn.node("Unsqueeze", self.number, self.turn.ints(0))
        return self.turn.node("Gather", super().positions(), number)

    def goes_on(self, top_scores: str, _: str, ask_scores: str) -> str:
        """Return whether the best token is better than the end."""
        turn = self.turn
        end = turn.node("Gather", ask_scores, turn.ints(0), axis=1)
        ended = turn.node("GreaterOrEqual", end, top_scores)
        return turn.node("Squeeze", turn.node("Not", ended), turn.ints(0, 1))

    def token(self, top_ids: str) -> str:
        """Return the best token. # shape: (1,)."""
        index = self.turn.node("Squeeze", top_ids, self.turn.ints(0))
        if not self.shortlist:
            return index
        return self.turn.node("Gather", self.turn.input("ids", "int64", ["listed"]), index)
