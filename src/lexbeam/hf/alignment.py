"""Which layer and head of a Hugging Face model are taken for an alignment."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from huggingface_hub import try_to_load_from_cache
from huggingface_hub.errors import HFValidationError

from lexbeam.errors import SettingError
from lexbeam.models.engines.transformers_attention import Alignment
from lexbeam.models.importers.huggingface.model_card import CARD, aligned_head


def read_alignment(given: object) -> Alignment | None:
    """Return the layer and head that a caller names; None: the model's card may name them."""
    if given is None:
        return None
    if isinstance(given, tuple | list) and len(given) == 2:
        layer, head = given
        if _is_count(layer) and (head is None or _is_count(head)):
            return layer, head
    raise SettingError(
        "alignment must be a decoder layer and one of its heads, both counted from 0, "
        f"or None for all heads, not {given!r}"
    )


def find_alignment(model: Any) -> Alignment | None:
    """Return the layer and head that were trained to align, if the model's card says so.

    The card is looked for in the folder that the model was loaded from, or in the cache of the
    hub; nothing is downloaded.
    """
    layers: int = getattr(model.config, "decoder_layers", 0)
    card = _card(str(getattr(model, "name_or_path", "") or "")) if layers else None
    return None if card is None else aligned_head(card, layers)


def _card(name: str) -> Path | None:
    if not name:
        return None
    if Path(name).is_dir():
        return Path(name) / CARD
    try:
        found = try_to_load_from_cache(name, CARD)
    except HFValidationError:
        return None
    return Path(found) if isinstance(found, str) else None


def _is_count(given: object) -> bool:
    return isinstance(given, int) and not isinstance(given, bool) and given >= 0
