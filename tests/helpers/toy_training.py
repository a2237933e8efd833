"""A toy language: every word has one translation, and the order of words stays."""

from __future__ import annotations

import random
from pathlib import Path

WORDS = {
    "one": "eins", "two": "zwei", "red": "rot", "blue": "blau", "house": "Haus", "tree": "Baum",
    "and": "und", "big": "groß", "small": "klein", "sees": "sieht", "dog": "Hund", "cat": "Katze",
}  # fmt: skip

CONFIG = """
directory = "run"
source_language = "en"
target_language = "de"
threads = 1

[data]
max_tokens = 64
[[data.train]]
path = "train.tsv"
join = 0.1
swap = 0.1
[[data.dev]]
path = "dev.tsv"

[vocabulary]
kind = "{vocabulary}"
size = {size}

[network]
kind = "{kind}"
dim = 32
ffn = 64
heads = 4
dropout = 0.0
encoder_layers = 2
decoder_layers = 2

[schedule]
learning_rate = 8e-3
warmup_steps = 20
max_steps = {steps}

[training]
batch_tokens = 300
log_every = 5
validate_every = 40
checkpoint_minutes = 0.01
keep = 2
"""


def write_toy_run(
    directory: Path,
    steps: int,
    kind: str = "transformer",
    vocabulary: str = "sentencepiece",
    size: int = 510,
) -> Path:
    """Write text and configuration of a toy run; return the configuration's path."""
    directory.mkdir(exist_ok=True)
    rng = random.Random(7)
    for name, count in (("train", 600), ("dev", 20)):
        lines = []
        for _ in range(count):
            words = rng.choices(list(WORDS), k=rng.randint(2, 6))
            lines.append(f"{' '.join(words)}\t{' '.join(WORDS[word] for word in words)}\n")
        (directory / f"{name}.tsv").write_text("".join(lines), encoding="utf-8")
    config = directory / "toy.toml"
    config.write_text(
        CONFIG.format(kind=kind, steps=steps, vocabulary=vocabulary, size=size), encoding="utf-8"
    )
    return config
