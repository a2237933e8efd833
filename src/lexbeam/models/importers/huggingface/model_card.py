"""What the card of a Hugging Face model says that its configuration does not."""

from __future__ import annotations

from pathlib import Path

from lexbeam.models.file_reading import LARGEST_VOCABULARY, read_file

CARD = "README.md"

_ALIGNED = b"transformer-align"
"""What OPUS-MT calls models that were trained with guided alignment."""


def aligned_head(card: Path, decoder_layers: int) -> tuple[int, int] | None:
    """Return the layer and head that Marian's guided alignment trains, if the card names it."""
    text = read_file(card, LARGEST_VOCABULARY) if card.exists() else b""
    return (decoder_layers - 1, 0) if _ALIGNED in text else None
