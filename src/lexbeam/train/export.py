"""From a trained network to the bundle that `lexbeam.load` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.models import bundle
from lexbeam.models.graphs.rnn import RnnConfig
from lexbeam.models.graphs.transformer import TransformerConfig
from lexbeam.train.config import NetworkConfig, RunConfig
from lexbeam.train.rnn import RecurrentNetwork
from lexbeam.train.transformer import Transformer
from lexbeam.train.vocabulary import Vocabulary


def export(
    config: RunConfig,
    network: Transformer | RecurrentNetwork,
    vocabulary: Vocabulary,
    folder: Path,
    sentences: Sequence[str],
) -> None:
    """Write the bundle of a trained network in eight bits, measured on some source sentences."""
    bundle.write(
        graph_config(config.network, vocabulary.size),
        network.named_weights(),
        vocabulary.stored,
        folder,
        source_language=config.source_language or None,
        target_language=config.target_language or None,
        max_source_length=config.data.max_tokens,
        calibration_text=sentences,
        alignment=aligned_head(config),
    )


def aligned_head(config: RunConfig) -> tuple[int, int] | None:
    """Return the decoder layer and the head that learn to align, if they do."""
    if not config.alignment.weight:
        return None
    layer = config.network.decoder_layers - 1 if config.network.kind == "transformer" else 0
    return layer, config.alignment.head


def graph_config(network: NetworkConfig, vocabulary: int) -> TransformerConfig | RnnConfig:
    """Describe a network to the graph builder of its family."""
    if network.kind == "rnn":
        return RnnConfig(
            source_vocabulary=vocabulary,
            target_vocabulary=vocabulary,
            dim=network.dim,
            encoder_layers=network.encoder_layers,
            decoder_layers=network.decoder_layers,
        )
    return TransformerConfig(
        source_vocabulary=vocabulary,
        target_vocabulary=vocabulary,
        dim=network.dim,
        heads=network.heads,
        encoder_layers=network.encoder_layers,
        decoder_layers=network.decoder_layers,
        decoder=network.decoder,
    )
