"""The training loop: steps, log, validation, checkpoints.

A run killed at any moment and started again gives the log that it would have given: the order
of the data and every random number follow from the seed and the number of the step, and the log
is cut back to the checkpoint on resumption. Times go to a file of their own.
"""

from __future__ import annotations

import json
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import numpy as np
import torch
from torch import nn

from lexbeam.errors import ModelError
from lexbeam.text.atomic_write import remove_unfinished, write_file
from lexbeam.train import checkpoint
from lexbeam.train.average import MovingAverage
from lexbeam.train.batches import Batch, EncodedPairs, plan_batches
from lexbeam.train.checkpoint import Progress
from lexbeam.train.config import RunConfig
from lexbeam.train.parts import Losses
from lexbeam.train.schedule import begin_decay_if_due, decay_by_clock, is_done, learning_rate
from lexbeam.train.vocabulary import EOS

LAST = "last.pt"
BEFORE_DECAY = "before-decay.pt"
LOG = "log.jsonl"
TIMES = "times.jsonl"
DECAY = "decay"
"""A file of this name tells a run to let its rate fall to zero in the minutes that it names."""
DECAY_MINUTES = 10.0
PAUSE = 10.0
"""A step that takes this many times the usual was paused from outside; the pause is not counted."""
MOST_SKIPPED = 20
"""Steps in a row that may fail before the run is given up."""

MakeEpoch = Callable[[int], EncodedPairs]
Measure = Callable[[nn.Module], dict[str, float]]


class Trainer:
    """Drives a network through its run; everything it must remember is in its checkpoints."""

    def __init__(
        self,
        config: RunConfig,
        network: nn.Module,
        make_epoch: MakeEpoch,
        dev: Sequence[tuple[str, EncodedPairs]],
        measure_bleu: Measure | None = None,
    ) -> None:
        self.config = config
        self.directory = Path(config.directory)
        self.network = network
        self.optimizer = make_optimizer(config, network)
        self.progress = Progress()
        share = config.training.ema
        self.average = MovingAverage(network, share) if share else None
        self._make_epoch = make_epoch
        self._dev = dev
        self._measure_bleu = measure_bleu
        self._usual_seconds = 0.0
        self._stop = False

    def resume(self) -> None:
        """Go back to the last checkpoint, if there is one.

        When the budget has been raised since a decay began, that is the one before the decay.
        """
        remove_unfinished(self.directory)
        now = time.time()
        has_begun = self._load(LAST)  # Else nothing counts that was logged before.
        decays_by_clock = now < self.progress.decay_until
        if has_begun and self.progress.decay_start >= 0 and not decays_by_clock:
            self._go_back_before_decay(now)
        for name in (LOG, TIMES):
            _cut_log(self.directory / name, self.progress.step)
        for path in kept_checkpoints(self.directory):
            if path.stem > _stem(self.progress.step):
                path.unlink()

    def _go_back_before_decay(self, now: float) -> None:
        """Go back to before the decay, unless one would have to begin there at once."""
        if self._load(BEFORE_DECAY):
            self.progress.decay_start = -1
            if begin_decay_if_due(self.config.schedule, replace(self.progress), now):
                self._load(LAST)

    def _load(self, name: str) -> bool:
        path = self.directory / name
        if not path.exists():
            return False
        content = checkpoint.load(path)
        self.progress = checkpoint.unpack(content, self.network, self.optimizer)
        if self.average:
            self.average.load(content.get("average") or content["network"])
        return True

    def run(self) -> bool:
        """Train to the end of the budget; return False when asked to stop before it."""
        old = {s: signal.signal(s, self._ask_to_stop) for s in (signal.SIGTERM, signal.SIGINT)}
        try:
            return self._run()
        finally:
            for number, handler in old.items():
                signal.signal(number, handler)

    def _run(self) -> bool:
        progress, schedule = self.progress, self.config.schedule
        saved = time.monotonic()
        progress.begun = progress.begun or time.time()
        while not is_done(progress, time.time()):
            pairs = self._make_epoch(progress.epoch)
            plan = plan_batches(
                pairs,
                self.config.training.batch_tokens,
                self.config.training.accumulate,
                seed=(self.config.seed, progress.epoch),
            )
            while progress.epoch_step < len(plan) and not is_done(progress, time.time()):
                if begin_decay_if_due(schedule, progress, time.time()):
                    self._save(BEFORE_DECAY)
                    continue
                self._decay_if_told()
                self._step([pairs.batch(indices) for indices in plan[progress.epoch_step]])
                self._report()
                minutes = (time.monotonic() - saved) / 60
                if self._stop or minutes > self.config.training.checkpoint_minutes:
                    self._save(LAST)
                    saved = time.monotonic()
                if self._stop:
                    return False
            if progress.epoch_step >= len(plan):
                progress.epoch, progress.epoch_step = progress.epoch + 1, 0
        self._save(LAST)
        return True

    def _decay_if_told(self) -> None:
        """Begin or hasten the decay when a file in the run's directory says so."""
        path = self.directory / DECAY
        if not path.exists():
            return
        now = time.time()
        decay_by_clock(self.progress, now, now + 60 * read_minutes(path))
        self._save(LAST)
        path.unlink()

    def _step(self, batches: Sequence[Batch]) -> None:
        """Take one optimiser step over the micro-batches."""
        begun = time.monotonic()
        progress, training = self.progress, self.config.training
        torch.manual_seed(self.config.seed * 1_000_003 + progress.step)
        rate = learning_rate(self.config.schedule, progress, time.time())
        for group in self.optimizer.param_groups:
            group["lr"] = rate
        self.network.train()
        self.optimizer.zero_grad(set_to_none=True)
        tokens = sum(batch.target_tokens for batch in batches)
        sums = [0.0, 0.0, float(tokens)]
        for batch in batches:
            losses = batch_loss(
                self.network,
                batch,
                training.label_smoothing,
                training.bf16,
                self.config.alignment.head,
            )
            loss = losses.training
            if losses.guided is not None:
                loss = loss + self.config.alignment.weight * losses.guided
                progress.guided += losses.guided.item()
            torch.autograd.backward(loss / tokens)
            sums[0] += losses.training.item()
            sums[1] += losses.plain.item()
        norm = nn.utils.clip_grad_norm_(self.network.parameters(), training.clip_norm)
        self._step_if_finite(norm)
        progress.step += 1
        progress.epoch_step += 1
        progress.tokens += tokens
        progress.window = [old + new for old, new in zip(progress.window, sums, strict=True)]
        progress.seconds += self._without_pause(time.monotonic() - begun)

    def _step_if_finite(self, norm: torch.Tensor) -> None:
        """Leave out a step whose gradient is not a number; give up when they all are not."""
        progress = self.progress
        if bool(torch.isfinite(norm)):
            self.optimizer.step()
            if self.average:
                self.average.update(self.network, progress.step)
            progress.skipped = 0
            return
        progress.skipped += 1
        if progress.skipped > MOST_SKIPPED:
            raise ModelError(
                f"training diverged at step {progress.step}: lower schedule.learning_rate or "
                "raise schedule.warmup_steps, and start in a new directory"
            )

    def _without_pause(self, seconds: float) -> float:
        usual = self._usual_seconds or seconds
        if seconds > PAUSE * usual:
            seconds = usual
        self._usual_seconds = 0.95 * usual + 0.05 * seconds
        return seconds

    def _report(self) -> None:
        """Write the log, the progress line and the validation that are due at this step."""
        progress, training = self.progress, self.config.training
        if progress.step % training.log_every == 0:
            loss, plain, tokens = progress.window
            progress.window = [0.0, 0.0, 0.0]
            entry: dict[str, Any] = {
                "step": progress.step,
                "epoch": progress.epoch,
                "tokens": progress.tokens,
                "loss": round(loss / tokens, 5),
                "cross_entropy": round(plain / tokens, 5),
                "learning_rate": learning_rate(self.config.schedule, progress, time.time()),
            }
            if self.config.alignment.weight:
                entry["alignment"] = round(progress.guided / tokens, 5)
                progress.guided = 0.0
            self._log(LOG, entry)
            times = {"step": progress.step, "seconds": round(progress.seconds, 1)}
            self._log(TIMES, times | {"clock": round(time.time())})
            self._show(f"loss {entry['loss']:.3f}")
        if progress.step % training.validate_every == 0:
            self._validate()

    def _validate(self) -> None:
        """Measure the development sets, and keep the weights for averaging."""
        average = self.average
        with average.instead(self.network) if average else nullcontext():
            self._measure()
            path = self.directory / f"{_stem(self.progress.step)}.pt"
            checkpoint.save(path, {"network": self.network.state_dict()})
        for old in kept_checkpoints(self.directory)[: -self.config.training.keep]:
            old.unlink()

    def _measure(self) -> None:
        """Measure the development sets, and log the result."""
        progress, training = self.progress, self.config.training
        results = {name: dev_loss(self.network, pairs, self.config) for name, pairs in self._dev}
        losses = {name: loss for name, (loss, _) in results.items()}
        entry: dict[str, Any] = {"step": progress.step, "dev": losses}
        if self.config.alignment.weight:
            entry["aligned"] = {name: aligned for name, (_, aligned) in results.items()}
        if losses:
            mean = sum(losses.values()) / len(losses)
            entry["dev_loss"] = round(mean, 5)
            progress.stale = 0 if mean < progress.best_loss else progress.stale + 1
            progress.best_loss = min(mean, progress.best_loss)
        every = training.bleu_every * training.validate_every
        if self._measure_bleu and every and progress.step % every == 0:
            entry["bleu"] = self._measure_bleu(self.network)
        self._log(LOG, entry)
        shown = (f"{name} {loss:.3f}" for name, loss in losses.items())
        more = f"{entry.get('aligned', '')} {entry.get('bleu', '')}"
        self._show(f"dev {', '.join(shown)} {more}", end="\n")

    def _save(self, name: str) -> None:
        average = self.average.weights if self.average else None
        content = checkpoint.pack(self.progress, self.network, self.optimizer, average)
        checkpoint.save(self.directory / name, content)

    def _log(self, name: str, entry: dict[str, Any]) -> None:
        with (self.directory / name).open("a", encoding="utf-8") as file:
            file.write(json.dumps(entry) + "\n")

    def _show(self, message: str, end: str = "\r") -> None:
        progress = self.progress
        speed = progress.tokens / max(progress.seconds, 1e-9)
        line = (
            f"step {progress.step:,} · pass {progress.epoch + 1} · {progress.tokens:,} tokens · "
            f"{speed:,.0f}/s · {progress.seconds / 3600:.2f} h · {message}"
        )
        sys.stderr.write(line + (end if sys.stderr.isatty() else "\n"))
        sys.stderr.flush()

    def _ask_to_stop(self, number: int, frame: FrameType | None) -> None:  # noqa: ARG002
        self._stop = True


def make_optimizer(config: RunConfig, network: nn.Module) -> torch.optim.Optimizer:
    """Make Adam; matrices decay, biases and norms do not."""
    matrices = [p for p in network.parameters() if p.dim() > 1]
    vectors = [p for p in network.parameters() if p.dim() <= 1]
    return torch.optim.AdamW(
        [
            {"params": matrices, "weight_decay": config.training.weight_decay},
            {"params": vectors, "weight_decay": 0.0},
        ],
        lr=config.schedule.learning_rate,
        betas=config.training.betas,
        eps=1e-8,
        fused=True,
    )


def batch_loss(
    network: nn.Module, batch: Batch, smoothing: float, bf16: bool, head: int = 0
) -> Losses:
    """Return what a batch costs, its alignment with it if the batch has a guide."""
    arrays = (batch.source, batch.source_lengths, batch.target, batch.target_lengths)
    guide = None if batch.guide is None else torch.from_numpy(batch.guide)
    with torch.autocast("cpu", torch.bfloat16, enabled=bf16):
        losses: Losses = network(
            *(torch.from_numpy(array) for array in arrays), smoothing, guide, head
        )
    return losses


@torch.no_grad()
def dev_loss(network: nn.Module, pairs: EncodedPairs, config: RunConfig) -> tuple[float, float]:
    """Return the cross-entropy a target token of a development set, and how well it is aligned.

    That is the share of its aligned target pieces whose head looks most at a piece that they are
    aligned to, ends of sentence apart.
    """
    network.eval()
    total, tokens, hits, aligned = 0.0, 0, 0, 0
    training = config.training
    for (indices,) in plan_batches(pairs, training.batch_tokens, 1, seed=()):
        batch = pairs.batch(indices)
        losses = batch_loss(network, batch, 0.0, training.bf16, config.alignment.head)
        total += losses.plain.item()
        tokens += batch.target_tokens
        if losses.attention is not None and batch.guide is not None:
            looked_at = losses.attention.argmax(dim=2, keepdim=True).numpy()
            right = np.take_along_axis(batch.guide, looked_at, axis=2)[..., 0] > 0
            counted = (batch.guide.sum(axis=2) > 0) & (batch.target != EOS)
            hits += int((right & counted).sum())
            aligned += int(counted.sum())
    return round(total / tokens, 5), round(hits / max(aligned, 1), 4)


def final_weights(directory: Path) -> dict[str, torch.Tensor]:
    """Return the weights that a run has to show: averaged, in one way or the other."""
    last = checkpoint.load(directory / LAST)
    if last.get("average"):
        average: dict[str, torch.Tensor] = last["average"]
        return average
    kept = kept_checkpoints(directory)
    return checkpoint.average(kept) if kept else last["network"]


def read_minutes(path: Path) -> float:
    """Read how many minutes a decay may take; what is no number is the usual time."""
    try:
        return max(0.0, float(path.read_text(encoding="utf-8")))
    except ValueError:
        return DECAY_MINUTES


def kept_checkpoints(directory: Path) -> list[Path]:
    """List the weights kept for averaging, oldest first."""
    return sorted(directory.glob("step-*.pt"))


def _stem(step: int) -> str:
    return f"step-{step:08d}"


def _cut_log(path: Path, step: int) -> None:
    """Drop what a killed run logged after its last checkpoint: it will be logged again."""
    if not path.exists():
        return
    kept = []
    for line in path.read_text(encoding="utf-8").splitlines():
        try:
            if json.loads(line)["step"] <= step:
                kept.append(line + "\n")
        except ValueError:
            break
    write_file(path, "".join(kept))
