"""From a trained network to the bundle that `lexbeam.load` takes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from lexbeam.models import bundle
from lexbeam.train.config import RunConfig
from lexbeam.train.parts import TiedNetwork
from lexbeam.train.vocabulary import Vocabulary


def export(
    config: RunConfig,
    network: TiedNetwork,
    vocabulary: Vocabulary,
    folder: Path,
    sentences: Sequence[str],
) -> None:
    """Write the bundle of a trained network in eight bits, measured on some source sentences."""
    bundle.write(
        network.architecture(),
        network.named_weights(),
        vocabulary.stored,
        folder,
        source_language=config.source_language or None,
        target_language=config.target_language or None,
        max_source_length=config.data.max_tokens,
        calibration_text=sentences,
        alignment=aligned_head(config, network),
        reads_terms=config.alignment.terms > 0,
    )


def aligned_head(config: RunConfig, network: TiedNetwork) -> tuple[int, int] | None:
    """Return the decoder layer and the head that learn to align, if they do."""
    if not config.alignment.weight:
        return None
    layers, _ = network.architecture().aligned_layers_and_heads
    return layers - 1, config.alignment.head
