"""Open a graph in ONNX Runtime."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import onnxruntime as ort  # type: ignore[import-untyped]

from lexbeam.errors import ModelError


def open_session(model: bytes, threads: int) -> ort.InferenceSession:
    """Open the content of an ``.onnx`` file; what the runtime refuses is a ModelError."""
    options = ort.SessionOptions()
    options.intra_op_num_threads = threads
    options.inter_op_num_threads = 1
    options.execution_mode = ort.ExecutionMode.ORT_SEQUENTIAL
    options.graph_optimization_level = ort.GraphOptimizationLevel.ORT_ENABLE_ALL
    options.log_severity_level = 3
    if threads == 1:
        options.add_session_config_entry("session.intra_op.allow_spinning", "0")
    try:
        return ort.InferenceSession(
            model,
            options,
            providers=["CPUExecutionProvider"],
            disabled_optimizers=["SkipLayerNormFusion"],  # its kernel is three times slower
        )
    except Exception as error:  # the runtime's own exceptions share no public base
        raise ModelError(f"ONNX Runtime refuses the model: {error}") from None


def run_session(
    session: ort.InferenceSession, outputs: Sequence[str], feed: Mapping[str, Any]
) -> list[Any]:
    """Run a session; return the outputs that are named.

    Before the runtime checks the names of inputs, its Python part does so too. With the many inputs
    of a step that takes a twentieth of the time of a short one, so the compiled part is called
    directly, where there is one under the name that it has had since the first release.
    """
    native = getattr(session, "_sess", None)
    results: list[Any] = (
        session.run(outputs, feed) if native is None else native.run(outputs, feed, None)
    )
    return results
