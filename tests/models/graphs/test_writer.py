from __future__ import annotations

from typing import Any

import numpy as np
import onnxruntime  # type: ignore[import-untyped]
import pytest
from numpy.typing import NDArray

from lexbeam.errors import ModelError
from lexbeam.models.graphs import writer
from lexbeam.models.graphs.writer import GraphWriter


def run(graph: GraphWriter, **feed: NDArray[Any]) -> list[Any]:
    session = onnxruntime.InferenceSession(graph.model(), providers=["CPUExecutionProvider"])
    return list(session.run(None, feed))


@pytest.mark.parametrize("dtype", ["float32", "uint8", "int8", "int32", "int64", "bool"])
def test_constants_arrive_as_they_were(dtype: str) -> None:
    graph = GraphWriter("constants")
    array = np.array([[0, 1, 2], [100, 3, 1]]).astype(dtype)
    graph.output("y", graph.constant(array), dtype, [2, 3])
    (result,) = run(graph)
    assert result.dtype == array.dtype
    np.testing.assert_array_equal(result, array)


def test_a_transposed_constant_is_written_in_its_own_order() -> None:
    graph = GraphWriter("transposed")
    array = np.arange(6, dtype=np.float32).reshape(2, 3).T
    graph.output("y", graph.constant(array), "float32", [3, 2])
    np.testing.assert_array_equal(run(graph)[0], array)


def test_attributes_of_every_kind() -> None:
    graph = GraphWriter("attributes")
    x = graph.input("x", "float32", ["rows", 4])
    y = graph.node("LeakyRelu", x, alpha=0.5)  # a float
    y = graph.node("Transpose", y, perm=[1, 0])  # a list
    y = graph.node("Softmax", y, axis=-2)  # a negative integer
    graph.output("y", y, "float32", [4, "rows"])
    values = np.array([[-2.0, 1, 0, 3], [4, -6, 1, 2]], np.float32)
    rectified = np.where(values < 0, values / 2, values).T
    expected = np.exp(rectified) / np.exp(rectified).sum(axis=0)
    np.testing.assert_allclose(run(graph, x=values)[0], expected, rtol=1e-6)


def test_text_attributes() -> None:
    graph = GraphWriter("text")
    x = graph.input("x", "float32", [1, 1, 2])
    y = graph.node("Pad", x, graph.ints(0, 0, 1, 0, 0, 1), mode="edge")
    graph.output("y", y, "float32", [1, 1, 4])
    result = run(graph, x=np.array([[[5.0, 7.0]]], np.float32))[0]
    np.testing.assert_array_equal(result, [[[5, 5, 7, 7]]])


def test_a_node_with_two_outputs() -> None:
    graph = GraphWriter("top")
    x = graph.input("x", "float32", ["n"])
    scores, ids = graph.nodes("TopK", x, graph.ints(2), outputs=2)
    graph.output("scores", scores, "float32", [2])
    graph.output("ids", ids, "int64", [2])
    best, places = run(graph, x=np.array([1.0, 5.0, 3.0], np.float32))
    assert best.tolist() == [5, 3]
    assert places.tolist() == [1, 2]


def test_outputs_that_are_used_within_given_twice_or_only_passed_through() -> None:
    graph = GraphWriter("outputs")
    x = graph.input("x", "float32", ["n"])
    y = graph.node("Neg", x)
    graph.output("negated", y, "float32", ["n"])
    graph.output("again", y, "float32", ["n"])
    graph.output("same", x, "float32", ["n"])
    graph.output("doubled", graph.node("Add", y, y), "float32", ["n"])
    found = run(graph, x=np.array([1.0, -2.0], np.float32))
    assert [values.tolist() for values in found] == [[-1, 2], [-1, 2], [1, -2], [-2, 4]]


def test_a_graph_that_no_file_has_room_for(monkeypatch: pytest.MonkeyPatch) -> None:
    graph = GraphWriter("decoder")
    graph.output("y", graph.constant(np.zeros(300, np.float32)), "float32", [300])
    monkeypatch.setattr(writer, "_LARGEST", 1000)
    with pytest.raises(ModelError, match=r"the decoder takes .* GB as a graph"):
        graph.model()
