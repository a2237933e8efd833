"""Open a graph in ONNX Runtime."""

from __future__ import annotations

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
