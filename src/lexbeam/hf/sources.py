"""What the encoder of a batch reads, as text, and where its tokens stand in it.

``generate`` hands over the tokens of the sources, not their texts. The words of a source can be
found in what its tokens write; offsets in characters need the text itself, since tokenizers
normalise what they read.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any, NamedTuple

from torch import Tensor

from lexbeam.errors import InputError
from lexbeam.hf.spelling import UNKNOWN, writings
from lexbeam.text.token_offsets import token_offsets
from lexbeam.text.vocabulary import SPACE
from lexbeam.text.word_boundaries import Span

_MARKS = ("</w>", "@@", "##")
"""What vocabularies without spaces put at the end or the beginning of pieces."""


class Source(NamedTuple):
    """A source of a batch."""

    text: str
    spans: list[Span]
    """Where in the text each token stands, by its place in the encoder's input; an empty span
    if it stands for nothing there."""
    is_given: bool
    """Whether the caller gave the text; otherwise it is what the tokens write."""


def check_sources(given: object) -> list[str] | None:
    """Return the texts of sources as a list; raise if they are something else."""
    if given is None:
        return None
    if isinstance(given, str | bytes) or not isinstance(given, Sequence):
        raise InputError("sources must be a list with the text of each sentence")
    for i, text in enumerate(given):
        if not isinstance(text, str):
            raise InputError(f"sources[{i}] must be a text, not {text!r}")
    return list(given)


def read_source_ids(inputs: Tensor | None, mask: Tensor | None) -> list[list[int]]:
    """Return the tokens that the encoder reads, without the padding behind them.

    # shape of both: (sentences, source tokens)
    """
    if inputs is None or inputs.ndim != 2 or inputs.is_floating_point():
        raise InputError(
            "constraints with a source need the source's tokens: give generate input_ids, "
            "or leave source out"
        )
    if mask is None or mask.shape != inputs.shape:
        return [[int(token) for token in row] for row in inputs.tolist()]
    read = []
    for row, used in zip(inputs.tolist(), mask.tolist(), strict=True):
        length = max((i + 1 for i, one in enumerate(used) if one), default=0)
        read.append([int(token) for token in row[:length]])
    return read


class SourceReader:
    """Reads sources with one tokenizer."""

    def __init__(self, tokenizer: Any) -> None:
        self._tokenizer = tokenizer
        added = tokenizer.added_tokens_decoder.items()
        special = {*tokenizer.all_special_ids, *(i for i, token in added if token.special)}
        self._silent = special - {tokenizer.unk_token_id}  # these stand for nothing in a text

    def read(self, ids: Sequence[int], text: str | None) -> Source | None:
        """Return the source of which these are the tokens; None if its text can't be known.

        Raises:
            InputError: they are not the tokens of the given text.
        """
        if text is None:
            return self._write(ids)
        found, spans = self._encode(text)
        start = self._where(ids, found)
        if start is None:
            raise InputError("the text in sources is not what the model reads: its tokens differ")
        read = spans[: len(ids) - start]
        after: list[Span] = [(0, 0)] * (len(ids) - start - len(read))
        return Source(text, [*[(0, 0)] * start, *read, *after], is_given=True)

    def _where(self, ids: Sequence[int], found: Sequence[int]) -> int | None:
        """Return where the tokens of a text begin among those of an input, which may cut it off."""
        for start in range(len(ids)):
            same = 0
            while same < min(len(found), len(ids) - start) and found[same] == ids[start + same]:
                same += 1
            if same and (same == len(found) or self._silent.issuperset(ids[start + same :])):
                return start
        return None

    def _write(self, ids: Sequence[int]) -> Source | None:
        written = source_writings(self._tokenizer)
        if written is None:
            return None
        text, spans = "", []
        for token in ids:
            piece = written[token] if 0 <= token < len(written) else ""
            piece = UNKNOWN if token == self._tokenizer.unk_token_id else piece
            bare = piece.strip()
            start = len(text) + len(piece) - len(piece.lstrip())
            spans.append((start, start + len(bare)))
            text += piece
        return Source(text, spans, is_given=False)

    def _encode(self, text: str) -> tuple[list[int], list[Span]]:
        """Return the tokens of a text without special ones, and where they stand in it."""
        tokenizer = self._tokenizer
        if tokenizer.is_fast:
            encoded = tokenizer(text, add_special_tokens=False, return_offsets_mapping=True)
            spans = [_bare(text, *span) for span in encoded["offset_mapping"]]
            pairs = [*zip(encoded["input_ids"], spans, strict=True)]
        else:
            pieces = tokenizer.tokenize(text)
            spans = token_offsets(text, [_unmarked(piece) for piece in pieces])
            pairs = [*zip(tokenizer.convert_tokens_to_ids(pieces), spans, strict=True)]
        return [int(token) for token, _ in pairs], [span for _, span in pairs]


@lru_cache(maxsize=4)
def source_writings(tokenizer: Any) -> list[str] | None:
    """Return the text of each token of the source's vocabulary; None where it is not shown."""
    if not getattr(tokenizer, "separate_vocabs", False):
        return writings(tokenizer)
    pieces = {token: piece for piece, token in tokenizer.get_src_vocab().items()}
    return [pieces.get(i, "").replace(SPACE, " ") for i in range(max(pieces, default=-1) + 1)]


def _bare(text: str, start: int, end: int) -> Span:
    """Return a span without the white space at its ends."""
    written = text[start:end]
    first = start + len(written) - len(written.lstrip())
    return first, first + len(written.strip())


def _unmarked(piece: str) -> str:
    for mark in _MARKS:
        piece = piece.removeprefix(mark).removesuffix(mark)
    return piece
