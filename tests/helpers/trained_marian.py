"""A Marian checkpoint that has learned to translate word by word, and to align."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import torch
import transformers

from helpers.checkpoints import pieces_of, sentence_pieces

WORDS = {
    "the": "das",
    "old": "alte",
    "new": "neue",
    "red": "rote",
    "cat": "Tier",
    "house": "Haus",
    "factory": "Fabrik",
    "car": "Auto",
    "stands": "steht",
    "burns": "brennt",
    "here": "hier",
    "today": "heute",
}
MORE = ("Werk", "Gebäude", "Wagen", "Katze")
"""Words that the model knows and never says by itself."""

_IGNORED = -100  # what the loss leaves out


def _sentence(chance: random.Random) -> list[str]:
    noun = chance.choice(["cat", "house", "factory", "car"])
    adjective = chance.sample(["old", "new", "red"], chance.randint(0, 2))
    adverb = chance.sample(["here", "today"], chance.randint(0, 2))
    return ["the", *adjective, noun, chance.choice(["stands", "burns"]), *adverb]


def write(folder: Path, steps: int = 120) -> Any:
    """Train a model and write it with its tokenizer; return it."""
    folder.mkdir(parents=True, exist_ok=True)
    _write_tokenizer(folder)
    tokenizer = transformers.MarianTokenizer.from_pretrained(folder)
    size = len(tokenizer)
    torch.manual_seed(3)
    config = transformers.MarianConfig(
        vocab_size=size,
        d_model=32,
        encoder_layers=1,
        decoder_layers=1,
        encoder_attention_heads=2,
        decoder_attention_heads=2,
        encoder_ffn_dim=32,
        decoder_ffn_dim=32,
        max_position_embeddings=32,
        dropout=0.0,
        init_std=0.15,
        pad_token_id=size - 1,
        eos_token_id=0,
        decoder_start_token_id=size - 1,
        forced_eos_token_id=0,
    )
    model = transformers.MarianMTModel(config)
    model.set_attn_implementation("eager")
    threads = torch.get_num_threads()
    torch.set_num_threads(1)  # for so little, a second one only gets in the way
    _train(model, tokenizer, steps)
    torch.set_num_threads(threads)
    model.eval().save_pretrained(folder)
    return model


def _write_tokenizer(folder: Path) -> None:
    source = sentence_pieces(list(WORDS), 140, "bpe")
    target = sentence_pieces([*WORDS.values(), *MORE], 200, "bpe")
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    pieces = dict.fromkeys([*pieces_of(target), *pieces_of(source)])
    kept = [piece for piece in pieces if piece not in {"</s>", "<unk>", "<s>"}]
    texts = ["</s>", "<unk>", *kept, "<pad>"]
    vocabulary = {text: token for token, text in enumerate(texts)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    names = [str(folder / name) for name in ("source.spm", "target.spm", "vocab.json")]
    transformers.MarianTokenizer(*names, source_lang="en", target_lang="de").save_pretrained(folder)


def _train(model: Any, tokenizer: Any, steps: int) -> None:
    chance = random.Random(1)
    optimizer = torch.optim.Adam(model.parameters(), lr=5e-3)
    for step in range(steps):
        for group in optimizer.param_groups:
            group["lr"] = 5e-3 * min(1.0, (step + 1) / 30)
        sources = [_sentence(chance) for _ in range(32)]
        targets = [" ".join(WORDS[word] for word in words) for words in sources]
        batch = tokenizer(
            [" ".join(words) for words in sources],
            text_target=targets,
            return_tensors="pt",
            padding=True,
        )
        batch["labels"][batch["labels"] == tokenizer.pad_token_id] = _IGNORED
        found = model(**batch, output_attentions=True)
        scores, labels = found.logits.flatten(0, 1), batch["labels"].flatten()
        # With smoothing every word is possible everywhere.
        loss = torch.nn.functional.cross_entropy(scores, labels, label_smoothing=0.1)
        # Guided alignment: the first head of the last layer looks at the word to be said next.
        looks = found.cross_attentions[-1][:, 0].diagonal(dim1=1, dim2=2)
        real = batch["labels"] != _IGNORED
        guided = -looks.clamp(min=1e-6).log()[real].mean()
        (loss + guided).backward()
        optimizer.step()
        optimizer.zero_grad()
