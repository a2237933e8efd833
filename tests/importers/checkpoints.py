"""Small random checkpoints of each family, written by transformers' own classes."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import sentencepiece
import torch
import transformers

EOS, PAD = "</s>", "<pad>"
SOURCE_TEXT = [
    "the cat sat on the mat and the dog ran far from the red house",
    "a big map of the old town hung over the bed in which she slept",
    "we jumped quickly over five lazy boxes, and vexed the king with zeal",
]
TARGET_TEXT = [
    "die Katze saß auf der Matte und der Hund lief weit vom roten Haus weg",
    "eine große Karte der alten Stadt hing über dem Bett, in dem sie schlief",
    "wir sprangen schnell über fünf faule Kisten und ärgerten den König",
]
_SIZES = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 64,
    "init_std": 0.4,
}
_T5_SIZES = {
    "d_model": 32,
    "d_kv": 6,
    "d_ff": 40,
    "num_layers": 2,
    "num_decoder_layers": 3,
    "num_heads": 4,
    "relative_attention_max_distance": 20,
}


def sentence_pieces(
    text: list[str], size: int = 90, kind: str = "unigram", **options: Any
) -> bytes:
    """Train a SentencePiece model."""
    written = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(text * 20),
        model_writer=written,
        vocab_size=size,
        model_type=kind,
        hard_vocab_limit=False,
        minloglevel=2,
        **options,
    )
    return written.getvalue()


def pieces_of(model: bytes) -> list[str]:
    processor = sentencepiece.SentencePieceProcessor(model_proto=model)
    return [processor.id_to_piece(i) for i in range(len(processor))]


def save(model: Any, folder: Path, **settings: Any) -> Any:
    """Make every weight of a random model matter, and write it to its folder."""
    torch.manual_seed(5)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                weight.add_(0.2 * torch.randn_like(weight))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
    for name, value in settings.items():
        setattr(model.generation_config, name, value)
    model.eval().save_pretrained(folder)
    return model


def write_json(path: Path, content: Any) -> None:
    path.write_text(json.dumps(content, ensure_ascii=False), encoding="utf-8")


def marian(folder: Path, codes: tuple[str, ...] = (), **settings: Any) -> Any:
    """OPUS-MT: a vocabulary for each language, one numbering of both."""
    folder.mkdir(parents=True, exist_ok=True)
    source, target = sentence_pieces(SOURCE_TEXT), sentence_pieces(TARGET_TEXT)
    (folder / "source.spm").write_bytes(source)
    (folder / "target.spm").write_bytes(target)
    pieces = {piece: None for piece in [*pieces_of(target), *pieces_of(source)]}
    special = {EOS, "<unk>", "<s>"}
    texts = [EOS, "<unk>", *codes, *(piece for piece in pieces if piece not in special), PAD]
    write_json(folder / "vocab.json", {text: place for place, text in enumerate(texts)})
    transformers.MarianTokenizer(
        str(folder / "source.spm"),
        str(folder / "target.spm"),
        str(folder / "vocab.json"),
        source_lang="en",
        target_lang="de",
    ).save_pretrained(folder)
    pad = len(texts) - 1
    config = transformers.MarianConfig(
        **_SIZES,
        vocab_size=len(texts),
        activation_function="swish",
        scale_embedding=True,
        pad_token_id=pad,
        eos_token_id=0,
        decoder_start_token_id=pad,
        forced_eos_token_id=0,
        **settings,
    )
    return save(transformers.MarianMTModel(config), folder, bad_words_ids=[[pad]])
