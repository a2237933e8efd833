"""Constrained search for Hugging Face models as they are (extra ``hf``).

>>> from lexbeam.hf import generate
>>> model.generate(**inputs, custom_generate=generate, num_beams=10,
...                constraints=[[[12, 7], [31]], []])  # doctest: +SKIP

See `lexbeam.hf.decoding` for what is honoured and what is refused, docs/huggingface.md for
recipes.
"""

from __future__ import annotations

from lexbeam.errors import MissingExtraError

try:
    import torch  # noqa: F401
    import transformers  # noqa: F401
except ImportError as error:
    raise MissingExtraError("driving a Hugging Face model", "hf") from error

from lexbeam.hf.decoding import constrained, generate

__all__ = ["constrained", "generate"]
