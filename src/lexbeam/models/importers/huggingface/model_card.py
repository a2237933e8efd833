"""What the card of a Hugging Face model says that its configuration does not."""

from __future__ import annotations

from pathlib import Path

CARD = "README.md"

_ALIGNED = "transformer-align"
"""What OPUS-MT calls models that were trained with guided alignment."""


def aligned_head(card: Path, decoder_layers: int) -> tuple[int, int] | None:
    """Return the layer and head that Marian's guided alignment trains, if the card names it."""
    text = card.read_text(encoding="utf-8", errors="replace") if card.is_file() else ""
    return (decoder_layers - 1, 0) if _ALIGNED in text else None
