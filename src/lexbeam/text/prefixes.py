"""How a text may go on whose last word is not finished: ``Fab`` as the beginning of *Fabrik*.

The pieces of an unfinished word are rarely those that the finished one begins with: a model
that writes *Fabrik* as one piece is led astray by the pieces of *Fab*. So every piece that
could stand there instead is offered, and the model chooses.
"""

from __future__ import annotations

from bisect import bisect_left
from functools import lru_cache
from itertools import takewhile

from lexbeam.text.vocabulary import SPACE, Processor


def completions(processor: Processor, text: str, ids: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Return the token sequences by which an output that starts with a text may begin.

    First come ``ids``, the tokens of the text as it stands. The others end in a piece that goes
    beyond it; they are what the vocabulary itself makes of the longer text.
    """
    head, _, word = text.rpartition(" ")
    finished = tuple(processor.encode(head)) if head else ()
    found = {ids: None}
    for cut in range(len(word)):
        begun, rest = word[:cut], word[cut:]
        before = tuple(processor.encode(f"{head} {begun}")) if begun else finished
        sought = rest if begun else SPACE + rest
        longer = [piece for piece in _beginning_with(processor, sought) if piece != sought]
        written = [f"{head} {begun}{piece.removeprefix(SPACE)}" for piece in longer]
        for piece, spelled in zip(longer, processor.encode(written), strict=True):
            if tuple(spelled) == (*before, processor.piece_to_id(piece)):
                found[tuple(spelled)] = None
    return list(found)


def _beginning_with(processor: Processor, start: str) -> list[str]:
    pieces = _sorted_pieces(processor)
    first = bisect_left(pieces, start)
    return list(takewhile(lambda piece: piece.startswith(start), pieces[first:]))


@lru_cache(maxsize=4)
def _sorted_pieces(processor: Processor) -> list[str]:
    """Return what the pieces of a vocabulary write, in order; control pieces write nothing."""
    ids = list(range(processor.get_piece_size()))
    silent = (processor.is_control, processor.is_unused, processor.is_unknown, processor.is_byte)
    flags = zip(*(is_silent(ids) for is_silent in silent), strict=True)
    named = zip(processor.id_to_piece(ids), flags, strict=True)
    return sorted(piece for piece, flag in named if not any(flag))
