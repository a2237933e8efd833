"""The end of every decoder: of all log-probabilities, only what the search asked for."""

from __future__ import annotations

from lexbeam.models.graphs.writer import GraphWriter


def write_answer(graph: GraphWriter, logits: str) -> None:
    """Write the outputs of a step from the logits of its rows; see `lexbeam.models.graphs`."""
    log_probs = graph.node("LogSoftmax", logits, axis=-1)
    ask = graph.input("ask", "int64", ["rows", "asked"])
    hidden = graph.input("hidden", "int64", ["hidden", 2])
    nothing = graph.input("nothing", "float32", ["hidden"])
    top = graph.input("top", "int64", [1])
    asked = graph.node("GatherElements", log_probs, ask, axis=1)
    visible = graph.node("ScatterND", log_probs, hidden, nothing)
    scores, ids = graph.nodes("TopK", visible, top, outputs=2)
    graph.output("top_scores", scores, "float32", ["rows", "top"])
    graph.output("top_ids", ids, "int64", ["rows", "top"])
    graph.output("ask_scores", asked, "float32", ["rows", "asked"])
