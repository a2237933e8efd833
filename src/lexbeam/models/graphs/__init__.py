"""Networks as ONNX graphs: one class per kind of network, all with the same inputs and outputs.

`lexbeam.models.graphs.architecture` says what a kind of network has to provide. The engine that
runs the graphs (`lexbeam.models.engines.onnx`) knows no kind of network, only these inputs and
outputs:

- The encoder takes ``tokens`` (sentences, time) and ``mask`` (the same shape, 1 where there is a
  token); with a shortlist it also takes ``candidates`` (sentences, listed). It returns tensors
  named ``memory.*``, whose first axis is the sentence and which stay the same during the search.
  Networks with an initial decoder state return it as ``state.*``.
- With a shortlist whose scores are shares of the whole vocabulary, the decoder takes
  ``memory.unlisted`` (sentences, sample): the logarithm of how many tokens each of the sample
  stands for. Except for single sentences it also takes ``sentences`` (rows,), that of each row.
- The decoder takes one step for all live rows. It takes ``tokens`` and ``parents`` (rows,), all
  ``memory.*`` and all ``state.*``, and returns the new states as ``next.*``.
  Rows of one sentence share its memory: ``row_of_slot`` (sentences, slots) holds the row in each
  slot, ``slot_of_row`` (rows,) the slot of each row, counted over all sentences.
  ``ask`` (rows, asked) holds the indices to score. ``excluded`` (n, 2) holds the (row, index)
  pairs that may not be among the ``top`` best, ``excluded_scores`` (n,) minus infinity for each.
  It returns ``top_scores`` and ``top_ids`` (rows, top) and ``ask_scores`` (rows, asked). With a
  shortlist an index counts the sentence's candidates; without one it is a token id.
- A bare decoder returns ``hidden`` (rows, dim) instead, the input of the output layer, and takes
  nothing of what only that needs; neither does the encoder. Its output layer comes beside it, for
  the engine to compute. Decoders with SSRU cells, in eight bits with measured activations, come
  beside the encoder as a whole.
- A decoder that also says where it looks returns ``attention`` (rows, time): the weights of
  each row over the source, which sum to 1 and are 0 for padding. It is a graph of its own,
  built at first use, because the runtime computes all outputs of a graph in every step.
- A second decoder, which is optional, serves batches of one sentence. It takes no
  ``row_of_slot``, ``slot_of_row`` and ``memory.mask``, which makes it faster.
- A graph for drafts, also optional and built at first use, takes all steps of a single row that
  always takes its best token (`lexbeam.models.graphs.transformer_draft`).
- Networks with absolute positions take ``positions`` (time, dim), the embeddings of positions of
  `lexbeam.models.graphs.positions`. The encoder takes those of all tokens, a step its own.
"""

from typing import NamedTuple

from lexbeam.models.graphs.output_layer import OutputLayer
from lexbeam.models.graphs.ssru_decoder import SsruDecoder


class Graphs(NamedTuple):
    """The graphs of a network, as the content of ``.onnx`` files."""

    encoder: bytes
    decoder: bytes | None
    """None: see ``ssru``."""
    single_decoder: bytes | None = None
    """The decoder for batches of one sentence, if the network has one."""
    output: OutputLayer | None = None
    """The output layer, where decoders are bare."""
    ssru: SsruDecoder | None = None
    """The decoder, where it is left to the engine as a whole."""
