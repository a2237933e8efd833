from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from lexbeam.errors import ModelError
from lexbeam.models.engines.onnx_session import open_session, run_session
from lexbeam.models.graphs.writer import GraphWriter


def negation() -> bytes:
    graph = GraphWriter("negation")
    x = graph.input("x", "float32", ["rows"])
    graph.output("y", graph.node("Neg", x), "float32", ["rows"])
    return graph.model()


class Public:
    """A session of a runtime that has no compiled part under the usual name."""

    def __init__(self, session: Any) -> None:
        self._session = session

    def run(self, outputs: Any, feed: Any) -> Any:
        return self._session.run(outputs, feed)


@pytest.mark.parametrize("public", [True, False])
def test_a_session_returns_what_is_named(public: bool) -> None:
    session = open_session(negation(), 1)
    assert hasattr(session, "_sess")
    (found,) = run_session(Public(session) if public else session, ["y"], {"x": np.ones(2, "f4")})
    assert found.tolist() == [-1.0, -1.0]


def test_an_input_that_is_missing_is_an_error() -> None:
    with pytest.raises(Exception, match="x"):  # the runtime's own exceptions share no public base
        run_session(open_session(negation(), 1), ["y"], {})


def test_what_is_no_graph_is_refused() -> None:
    with pytest.raises(ModelError, match="refuses"):
        open_session(b"no graph", 1)
