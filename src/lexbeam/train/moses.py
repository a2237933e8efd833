"""The paper's own preprocessing: Moses tokenisation, then joint byte-pair encoding.

Kept for studies that follow the paper to the letter (§5). Models for use are better off with
SentencePiece: it needs no rules for a language, and gives back the text it was given. Bundles
know SentencePiece only; a run with this vocabulary ends with averaged weights and scores.
"""

from __future__ import annotations

import contextlib
import importlib
import io
import json
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from lexbeam.errors import InputError, MissingExtraError

CODES = "bpe.codes"
TOKENS = "bpe.tokens.json"
SPECIAL = ("</s>", "<unk>")
CONTINUES = "@@"
"""At the end of a piece: the word goes on with the next."""
ENDS = "</w>"
"""In a merge: it makes the end of a word."""


class MosesBpe:
    """Moses tokens cut by BPE; both sides by the rules of English, which leave words whole."""

    def __init__(self, directory: Path) -> None:
        moses, _, apply_bpe = _libraries()
        self._tokenizer = moses.MosesTokenizer(lang="en")
        self._detokenizer = moses.MosesDetokenizer(lang="en")
        with (directory / CODES).open(encoding="utf-8") as codes:
            self._bpe = apply_bpe.BPE(codes, separator=CONTINUES)
        self._tokens = [*SPECIAL]
        if (directory / TOKENS).exists():
            self._tokens = json.loads((directory / TOKENS).read_text(encoding="utf-8"))
        self._ids = {token: number for number, token in enumerate(self._tokens)}

    @classmethod
    def load(cls, directory: Path) -> MosesBpe | None:
        """Load what an earlier start of a run has made, if there is any."""
        return cls(directory) if (directory / TOKENS).exists() else None

    @classmethod
    def train(cls, sentences: Sequence[str], size: int, directory: Path) -> MosesBpe:
        """Learn as many merges as the size allows; all characters stay in the vocabulary."""
        moses, learn_bpe, _ = _libraries()
        tokenizer = moses.MosesTokenizer(lang="en")
        words = Counter(
            word for text in sentences for word in tokenizer.tokenize(text, escape=False)
        )
        characters = {character for word in words for character in word}
        # each character may end a word or not
        merges = size - len(SPECIAL) - 2 * len(characters)
        counts = io.StringIO("".join(f"{word} {count}\n" for word, count in words.items()))
        if merges < 1:
            least = size - merges + 1
            raise InputError(f"vocabulary.size = {size} is too small: the text needs {least}")
        codes = io.StringIO()
        with contextlib.redirect_stderr(io.StringIO()):  # a progress bar
            learn_bpe.learn_bpe(counts, codes, merges, is_dict=True)
        learned = codes.getvalue().splitlines()[1:]  # the first line is a version
        if len(learned) < merges:
            most = size - merges + len(learned)
            raise InputError(f"vocabulary.size = {size} is larger than the text allows: {most}")
        (directory / CODES).write_text(codes.getvalue(), encoding="utf-8")
        pieces = [form for c in sorted(characters) for form in (c, c + CONTINUES)]
        for merge in learned:
            merged = merge.replace(" ", "")
            pieces.append(merged.removesuffix(ENDS) if ENDS in merged else merged + CONTINUES)
        tokens = json.dumps([*SPECIAL, *pieces], ensure_ascii=False)
        (directory / TOKENS).write_text(tokens, encoding="utf-8")
        return cls(directory)

    @property
    def size(self) -> int:
        """Number of tokens."""
        return len(self._tokens)

    def encode(self, sentences: Sequence[str]) -> list[list[int]]:
        """Return the tokens of each sentence, without the end of sentence."""
        unknown = SPECIAL.index("<unk>")
        return [
            [self._ids.get(piece, unknown) for piece in self._bpe.segment_tokens(words)]
            for words in (self._tokenizer.tokenize(text, escape=False) for text in sentences)
        ]

    def decode(self, sentences: Sequence[Sequence[int]]) -> list[str]:
        """Return the text of each token sequence."""
        texts = []
        for ids in sentences:
            joined = " ".join(self._tokens[i] for i in ids).replace(f"{CONTINUES} ", "")
            texts.append(self._detokenizer.detokenize(joined.split(), unescape=False))
        return texts


def _libraries() -> tuple[Any, Any, Any]:
    names = ("sacremoses", "subword_nmt.learn_bpe", "subword_nmt.apply_bpe")
    try:
        moses, learn_bpe, apply_bpe = map(importlib.import_module, names)
    except ImportError as error:
        raise MissingExtraError("Moses tokenisation with BPE", "train") from error
    return moses, learn_bpe, apply_bpe
