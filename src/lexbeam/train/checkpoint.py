"""Checkpoints: what a run needs to go on exactly where it was, and averages for the end."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import torch
from torch import Tensor

from lexbeam.errors import ModelError
from lexbeam.text.atomic_write import replacing


@dataclass
class Progress:
    """Where a run stands, weights and optimiser apart."""

    step: int = 0
    epoch: int = 0
    epoch_step: int = 0
    """Steps done of this pass over the data."""
    tokens: int = 0
    """Target tokens seen."""
    seconds: float = 0.0
    """Time spent in steps."""
    decay_start: int = -1
    """The step at which the final decay began; -1 before it has."""
    decay_steps: int = 0
    begun: float = 0.0
    """When the first step was taken, in seconds of the clock."""
    decay_from: float = 0.0
    """Where a decay that follows the clock has, or would have, the full rate."""
    decay_until: float = 0.0
    """Where it ends; 0: the decay counts steps."""
    best_loss: float = float("inf")
    stale: int = 0
    """Validations since the best one."""
    skipped: int = 0
    """Steps in a row whose gradient was not a number."""
    guided: float = 0.0
    """Since the last line of the log: loss of the alignment."""
    window: list[float] = field(default_factory=lambda: [0.0, 0.0, 0.0])
    """Since the last line of the log: loss, cross-entropy, tokens."""


def save(path: Path, content: dict[str, Any]) -> None:
    """Write a checkpoint so that a kill at any moment leaves the old one or the new one."""
    with replacing(path) as file:
        torch.save(content, file)


def load(path: Path) -> dict[str, Any]:
    """Read a checkpoint."""
    try:
        content: dict[str, Any] = torch.load(path, map_location="cpu", weights_only=True)
    except Exception as error:  # torch raises many kinds for a damaged file
        raise ModelError(f"{path}: not a checkpoint of lexbeam ({error})") from error
    return content


def pack(
    progress: Progress,
    network: torch.nn.Module,
    optimizer: Any,
    average: dict[str, Tensor] | None = None,
) -> dict[str, Any]:
    """Collect everything a run needs to go on; ``average`` is the moving one, if there is any."""
    return {
        "progress": asdict(progress),
        "network": network.state_dict(),
        "optimizer": optimizer.state_dict(),
        "average": average,
    }


def unpack(content: dict[str, Any], network: torch.nn.Module, optimizer: Any) -> Progress:
    """Put a checkpoint's content back where it came from."""
    network.load_state_dict(content["network"])
    optimizer.load_state_dict(content["optimizer"])
    return Progress(**content["progress"])


def average(paths: Sequence[Path]) -> dict[str, Tensor]:
    """Average the weights of several checkpoints: steadier than any one of them."""
    if not paths:
        raise ModelError("no checkpoint to average: the run ended before its first validation")
    total: dict[str, Tensor] = {}
    for path in paths:
        for name, weight in load(path)["network"].items():
            total[name] = total[name] + weight.double() if name in total else weight.double()
    return {name: (weight / len(paths)).float() for name, weight in total.items()}
