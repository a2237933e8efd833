"""Write whole drafts in ONNX Runtime: all steps of a single row in one call."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import onnxruntime as ort  # type: ignore[import-untyped]
from numpy.typing import NDArray

from lexbeam.models.engines.onnx_session import open_session, run_session

MakeDraft = Callable[[bool], bytes | None]
"""Write a graph for drafts, given whether it also says where it looks; None if it can't."""
_OUTPUTS = ("top_scores", "top_ids", "ask_scores")


class DraftSessions:
    """The graphs for drafts of a network, each made when it is asked for the second time.

    To make one takes as long as the steps of some drafts: a single sentence does without.
    """

    def __init__(self, make: MakeDraft | None, threads: int) -> None:
        self._make = make
        self._threads = threads
        self._asked: set[bool] = set()
        self._sessions: dict[bool, ort.InferenceSession | None] = {}

    def run(self, feed: Mapping[str, NDArray[Any]], attends: bool) -> list[NDArray[Any]] | None:
        """Return what all steps answer, stacked; None if there is no graph for them (yet)."""
        if attends not in self._asked:
            self._asked.add(attends)
            return None
        if attends not in self._sessions:
            graph = self._make(attends) if self._make is not None else None
            self._sessions[attends] = open_session(graph, self._threads) if graph else None
        session = self._sessions[attends]
        if session is None:
            return None
        names = [*_OUTPUTS, "attention"] if attends else list(_OUTPUTS)
        return [result[:, 0] for result in run_session(session, names, feed)]
