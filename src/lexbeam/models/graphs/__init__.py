"""Networks as ONNX graphs: one module a family, all with the same inputs and outputs.

The engine that runs them (`lexbeam.models.engines.onnx`) knows no network, only this contract:

- encoder: ``tokens`` (sentences, time) and ``mask`` (the same, 1 where there is a token) in;
  with a shortlist also ``candidates`` (sentences, listed). Out come tensors named ``memory.*``,
  the first axis the sentence, which stay as they are during the search, and where a network
  has one the first decoder state, ``state.*``.
- decoder: one step for all live rows. ``tokens``, ``parents`` (rows,), all
  ``memory.*`` and ``state.*`` in, new ``state.*`` out. Rows of one sentence share its memory:
  ``slots`` (sentences, slots) says which row stands in which slot of its sentence, ``places``
  (rows,) in which slot, counted over all sentences, a row stands. ``ask`` (rows, asked) are
  the positions to price, ``hidden`` (n, 2) are the (row, position) pairs that may not be among
  the ``top`` best, ``nothing`` (n,) is minus infinity for each. Out come ``top_scores``,
  ``top_ids`` (rows, top) and ``ask_scores`` (rows, asked). The new states are named
  ``next.*``. With a shortlist positions count within the sentence's candidates, without one
  they are ids.
- alone: the decoder once more, for batches of one sentence. It takes no ``slots``, ``places``
  and ``memory.mask``, and that makes it faster; a network may do without.
- networks that know where a token stands by a code of its place take ``positions`` (time, dim),
  the codes of `lexbeam.models.graphs.positions`: the encoder those of all, a step its own.
"""

from typing import NamedTuple


class Graphs(NamedTuple):
    """The models of a network, as the content of ``.onnx`` files."""

    encoder: bytes
    decoder: bytes
    alone: bytes | None = None
