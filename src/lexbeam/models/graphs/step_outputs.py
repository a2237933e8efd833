"""The end of every decoder: of all log-probabilities, only those that the search asked for."""

from __future__ import annotations

import sys
from typing import NamedTuple

from lexbeam.models.graphs.writer import GraphWriter


class StepOutputs(NamedTuple):
    """The names of what a step returns."""

    top_scores: str
    top_ids: str
    ask_scores: str


def write_step_outputs(graph: GraphWriter, logits: str, unlisted: int = 0) -> StepOutputs:
    """Write the outputs of a step from the logits of its rows; see `lexbeam.models.graphs`.

    So many logits of each row, the first, stand for tokens that are ``unlisted``: they have their
    share of the probability, and are not among the answers.
    """
    log_probs = graph.node("LogSoftmax", logits, axis=-1)
    if unlisted:
        begin, end, axis = (graph.ints(n) for n in (unlisted, sys.maxsize, 1))
        log_probs = graph.node("Slice", log_probs, begin, end, axis)
    ask = graph.input("ask", "int64", ["rows", "asked"])
    excluded = graph.input("excluded", "int64", ["excluded", 2])
    excluded_scores = graph.input("excluded_scores", "float32", ["excluded"])
    top = graph.input("top", "int64", [1])
    asked = graph.node("GatherElements", log_probs, ask, axis=1)
    allowed = graph.node("ScatterND", log_probs, excluded, excluded_scores)
    scores, ids = graph.nodes("TopK", allowed, top, outputs=2)
    graph.output("top_scores", scores, "float32", ["rows", "top"])
    graph.output("top_ids", ids, "int64", ["rows", "top"])
    graph.output("ask_scores", asked, "float32", ["rows", "asked"])
    return StepOutputs(scores, ids, asked)
