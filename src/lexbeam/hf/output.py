"""What ``generate`` returns: sequences as one tensor, and the scores of all steps."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor
from transformers import GenerationConfig
from transformers.generation import (
    GenerateBeamDecoderOnlyOutput,
    GenerateBeamEncoderDecoderOutput,
)

from lexbeam.search.beam import Hypothesis

NOTHING = Hypothesis([], -1e9, -1e9, [], False)
"""Fills up where fewer outputs were found than asked for; ``generate`` gives the same score."""


class Record:
    """The scores and logits of all steps, if they are asked for."""

    def __init__(self, config: GenerationConfig) -> None:
        asked = bool(config.return_dict_in_generate)
        self.scores: tuple[Tensor, ...] | None = () if asked and config.output_scores else None
        self.logits: tuple[Tensor, ...] | None = () if asked and config.output_logits else None

    @property
    def is_wanted(self) -> bool:
        """Whether anything is to be recorded."""
        return self.scores is not None or self.logits is not None

    def add(self, logits: Tensor, scores: Tensor, is_first: bool) -> None:
        """Record one step; the first of a search forgets the draft, or the search, before it."""
        if is_first:
            self.scores = None if self.scores is None else ()
            self.logits = None if self.logits is None else ()
        if self.scores is not None:
            self.scores = (*self.scores, scores)
        if self.logits is not None:
            self.logits = (*self.logits, logits.clone())


def pack(
    found: Sequence[Sequence[Hypothesis]],
    prompts: Tensor,  # shape: (sentences, prompt)
    beams: int,
    returned: int,
    fill: int,
) -> tuple[Tensor, Tensor, Tensor]:
    """Return sequences, scores and beam indices of the best outputs of each sentence.

    # shape: (sentences · returned, prompt and output), (…,), (…, output). A beam index counts
    the beams through the batch.
    """
    kept = [[*best[:returned], *[NOTHING] * (returned - len(best))] for best in found]
    width = max(len(_written(hypothesis)) for best in kept for hypothesis in best)
    rows = len(kept) * returned
    output = torch.full((rows, width), fill, dtype=prompts.dtype)
    indices = torch.full((rows, width), -1, dtype=torch.int32)
    for row, (sentence, hypothesis) in enumerate(
        (sentence, hypothesis) for sentence, best in enumerate(kept) for hypothesis in best
    ):
        tokens = torch.tensor(_written(hypothesis), dtype=output.dtype)
        output[row, : len(tokens)] = tokens
        slots = torch.tensor(hypothesis.slots, dtype=torch.int32)
        indices[row, : len(slots)] = slots + sentence * beams
    scores = torch.tensor([hypothesis.score for best in kept for hypothesis in best])
    sequences = torch.cat((prompts.repeat_interleave(returned, 0), output.to(prompts.device)), 1)
    return sequences, scores.to(prompts.device), indices.to(prompts.device)


def _written(hypothesis: Hypothesis) -> list[int]:
    end = [] if hypothesis.end is None else [hypothesis.end]
    return [*hypothesis.tokens, *end]


def as_asked(
    config: GenerationConfig,
    packed: tuple[Tensor, Tensor, Tensor],
    record: Record,
    is_encoder_decoder: bool,
) -> Any:
    """Return the sequences, or all results if a dictionary is asked for."""
    sequences, scores, indices = packed
    if not config.return_dict_in_generate:
        return sequences
    kind = GenerateBeamEncoderDecoderOutput if is_encoder_decoder else GenerateBeamDecoderOnlyOutput
    return kind(
        sequences=sequences,
        sequences_scores=scores if config.output_scores else None,
        scores=record.scores,
        logits=record.logits,
        beam_indices=indices,
    )


def fill_token(config: GenerationConfig) -> int:
    """Return the token with which ``generate`` pads short outputs."""
    ends = getattr(config, "_eos_token_tensor", None)
    if ends is None:
        return -1
    pad = getattr(config, "_pad_token_tensor", None)
    return int(pad or ends[0])
