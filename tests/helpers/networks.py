"""Tiny random networks, their files, and a plain NumPy reading of them to compare with."""

from __future__ import annotations

import io
import struct
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import sentencepiece
from numpy.typing import NDArray

from lexbeam.models.graphs.transformer import TransformerConfig

Float32 = NDArray[np.float32]
Weights = dict[str, Float32]

VOCABULARY = 40
TINY = TransformerConfig(
    VOCABULARY, VOCABULARY, dim=16, heads=2, encoder_layers=2, decoder_layers=2
)
FFN = 24
CORPUS = [
    "the cat sat on the mat and the dog ran far from the red house",
    "a big map of the old town hung over the bed in which she slept",
    "we jumped quickly over five lazy boxes, and vexed the king with zeal",
]


def random_weights(config: TransformerConfig, seed: int = 0) -> Weights:
    """Return weights of the size that makes every part of the network matter."""
    return _RandomWeights(config, seed).weights


class _RandomWeights:
    def __init__(self, config: TransformerConfig, seed: int) -> None:
        self.rng = np.random.default_rng(seed)
        self.dim = config.dim
        self.weights: Weights = {}
        for layer in range(1, config.encoder_layers + 1):
            self.attention(f"encoder_l{layer}_self")
            self.feed_forward(f"encoder_l{layer}_ffn", config.encoder_ffn_depth)
        for layer in range(1, config.decoder_layers + 1):
            self.attention(f"decoder_l{layer}_self")
            self.attention(f"decoder_l{layer}_context")
            self.feed_forward(f"decoder_l{layer}_ffn", config.decoder_ffn_depth)
            self.ssru(f"decoder_l{layer}_rnn")
        for prefix in ("encoder_emb", "decoder_emb", "encoder_top", "decoder_top"):
            self.norm(prefix)
        self.table(config.source_embedding, config.source_vocabulary)
        self.table(config.target_embedding, config.target_vocabulary)
        if config.output not in self.weights:
            self.matrix(config.output, self.dim, config.target_vocabulary)
        self.vector("decoder_ff_logit_out_b", config.target_vocabulary)

    def matrix(self, name: str, rows: int, columns: int) -> None:
        values = self.rng.standard_normal((rows, columns)) / np.sqrt(rows)
        self.weights[name] = values.astype(np.float32)

    def table(self, name: str, size: int) -> None:
        if name not in self.weights:
            values = 0.5 * self.rng.standard_normal((size, self.dim))
            self.weights[name] = values.astype(np.float32)

    def vector(self, name: str, size: int, mean: float = 0.0) -> None:
        values = mean + 0.2 * self.rng.standard_normal((1, size))
        self.weights[name] = values.astype(np.float32)

    def norm(self, prefix: str) -> None:
        for suffix in ("", "_pre"):
            self.vector(f"{prefix}_ln_scale{suffix}", self.dim, 1.0)
            self.vector(f"{prefix}_ln_bias{suffix}", self.dim)

    def attention(self, prefix: str) -> None:
        for kind in "qkvo":
            self.matrix(f"{prefix}_W{kind}", self.dim, self.dim)
            self.vector(f"{prefix}_b{kind}", self.dim)
        self.norm(f"{prefix}_Wo")

    def feed_forward(self, prefix: str, depth: int) -> None:
        sizes = [self.dim, *[FFN] * (depth - 1), self.dim]
        for i in range(depth):
            self.matrix(f"{prefix}_W{i + 1}", sizes[i], sizes[i + 1])
            self.vector(f"{prefix}_b{i + 1}", sizes[i + 1])
        self.norm(f"{prefix}_ffn")

    def ssru(self, prefix: str) -> None:
        self.matrix(f"{prefix}_W", self.dim, self.dim)
        self.matrix(f"{prefix}_Wf", self.dim, self.dim)
        self.vector(f"{prefix}_bf", self.dim)
        self.norm(f"{prefix}_ffn")


class Reference:
    """The network as its description reads, one token at a time, in float."""

    def __init__(self, config: TransformerConfig, weights: Mapping[str, Float32]) -> None:
        self.config = config
        self.weights = weights
        self.looks: list[NDArray[Any]] = []

    def log_probs(self, source: Sequence[int], output: Sequence[int]) -> NDArray[np.float64]:
        """Return the log-probabilities of the token after an output. # shape: (vocabulary,)."""
        memory = self.encode(source)
        cells: list[Any] = [0.0] * self.config.decoder_layers
        kept: list[list[Any]] = [[] for _ in range(self.config.decoder_layers)]
        table = self.weights[self.config.target_embedding]
        x = np.zeros(self.config.dim)
        for position, token in enumerate([None, *output]):
            row = np.zeros(self.config.dim) if token is None else table[token]
            x = self.embed(row[None], [position], "decoder")
            for layer in range(1, self.config.decoder_layers + 1):
                number = self.config.tied_layers[layer - 1] if self.config.tied_layers else layer
                x = self.decoder_layer(f"decoder_l{number}", layer - 1, x, memory, cells, kept)
        x = self.around(self.config.postprocess_top, "decoder_top", x, x)
        output_layer = self.weights[self.config.output]
        if self.config.output.endswith("Wemb"):
            output_layer = output_layer.T
        logits = (x @ output_layer + self.weights["decoder_ff_logit_out_b"])[0]
        return np.asarray(logits - np.logaddexp.reduce(logits))

    def attention_to_source(
        self, source: Sequence[int], output: Sequence[int]
    ) -> list[NDArray[np.float64]]:
        """Return where each layer looks after an output. # shape of each: (heads, source)."""
        self.looks = []
        self.log_probs(source, output)
        return self.looks[-self.config.decoder_layers :]

    def encode(self, source: Sequence[int]) -> NDArray[Any]:
        table = self.weights[self.config.source_embedding]
        x = self.embed(table[list(source)], range(len(source)), "encoder")
        for layer in range(1, self.config.encoder_layers + 1):
            x = self.attention(f"encoder_l{layer}_self", x, None)
            x = self.feed_forward(f"encoder_l{layer}_ffn", x, self.config.encoder_ffn_depth)
        return self.around(self.config.postprocess_top, "encoder_top", x, x)

    def embed(self, rows: NDArray[Any], positions: Sequence[int], side: str) -> NDArray[Any]:
        half = self.config.dim // 2
        angles = np.array(positions)[:, None] * 10000.0 ** (-np.arange(half) / (half - 1))
        signal = np.concatenate([np.sin(angles), np.cos(angles)], axis=1)
        x = rows * np.sqrt(self.config.dim) + signal
        return self.around(self.config.postprocess_embedding, f"{side}_emb", x, x)

    def decoder_layer(
        self,
        prefix: str,
        at: int,
        x: NDArray[Any],
        memory: NDArray[Any],
        cells: list[Any],
        kept: list[list[Any]],
    ) -> NDArray[Any]:
        if self.config.decoder == "ssru":
            y = self.before(f"{prefix}_rnn_ffn", x)
            forget = 1 / (1 + np.exp(-self.dense(y, f"{prefix}_rnn_Wf", f"{prefix}_rnn_bf")))
            cells[at] = forget * cells[at] + (1 - forget) * self.dense(y, f"{prefix}_rnn_W")
            x = self.after(f"{prefix}_rnn_ffn", np.maximum(cells[at], 0), x)
        else:
            kept[at].append(self.before(f"{prefix}_self_Wo", x)[0])
            x = self.attention(f"{prefix}_self", x, np.array(kept[at]))
        x = self.attention(f"{prefix}_context", x, memory)
        return self.feed_forward(f"{prefix}_ffn", x, self.config.decoder_ffn_depth)

    def attention(self, prefix: str, x: NDArray[Any], memory: NDArray[Any] | None) -> NDArray[Any]:
        y = self.before(f"{prefix}_Wo", x)
        read = y if memory is None else memory
        q, k, v = (
            self.split(self.dense(z, f"{prefix}_W{c}", f"{prefix}_b{c}"))
            for c, z in (("q", y), ("k", read), ("v", read))
        )
        scores = q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[2])
        weights = np.exp(scores - scores.max(axis=2, keepdims=True))
        weights = weights / weights.sum(axis=2, keepdims=True)
        if prefix.endswith("_context"):
            self.looks.append(weights[:, 0])
        mixed = weights @ v
        y = mixed.transpose(1, 0, 2).reshape(len(x), -1)
        return self.after(f"{prefix}_Wo", self.dense(y, f"{prefix}_Wo", f"{prefix}_bo"), x)

    def split(self, x: NDArray[Any]) -> NDArray[Any]:
        heads = self.config.heads
        return x.reshape(len(x), heads, -1).transpose(1, 0, 2)  # shape: (heads, time, size)

    def feed_forward(self, prefix: str, x: NDArray[Any], depth: int) -> NDArray[Any]:
        y = self.before(f"{prefix}_ffn", x)
        for i in range(1, depth + 1):
            y = self.dense(y, f"{prefix}_W{i}", f"{prefix}_b{i}")
            if i < depth and self.config.activation == "relu":
                y = np.maximum(y, 0)
            elif i < depth:
                y = y / (1 + np.exp(-y))
        return self.after(f"{prefix}_ffn", y, x)

    def dense(self, x: NDArray[Any], name: str, bias: str | None = None) -> NDArray[Any]:
        y = x @ self.weights[name]
        return np.asarray(y if bias is None else y + self.weights[bias])

    def before(self, prefix: str, x: NDArray[Any]) -> NDArray[Any]:
        return self.around(self.config.preprocess, prefix, x, x, "_pre")

    def after(self, prefix: str, x: NDArray[Any], residual: NDArray[Any]) -> NDArray[Any]:
        return self.around(self.config.postprocess, prefix, x, residual)

    def around(
        self, program: str, prefix: str, x: NDArray[Any], residual: NDArray[Any], suffix: str = ""
    ) -> NDArray[Any]:
        for step in program:
            if step == "a":
                x = x + residual
            elif step == "n":
                x = x - x.mean(axis=-1, keepdims=True)
                x = x / np.sqrt((x**2).mean(axis=-1, keepdims=True) + self.config.epsilon)
                x = x * self.weights[f"{prefix}_ln_scale{suffix}"]
                x = x + self.weights[f"{prefix}_ln_bias{suffix}"]
        return x


def marian_yaml(config: TransformerConfig) -> str:
    """Return the options of a network as Marian writes them."""
    shared = config.source_embedding == config.target_embedding
    everything = shared and config.output == config.source_embedding
    rnn = config.decoder == "ssru"
    return f"""dec-cell: ssru
dec-depth: {config.decoder_layers}
dim-emb: {config.dim}
dim-vocabs:
  - {config.source_vocabulary}
  - {config.target_vocabulary}
enc-depth: {config.encoder_layers}
input-types: []
tied-embeddings: {str(config.output.endswith("Wemb") and not everything).lower()}
tied-embeddings-all: {str(everything).lower()}
tied-embeddings-src: {str(shared and not everything).lower()}
transformer-decoder-autoreg: {"rnn" if rnn else "self-attention"}
transformer-ffn-activation: {config.activation}
transformer-ffn-depth: {config.encoder_ffn_depth}
transformer-heads: {config.heads}
transformer-postprocess: {config.postprocess}
transformer-postprocess-emb: {config.postprocess_embedding}
transformer-postprocess-top: "{config.postprocess_top}"
transformer-preprocess: "{config.preprocess}"
transformer-tied-layers: []
type: transformer
version: v1.9.56 2021-04-28 00:28:35 +0100
"""


def marian_file(
    config: TransformerConfig, weights: Mapping[str, Float32], *, int8: bool = True
) -> bytes:
    """Write a model in Marian's binary format, matrices in eight bits with alphas or in float."""
    items: list[tuple[str, int, tuple[int, ...], bytes]] = []
    for name, weight in sorted(weights.items()):
        if int8 and 1 not in weight.shape:
            multiplier = 127 / np.abs(weight).max()
            values = np.rint(weight * multiplier).astype(np.int8)
            stored = values if name.endswith("Wemb") else values.T
            data = np.ascontiguousarray(stored).tobytes() + struct.pack("<f", multiplier)
            items.append((name, 0x4101, weight.shape, data))
            if not name.endswith("Wemb"):
                items.append((f"{name}_QuantMultA", 0x404, (1, 1), struct.pack("<f", 24.0)))
        else:
            items.append((name, 0x404, weight.shape, weight.tobytes()))
    if int8:
        items.append(("none_QuantMultA", 0x404, (1, 1), struct.pack("<f", 24.0)))
    yaml = marian_yaml(config).encode() + b"\0"
    items.append(("special:model.yml", 0x101, (len(yaml),), yaml))
    return marian_container(items)


def marian_container(items: Sequence[tuple[str, int, tuple[int, ...], bytes]]) -> bytes:
    """Put items, as name, type, shape and data, into a file."""
    names = [name.encode() + b"\0" for name, *_ in items]
    datas = [data + b"\0" * (-len(data) % 256) for *_, data in items]
    out = struct.pack("<QQ", 1, len(items))
    for (_, kind, shape, _), name, data in zip(items, names, datas, strict=True):
        out += struct.pack("<4Q", len(name), kind, len(shape), len(data))
    out += b"".join(names)
    out += b"".join(struct.pack(f"<{len(shape)}i", *shape) for _, _, shape, _ in items)
    padding = -(len(out) + 8) % 256
    return out + struct.pack("<Q", padding) + b"\0" * padding + b"".join(datas)


def shortlist_file(lists: Sequence[Sequence[int]], first: int = 4) -> bytes:
    """Write a binary shortlist, the entries of each source token given."""
    offsets = np.cumsum([0, *map(len, lists)]).astype("<u8")
    entries = np.array([entry for entries in lists for entry in entries], "<u4")
    sizes = (0xF11A48D5013417F5, 0, first, 50, len(offsets), len(entries))
    return struct.pack("<6Q", *sizes) + offsets.tobytes() + entries.tobytes()


def vocabulary_file(size: int = VOCABULARY) -> bytes:
    """Train a SentencePiece model with ids as Marian has them."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(CORPUS * 4),
        model_writer=model,
        vocab_size=size,
        model_type="unigram",
        bos_id=-1,
        eos_id=0,
        unk_id=1,
        pad_id=-1,
        hard_vocab_limit=True,
        minloglevel=2,
    )
    return model.getvalue()
