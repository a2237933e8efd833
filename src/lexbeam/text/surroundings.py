"""How a vocabulary spells a phrase where it touches punctuation.

Behind a space *Next* may be the piece ``▁Next``, behind a quotation mark ``N`` and ``ext``. And
a vocabulary may have pieces that join a phrase with what stands beside it, such as ``▁(3``, or
``-19`` in *COVID-19*.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from itertools import accumulate
from typing import NamedTuple

from lexbeam.text.vocabulary import SPACE, Processor

_SURROUNDINGS = (
    ('"', '"'),
    ("(", ")"),
    ("'", "'"),
    ("„", "“"),
    ("“", "”"),
    ("«", "»"),
    ("‘", "’"),
    ("[", "]"),
    ("<", ">"),
    ("-", "-"),
    ("b-", ""),
    ("", "-b"),
    ("/", "/"),
    ("=", ":"),
    ("", "."),
    ("", ","),
    ("", '"'),
)
"""What may stand directly before and behind a phrase."""

MOST_SPELLINGS = 6
"""Spellings beside punctuation that are returned; vocabularies rarely have more than two."""


class SpelledBeside(NamedTuple):
    """The tokens that write a phrase beside punctuation."""

    ids: tuple[int, ...]
    text: str
    """What they write: the phrase, with punctuation that its pieces include."""
    spaced: bool
    """Whether they begin with a space."""


def spell_beside_punctuation(processor: Processor, phrase: str) -> list[SpelledBeside]:
    """Return the ways in which a vocabulary spells a phrase that touches punctuation.

    The phrase is one that the vocabulary neither normalises nor has unknown characters in.
    """
    texts = [f"a {before}{phrase}{after} a" for before, after in _SURROUNDINGS]
    # One by one: for a list, SentencePiece would start threads, which take longer than the work.
    encoded = [processor.encode(text, out_type=str) for text in texts]
    found: dict[tuple[tuple[str, ...], str], None] = {}
    for (before, after), text, pieces in zip(_SURROUNDINGS, texts, encoded, strict=True):
        joined = "".join(pieces)
        skipped = len(joined) - len(text)  # the space that begins every text
        if joined[max(skipped, 0) :] != text.replace(" ", SPACE):
            continue
        start = skipped + len("a ") + len(before) - (not before)
        end = skipped + len(text) - len(" a") - len(after)
        ends = list(accumulate(map(len, pieces)))
        first, last = bisect_right(ends, start), bisect_left(ends, end)
        begin = ends[first - 1] if first else 0
        if begin >= skipped + len("a") and ends[last] <= end + len(after):
            written = joined[begin : ends[last]].replace(SPACE, " ")
            found[tuple(pieces[first : last + 1]), written] = None
    spelled = (
        SpelledBeside(tuple(map(processor.piece_to_id, each)), written.strip(), written[0] == " ")
        for each, written in found
    )
    return list(dict.fromkeys(spelled))[:MOST_SPELLINGS]
