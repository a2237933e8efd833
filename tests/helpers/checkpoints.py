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
_SIZES: dict[str, Any] = {
    "d_model": 32,
    "encoder_layers": 2,
    "decoder_layers": 3,
    "encoder_attention_heads": 4,
    "decoder_attention_heads": 4,
    "encoder_ffn_dim": 48,
    "decoder_ffn_dim": 40,
    "max_position_embeddings": 64,
    "init_std": 0.25,
}
_T5_SIZES: dict[str, Any] = {
    "d_model": 32,
    "d_kv": 6,
    "d_ff": 40,
    "num_layers": 2,
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
    """Make every weight of a random model matter, and write it to its folder.

    The end of sentence is made unlikely: outputs go on to their limit.
    """
    torch.manual_seed(5)
    with torch.no_grad():
        for name, weight in model.named_parameters():
            if "norm" in name or name.endswith("bias"):
                weight.add_(0.2 * torch.randn_like(weight))
        if hasattr(model, "final_logits_bias"):
            model.final_logits_bias.normal_()
            model.final_logits_bias[0, model.config.eos_token_id] = -9.0
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
    pieces = dict.fromkeys([*pieces_of(target), *pieces_of(source)])
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
        forced_eos_token_id=None,
        **settings,
    )
    return save(transformers.MarianMTModel(config), folder, bad_words_ids=[[pad]])


def marian_apart(folder: Path) -> Any:
    """A Marian model whose languages have nothing in common."""
    folder.mkdir(parents=True, exist_ok=True)
    sizes = []
    for side, text in (("source", SOURCE_TEXT), ("target", TARGET_TEXT)):
        pieces = sentence_pieces(text, 60 if side == "source" else 90)
        (folder / f"{side}.spm").write_bytes(pieces)
        texts = [piece for piece in pieces_of(pieces) if piece not in {EOS, "<s>"}]
        texts = [*texts, EOS, PAD] if side == "source" else [EOS, *texts, PAD]
        name = "vocab.json" if side == "source" else "target_vocab.json"
        write_json(folder / name, {text: place for place, text in enumerate(texts)})
        sizes.append(len(texts))
    write_json(folder / "tokenizer_config.json", {"separate_vocabs": True, "eos_token": EOS})
    config = transformers.MarianConfig(
        **_SIZES,
        vocab_size=sizes[0],
        decoder_vocab_size=sizes[1],
        share_encoder_decoder_embeddings=False,
        activation_function="relu",
        pad_token_id=sizes[0] - 1,
        eos_token_id=0,
        decoder_start_token_id=sizes[1] - 1,
        forced_eos_token_id=None,
    )
    return save(transformers.MarianMTModel(config), folder)


def _fairseq_settings(size: int) -> dict[str, Any]:
    return {
        **_SIZES,
        "vocab_size": size,
        "scale_embedding": True,
        "pad_token_id": 1,
        "bos_token_id": 0,
        "eos_token_id": 2,
        "forced_eos_token_id": None,
    }


def m2m(folder: Path) -> Any:
    """M2M100: SentencePiece beside a numbering, languages after it that no file lists."""
    folder.mkdir(parents=True, exist_ok=True)
    model = sentence_pieces(SOURCE_TEXT + TARGET_TEXT, 120, "bpe")
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    texts = ["<s>", PAD, EOS, "<unk>", *reversed(pieces_of(model)[3:])]
    write_json(folder / "vocab.json", {text: place for place, text in enumerate(texts)})
    tokenizer = transformers.M2M100Tokenizer.from_pretrained(folder, src_lang="en", tgt_lang="de")
    tokenizer.save_pretrained(folder)
    config = transformers.M2M100Config(
        **_fairseq_settings(len(texts) + 108),
        decoder_start_token_id=2,
        activation_function="relu",
    )
    return save(transformers.M2M100ForConditionalGeneration(config), folder)


def _fairseq_tokenizer(folder: Path, kind: str, codes: list[str], name: str) -> int:
    """Write a tokenizer in fairseq's order, its languages listed; return how many ids it has."""
    folder.mkdir(parents=True, exist_ok=True)
    model = sentence_pieces(SOURCE_TEXT + TARGET_TEXT, 120, kind)
    (folder / "sentencepiece.bpe.model").write_bytes(model)
    special = {"bos_token": "<s>", "eos_token": EOS, "unk_token": "<unk>", "pad_token": PAD}
    write_json(folder / "special_tokens_map.json", {**special, "additional_special_tokens": codes})
    write_json(folder / "tokenizer_config.json", {**special, "tokenizer_class": name})
    return len(pieces_of(model)) + 1 + len(codes) + 1


def nllb(folder: Path) -> Any:
    """NLLB: M2M100's network, fairseq's order of pieces, languages listed."""
    size = _fairseq_tokenizer(folder, "bpe", ["deu_Latn", "eng_Latn", "zho_Hans"], "NllbTokenizer")
    config = transformers.M2M100Config(
        **_fairseq_settings(size), decoder_start_token_id=2, activation_function="relu"
    )
    return save(transformers.M2M100ForConditionalGeneration(config), folder)


def mbart(folder: Path) -> Any:
    """mBART: the source's language after it, the target's as the start of the output."""
    codes = transformers.models.mbart.tokenization_mbart.FAIRSEQ_LANGUAGE_CODES
    size = _fairseq_tokenizer(folder, "unigram", codes, "MBartTokenizer")
    config = transformers.MBartConfig(**_fairseq_settings(size), activation_function="gelu")
    return save(transformers.MBartForConditionalGeneration(config), folder)


def mbart50(folder: Path) -> Any:
    """mBART-50: both languages first."""
    codes = transformers.models.mbart50.tokenization_mbart50.FAIRSEQ_LANGUAGE_CODES
    size = _fairseq_tokenizer(folder, "unigram", codes, "MBart50Tokenizer")
    config = transformers.MBartConfig(
        **_fairseq_settings(size), decoder_start_token_id=2, activation_function="relu"
    )
    return save(transformers.MBartForConditionalGeneration(config), folder)


def bart(folder: Path) -> Any:
    """BART's network over SentencePiece."""
    size = _fairseq_tokenizer(folder, "unigram", [], "BarthezTokenizer")
    config = transformers.BartConfig(**_fairseq_settings(size), decoder_start_token_id=2)
    model = transformers.BartForConditionalGeneration(config)
    return save(model, folder, forced_bos_token_id=0)


def _t5(folder: Path, **settings: Any) -> transformers.T5Config:
    folder.mkdir(parents=True, exist_ok=True)
    model = sentence_pieces(SOURCE_TEXT + TARGET_TEXT, 120, pad_id=0, eos_id=1, unk_id=2, bos_id=-1)
    (folder / "spiece.model").write_bytes(model)
    tokenizer = transformers.T5Tokenizer.from_pretrained(folder)
    tokenizer.save_pretrained(folder)
    start: dict[str, Any] = {"decoder_start_token_id": 0, "pad_token_id": 0}
    return transformers.T5Config(**_T5_SIZES, **start, vocab_size=224, **settings)


def t5(folder: Path) -> Any:
    """T5 as it was first: tied embeddings, rectified."""
    return save(transformers.T5ForConditionalGeneration(_t5(folder)), folder)


def t5_gated(folder: Path) -> Any:
    """T5 v1.1: gates, and logits that are not scaled."""
    config = _t5(folder, feed_forward_proj="gated-gelu", tie_word_embeddings=False)
    return save(transformers.T5ForConditionalGeneration(config), folder)
