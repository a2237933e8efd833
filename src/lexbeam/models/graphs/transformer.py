"""The Transformer: Firefox's students, those we train, and the families of Hugging Face.

Weights have Marian's names and shapes (input dimension first), whoever trained them. The encoder
is a Transformer. The decoder attends to the source; in place of attention to its own output it
may have an SSRU, a recurrent cell whose state is one vector per layer (Kim et al., 2019).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Self

import numpy as np

from lexbeam.errors import ModelError
from lexbeam.models.graphs import Graphs
from lexbeam.models.graphs.architecture import Architecture
from lexbeam.models.graphs.layers import ACTIVATIONS, OUTPUT_BIAS, ROUNDINGS
from lexbeam.models.graphs.output_layer import OutputLayer
from lexbeam.models.graphs.relative_attention import TABLES
from lexbeam.models.graphs.ssru_decoder import SsruDecoder
from lexbeam.models.graphs.transformer_decoder import DecoderGraph
from lexbeam.models.graphs.transformer_draft import DraftGraph
from lexbeam.models.graphs.transformer_encoder import EncoderGraph
from lexbeam.models.graphs.transformer_sublayers import output_table
from lexbeam.models.graphs.weights import Float32, Weights

_POSITION_TABLES = ("encoder_Wpos", "decoder_Wpos")
_DISTANCE_TABLES = ("encoder_Wdist", "decoder_Wdist")
_POSITIONS = ("sinusoids", "table", "distances", "relative")
_RANGES = {"epsilon": (0, 1), "embedding_factor": (0, 1e6), "head_size": (0, 1 << 20)}
_MOST_STEPS = 16  # before or after a sublayer


@dataclass(frozen=True)
class TransformerConfig(Architecture, kind="transformer"):
    """What has to be known of a Transformer besides its weights.

    ``preprocess`` and the three ``postprocess`` options are Marian's: a string of steps before
    or after each sublayer. ``a`` adds the sublayer's input, ``n`` is layer normalisation, ``d``
    is dropout, which does nothing here.

    ``positions`` says how the network knows the order of tokens. "sinusoids" are Marian's. With
    "table", embeddings of positions are among the weights (``encoder_Wpos``, ``decoder_Wpos``).
    With "distances", attention adds a bias for the distance between two tokens
    (``encoder_Wdist``, from far before to far behind; ``decoder_Wdist``, from the current token
    backwards; one row per distance, one column per head). With "relative", attention of a text
    to itself has a key and a value for each distance (Shaw et al., 2018; ``…_self_Rk``,
    ``…_self_Rv``, from far before to far behind, one row per distance).

    ``rounding`` says how the inputs of products in eight bits are rounded, where no range was
    measured (`layers.ROUNDINGS`): with rows, each by itself, a sentence is computed alike in any
    batch.
    """

    sizes: ClassVar[Mapping[str, str]] = {
        "dim": "dimension",
        "heads": "number of heads",
        "encoder_layers": "number of encoder layers",
        "decoder_layers": "number of decoder layers",
        "encoder_ffn_depth": "depth of the encoder's feed-forward layers",
        "decoder_ffn_depth": "depth of the decoder's feed-forward layers",
    }
    source_vocabulary: int
    target_vocabulary: int
    dim: int = 256
    heads: int = 8
    encoder_layers: int = 6
    decoder_layers: int = 2
    decoder: str = "ssru"  # or "self-attention"
    encoder_ffn_depth: int = 2
    decoder_ffn_depth: int = 2
    activation: str = "relu"  # or another of layers.ACTIVATIONS
    gated: bool = False  # feed-forward layers with a gate beside them (its weight: _Wg)
    preprocess: str = ""
    postprocess: str = "dan"
    postprocess_embedding: str = "d"
    postprocess_top: str = ""
    tied_layers: tuple[int, ...] = ()
    source_embedding: str = "Wemb"
    target_embedding: str = "Wemb"
    output: str = "Wemb"  # a name that ends in "Wemb" is a table, tied to the output
    epsilon: float = 1e-6
    head_size: int = 0  # 0: the dimension divided among the heads
    embedding_factor: float = 0.0  # 0: the root of the dimension
    positions: str = "sinusoids"  # or "table", "distances", "relative"
    norm: str = "layer"  # or "rms"
    biases: bool = True  # whether dense layers have any
    rounding: str = "tensor"  # or another of layers.ROUNDINGS

    def stays_float(self, name: str) -> bool:
        """Return whether a matrix is never rounded to eight bits: tables of positions are not."""
        return name in (*_POSITION_TABLES, *_DISTANCE_TABLES) or name.endswith(TABLES)

    @property
    def size_of_head(self) -> int:
        """Numbers in a key."""
        return self.head_size or self.dim // self.heads

    @property
    def aligned_layers_and_heads(self) -> tuple[int, int]:
        """Numbers of decoder layers and of heads that attend to the source: any may align."""
        return self.decoder_layers, self.heads

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """Read the sizes and options back from JSON; raise ModelError if they make no sense."""
        tied = values.get("tied_layers", ())
        if not isinstance(tied, list | tuple) or not all(type(layer) is int for layer in tied):
            raise ModelError(f'configuration of the network: "tied_layers" is {tied!r:.60}')
        return super().from_dict({**values, "tied_layers": tuple(tied)})

    def describe(self) -> str:
        """Return a short description for people."""
        return (
            f"Transformer, {self.encoder_layers} + {self.decoder_layers} layers, dimension "
            f"{self.dim}, {self.heads} heads, {self.decoder} decoder"
        )

    def check(self) -> None:
        """Raise ModelError for sizes and options that no graph can be built from."""
        super().check()
        for name, (least, most) in _RANGES.items():
            if not least <= getattr(self, name) <= most:
                raise ModelError(f"{name} is {getattr(self, name)}, not from {least} to {most}")
        if not self.head_size and self.dim % (2 * self.heads):
            raise ModelError(f"dimension {self.dim} can't be divided among {self.heads} heads")
        choices = {
            "decoder": (self.decoder, {"ssru", "self-attention"}),
            "activation": (self.activation, ACTIVATIONS),
            "kind of positions": (self.positions, _POSITIONS),
            "normalisation": (self.norm, {"layer", "rms"}),
            "rounding": (self.rounding, ROUNDINGS),
        }
        for name, (choice, known) in choices.items():
            if choice not in known:
                raise ModelError(f'{name} "{choice:.60}" is not supported')
        if self.tied_layers and len(self.tied_layers) != self.decoder_layers:
            raise ModelError(f"tied layers {self.tied_layers} for {self.decoder_layers} layers")
        for process in (self.preprocess, self.postprocess, self.postprocess_embedding):
            _check_process(process)
        _check_process(self.postprocess_top)

    def shapes(self) -> Iterable[tuple[str, tuple[int | None, ...]]]:
        """Return the shapes of embeddings, output layer and the tables of positions."""
        rows, dim = self.target_vocabulary, self.dim
        yield self.source_embedding, (self.source_vocabulary, dim)
        yield self.target_embedding, (rows, dim)
        yield self.output, (rows, dim) if self.output.endswith("Wemb") else (dim, rows)
        yield OUTPUT_BIAS, (rows,)
        yield from ((name, (None, dim)) for name in _POSITION_TABLES)
        yield from ((name, (None, self.heads)) for name in _DISTANCE_TABLES)
        for side, layers in (("encoder", self.encoder_layers), ("decoder", self.decoder_layers)):
            for layer in range(1, layers + 1):
                prefix = f"{side}_l{layer}_self"
                yield from ((f"{prefix}{kind}", (None, self.size_of_head)) for kind in TABLES)

    def build(
        self,
        weights: Weights,
        *,
        shortlist: bool = False,
        sample: Sequence[int] = (),
        bare: bool = False,
    ) -> Graphs:
        """Write the graphs of the network; with a shortlist only its tokens are scored."""
        self.check()
        self.check_shapes(weights)
        try:
            output = self._output(weights, bare)
            ssru = None if output is None else SsruDecoder.of(self, weights)
            if ssru is not None:
                encoder = EncoderGraph(self, weights, False).write()
                return Graphs(encoder, None, None, output, ssru)
            further = shortlist, False, None, sample, None, output is not None
            single = shortlist, True, *further[2:]
            return Graphs(
                EncoderGraph(self, weights, shortlist and output is None).write(),
                DecoderGraph(self, weights, *further).write(),
                DecoderGraph(self, weights, *single).write(),
                output,
            )
        except KeyError as error:
            raise ModelError(f"the weight {error} is missing from the model") from None

    def build_attending(
        self,
        weights: Weights,
        *,
        single: bool = False,
        shortlist: bool = False,
        sample: Sequence[int] = (),
        alignment: tuple[int, int] | None = None,
        bare: bool = False,
    ) -> bytes:
        """Write a decoder, or the one for a single sentence, that also says where it looks."""
        self.check()
        attended = alignment or (self.decoder_layers - 1, None)
        try:
            further = sample, None, self._output(weights, bare) is not None
            return DecoderGraph(self, weights, shortlist, single, attended, *further).write()
        except KeyError as error:
            raise ModelError(f"the weight {error} is missing from the model") from None

    def _output(self, weights: Weights, bare: bool) -> OutputLayer | None:
        """Return the output layer, if it is to be left out of the graphs and can be."""
        return OutputLayer.of(output_table(self, weights), weights, self.rounding) if bare else None

    def build_draft(
        self,
        weights: Weights,
        *,
        attends: bool = False,
        shortlist: bool = False,
        sample: Sequence[int] = (),
        alignment: tuple[int, int] | None = None,
    ) -> bytes:
        """Write a graph that writes whole drafts, and with ``attends`` says where it looks."""
        self.check()
        attended = (alignment or (self.decoder_layers - 1, None)) if attends else None
        try:
            return DraftGraph(self, weights, shortlist, attended, sample).write()
        except KeyError as error:
            raise ModelError(f"the weight {error} is missing from the model") from None

    def position_tables(self, weights: Weights) -> tuple[Float32, Float32] | None:
        """Return the embeddings of positions for encoder and decoder, if the weights have any."""
        if self.positions != "table":
            return None
        tables = []
        for name in _POSITION_TABLES:
            table = weights.get(name)
            if not isinstance(table, np.ndarray) or table.ndim != 2 or not len(table):
                raise ModelError(f"the weight {name} is missing from the model or is no table")
            tables.append(table)
        return tables[0], tables[1]


def _check_process(process: str) -> None:
    if unknown := set(process) - set("dan"):
        raise ModelError(f'step "{min(unknown)}" in the process "{process:.60}" is not supported')
    if len(process) > _MOST_STEPS:
        raise ModelError(f"a process of {len(process)} steps is not supported")
