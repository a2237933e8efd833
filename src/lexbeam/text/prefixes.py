"""The tokens of a prefix whose last word may go on: ``Fab`` as the beginning of *Fabrik*.

A model that writes *Fabrik* as one piece never writes the pieces of *Fab* before it, so that
forcing these would lead it astray. Instead every piece that begins like the rest of the word is
offered, and the model chooses.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from functools import lru_cache

from lexbeam.text.vocabulary import SPACE, Processor


def completions(
    processor: Processor, text: str, ids: tuple[int, ...]
) -> list[tuple[tuple[int, ...], str]]:
    """Return the token sequences with which an output may begin that starts with a text.

    Each comes with what it writes beyond the text. The first is ``ids``, the tokens of the text
    itself. The others end in a piece that goes beyond the text, and are the tokens that the
    vocabulary has for the longer text.
    """
    whole_words, _, last_word = text.rpartition(" ")
    found = {ids: ""}
    for begun, sought in _divided(last_word):
        longer = [piece for piece in _beginning_with(processor, sought) if piece != sought]
        if not longer:
            continue
        before = _ids_before(processor, whole_words, begun)
        written = [f"{whole_words} {begun.strip()}{each.removeprefix(SPACE)}" for each in longer]
        for piece, spelled in zip(longer, processor.encode(written), strict=True):
            if tuple(spelled) == (*before, processor.piece_to_id(piece)):
                found[tuple(spelled)] = piece[len(sought) :]
    return list(found.items())


def _divided(word: str) -> Iterator[tuple[str, str]]:
    """Yield what may have been written of a word, with the piece that goes on with it.

    The space before it may be a piece of its own, and the word begin behind that.
    """
    if word:
        yield " ", word
        yield "", SPACE + word
    for cut in range(1, len(word)):
        yield word[:cut], word[cut:]


def _ids_before(processor: Processor, whole_words: str, begun: str) -> tuple[int, ...]:
    """Return the tokens of whole words and of what has been written of the next one."""
    if begun.strip():
        return tuple(processor.encode(f"{whole_words} {begun}"))
    ids = tuple(processor.encode(whole_words)) if whole_words else ()
    return (*ids, processor.piece_to_id(SPACE)) if begun else ids


def _beginning_with(processor: Processor, start: str) -> list[str]:
    pieces = _sorted_pieces(processor)
    first = last = bisect_left(pieces, start)
    while last < len(pieces) and pieces[last].startswith(start):
        last += 1
    return pieces[first:last]


@lru_cache(maxsize=4)
def _sorted_pieces(processor: Processor) -> list[str]:
    """Return the pieces that write text, sorted."""
    ids = list(range(processor.get_piece_size()))
    silent = (processor.is_control, processor.is_unused, processor.is_unknown, processor.is_byte)
    flags = zip(*(is_silent(ids) for is_silent in silent), strict=True)
    named = zip(processor.id_to_piece(ids), flags, strict=True)
    return sorted(piece for piece, flag in named if not any(flag))
