"""Vocabularies for training: one for both languages, made from the training text.

`sentencepiece` is what the models of the package use. Characters are normalised as little as
possible: composed accents and plain spaces, nothing else. What a user demands to see in the
output can then be spelled exactly as it was written, which a compatibility normalisation
(``…`` to ``...``) would make impossible; bytes spell what is left.
"""

from __future__ import annotations

import os
import tempfile
import unicodedata
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Protocol

import sentencepiece

from lexbeam.errors import InputError
from lexbeam.text.moses_vocabulary import MosesBpe
from lexbeam.train.config import VocabularyConfig

EOS, UNK = 0, 1
MODEL = "vocabulary.model"
SPACES = (0x09, 0x0A, 0x0D, 0xA0, *range(0x2000, 0x200B), 0x2028, 0x2029, 0x202F, 0x205F, 0x3000)
INVISIBLE = (0xAD, 0x200B, 0x2060, 0xFEFF)
LETTERS = "".join(chr(code) for code in range(0xC0, 0x180)) + "„“”‚‘’»«–—…€§°"
"""Always in the vocabulary, however rare: names are spelled with them."""
BYTES = 256


class Vocabulary(Protocol):
    """Text to token ids and back; ids 0 and 1 are the end of sentence and the unknown."""

    @property
    def stored(self) -> Path | MosesBpe:
        """What a bundle keeps of it."""
        ...

    @property
    def size(self) -> int:
        """Number of tokens."""
        ...

    @property
    def pieces(self) -> list[str]:
        """The tokens as text, by id."""
        ...

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each sentence, without the end of sentence."""
        ...

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each token sequence."""
        ...


class SentencePieces:
    """A SentencePiece vocabulary."""

    def __init__(self, path: Path) -> None:
        self.stored = path
        self._processor = sentencepiece.SentencePieceProcessor(model_file=str(path))

    @property
    def size(self) -> int:
        """Number of tokens."""
        return int(self._processor.get_piece_size())

    @property
    def pieces(self) -> list[str]:
        """The tokens as text, by id."""
        pieces: list[str] = self._processor.id_to_piece(list(range(self.size)))
        return pieces

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each sentence, without the end of sentence."""
        encoded: list[list[int]] = self._processor.encode(list(sentences), num_threads=1)
        return encoded

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each token sequence."""
        return [self._processor.decode([int(i) for i in ids]) for ids in sentences]


def load_vocabulary(directory: Path, config: VocabularyConfig) -> Vocabulary | None:
    """Load the vocabulary that an earlier start of a run has made, if there is one."""
    if config.kind == "moses-bpe":
        from lexbeam.train.moses import MosesPieces  # noqa: PLC0415

        return MosesPieces.load(directory)
    path = directory / MODEL
    return SentencePieces(path) if path.exists() else None


def train_vocabulary(
    sentences: Sequence[str], config: VocabularyConfig, directory: Path, seed: int
) -> Vocabulary:
    """Make a vocabulary from text and keep it in the run's directory."""
    if config.kind == "moses-bpe":
        from lexbeam.train.moses import MosesPieces  # noqa: PLC0415

        return MosesPieces.train(sentences, config.size, directory)
    with tempfile.TemporaryDirectory(dir=directory) as scratch:
        prefix = Path(scratch) / "new"
        train_sentencepiece(sentences, config.size, prefix, seed)
        prefix.with_suffix(".model").replace(directory / MODEL)
    return SentencePieces(directory / MODEL)


def train_sentencepiece(sentences: Iterable[str], size: int, prefix: Path, seed: int) -> None:
    """Train a unigram vocabulary; write ``prefix.model`` and ``prefix.vocab``."""
    sentencepiece.set_random_generator_seed(seed)
    rules = prefix.with_suffix(".rules")
    rules.write_text("".join(f"{line}\n" for line in _normalisation_rules()), encoding="ascii")
    try:
        sentencepiece.SentencePieceTrainer.train(
            sentence_iterator=iter(sentences),
            model_prefix=str(prefix),
            vocab_size=size,
            model_type="unigram",
            character_coverage=0.9999,
            byte_fallback=True,
            required_chars=LETTERS,
            split_digits=True,
            normalization_rule_tsv=str(rules),
            input_sentence_size=500_000,
            shuffle_input_sentence=True,
            eos_id=EOS,
            unk_id=UNK,
            bos_id=-1,
            pad_id=-1,
            num_threads=os.cpu_count() or 1,
            minloglevel=2,
        )
    except RuntimeError as error:
        least = BYTES + len(LETTERS) + 2
        raise InputError(
            f"vocabulary.size = {size} does not suit the text: {_reason(error)} (bytes and "
            f"letters alone take {least})"
        ) from error


def _reason(error: RuntimeError) -> str:
    """Return the sentence for people in SentencePiece's message, which leads with code."""
    return str(error).rsplit("] ", maxsplit=1)[-1].strip().rstrip(".")


def _normalisation_rules() -> Iterator[str]:
    """Yield SentencePiece's rules, code points in hexadecimal: what is found, tab, what it becomes.

    Latin letters with accents are composed, odd spaces become a space, what can't be seen goes.
    """
    for code in (*range(0xC0, 0x250), *range(0x1E00, 0x1F00)):
        parts = unicodedata.normalize("NFD", chr(code))
        if len(parts) > 1 and unicodedata.normalize("NFC", parts) == chr(code):
            yield f"{' '.join(f'{ord(part):X}' for part in parts)}\t{code:X}"
    for code in SPACES:
        yield f"{code:X}\t20"
    for code in INVISIBLE:
        yield f"{code:X}\t"
