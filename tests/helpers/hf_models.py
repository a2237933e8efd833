"""Small random Hugging Face models of each family, and tokenizers as real files."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import torch
from transformers import (
    BartConfig,
    BartForConditionalGeneration,
    GPT2Config,
    GPT2LMHeadModel,
    M2M100Config,
    M2M100ForConditionalGeneration,
    MarianConfig,
    MarianMTModel,
    MBartConfig,
    MBartForConditionalGeneration,
    T5Config,
    T5ForConditionalGeneration,
)

from helpers import toy_text

VOCABULARY = 40
SMALL: dict[str, Any] = {
    "d_model": 16,
    "encoder_layers": 2,
    "decoder_layers": 2,
    "encoder_attention_heads": 2,
    "decoder_attention_heads": 2,
    "encoder_ffn_dim": 32,
    "decoder_ffn_dim": 32,
    "max_position_embeddings": 64,
    "init_std": 0.9,  # far from uniform, so that beams are not decided by rounding
}


def marian(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    config = MarianConfig(
        vocab_size=vocabulary,
        eos_token_id=0,
        pad_token_id=vocabulary - 1,
        decoder_start_token_id=vocabulary - 1,
        forced_eos_token_id=0,
        **SMALL,
    )
    return MarianMTModel(config).eval()


def m2m100(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    config = M2M100Config(vocab_size=vocabulary, decoder_start_token_id=2, **SMALL)
    return M2M100ForConditionalGeneration(config).eval()


def t5(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    config = T5Config(
        vocab_size=vocabulary,
        d_model=16,
        d_kv=8,
        d_ff=32,
        num_layers=2,
        num_heads=2,
        decoder_start_token_id=0,
        initializer_factor=3.0,
    )
    return T5ForConditionalGeneration(config).eval()


def bart(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    return BartForConditionalGeneration(BartConfig(vocab_size=vocabulary, **SMALL)).eval()


def mbart(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    return MBartForConditionalGeneration(
        MBartConfig(vocab_size=vocabulary, decoder_start_token_id=2, **SMALL)
    ).eval()


def gpt2(seed: int = 0, vocabulary: int = VOCABULARY) -> Any:
    torch.manual_seed(seed)
    config = GPT2Config(
        vocab_size=vocabulary,
        n_embd=16,
        n_layer=2,
        n_head=2,
        n_positions=64,
        bos_token_id=1,
        eos_token_id=2,
        pad_token_id=0,
        initializer_range=0.9,
    )
    return GPT2LMHeadModel(config).eval()


FAMILIES: dict[str, Callable[..., Any]] = {
    "marian": marian,
    "m2m100": m2m100,
    "t5": t5,
    "bart": bart,
    "mbart": mbart,
    "gpt2": gpt2,
}


def inputs(model: Any, sentences: int, seed: int = 0) -> dict[str, torch.Tensor]:
    """Return sentences of different lengths; decoder-only models are padded on the left."""
    random = torch.Generator().manual_seed(seed)
    lengths = [2 + (3 * i + seed) % 5 for i in range(sentences)]
    ids = torch.full((sentences, max(lengths)), int(model.config.pad_token_id))
    mask = torch.zeros_like(ids)
    for i, length in enumerate(lengths):
        where = slice(0, length) if model.config.is_encoder_decoder else slice(-length, None)
        ids[i, where] = torch.randint(8, VOCABULARY - 4, (length,), generator=random)
        mask[i, where] = 1
    return {"input_ids": ids, "attention_mask": mask}


def prompt_length(model: Any, given: dict[str, torch.Tensor]) -> int:
    return 1 if model.config.is_encoder_decoder else given["input_ids"].shape[1]


def occurrences(tokens: list[int], phrase: list[int]) -> int:
    return sum(tokens[i : i + len(phrase)] == phrase for i in range(len(tokens)))


# --- tokenizers ----------------------------------------------------------------------------


def write_marian_tokenizer(folder: Path) -> Any:
    """Write the files of an OPUS-MT tokenizer, whose ids are not those of its pieces."""
    from transformers import MarianTokenizer  # noqa: PLC0415

    processor = toy_text.train()
    for name in ("source.spm", "target.spm"):
        (folder / name).write_bytes(processor.serialized_model_proto())
    pieces = [processor.id_to_piece(i) for i in range(len(processor))]
    order = [*pieces[:2], *sorted(pieces[2:]), "<pad>"]
    vocabulary = {piece: i for i, piece in enumerate(order)}
    (folder / "vocab.json").write_text(json.dumps(vocabulary), "utf-8")
    MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="de",
    ).save_pretrained(folder)
    return MarianTokenizer.from_pretrained(folder)


def write_byte_level_tokenizer(folder: Path) -> Any:
    """Write the files of a GPT-2 tokenizer."""
    from tokenizers import ByteLevelBPETokenizer  # noqa: PLC0415
    from transformers import GPT2TokenizerFast  # noqa: PLC0415

    trainer = ByteLevelBPETokenizer()
    trainer.train_from_iterator(
        toy_text.CORPUS * 3, vocab_size=500, special_tokens=["<|endoftext|>"], show_progress=False
    )
    trainer.save_model(str(folder))
    GPT2TokenizerFast(str(folder / "vocab.json"), str(folder / "merges.txt")).save_pretrained(
        folder
    )
    return GPT2TokenizerFast.from_pretrained(folder)
