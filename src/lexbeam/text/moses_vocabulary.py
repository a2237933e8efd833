"""Moses tokens cut by byte-pair encoding, the paper's own preprocessing (extra ``moses``).

sacremoses separates words from punctuation and joins them again; subword-nmt cuts words into
pieces. subword-nmt marks where words *end*, so that a piece does not show whether a word begins
with it: ``haus`` may be a word, or the rest of *Rathaus*. But the tokens of a phrase alone must
show that it begins a word. So each word is reversed before subword-nmt cuts it: the mark is
then at its beginning, and pieces look like SentencePiece's: ``▁Rat`` ``haus``.
"""

from __future__ import annotations

import importlib
import io
import json
import unicodedata
from collections.abc import Iterable, Sequence
from types import ModuleType
from typing import Any, Protocol

from lexbeam.errors import MissingExtraError, ModelError
from lexbeam.text.vocabulary import SPACE

EXTRA = "moses"
CODES, PIECES = "bpe.codes", "bpe.json"
"""The files of a vocabulary: subword-nmt's merges; its pieces and the language of the rules."""

EOS, UNKNOWN = 0, 1
SPECIAL = ("</s>", "<unk>")
UNKNOWN_SHOWN = "⁇"
"""What stands in a text for an unknown character of which nothing is known."""

RULES = "en"
"""Moses's rules for English are the ones that give words back whole in most languages."""

_CONTINUES = "@@"  # subword-nmt's mark of a piece with which a word does not end
INVISIBLE = str.maketrans("", "", "\u00ad\u200b\u2060\ufeff")
"""A translation table that removes invisible characters: soft hyphens, zero-width spaces."""
_REMEMBERED = 1 << 16  # words whose pieces subword-nmt keeps


class Merges(Protocol):
    """The part of subword-nmt that is used here."""

    cache: dict[str, Any]

    def segment_tokens(self, tokens: Sequence[str]) -> list[str]:
        """Cut words into pieces."""


class WordPieces:
    """A vocabulary (`lexbeam.text.vocabulary`) for words that have spaces between them."""

    def __init__(self, merges: Merges, pieces: Sequence[str]) -> None:
        self._merges = merges
        self._pieces = list(pieces)
        self._ids = {piece: number for number, piece in enumerate(pieces)}

    def __len__(self) -> int:
        return len(self._pieces)

    def get_piece_size(self) -> int:
        """Return the number of pieces."""
        return len(self._pieces)

    def eos_id(self) -> int:
        """Return the id of the end of sentence."""
        return EOS

    def unk_id(self) -> int:
        """Return the id of everything that is not in the vocabulary."""
        return UNKNOWN

    def id_to_piece(self, ids: list[int], /) -> list[str]:
        """Return the pieces of ids."""
        return [self._pieces[number] for number in ids]

    def piece_to_id(self, piece: str, /) -> int:
        """Return the id of a piece."""
        return self._ids.get(piece, UNKNOWN)

    def is_control(self, ids: list[int], /) -> list[bool]:
        """Return whether each id writes nothing."""
        return [number == EOS for number in ids]

    def is_unknown(self, ids: list[int], /) -> list[bool]:
        """Return whether each id stands for what is not in the vocabulary."""
        return [number == UNKNOWN for number in ids]

    def is_byte(self, ids: list[int], /) -> list[bool]:
        """Return False for each id: none writes a byte."""
        return [False for _ in ids]

    def is_unused(self, ids: list[int], /) -> list[bool]:
        """Return False for each id: none is unused."""
        return [False for _ in ids]

    def encode(self, text: str | Sequence[str], /, *, out_type: type[int] | type[str] = int) -> Any:
        """Return the ids of a text, or its pieces; a list of them for a list of texts."""
        if not isinstance(text, str):
            return [self.encode(each, out_type=out_type) for each in text]
        pieces = [piece for word in self.split(text) for piece in self._cut(word)]
        return pieces if out_type is str else [self.piece_to_id(piece) for piece in pieces]

    def decode(self, pieces: Sequence[int] | Sequence[str], /) -> Any:
        """Return the text of ids or pieces."""
        return self.join(self.words(pieces))

    def words(self, pieces: Iterable[int | str]) -> list[str]:
        """Return the words that ids or pieces make."""
        words: list[str] = []
        for each in pieces:
            piece = each if isinstance(each, str) else self._pieces[each]
            if piece == SPECIAL[EOS]:
                continue
            if piece == SPECIAL[UNKNOWN]:
                words.append(UNKNOWN_SHOWN)
            elif piece.startswith(SPACE) or not words:
                words.append(piece.removeprefix(SPACE))
            else:
                words[-1] += piece
        return words

    def split(self, text: str) -> list[str]:
        """Return the words of a text."""
        return text.split()

    def join(self, words: Sequence[str]) -> str:
        """Return words as a text."""
        return " ".join(words)

    def _cut(self, word: str) -> list[str]:
        if len(self._merges.cache) > _REMEMBERED:
            self._merges.cache.clear()
        *rest, first = self._merges.segment_tokens([word[::-1]])
        inner = [piece.removesuffix(_CONTINUES)[::-1] for piece in reversed(rest)]
        return [SPACE + first[::-1], *inner]


class MosesBpe(WordPieces):
    """A vocabulary that splits and joins words by the rules of Moses."""

    def __init__(self, codes: bytes, pieces: bytes) -> None:
        """Read the two files of a vocabulary; ModelError names the one that is at fault."""
        self.files = {CODES: codes, PIECES: pieces}
        rules, listed = _read_pieces(pieces)
        moses, bpe = libraries("sacremoses", "subword_nmt.apply_bpe")
        super().__init__(bpe.BPE(_read_codes(codes), separator=_CONTINUES), listed)
        self.rules = rules
        self._tokenizer = moses.MosesTokenizer(lang=rules)
        self._detokenizer = moses.MosesDetokenizer(lang=rules)

    @property
    def wordwise(self) -> WordPieces:
        """The same pieces, for words that Moses has split already."""
        return WordPieces(self._merges, self._pieces)

    def split(self, text: str) -> list[str]:
        """Return the words of a text, punctuation apart."""
        return split(self._tokenizer, text)

    def join(self, words: Sequence[str]) -> str:
        """Return words as a text, punctuation where it belongs."""
        return str(self._detokenizer.detokenize(words, unescape=False))


def split(tokenizer: Any, text: str) -> list[str]:
    """Return a text as words; accents are composed, invisible characters are left out."""
    visible = unicodedata.normalize("NFC", text.translate(INVISIBLE))
    words: list[str] = tokenizer.tokenize(visible, escape=False)
    return words


def libraries(*names: str) -> list[ModuleType]:
    """Import libraries of the extra, or name the extra in an error."""
    try:
        return [importlib.import_module(name) for name in names]
    except ImportError as error:
        raise MissingExtraError("Moses tokenisation with BPE", EXTRA) from error


def write_pieces(pieces: Sequence[str], rules: str = RULES) -> bytes:
    """Return the content of `PIECES`."""
    table = {"rules": rules, "pieces": list(pieces)}
    return (json.dumps(table, ensure_ascii=False) + "\n").encode()


def _read_pieces(data: bytes) -> tuple[str, list[str]]:
    try:
        table = json.loads(data)
    except (ValueError, RecursionError) as error:
        raise ModelError(f"{PIECES}: not JSON: {error}") from None
    rules = table.get("rules") if isinstance(table, dict) else None
    pieces = table.get("pieces") if isinstance(table, dict) else None
    if not isinstance(rules, str) or not isinstance(pieces, list):
        raise ModelError(f'{PIECES}: must have the text "rules" and the list "pieces"')
    if not all(isinstance(piece, str) and piece and _is_text(piece) for piece in pieces):
        raise ModelError(f"{PIECES}: every piece must be text")
    if tuple(pieces[:2]) != SPECIAL or len(set(pieces)) < len(pieces):
        raise ModelError(f"{PIECES}: pieces must begin with {', '.join(SPECIAL)} and differ")
    return rules, pieces


def _is_text(piece: str) -> bool:
    """Return whether a piece can be written: half a surrogate pair can't."""
    return piece.isascii() or not any("\ud800" <= character <= "\udfff" for character in piece)


def _read_codes(data: bytes) -> io.StringIO:
    """Check the merges before subword-nmt reads them: a damaged file makes it end the program."""
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError:
        raise ModelError(f"{CODES}: not a text") from None
    version, *lines = text.rstrip("\n").split("\n")
    if version.split() != ["#version:", "0.2"]:
        raise ModelError(f"{CODES}: not a file of subword-nmt's version 0.2")
    for number, line in enumerate(lines, 2):
        if len(line.split(" ")) != 2:
            raise ModelError(f"{CODES}, line {number}: not two pieces with a space between them")
    return io.StringIO(text)
